!Z35184371138561_i64 = !mod_arith.int<35184371138561 : i64>
!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z35184372744193_i64 = !mod_arith.int<35184372744193 : i64>
!Z36028797017456641_i64 = !mod_arith.int<36028797017456641 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 8 = 0 and 0 <= i0 <= 7 and 0 <= slot <= 15 }">
#modulus_chain_L3_C0 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 0>
#modulus_chain_L3_C1 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 1>
#modulus_chain_L3_C2 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 2>
#modulus_chain_L3_C3 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184372744193 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 3>
#ring_f64_1_x16384 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**16384>>
!rns_L0 = !rns.rns<!Z36028797017456641_i64>
!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184372744193_i64>
!rns_L2 = !rns.rns<!Z36028797017456641_i64, !Z35184372744193_i64, !Z35184371138561_i64>
!rns_L3 = !rns.rns<!Z36028797017456641_i64, !Z35184372744193_i64, !Z35184371138561_i64, !Z35184372121601_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<8xf32>, layout = #layout>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>>
#ring_rns_L0_1_x16384 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**16384>>
#ring_rns_L1_1_x16384 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**16384>>
#ring_rns_L2_1_x16384 = #polynomial.ring<coefficientType = !rns_L2, polynomialModulus = <1 + x**16384>>
#ring_rns_L3_1_x16384 = #polynomial.ring<coefficientType = !rns_L3, polynomialModulus = <1 + x**16384>>
!pkey_L3 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L3_1_x16384>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x16384>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x16384, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x16384, encryption_type = mix>
#ciphertext_space_L1_D3 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x16384, encryption_type = mix, size = 3>
#ciphertext_space_L2 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = mix>
#ciphertext_space_L2_D3 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = mix, size = 3>
#ciphertext_space_L3 = #lwe.ciphertext_space<ring = #ring_rns_L3_1_x16384, encryption_type = mix>
#ciphertext_space_L3_D3 = #lwe.ciphertext_space<ring = #ring_rns_L3_1_x16384, encryption_type = mix, size = 3>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L3_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L3_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L3_C1>
!ct_L1_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1_D3, key = #key, modulus_chain = #modulus_chain_L3_C1>
!ct_L2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L3_C2>
!ct_L2_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L3_C2>
!ct_L2_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2_D3, key = #key, modulus_chain = #modulus_chain_L3_C2>
!ct_L3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L3, key = #key, modulus_chain = #modulus_chain_L3_C3>
!ct_L3_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L3, key = #key, modulus_chain = #modulus_chain_L3_C3>
!ct_L3_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x16384, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L3_D3, key = #key, modulus_chain = #modulus_chain_L3_C3>
module attributes {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184372744193, 35184371138561, 35184372121601], P = [1152921504607338497, 1152921504608747521], logDefaultScale = 45, encryptionTechnique = extended>, scheme.actual_slot_count = 8192 : i64, scheme.ckks, scheme.requested_slot_count = 16 : i64} {
  func.func @powers__preprocessing() -> !preprocessing.storage<!pt> attributes {heir.interface = {entry_arg_indices = array<i64>, func_name = "powers", roles = ["server.preprocessing"]}} {
    %cst = arith.constant dense<1.000000e+00> : tensor<16xf32>
    %0 = preprocessing.empty : <!pt>
    %pt = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 2, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt, %0[] site 0<!pt> : !pt, <!pt>
    %pt_0 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 1, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_0, %0[] site 1<!pt> : !pt, <!pt>
    return %0 : !preprocessing.storage<!pt>
  }
  func.func @powers__preprocessed(%arg0: tensor<1x!ct_L3> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, %arg1: tensor<1x!ct_L3> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, %arg2: !preprocessing.storage<!pt>) -> tensor<1x!ct_L0> attributes {heir.interface = {func_name = "powers", roles = ["client.preprocessed", "server.evaluate"]}} {
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L3>
    %ct = ckks.mul %extracted, %extracted {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L3, !ct_L3) -> !ct_L3_D3
    %ct_0 = ckks.relinearize %ct <from_basis = [0, 1, 2], to_basis = [0, 1]> : (!ct_L3_D3) -> !ct_L3_1
    %ct_1 = ckks.rescale %ct_0 <to_ring = #ring_rns_L2_1_x16384> : !ct_L3_1 -> !ct_L2
    %ct_2 = ckks.mul %ct_1, %ct_1 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L2, !ct_L2) -> !ct_L2_D3
    %ct_3 = ckks.relinearize %ct_2 <from_basis = [0, 1, 2], to_basis = [0, 1]> : (!ct_L2_D3) -> !ct_L2_1
    %ct_4 = ckks.rescale %ct_3 <to_ring = #ring_rns_L1_1_x16384> : !ct_L2_1 -> !ct_L1
    %ct_5 = ckks.mul %ct_4, %ct_4 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L1, !ct_L1) -> !ct_L1_D3
    %ct_6 = ckks.relinearize %ct_5 <from_basis = [0, 1, 2], to_basis = [0, 1]> : (!ct_L1_D3) -> !ct_L1_1
    %extracted_7 = tensor.extract %arg1[%c0] : tensor<1x!ct_L3>
    %ct_8 = ckks.level_reduce %extracted_7 : !ct_L3 -> !ct_L2
    %pt = preprocessing.load %arg2[] site 0<!pt> : <!pt>, !pt
    %ct_9 = ckks.mul_plain %ct_8, %pt : (!ct_L2, !pt) -> !ct_L2_1
    %ct_10 = ckks.rescale %ct_9 <to_ring = #ring_rns_L1_1_x16384> : !ct_L2_1 -> !ct_L1
    %pt_11 = preprocessing.load %arg2[] site 1<!pt> : <!pt>, !pt
    %ct_12 = ckks.mul_plain %ct_10, %pt_11 : (!ct_L1, !pt) -> !ct_L1_1
    %ct_13 = ckks.add %ct_6, %ct_12 : (!ct_L1_1, !ct_L1_1) -> !ct_L1_1
    %ct_14 = ckks.mul_plain %ct_1, %pt : (!ct_L2, !pt) -> !ct_L2_1
    %ct_15 = ckks.add %ct_14, %ct_3 : (!ct_L2_1, !ct_L2_1) -> !ct_L2_1
    %ct_16 = ckks.rescale %ct_15 <to_ring = #ring_rns_L1_1_x16384> : !ct_L2_1 -> !ct_L1
    %ct_17 = ckks.mul_plain %ct_16, %pt_11 : (!ct_L1, !pt) -> !ct_L1_1
    %ct_18 = ckks.add %ct_13, %ct_17 : (!ct_L1_1, !ct_L1_1) -> !ct_L1_1
    %0 = tensor.empty() : tensor<1x!ct_L0>
    %ct_19 = ckks.rescale %ct_18 <to_ring = #ring_rns_L0_1_x16384> : !ct_L1_1 -> !ct_L0
    %inserted = tensor.insert %ct_19 into %0[%c0] : tensor<1x!ct_L0>
    return %inserted : tensor<1x!ct_L0>
  }
  func.func @powers(%arg0: tensor<1x!ct_L3> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, %arg1: tensor<1x!ct_L3> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}) -> (tensor<1x!ct_L0> {tensor_ext.original_type = #original_type}) attributes {heir.interface = {func_name = "powers", input_types = [tensor<8xf32>, tensor<8xf32>], result_types = [tensor<8xf32>], roles = ["entry"]}} {
    %0 = call @powers__preprocessing() : () -> !preprocessing.storage<!pt>
    %1 = call @powers__preprocessed(%arg0, %arg1, %0) : (tensor<1x!ct_L3>, tensor<1x!ct_L3>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>
    return %1 : tensor<1x!ct_L0>
  }
  func.func @powers__encrypt__arg0(%arg0: tensor<8xf32>, %pk: !pkey_L3) -> tensor<1x!ct_L3> attributes {heir.interface = {func_name = "powers", index = 0 : i64, roles = ["client.encrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c8_i32 = arith.constant 8 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<1x16xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg1 = %c0_i32 to %c8_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<1x16xf32>)  : i32 {
      %1 = scf.for %arg3 = %arg1 to %c16_i32 step %c8_i32 iter_args(%arg4 = %arg2) -> (tensor<1x16xf32>)  : i32 {
        %2 = arith.index_cast %arg1 : i32 to index
        %extracted = tensor.extract %arg0[%2] : tensor<8xf32>
        %3 = arith.index_cast %arg3 : i32 to index
        %inserted = tensor.insert %extracted into %arg4[%c0, %3] : tensor<1x16xf32>
        scf.yield %inserted : tensor<1x16xf32>
      }
      scf.yield %1 : tensor<1x16xf32>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<16xf32>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 3, scale = 45> : tensor<16xf32> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L3) -> !ct_L3
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L3>
    return %from_elements : tensor<1x!ct_L3>
  }
  func.func @powers__encrypt__arg1(%arg0: tensor<8xf32>, %pk: !pkey_L3) -> tensor<1x!ct_L3> attributes {heir.interface = {func_name = "powers", index = 1 : i64, roles = ["client.encrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c8_i32 = arith.constant 8 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<1x16xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg1 = %c0_i32 to %c8_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<1x16xf32>)  : i32 {
      %1 = scf.for %arg3 = %arg1 to %c16_i32 step %c8_i32 iter_args(%arg4 = %arg2) -> (tensor<1x16xf32>)  : i32 {
        %2 = arith.index_cast %arg1 : i32 to index
        %extracted = tensor.extract %arg0[%2] : tensor<8xf32>
        %3 = arith.index_cast %arg3 : i32 to index
        %inserted = tensor.insert %extracted into %arg4[%c0, %3] : tensor<1x16xf32>
        scf.yield %inserted : tensor<1x16xf32>
      }
      scf.yield %1 : tensor<1x16xf32>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<16xf32>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 3, scale = 45> : tensor<16xf32> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L3) -> !ct_L3
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L3>
    return %from_elements : tensor<1x!ct_L3>
  }
  func.func @powers__decrypt__result0(%arg0: tensor<1x!ct_L0>, %sk: !skey_L0) -> tensor<8xf32> attributes {heir.interface = {func_name = "powers", index = 0 : i64, roles = ["client.decrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c8_i32 = arith.constant 8 : i32
    %c1_i32 = arith.constant 1 : i32
    %c7_i32 = arith.constant 7 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<8xf32>
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L0>
    %pt = lwe.rlwe_decrypt %extracted, %sk : (!ct_L0, !skey_L0) -> !pt
    %0 = lwe.rlwe_decode %pt <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384> : !pt -> tensor<1x16xf32>
    %1 = scf.for %arg1 = %c0_i32 to %c8_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<8xf32>)  : i32 {
      %2 = arith.subi %c7_i32, %arg1 : i32
      %3 = scf.for %arg3 = %2 to %c16_i32 step %c8_i32 iter_args(%arg4 = %arg2) -> (tensor<8xf32>)  : i32 {
        %4 = arith.addi %arg1, %c8_i32 : i32
        %5 = arith.floordivsi %4, %c8_i32 : i32
        %6 = arith.muli %5, %c8_i32 : i32
        %7 = arith.addi %2, %6 : i32
        %8 = arith.subi %arg3, %2 : i32
        %9 = arith.subi %7, %8 : i32
        %10 = arith.index_cast %9 : i32 to index
        %extracted_0 = tensor.extract %0[%c0, %10] : tensor<1x16xf32>
        %11 = arith.index_cast %2 : i32 to index
        %inserted = tensor.insert %extracted_0 into %arg4[%11] : tensor<8xf32>
        scf.yield %inserted : tensor<8xf32>
      }
      scf.yield %3 : tensor<8xf32>
    }
    return %1 : tensor<8xf32>
  }
}

