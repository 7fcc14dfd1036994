!Z35184371138561_i64 = !mod_arith.int<35184371138561 : i64>
!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z36028797017456641_i64 = !mod_arith.int<36028797017456641 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 4 = 0 and 0 <= i0 <= 3 and 0 <= slot <= 15 }">
#modulus_chain_L2_C0 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 0>
#modulus_chain_L2_C1 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 1>
#modulus_chain_L2_C2 = #lwe.modulus_chain<elements = <36028797017456641 : i64, 35184371138561 : i64, 35184372121601 : i64>, current = 2>
#ring_f64_1_x16384 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**16384>>
!rns_L0 = !rns.rns<!Z36028797017456641_i64>
!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184371138561_i64>
!rns_L2 = !rns.rns<!Z36028797017456641_i64, !Z35184371138561_i64, !Z35184372121601_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<4xf32>, layout = #layout>
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
module attributes {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184371138561, 35184372121601], P = [1152921504607338497, 1152921504608747521], logDefaultScale = 45, encryptionTechnique = extended>, scheme.actual_slot_count = 8192 : i64, scheme.ckks, scheme.requested_slot_count = 16 : i64} {
  func.func @layer__preprocessing() -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt> attributes {heir.interface = {entry_arg_indices = array<i64>, func_name = "layer", roles = ["server.preprocessing"]}} {
    %cst = arith.constant dense<1.000000e+00> : tensor<16xf32>
    %cst_0 = arith.constant dense<[[5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00, 5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00, 5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00, 5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00], [-1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01, -1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01, -1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01, -1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01], [2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01, 2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01, 2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01, 2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01], [0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01]]> : tensor<4x16xf32>
    %cst_1 = arith.constant dense<[1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00, 1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00, 1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00, 1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00]> : tensor<16xf32>
    %0 = preprocessing.empty : <!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
    %1 = kernel.prepare_linear_transform %cst_0 <diagonal_indices = [0, 1, 2, 3]> : tensor<4x16xf32> -> <level = 2, slots = 16, log_bsgs_ratio = 0>
    preprocessing.store %1, %0[] site 0<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>> : !kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, <!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
    %pt = lwe.rlwe_encode %cst_1 <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 1, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt, %0[] site 1<!pt> : !pt, <!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
    %pt_2 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 1, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_2, %0[] site 2<!pt> : !pt, <!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
    return %0 : !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
  }
  func.func @layer__preprocessed(%arg0: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}, tensor_ext.original_type = #original_type}, %arg1: !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> tensor<1x!ct_L0> attributes {heir.interface = {func_name = "layer", roles = ["client.preprocessed", "server.evaluate"]}} {
    %c0 = arith.constant 0 : index
    %0 = preprocessing.load %arg1[] site 0<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>> : <!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>, !kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L2>
    %ct = kernel.apply_linear_transform %extracted, %0 <diagonal_indices = [0, 1, 2, 3], diagonal_width = 16> : !ct_L2, <level = 2, slots = 16, log_bsgs_ratio = 0> -> !ct_L1
    %pt = preprocessing.load %arg1[] site 1<!pt> : <!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>, !pt
    %ct_0 = ckks.add_plain %ct, %pt : (!ct_L1, !pt) -> !ct_L1
    %pt_1 = preprocessing.load %arg1[] site 2<!pt> : <!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>, !pt
    %ct_2 = ckks.mul_plain %ct_0, %pt_1 : (!ct_L1, !pt) -> !ct_L1_1
    %1 = tensor.empty() : tensor<1x!ct_L0>
    %ct_3 = ckks.rescale %ct_2 <to_ring = #ring_rns_L0_1_x16384> : !ct_L1_1 -> !ct_L0
    %inserted = tensor.insert %ct_3 into %1[%c0] : tensor<1x!ct_L0>
    return %inserted : tensor<1x!ct_L0>
  }
  func.func @layer(%arg0: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}, tensor_ext.original_type = #original_type}) -> (tensor<1x!ct_L0> {tensor_ext.original_type = #original_type}) attributes {heir.interface = {func_name = "layer", input_types = [tensor<4xf32>], result_types = [tensor<4xf32>], roles = ["entry"]}} {
    %0 = call @layer__preprocessing() : () -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
    %1 = call @layer__preprocessed(%arg0, %0) : (tensor<1x!ct_L2>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> tensor<1x!ct_L0>
    return %1 : tensor<1x!ct_L0>
  }
  func.func @layer__encrypt__arg0(%arg0: tensor<4xf32>, %pk: !pkey_L2) -> tensor<1x!ct_L2> attributes {heir.interface = {func_name = "layer", index = 0 : i64, roles = ["client.encrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c4_i32 = arith.constant 4 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<1x16xf32>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg1 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<1x16xf32>)  : i32 {
      %1 = scf.for %arg3 = %arg1 to %c16_i32 step %c4_i32 iter_args(%arg4 = %arg2) -> (tensor<1x16xf32>)  : i32 {
        %2 = arith.index_cast %arg1 : i32 to index
        %extracted = tensor.extract %arg0[%2] : tensor<4xf32>
        %3 = arith.index_cast %arg3 : i32 to index
        %inserted = tensor.insert %extracted into %arg4[%c0, %3] : tensor<1x16xf32>
        scf.yield %inserted : tensor<1x16xf32>
      }
      scf.yield %1 : tensor<1x16xf32>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 16] [1, 1] : tensor<1x16xf32> to tensor<16xf32>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384, level = 2, scale = 45> : tensor<16xf32> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L2) -> !ct_L2
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L2>
    return %from_elements : tensor<1x!ct_L2>
  }
  func.func @layer__decrypt__result0(%arg0: tensor<1x!ct_L0>, %sk: !skey_L0) -> tensor<4xf32> attributes {heir.interface = {func_name = "layer", index = 0 : i64, roles = ["client.decrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c4_i32 = arith.constant 4 : i32
    %c1_i32 = arith.constant 1 : i32
    %c3_i32 = arith.constant 3 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<4xf32>
    %c12_i32 = arith.constant 12 : i32
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L0>
    %pt = lwe.rlwe_decrypt %extracted, %sk : (!ct_L0, !skey_L0) -> !pt
    %0 = lwe.rlwe_decode %pt <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384> : !pt -> tensor<1x16xf32>
    %1 = scf.for %arg1 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<4xf32>)  : i32 {
      %2 = arith.subi %c3_i32, %arg1 : i32
      %3 = scf.for %arg3 = %2 to %c16_i32 step %c4_i32 iter_args(%arg4 = %arg2) -> (tensor<4xf32>)  : i32 {
        %4 = arith.addi %arg1, %c12_i32 : i32
        %5 = arith.floordivsi %4, %c4_i32 : i32
        %6 = arith.muli %5, %c4_i32 : i32
        %7 = arith.addi %2, %6 : i32
        %8 = arith.subi %arg3, %2 : i32
        %9 = arith.subi %7, %8 : i32
        %10 = arith.index_cast %9 : i32 to index
        %extracted_0 = tensor.extract %0[%c0, %10] : tensor<1x16xf32>
        %11 = arith.index_cast %2 : i32 to index
        %inserted = tensor.insert %extracted_0 into %arg4[%11] : tensor<4xf32>
        scf.yield %inserted : tensor<4xf32>
      }
      scf.yield %3 : tensor<4xf32>
    }
    return %1 : tensor<4xf32>
  }
}

