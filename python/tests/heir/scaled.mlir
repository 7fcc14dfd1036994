!Z1073750017_i32 = !mod_arith.int<1073750017 : i32>
!Z65537_i64 = !mod_arith.int<65537 : i64>
!Z67239937_i32 = !mod_arith.int<67239937 : i32>
#full_crt_packing_encoding = #lwe.full_crt_packing_encoding<scaling_factor = 1>
#full_crt_packing_encoding1 = #lwe.full_crt_packing_encoding<scaling_factor = 58256>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [] -> [ct, slot] : ct = 0 and 0 <= slot <= 15 }">
#modulus_chain_L1_C0 = #lwe.modulus_chain<elements = <67239937 : i32, 1073750017 : i32>, current = 0>
#modulus_chain_L1_C1 = #lwe.modulus_chain<elements = <67239937 : i32, 1073750017 : i32>, current = 1>
!rns_L0 = !rns.rns<!Z67239937_i32>
!rns_L1 = !rns.rns<!Z67239937_i32, !Z1073750017_i32>
#original_type = #tensor_ext.original_type<originalType = i16, layout = #layout>
#ring_Z65537_i64_1_x4096 = #polynomial.ring<coefficientType = !Z65537_i64, polynomialModulus = <1 + x**4096>>
#ring_rns_L0_1_x4096 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**4096>>
#ring_rns_L1_1_x4096 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**4096>>
!pkey_L1 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L1_1_x4096>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_Z65537_i64_1_x4096, encoding = #full_crt_packing_encoding>>
!pt1 = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_Z65537_i64_1_x4096, encoding = #full_crt_packing_encoding1>>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x4096>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x4096, encryption_type = lsb>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x4096, encryption_type = lsb>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_Z65537_i64_1_x4096, encoding = #full_crt_packing_encoding1>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L1_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_Z65537_i64_1_x4096, encoding = #full_crt_packing_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L1_C1>
module attributes {backend.lattigo, bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [67239937, 1073750017], P = [1073815553], plaintextModulus = 65537, encryptionTechnique = extended>, scheme.actual_slot_count = 4096 : i64, scheme.bgv, scheme.requested_slot_count = 16 : i64} {
  func.func @scaled__preprocessing(%arg0: i16, %arg1: i16) -> !preprocessing.storage<!pt> attributes {heir.interface = {entry_arg_indices = array<i64: 2, 1>, func_name = "scaled", roles = ["server.preprocessing"]}} {
    %0 = preprocessing.empty : <!pt>
    %splat = tensor.splat %arg1 : tensor<16xi16>
    %pt = lwe.rlwe_encode %splat <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x4096, level = 1, scale = 1> : tensor<16xi16> -> !pt
    preprocessing.store %pt, %0[] site 0<!pt> : !pt, <!pt>
    %splat_0 = tensor.splat %arg0 : tensor<16xi16>
    %pt_1 = lwe.rlwe_encode %splat_0 <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x4096, level = 1, scale = 1> : tensor<16xi16> -> !pt
    preprocessing.store %pt_1, %0[] site 1<!pt> : !pt, <!pt>
    return %0 : !preprocessing.storage<!pt>
  }
  func.func @scaled__preprocessed(%arg0: tensor<1x!ct_L1> {tensor_ext.original_type = #original_type}, %arg1: i16, %arg2: i16, %arg3: !preprocessing.storage<!pt>) -> tensor<1x!ct_L0> attributes {heir.interface = {func_name = "scaled", roles = ["client.preprocessed", "server.evaluate"]}} {
    %c0 = arith.constant 0 : index
    %pt = preprocessing.load %arg3[] site 0<!pt> : <!pt>, !pt
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L1>
    %ct = bgv.mul_plain %extracted, %pt : (!ct_L1, !pt) -> !ct_L1
    %pt_0 = preprocessing.load %arg3[] site 1<!pt> : <!pt>, !pt
    %ct_1 = bgv.add_plain %ct, %pt_0 : (!ct_L1, !pt) -> !ct_L1
    %0 = tensor.empty() : tensor<1x!ct_L0>
    %ct_2 = bgv.modulus_switch %ct_1 <to_ring = #ring_rns_L0_1_x4096> : !ct_L1 -> !ct_L0
    %inserted = tensor.insert %ct_2 into %0[%c0] : tensor<1x!ct_L0>
    return %inserted : tensor<1x!ct_L0>
  }
  func.func @scaled(%arg0: tensor<1x!ct_L1> {tensor_ext.original_type = #original_type}, %arg1: i16, %arg2: i16) -> (tensor<1x!ct_L0> {tensor_ext.original_type = #original_type}) attributes {heir.interface = {func_name = "scaled", input_types = [i16, i16, i16], result_types = [i16], roles = ["entry"]}} {
    %0 = call @scaled__preprocessing(%arg2, %arg1) : (i16, i16) -> !preprocessing.storage<!pt>
    %1 = call @scaled__preprocessed(%arg0, %arg1, %arg2, %0) : (tensor<1x!ct_L1>, i16, i16, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>
    return %1 : tensor<1x!ct_L0>
  }
  func.func @scaled__encrypt__arg0(%arg0: i16, %pk: !pkey_L1) -> tensor<1x!ct_L1> attributes {heir.interface = {func_name = "scaled", index = 0 : i64, roles = ["client.encrypt"]}} {
    %splat = tensor.splat %arg0 : tensor<16xi16>
    %pt = lwe.rlwe_encode %splat <encoding = #full_crt_packing_encoding, ring = #ring_Z65537_i64_1_x4096, level = 1, scale = 1> : tensor<16xi16> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L1) -> !ct_L1
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L1>
    return %from_elements : tensor<1x!ct_L1>
  }
  func.func @scaled__decrypt__result0(%arg0: tensor<1x!ct_L0>, %sk: !skey_L0) -> i16 attributes {heir.interface = {func_name = "scaled", index = 0 : i64, roles = ["client.decrypt"]}} {
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L0>
    %pt = lwe.rlwe_decrypt %extracted, %sk : (!ct_L0, !skey_L0) -> !pt1
    %0 = lwe.rlwe_decode %pt <encoding = #full_crt_packing_encoding1, ring = #ring_Z65537_i64_1_x4096> : !pt1 -> tensor<1x16xi16>
    %extracted_0 = tensor.extract %0[%c0, %c0] : tensor<1x16xi16>
    return %extracted_0 : i16
  }
}

