!Z35184372121601_i64 = !mod_arith.int<35184372121601 : i64>
!Z35184372203521_i64 = !mod_arith.int<35184372203521 : i64>
!Z65537_i64 = !mod_arith.int<65537 : i64>
#full_crt_packing_encoding = #lwe.full_crt_packing_encoding<scaling_factor = -1>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 4 = 0 and 0 <= i0 <= 3 and 0 <= slot <= 15 }">
#modulus_chain_L1_C1 = #lwe.modulus_chain<elements = <35184372121601 : i64, 35184372203521 : i64>, current = 1>
!rns_L1 = !rns.rns<!Z35184372121601_i64, !Z35184372203521_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<4xi16>, layout = #layout>
#ring_Z65537_i64_1_x8192 = #polynomial.ring<coefficientType = !Z65537_i64, polynomialModulus = <1 + x**8192>>
#ring_rns_L1_1_x8192 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**8192>>
!pkey_L1 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L1_1_x8192>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_Z65537_i64_1_x8192, encoding = #full_crt_packing_encoding>>
!skey_L1 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L1_1_x8192>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x8192, encryption_type = lsb>
#ciphertext_space_L1_D3 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x8192, encryption_type = lsb, size = 3>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_Z65537_i64_1_x8192, encoding = #full_crt_packing_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L1_C1>
!ct_L1_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_Z65537_i64_1_x8192, encoding = #full_crt_packing_encoding>, ciphertext_space = #ciphertext_space_L1_D3, key = #key, modulus_chain = #modulus_chain_L1_C1>
module attributes {backend.openfhe, bgv.schemeParam = #bgv.scheme_param<logN = 13, Q = [35184372121601, 35184372203521], P = [35184372744193], plaintextModulus = 65537>, scheme.actual_slot_count = 8192 : i64, scheme.bgv, scheme.requested_slot_count = 16 : i64} {
  func.func @squares(%arg0: tensor<1x!ct_L1> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}, tensor_ext.original_type = #original_type}, %arg1: tensor<1x!ct_L1> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}, tensor_ext.original_type = #original_type}) -> (tensor<1x!ct_L1> {tensor_ext.original_type = #original_type}) attributes {heir.interface = {func_name = "squares", input_types = [tensor<4xi16>, tensor<4xi16>], result_types = [tensor<4xi16>], roles = ["entry", "server.evaluate"]}, mgmt.openfhe_params = #mgmt.openfhe_params<evalAddCount = 2, keySwitchCount = 1>} {
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L1>
    %extracted_0 = tensor.extract %arg1[%c0] : tensor<1x!ct_L1>
    %ct = bgv.add %extracted, %extracted_0 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}} : (!ct_L1, !ct_L1) -> !ct_L1
    %ct_1 = bgv.sub %extracted, %extracted_0 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}} : (!ct_L1, !ct_L1) -> !ct_L1
    %ct_2 = bgv.mul %ct, %ct_1 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}} : (!ct_L1, !ct_L1) -> !ct_L1_D3
    %0 = tensor.empty() : tensor<1x!ct_L1>
    %ct_3 = bgv.relinearize %ct_2 <from_basis = [0, 1, 2], to_basis = [0, 1]> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}} : !ct_L1_D3 -> !ct_L1
    %inserted = tensor.insert %ct_3 into %0[%c0] : tensor<1x!ct_L1>
    return %inserted : tensor<1x!ct_L1>
  }
  func.func @squares__encrypt__arg0(%arg0: tensor<4xi16>, %pk: !pkey_L1) -> tensor<1x!ct_L1> attributes {heir.interface = {func_name = "squares", index = 0 : i64, roles = ["client.encrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c4_i32 = arith.constant 4 : i32
    %cst = arith.constant dense<0> : tensor<1x16xi16>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg1 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<1x16xi16>)  : i32 {
      %1 = scf.for %arg3 = %arg1 to %c16_i32 step %c4_i32 iter_args(%arg4 = %arg2) -> (tensor<1x16xi16>)  : i32 {
        %2 = arith.index_cast %arg1 : i32 to index
        %extracted = tensor.extract %arg0[%2] : tensor<4xi16>
        %3 = arith.index_cast %arg3 : i32 to index
        %inserted = tensor.insert %extracted into %arg4[%c0, %3] : tensor<1x16xi16>
        scf.yield %inserted : tensor<1x16xi16>
      }
      scf.yield %1 : tensor<1x16xi16>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 16] [1, 1] : tensor<1x16xi16> to tensor<16xi16>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x8192, level = 1, scale = -1> : tensor<16xi16> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L1) -> !ct_L1
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L1>
    return %from_elements : tensor<1x!ct_L1>
  }
  func.func @squares__encrypt__arg1(%arg0: tensor<4xi16>, %pk: !pkey_L1) -> tensor<1x!ct_L1> attributes {heir.interface = {func_name = "squares", index = 1 : i64, roles = ["client.encrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c4_i32 = arith.constant 4 : i32
    %cst = arith.constant dense<0> : tensor<1x16xi16>
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.for %arg1 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<1x16xi16>)  : i32 {
      %1 = scf.for %arg3 = %arg1 to %c16_i32 step %c4_i32 iter_args(%arg4 = %arg2) -> (tensor<1x16xi16>)  : i32 {
        %2 = arith.index_cast %arg1 : i32 to index
        %extracted = tensor.extract %arg0[%2] : tensor<4xi16>
        %3 = arith.index_cast %arg3 : i32 to index
        %inserted = tensor.insert %extracted into %arg4[%c0, %3] : tensor<1x16xi16>
        scf.yield %inserted : tensor<1x16xi16>
      }
      scf.yield %1 : tensor<1x16xi16>
    }
    %extracted_slice = tensor.extract_slice %0[0, 0] [1, 16] [1, 1] : tensor<1x16xi16> to tensor<16xi16>
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x8192, level = 1, scale = -1> : tensor<16xi16> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L1) -> !ct_L1
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L1>
    return %from_elements : tensor<1x!ct_L1>
  }
  func.func @squares__decrypt__result0(%arg0: tensor<1x!ct_L1>, %sk: !skey_L1) -> tensor<4xi16> attributes {heir.interface = {func_name = "squares", index = 0 : i64, roles = ["client.decrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c4_i32 = arith.constant 4 : i32
    %c1_i32 = arith.constant 1 : i32
    %c3_i32 = arith.constant 3 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0> : tensor<4xi16>
    %c12_i32 = arith.constant 12 : i32
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L1>
    %pt = lwe.rlwe_decrypt %extracted, %sk : (!ct_L1, !skey_L1) -> !pt
    %0 = lwe.rlwe_decode %pt <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x8192> : !pt -> tensor<1x16xi16>
    %1 = scf.for %arg1 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg2 = %cst) -> (tensor<4xi16>)  : i32 {
      %2 = arith.subi %c3_i32, %arg1 : i32
      %3 = scf.for %arg3 = %2 to %c16_i32 step %c4_i32 iter_args(%arg4 = %arg2) -> (tensor<4xi16>)  : i32 {
        %4 = arith.addi %arg1, %c12_i32 : i32
        %5 = arith.floordivsi %4, %c4_i32 : i32
        %6 = arith.muli %5, %c4_i32 : i32
        %7 = arith.addi %2, %6 : i32
        %8 = arith.subi %arg3, %2 : i32
        %9 = arith.subi %7, %8 : i32
        %10 = arith.index_cast %9 : i32 to index
        %extracted_0 = tensor.extract %0[%c0, %10] : tensor<1x16xi16>
        %11 = arith.index_cast %2 : i32 to index
        %inserted = tensor.insert %extracted_0 into %arg4[%11] : tensor<4xi16>
        scf.yield %inserted : tensor<4xi16>
      }
      scf.yield %3 : tensor<4xi16>
    }
    return %1 : tensor<4xi16>
  }
}

