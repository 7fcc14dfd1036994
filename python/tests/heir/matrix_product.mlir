!Z35184371138561_i64 = !mod_arith.int<35184371138561 : i64>
!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z36028797017456641_i64 = !mod_arith.int<36028797017456641 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0, i1] -> [ct, slot] : ct = 0 and (-4i0 + 3i1 + slot) mod 12 = 0 and 0 <= i0 <= 2 and 0 <= i1 <= 3 and 0 <= slot <= 63 }">
#modulus_chain_L2_C0 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 0>
#modulus_chain_L2_C1 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 1>
#modulus_chain_L2_C2 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 2>
#ring_f64_1_x16384 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**16384>>
!rns_L0 = !rns.rns<!Z36028797017456641_i64>
!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184371138561_i64>
!rns_L2 = !rns.rns<!Z36028797017456641_i64, !Z35184371138561_i64, !Z35184372121601_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<3x4xf32>, layout = #layout>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>>
#ring_rns_L0_1_x16384 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**16384>>
#ring_rns_L1_1_x16384 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**16384>>
#ring_rns_L2_1_x16384 = #polynomial.ring<coefficientType = !rns_L2, polynomialModulus = <1 + x**16384>>
!pkey_L2 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L2_1_x16384>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x16384>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x16384, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x16384, encryption_type = mix>
#ciphertext_space_L2 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = mix>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L2_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L2_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L2_C1>
!ct_L2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L2_C2>
!ct_L2_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L2_C2>
module attributes {backend.openfhe, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184371138561, 35184372121601], P = [1152921504607338497, 1152921504608747521], logDefaultScale = 45>, scheme.actual_slot_count = 8192 : i64, scheme.ckks, scheme.requested_slot_count = 64 : i64} {
  func.func @matrix_product__preprocessing() -> !preprocessing.storage<!pt> attributes {heir.interface = {entry_arg_indices = array<i64>, func_name = "matrix_product", roles = ["server.preprocessing"]}} {
    %cst = arith.constant dense<[1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00, 1.000000e+00, -1.000000e+00, 0.000000e+00, 2.000000e+00]> : tensor<64xf32>
    %cst_0 = arith.constant dense<[-2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00, -2.500000e-01, 0.000000e+00, 2.500000e-01, 0.000000e+00]> : tensor<64xf32>
    %cst_1 = arith.constant dense<[5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 1.000000e+00]> : tensor<64xf32>
    %cst_2 = arith.constant dense<[0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, -1.000000e+00, 0.000000e+00, 5.000000e-01]> : tensor<64xf32>
    %cst_3 = arith.constant dense<[1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<64xf32>
    %cst_4 = arith.constant dense<[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00]> : tensor<64xf32>
    %0 = preprocessing.empty : <!pt>
    %pt = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 2, scale = 45> : tensor<64xf32> -> !pt
    preprocessing.store %pt, %0[] site 0<!pt> : !pt, <!pt>
    %pt_5 = lwe.rlwe_encode %cst_0 <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 2, scale = 45> : tensor<64xf32> -> !pt
    preprocessing.store %pt_5, %0[] site 1<!pt> : !pt, <!pt>
    %pt_6 = lwe.rlwe_encode %cst_1 <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 2, scale = 45> : tensor<64xf32> -> !pt
    preprocessing.store %pt_6, %0[] site 2<!pt> : !pt, <!pt>
    %pt_7 = lwe.rlwe_encode %cst_2 <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 2, scale = 45> : tensor<64xf32> -> !pt
    preprocessing.store %pt_7, %0[] site 3<!pt> : !pt, <!pt>
    %pt_8 = lwe.rlwe_encode %cst_3 <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 1, scale = 45> : tensor<64xf32> -> !pt
    preprocessing.store %pt_8, %0[] site 4<!pt> : !pt, <!pt>
    %pt_9 = lwe.rlwe_encode %cst_4 <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 1, scale = 45> : tensor<64xf32> -> !pt
    preprocessing.store %pt_9, %0[] site 5<!pt> : !pt, <!pt>
    return %0 : !preprocessing.storage<!pt>
  }
  func.func @matrix_product__preprocessed(%arg0: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 3, 4>}, tensor_ext.original_type = #original_type}, %arg1: !preprocessing.storage<!pt>) -> tensor<1x!ct_L0> attributes {heir.interface = {func_name = "matrix_product", roles = ["client.preprocessed", "server.evaluate"]}} {
    %c16 = arith.constant 16 : index
    %c6 = arith.constant 6 : index
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %pt = preprocessing.load %arg1[] site 0<!pt> : <!pt>, !pt
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L2>
    %ct = ckks.mul_plain %extracted, %pt : (!ct_L2, !pt) -> !ct_L2_1
    %ct_0 = ckks.rotate %extracted, %c3 : index : !ct_L2
    %pt_1 = preprocessing.load %arg1[] site 1<!pt> : <!pt>, !pt
    %ct_2 = ckks.mul_plain %ct_0, %pt_1 : (!ct_L2, !pt) -> !ct_L2_1
    %pt_3 = preprocessing.load %arg1[] site 2<!pt> : <!pt>, !pt
    %ct_4 = ckks.mul_plain %extracted, %pt_3 : (!ct_L2, !pt) -> !ct_L2_1
    %pt_5 = preprocessing.load %arg1[] site 3<!pt> : <!pt>, !pt
    %ct_6 = ckks.mul_plain %ct_0, %pt_5 : (!ct_L2, !pt) -> !ct_L2_1
    %ct_7 = ckks.add %ct_4, %ct_6 : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %ct_8 = ckks.rotate %ct_7, %c6 : index : !ct_L2_1
    %ct_9 = ckks.add %ct, %ct_2 : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %ct_10 = ckks.add %ct_9, %ct_8 : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %ct_11 = ckks.rescale %ct_10 <to_ring = #ring_rns_L1_1_x16384> : !ct_L2_1 -> !ct_L1
    %pt_12 = preprocessing.load %arg1[] site 4<!pt> : <!pt>, !pt
    %ct_13 = ckks.mul_plain %ct_11, %pt_12 : (!ct_L1, !pt) -> !ct_L1_1
    %ct_14 = ckks.rotate %ct_10, %c16 : index : !ct_L2_1
    %ct_15 = ckks.rescale %ct_14 <to_ring = #ring_rns_L1_1_x16384> : !ct_L2_1 -> !ct_L1
    %pt_16 = preprocessing.load %arg1[] site 5<!pt> : <!pt>, !pt
    %ct_17 = ckks.mul_plain %ct_15, %pt_16 : (!ct_L1, !pt) -> !ct_L1_1
    %ct_18 = ckks.add %ct_13, %ct_17 : (!ct_L1_1, !ct_L1_1) -> !ct_L1_1
    %0 = tensor.empty() : tensor<1x!ct_L0>
    %ct_19 = ckks.rescale %ct_18 <to_ring = #ring_rns_L0_1_x16384> : !ct_L1_1 -> !ct_L0
    %inserted = tensor.insert %ct_19 into %0[%c0] : tensor<1x!ct_L0>
    return %inserted : tensor<1x!ct_L0>
  }
  func.func @matrix_product(%arg0: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 3, 4>}, tensor_ext.original_type = #original_type}) -> (tensor<1x!ct_L0> {tensor_ext.original_type = #original_type}) attributes {heir.interface = {func_name = "matrix_product", input_types = [tensor<3x4xf32>], result_types = [tensor<3x4xf32>], roles = ["entry"]}} {
    %0 = call @matrix_product__preprocessing() : () -> !preprocessing.storage<!pt>
    %1 = call @matrix_product__preprocessed(%arg0, %0) : (tensor<1x!ct_L2>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>
    return %1 : tensor<1x!ct_L0>
  }
  func.func @matrix_product__encrypt__arg0(%arg0: tensor<3x4xf32>, %pk: !pkey_L2) -> tensor<1x!ct_L2> attributes {heir.interface = {func_name = "matrix_product", index = 0 : i64, roles = ["client.encrypt"]}} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1x64xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %0 = scf.for %arg1 = %c0 to %c64 step %c1 iter_args(%arg2 = %cst) -> (tensor<1x64xf32>) {
      %1 = arith.remsi %arg1, %c3 : index
      %2 = arith.remsi %arg1, %c4 : index
      %extracted = tensor.extract %arg0[%1, %2] : tensor<3x4xf32>
      %inserted = tensor.insert %extracted into %arg2[%c0, %arg1] : tensor<1x64xf32>
      scf.yield %inserted : tensor<1x64xf32>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 64] [1, 1] : tensor<1x64xf32> to tensor<64xf32>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 2, scale = 45> : tensor<64xf32> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L2) -> !ct_L2
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L2>
    return %from_elements : tensor<1x!ct_L2>
  }
  func.func @matrix_product__decrypt__result0(%arg0: tensor<1x!ct_L0>, %sk: !skey_L0) -> tensor<3x4xf32> attributes {heir.interface = {func_name = "matrix_product", index = 0 : i64, roles = ["client.decrypt"]}} {
    %c0 = arith.constant 0 : index
    %c64_i32 = arith.constant 64 : i32
    %c4_i32 = arith.constant 4 : i32
    %c12_i32 = arith.constant 12 : i32
    %c11_i32 = arith.constant 11 : i32
    %c-4_i32 = arith.constant -4 : i32
    %c3_i32 = arith.constant 3 : i32
    %c1_i32 = arith.constant 1 : i32
    %c2_i32 = arith.constant 2 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<3x4xf32>
    %c52_i32 = arith.constant 52 : i32
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L0>
    %pt = lwe.rlwe_decrypt %extracted, %sk : (!ct_L0, !skey_L0) -> !pt
    %0 = lwe.rlwe_decode %pt <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384> : !pt -> tensor<1x64xf32>
    %1 = scf.for %arg1 = %c0_i32 to %c3_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<3x4xf32>)  : i32 {
      %2 = arith.subi %c2_i32, %arg1 : i32
      %3 = scf.for %arg3 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg4 = %arg2) -> (tensor<3x4xf32>)  : i32 {
        %4 = arith.subi %c3_i32, %arg3 : i32
        %5 = arith.muli %2, %c-4_i32 : i32
        %6 = arith.muli %4, %c3_i32 : i32
        %7 = arith.addi %5, %6 : i32
        %8 = arith.addi %7, %c11_i32 : i32
        %9 = arith.floordivsi %8, %c12_i32 : i32
        %10 = arith.muli %9, %c12_i32 : i32
        %11 = arith.subi %8, %10 : i32
        %12 = arith.subi %c11_i32, %11 : i32
        %13 = scf.for %arg5 = %12 to %c64_i32 step %c12_i32 iter_args(%arg6 = %arg4) -> (tensor<3x4xf32>)  : i32 {
          %14 = arith.addi %11, %c52_i32 : i32
          %15 = arith.floordivsi %14, %c12_i32 : i32
          %16 = arith.muli %15, %c12_i32 : i32
          %17 = arith.addi %12, %16 : i32
          %18 = arith.subi %arg5, %12 : i32
          %19 = arith.subi %17, %18 : i32
          %20 = arith.index_cast %19 : i32 to index
          %extracted_0 = tensor.extract %0[%c0, %20] : tensor<1x64xf32>
          %21 = arith.index_cast %2 : i32 to index
          %22 = arith.index_cast %4 : i32 to index
          %inserted = tensor.insert %extracted_0 into %arg6[%21, %22] : tensor<3x4xf32>
          scf.yield %inserted : tensor<3x4xf32>
        }
        scf.yield %13 : tensor<3x4xf32>
      }
      scf.yield %3 : tensor<3x4xf32>
    }
    return %1 : tensor<3x4xf32>
  }
}

