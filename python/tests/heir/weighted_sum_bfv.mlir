!Z1152921504607338497_i64 = !mod_arith.int<1152921504607338497 : i64>
!Z1152921504608747521_i64 = !mod_arith.int<1152921504608747521 : i64>
!Z1152921504609239041_i64 = !mod_arith.int<1152921504609239041 : i64>
!Z65537_i64 = !mod_arith.int<65537 : i64>
#full_crt_packing_encoding = #lwe.full_crt_packing_encoding<scaling_factor = -1>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [] -> [ct, slot] : ct = 0 and slot = 0 }">
#modulus_chain_L2_C2 = #lwe.modulus_chain<elements = <1152921504607338497 : i64, 1152921504608747521 : i64, 1152921504609239041 : i64>, current = 2>
!rns_L2 = !rns.rns<!Z1152921504607338497_i64, !Z1152921504608747521_i64, !Z1152921504609239041_i64>
#original_type = #tensor_ext.original_type<originalType = i16, layout = #layout>
#ring_Z65537_i64_1_x16384 = #polynomial.ring<coefficientType = !Z65537_i64, polynomialModulus = <1 + x**16384>>
#ring_rns_L2_1_x16384 = #polynomial.ring<coefficientType = !rns_L2, polynomialModulus = <1 + x**16384>>
!pkey_L2 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L2_1_x16384>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_Z65537_i64_1_x16384, encoding = #full_crt_packing_encoding>>
!skey_L2 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L2_1_x16384>
#ciphertext_space_L2 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = msb>
#ciphertext_space_L2_D3 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x16384, encryption_type = msb, size = 3>
!ct_L2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_Z65537_i64_1_x16384, encoding = #full_crt_packing_encoding>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L2_C2>
!ct_L2_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_Z65537_i64_1_x16384, encoding = #full_crt_packing_encoding>, ciphertext_space = #ciphertext_space_L2_D3, key = #key, modulus_chain = #modulus_chain_L2_C2>
module attributes {backend.openfhe, bgv.schemeParam = #bgv.scheme_param<logN = 14, Q = [1152921504607338497, 1152921504608747521, 1152921504609239041], P = [1152921504612646913, 1152921504614023169], plaintextModulus = 65537>, scheme.actual_slot_count = 16384 : i64, scheme.bfv, scheme.requested_slot_count = 16 : i64} {
  func.func @weighted_sum__preprocessing() -> !preprocessing.storage<!pt> attributes {heir.interface = {entry_arg_indices = array<i64>, func_name = "weighted_sum", roles = ["server.preprocessing"]}} {
    %cst = arith.constant dense<5> : tensor<16xi16>
    %cst_0 = arith.constant dense<[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xi16>
    %0 = preprocessing.empty : <!pt>
    %pt = lwe.rlwe_encode %cst <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x16384, scale = -1> : tensor<16xi16> -> !pt
    preprocessing.store %pt, %0[] site 0<!pt> : !pt, <!pt>
    %pt_1 = lwe.rlwe_encode %cst_0 <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x16384, scale = -1> : tensor<16xi16> -> !pt
    preprocessing.store %pt_1, %0[] site 1<!pt> : !pt, <!pt>
    return %0 : !preprocessing.storage<!pt>
  }
  func.func @weighted_sum__preprocessed(%arg0: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #tensor_ext.original_type<originalType = tensor<8xi16>, layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 8 = 0 and 0 <= i0 <= 7 and 0 <= slot <= 15 }">>}, %arg1: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #tensor_ext.original_type<originalType = tensor<8xi16>, layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 8 = 0 and 0 <= i0 <= 7 and 0 <= slot <= 15 }">>}, %arg2: !preprocessing.storage<!pt>) -> tensor<1x!ct_L2> attributes {heir.interface = {func_name = "weighted_sum", roles = ["client.preprocessed", "server.evaluate"]}} {
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L2>
    %extracted_0 = tensor.extract %arg1[%c0] : tensor<1x!ct_L2>
    %ct = bgv.mul %extracted, %extracted_0 : (!ct_L2, !ct_L2) -> !ct_L2_D3
    %ct_1 = bgv.relinearize %ct <from_basis = [0, 1, 2], to_basis = [0, 1]> : !ct_L2_D3 -> !ct_L2
    %ct_2 = bgv.rotate_cols %ct_1, %c1 : index : !ct_L2
    %ct_3 = bgv.add %ct_1, %ct_2 : (!ct_L2, !ct_L2) -> !ct_L2
    %ct_4 = bgv.rotate_cols %ct_3, %c2 : index : !ct_L2
    %ct_5 = bgv.add %ct_3, %ct_4 : (!ct_L2, !ct_L2) -> !ct_L2
    %ct_6 = bgv.rotate_cols %ct_5, %c4 : index : !ct_L2
    %pt = preprocessing.load %arg2[] site 0<!pt> : <!pt>, !pt
    %ct_7 = bgv.add_plain %ct_5, %pt : (!ct_L2, !pt) -> !ct_L2
    %ct_8 = bgv.add %ct_7, %ct_6 : (!ct_L2, !ct_L2) -> !ct_L2
    %pt_9 = preprocessing.load %arg2[] site 1<!pt> : <!pt>, !pt
    %0 = tensor.empty() : tensor<1x!ct_L2>
    %ct_10 = bgv.mul_plain %ct_8, %pt_9 : (!ct_L2, !pt) -> !ct_L2
    %inserted = tensor.insert %ct_10 into %0[%c0] : tensor<1x!ct_L2>
    return %inserted : tensor<1x!ct_L2>
  }
  func.func @weighted_sum(%arg0: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #tensor_ext.original_type<originalType = tensor<8xi16>, layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 8 = 0 and 0 <= i0 <= 7 and 0 <= slot <= 15 }">>}, %arg1: tensor<1x!ct_L2> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #tensor_ext.original_type<originalType = tensor<8xi16>, layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 8 = 0 and 0 <= i0 <= 7 and 0 <= slot <= 15 }">>}) -> (tensor<1x!ct_L2> {tensor_ext.original_type = #original_type}) attributes {heir.interface = {func_name = "weighted_sum", input_types = [tensor<8xi16>, tensor<8xi16>], result_types = [i16], roles = ["entry"]}, mgmt.openfhe_params = #mgmt.openfhe_params<evalAddCount = 8, keySwitchCount = 15>} {
    %0 = call @weighted_sum__preprocessing() : () -> !preprocessing.storage<!pt>
    %1 = call @weighted_sum__preprocessed(%arg0, %arg1, %0) : (tensor<1x!ct_L2>, tensor<1x!ct_L2>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L2>
    return %1 : tensor<1x!ct_L2>
  }
  func.func @weighted_sum__encrypt__arg0(%arg0: tensor<8xi16>, %pk: !pkey_L2) -> tensor<1x!ct_L2> attributes {heir.interface = {func_name = "weighted_sum", index = 0 : i64, roles = ["client.encrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c8_i32 = arith.constant 8 : i32
    %cst = arith.constant dense<0> : tensor<1x16xi16>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg1 = %c0_i32 to %c8_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<1x16xi16>)  : i32 {
      %1 = scf.for %arg3 = %arg1 to %c16_i32 step %c8_i32 iter_args(%arg4 = %arg2) -> (tensor<1x16xi16>)  : i32 {
        %2 = arith.index_cast %arg1 : i32 to index
        %extracted = tensor.extract %arg0[%2] : tensor<8xi16>
        %3 = arith.index_cast %arg3 : i32 to index
        %inserted = tensor.insert %extracted into %arg4[%c0, %3] : tensor<1x16xi16>
        scf.yield %inserted : tensor<1x16xi16>
      }
      scf.yield %1 : tensor<1x16xi16>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 16] [1, 1] : tensor<1x16xi16> to tensor<16xi16>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x16384, scale = -1> : tensor<16xi16> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L2) -> !ct_L2
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L2>
    return %from_elements : tensor<1x!ct_L2>
  }
  func.func @weighted_sum__encrypt__arg1(%arg0: tensor<8xi16>, %pk: !pkey_L2) -> tensor<1x!ct_L2> attributes {heir.interface = {func_name = "weighted_sum", index = 1 : i64, roles = ["client.encrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c8_i32 = arith.constant 8 : i32
    %cst = arith.constant dense<0> : tensor<1x16xi16>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg1 = %c0_i32 to %c8_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<1x16xi16>)  : i32 {
      %1 = scf.for %arg3 = %arg1 to %c16_i32 step %c8_i32 iter_args(%arg4 = %arg2) -> (tensor<1x16xi16>)  : i32 {
        %2 = arith.index_cast %arg1 : i32 to index
        %extracted = tensor.extract %arg0[%2] : tensor<8xi16>
        %3 = arith.index_cast %arg3 : i32 to index
        %inserted = tensor.insert %extracted into %arg4[%c0, %3] : tensor<1x16xi16>
        scf.yield %inserted : tensor<1x16xi16>
      }
      scf.yield %1 : tensor<1x16xi16>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 16] [1, 1] : tensor<1x16xi16> to tensor<16xi16>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x16384, scale = -1> : tensor<16xi16> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L2) -> !ct_L2
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L2>
    return %from_elements : tensor<1x!ct_L2>
  }
  func.func @weighted_sum__decrypt__result0(%arg0: tensor<1x!ct_L2>, %sk: !skey_L2) -> i16 attributes {heir.interface = {func_name = "weighted_sum", index = 0 : i64, roles = ["client.decrypt"]}} {
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L2>
    %pt = lwe.rlwe_decrypt %extracted, %sk : (!ct_L2, !skey_L2) -> !pt
    %0 = lwe.rlwe_decode %pt <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x16384> : !pt -> tensor<1x16xi16>
    %extracted_0 = tensor.extract %0[%c0, %c0] : tensor<1x16xi16>
    return %extracted_0 : i16
  }
}

