!Z35184339320833_i64 = !mod_arith.int<35184339320833 : i64>
!Z35184343908353_i64 = !mod_arith.int<35184343908353 : i64>
!Z35184345088001_i64 = !mod_arith.int<35184345088001 : i64>
!Z35184346267649_i64 = !mod_arith.int<35184346267649 : i64>
!Z35184350330881_i64 = !mod_arith.int<35184350330881 : i64>
!Z35184351772673_i64 = !mod_arith.int<35184351772673 : i64>
!Z35184353083393_i64 = !mod_arith.int<35184353083393 : i64>
!Z35184355704833_i64 = !mod_arith.int<35184355704833 : i64>
!Z35184358850561_i64 = !mod_arith.int<35184358850561 : i64>
!Z35184363569153_i64 = !mod_arith.int<35184363569153 : i64>
!Z35184365273089_i64 = !mod_arith.int<35184365273089 : i64>
!Z35184368025601_i64 = !mod_arith.int<35184368025601 : i64>
!Z35184372744193_i64 = !mod_arith.int<35184372744193 : i64>
!Z35184373006337_i64 = !mod_arith.int<35184373006337 : i64>
!Z35184376545281_i64 = !mod_arith.int<35184376545281 : i64>
!Z35184377331713_i64 = !mod_arith.int<35184377331713 : i64>
!Z35184378511361_i64 = !mod_arith.int<35184378511361 : i64>
!Z35184379035649_i64 = !mod_arith.int<35184379035649 : i64>
!Z35184380870657_i64 = !mod_arith.int<35184380870657 : i64>
!Z35184382967809_i64 = !mod_arith.int<35184382967809 : i64>
!Z35184383229953_i64 = !mod_arith.int<35184383229953 : i64>
!Z35184383754241_i64 = !mod_arith.int<35184383754241 : i64>
!Z35184385196033_i64 = !mod_arith.int<35184385196033 : i64>
!Z35184386899969_i64 = !mod_arith.int<35184386899969 : i64>
!Z35184388734977_i64 = !mod_arith.int<35184388734977 : i64>
!Z36028797014376449_i64 = !mod_arith.int<36028797014376449 : i64>
#inverse_canonical_encoding = #lwe.inverse_canonical_encoding<scaling_factor = 45>
#inverse_canonical_encoding1 = #lwe.inverse_canonical_encoding<scaling_factor = 90>
#key = #lwe.key<>
#layout = #tensor_ext.layout<"{ [i0] -> [ct, slot] : ct = 0 and (-i0 + slot) mod 8 = 0 and 0 <= i0 <= 7 and 0 <= slot <= 15 }">
#modulus_chain_L25_C0 = #lwe.modulus_chain<elements = <36028797014376449 : i64, 35184388734977 : i64, 35184339320833 : i64, 35184386899969 : i64, 35184343908353 : i64, 35184385196033 : i64, 35184345088001 : i64, 35184383754241 : i64, 35184346267649 : i64, 35184383229953 : i64, 35184350330881 : i64, 35184382967809 : i64, 35184351772673 : i64, 35184380870657 : i64, 35184353083393 : i64, 35184379035649 : i64, 35184355704833 : i64, 35184378511361 : i64, 35184358850561 : i64, 35184377331713 : i64, 35184363569153 : i64, 35184376545281 : i64, 35184365273089 : i64, 35184373006337 : i64, 35184368025601 : i64, 35184372744193 : i64>, current = 0>
#modulus_chain_L25_C1 = #lwe.modulus_chain<elements = <36028797014376449 : i64, 35184388734977 : i64, 35184339320833 : i64, 35184386899969 : i64, 35184343908353 : i64, 35184385196033 : i64, 35184345088001 : i64, 35184383754241 : i64, 35184346267649 : i64, 35184383229953 : i64, 35184350330881 : i64, 35184382967809 : i64, 35184351772673 : i64, 35184380870657 : i64, 35184353083393 : i64, 35184379035649 : i64, 35184355704833 : i64, 35184378511361 : i64, 35184358850561 : i64, 35184377331713 : i64, 35184363569153 : i64, 35184376545281 : i64, 35184365273089 : i64, 35184373006337 : i64, 35184368025601 : i64, 35184372744193 : i64>, current = 1>
#modulus_chain_L25_C2 = #lwe.modulus_chain<elements = <36028797014376449 : i64, 35184388734977 : i64, 35184339320833 : i64, 35184386899969 : i64, 35184343908353 : i64, 35184385196033 : i64, 35184345088001 : i64, 35184383754241 : i64, 35184346267649 : i64, 35184383229953 : i64, 35184350330881 : i64, 35184382967809 : i64, 35184351772673 : i64, 35184380870657 : i64, 35184353083393 : i64, 35184379035649 : i64, 35184355704833 : i64, 35184378511361 : i64, 35184358850561 : i64, 35184377331713 : i64, 35184363569153 : i64, 35184376545281 : i64, 35184365273089 : i64, 35184373006337 : i64, 35184368025601 : i64, 35184372744193 : i64>, current = 2>
#modulus_chain_L25_C24 = #lwe.modulus_chain<elements = <36028797014376449 : i64, 35184388734977 : i64, 35184339320833 : i64, 35184386899969 : i64, 35184343908353 : i64, 35184385196033 : i64, 35184345088001 : i64, 35184383754241 : i64, 35184346267649 : i64, 35184383229953 : i64, 35184350330881 : i64, 35184382967809 : i64, 35184351772673 : i64, 35184380870657 : i64, 35184353083393 : i64, 35184379035649 : i64, 35184355704833 : i64, 35184378511361 : i64, 35184358850561 : i64, 35184377331713 : i64, 35184363569153 : i64, 35184376545281 : i64, 35184365273089 : i64, 35184373006337 : i64, 35184368025601 : i64, 35184372744193 : i64>, current = 24>
#modulus_chain_L25_C25 = #lwe.modulus_chain<elements = <36028797014376449 : i64, 35184388734977 : i64, 35184339320833 : i64, 35184386899969 : i64, 35184343908353 : i64, 35184385196033 : i64, 35184345088001 : i64, 35184383754241 : i64, 35184346267649 : i64, 35184383229953 : i64, 35184350330881 : i64, 35184382967809 : i64, 35184351772673 : i64, 35184380870657 : i64, 35184353083393 : i64, 35184379035649 : i64, 35184355704833 : i64, 35184378511361 : i64, 35184358850561 : i64, 35184377331713 : i64, 35184363569153 : i64, 35184376545281 : i64, 35184365273089 : i64, 35184373006337 : i64, 35184368025601 : i64, 35184372744193 : i64>, current = 25>
#modulus_chain_L25_C3 = #lwe.modulus_chain<elements = <36028797014376449 : i64, 35184388734977 : i64, 35184339320833 : i64, 35184386899969 : i64, 35184343908353 : i64, 35184385196033 : i64, 35184345088001 : i64, 35184383754241 : i64, 35184346267649 : i64, 35184383229953 : i64, 35184350330881 : i64, 35184382967809 : i64, 35184351772673 : i64, 35184380870657 : i64, 35184353083393 : i64, 35184379035649 : i64, 35184355704833 : i64, 35184378511361 : i64, 35184358850561 : i64, 35184377331713 : i64, 35184363569153 : i64, 35184376545281 : i64, 35184365273089 : i64, 35184373006337 : i64, 35184368025601 : i64, 35184372744193 : i64>, current = 3>
#modulus_chain_L25_C4 = #lwe.modulus_chain<elements = <36028797014376449 : i64, 35184388734977 : i64, 35184339320833 : i64, 35184386899969 : i64, 35184343908353 : i64, 35184385196033 : i64, 35184345088001 : i64, 35184383754241 : i64, 35184346267649 : i64, 35184383229953 : i64, 35184350330881 : i64, 35184382967809 : i64, 35184351772673 : i64, 35184380870657 : i64, 35184353083393 : i64, 35184379035649 : i64, 35184355704833 : i64, 35184378511361 : i64, 35184358850561 : i64, 35184377331713 : i64, 35184363569153 : i64, 35184376545281 : i64, 35184365273089 : i64, 35184373006337 : i64, 35184368025601 : i64, 35184372744193 : i64>, current = 4>
#ring_f64_1_x65536 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**65536>>
!rns_L0 = !rns.rns<!Z36028797014376449_i64>
!rns_L1 = !rns.rns<!Z36028797014376449_i64, !Z35184388734977_i64>
!rns_L2 = !rns.rns<!Z36028797014376449_i64, !Z35184388734977_i64, !Z35184339320833_i64>
!rns_L24 = !rns.rns<!Z36028797014376449_i64, !Z35184388734977_i64, !Z35184339320833_i64, !Z35184386899969_i64, !Z35184343908353_i64, !Z35184385196033_i64, !Z35184345088001_i64, !Z35184383754241_i64, !Z35184346267649_i64, !Z35184383229953_i64, !Z35184350330881_i64, !Z35184382967809_i64, !Z35184351772673_i64, !Z35184380870657_i64, !Z35184353083393_i64, !Z35184379035649_i64, !Z35184355704833_i64, !Z35184378511361_i64, !Z35184358850561_i64, !Z35184377331713_i64, !Z35184363569153_i64, !Z35184376545281_i64, !Z35184365273089_i64, !Z35184373006337_i64, !Z35184368025601_i64>
!rns_L25 = !rns.rns<!Z36028797014376449_i64, !Z35184388734977_i64, !Z35184339320833_i64, !Z35184386899969_i64, !Z35184343908353_i64, !Z35184385196033_i64, !Z35184345088001_i64, !Z35184383754241_i64, !Z35184346267649_i64, !Z35184383229953_i64, !Z35184350330881_i64, !Z35184382967809_i64, !Z35184351772673_i64, !Z35184380870657_i64, !Z35184353083393_i64, !Z35184379035649_i64, !Z35184355704833_i64, !Z35184378511361_i64, !Z35184358850561_i64, !Z35184377331713_i64, !Z35184363569153_i64, !Z35184376545281_i64, !Z35184365273089_i64, !Z35184373006337_i64, !Z35184368025601_i64, !Z35184372744193_i64>
!rns_L3 = !rns.rns<!Z36028797014376449_i64, !Z35184388734977_i64, !Z35184339320833_i64, !Z35184386899969_i64>
!rns_L4 = !rns.rns<!Z36028797014376449_i64, !Z35184388734977_i64, !Z35184339320833_i64, !Z35184386899969_i64, !Z35184343908353_i64>
#original_type = #tensor_ext.original_type<originalType = tensor<8xf32>, layout = #layout>
!pt = !lwe.lwe_plaintext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>>
#ring_rns_L0_1_x65536 = #polynomial.ring<coefficientType = !rns_L0, polynomialModulus = <1 + x**65536>>
#ring_rns_L1_1_x65536 = #polynomial.ring<coefficientType = !rns_L1, polynomialModulus = <1 + x**65536>>
#ring_rns_L24_1_x65536 = #polynomial.ring<coefficientType = !rns_L24, polynomialModulus = <1 + x**65536>>
#ring_rns_L25_1_x65536 = #polynomial.ring<coefficientType = !rns_L25, polynomialModulus = <1 + x**65536>>
#ring_rns_L2_1_x65536 = #polynomial.ring<coefficientType = !rns_L2, polynomialModulus = <1 + x**65536>>
#ring_rns_L3_1_x65536 = #polynomial.ring<coefficientType = !rns_L3, polynomialModulus = <1 + x**65536>>
#ring_rns_L4_1_x65536 = #polynomial.ring<coefficientType = !rns_L4, polynomialModulus = <1 + x**65536>>
!pkey_L25 = !lwe.lwe_public_key<key = #key, ring = #ring_rns_L25_1_x65536>
!skey_L0 = !lwe.lwe_secret_key<key = #key, ring = #ring_rns_L0_1_x65536>
#ciphertext_space_L0 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x65536, encryption_type = mix>
#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x65536, encryption_type = mix>
#ciphertext_space_L1_D3 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x65536, encryption_type = mix, size = 3>
#ciphertext_space_L2 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x65536, encryption_type = mix>
#ciphertext_space_L24 = #lwe.ciphertext_space<ring = #ring_rns_L24_1_x65536, encryption_type = mix>
#ciphertext_space_L25 = #lwe.ciphertext_space<ring = #ring_rns_L25_1_x65536, encryption_type = mix>
#ciphertext_space_L2_D3 = #lwe.ciphertext_space<ring = #ring_rns_L2_1_x65536, encryption_type = mix, size = 3>
#ciphertext_space_L3 = #lwe.ciphertext_space<ring = #ring_rns_L3_1_x65536, encryption_type = mix>
#ciphertext_space_L3_D3 = #lwe.ciphertext_space<ring = #ring_rns_L3_1_x65536, encryption_type = mix, size = 3>
#ciphertext_space_L4 = #lwe.ciphertext_space<ring = #ring_rns_L4_1_x65536, encryption_type = mix>
!ct_L0 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L0, key = #key, modulus_chain = #modulus_chain_L25_C0>
!ct_L1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L25_C1>
!ct_L1_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1, key = #key, modulus_chain = #modulus_chain_L25_C1>
!ct_L1_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L1_D3, key = #key, modulus_chain = #modulus_chain_L25_C1>
!ct_L2 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L25_C2>
!ct_L2_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2, key = #key, modulus_chain = #modulus_chain_L25_C2>
!ct_L24 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L24, key = #key, modulus_chain = #modulus_chain_L25_C24>
!ct_L25 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L25, key = #key, modulus_chain = #modulus_chain_L25_C25>
!ct_L25_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L25, key = #key, modulus_chain = #modulus_chain_L25_C25>
!ct_L2_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L2_D3, key = #key, modulus_chain = #modulus_chain_L25_C2>
!ct_L3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L3, key = #key, modulus_chain = #modulus_chain_L25_C3>
!ct_L3_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L3, key = #key, modulus_chain = #modulus_chain_L25_C3>
!ct_L3_D3 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L3_D3, key = #key, modulus_chain = #modulus_chain_L25_C3>
!ct_L4 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding>, ciphertext_space = #ciphertext_space_L4, key = #key, modulus_chain = #modulus_chain_L25_C4>
!ct_L4_1 = !lwe.lwe_ciphertext<plaintext_space = <ring = #ring_f64_1_x65536, encoding = #inverse_canonical_encoding1>, ciphertext_space = #ciphertext_space_L4, key = #key, modulus_chain = #modulus_chain_L25_C4>
module attributes {backend.openfhe, ckks.schemeParam = #ckks.scheme_param<logN = 16, Q = [36028797014376449, 35184388734977, 35184339320833, 35184386899969, 35184343908353, 35184385196033, 35184345088001, 35184383754241, 35184346267649, 35184383229953, 35184350330881, 35184382967809, 35184351772673, 35184380870657, 35184353083393, 35184379035649, 35184355704833, 35184378511361, 35184358850561, 35184377331713, 35184363569153, 35184376545281, 35184365273089, 35184373006337, 35184368025601, 35184372744193], P = [1152921504614055937, 1152921504615628801, 1152921504616808449, 1152921504618381313, 1152921504620347393, 1152921504622575617, 1152921504625328129], logDefaultScale = 45>, scheme.actual_slot_count = 32768 : i64, scheme.ckks, scheme.requested_slot_count = 16 : i64} {
  func.func @iterated__preprocessing() -> !preprocessing.storage<!pt> attributes {heir.interface = {entry_arg_indices = array<i64>, func_name = "iterated", roles = ["server.preprocessing"]}} {
    %cst = arith.constant dense<1.000000e+00> : tensor<16xf32>
    %0 = preprocessing.empty : <!pt>
    %pt = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 25, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt, %0[] site 0<!pt> : !pt, <!pt>
    %pt_0 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 24, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_0, %0[] site 1<!pt> : !pt, <!pt>
    %pt_1 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 4, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_1, %0[] site 2<!pt> : !pt, <!pt>
    %pt_2 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 2, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_2, %0[] site 3<!pt> : !pt, <!pt>
    %pt_3 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 3, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_3, %0[] site 4<!pt> : !pt, <!pt>
    %pt_4 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 1, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_4, %0[] site 5<!pt> : !pt, <!pt>
    %pt_5 = lwe.rlwe_encode %cst <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 0, scale = 45> : tensor<16xf32> -> !pt
    preprocessing.store %pt_5, %0[] site 6<!pt> : !pt, <!pt>
    return %0 : !preprocessing.storage<!pt>
  }
  func.func @iterated__preprocessed(%arg0: tensor<1x!ct_L25> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, %arg1: !preprocessing.storage<!pt>) -> tensor<1x!ct_L0> attributes {heir.interface = {func_name = "iterated", roles = ["client.preprocessed", "server.evaluate"]}} {
    %c0 = arith.constant 0 : index
    %pt = preprocessing.load %arg1[] site 0<!pt> : <!pt>, !pt
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L25>
    %ct = ckks.mul_plain %extracted, %pt {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L25, !pt) -> !ct_L25_1
    %ct_0 = ckks.rescale %ct <to_ring = #ring_rns_L24_1_x65536> : !ct_L25_1 -> !ct_L24
    %pt_1 = preprocessing.load %arg1[] site 1<!pt> : <!pt>, !pt
    %ct_2 = ckks.sub_plain %ct_0, %pt_1 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L24, !pt) -> !ct_L24
    %ct_3 = ckks.level_reduce %ct_2 <levelToDrop = 24> : !ct_L24 -> !ct_L0
    %ct_4 = ckks.bootstrap %ct_3 : !ct_L0 -> !ct_L3
    %ct_5 = ckks.level_reduce %extracted <levelToDrop = 21> : !ct_L25 -> !ct_L4
    %pt_6 = preprocessing.load %arg1[] site 2<!pt> : <!pt>, !pt
    %ct_7 = ckks.mul_plain %ct_5, %pt_6 : (!ct_L4, !pt) -> !ct_L4_1
    %ct_8 = ckks.rescale %ct_7 <to_ring = #ring_rns_L3_1_x65536> : !ct_L4_1 -> !ct_L3
    %ct_9 = ckks.mul %ct_8, %ct_4 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L3, !ct_L3) -> !ct_L3_D3
    %ct_10 = ckks.relinearize %ct_9 <from_basis = [0, 1, 2], to_basis = [0, 1]> : (!ct_L3_D3) -> !ct_L3_1
    %ct_11 = ckks.rescale %ct_10 <to_ring = #ring_rns_L2_1_x65536> : !ct_L3_1 -> !ct_L2
    %pt_12 = preprocessing.load %arg1[] site 3<!pt> : <!pt>, !pt
    %ct_13 = ckks.sub_plain %ct_11, %pt_12 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L2, !pt) -> !ct_L2
    %ct_14 = ckks.level_reduce %extracted <levelToDrop = 22> : !ct_L25 -> !ct_L3
    %pt_15 = preprocessing.load %arg1[] site 4<!pt> : <!pt>, !pt
    %ct_16 = ckks.mul_plain %ct_14, %pt_15 : (!ct_L3, !pt) -> !ct_L3_1
    %ct_17 = ckks.rescale %ct_16 <to_ring = #ring_rns_L2_1_x65536> : !ct_L3_1 -> !ct_L2
    %ct_18 = ckks.mul %ct_17, %ct_13 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L2, !ct_L2) -> !ct_L2_D3
    %ct_19 = ckks.relinearize %ct_18 <from_basis = [0, 1, 2], to_basis = [0, 1]> : (!ct_L2_D3) -> !ct_L2_1
    %ct_20 = ckks.rescale %ct_19 <to_ring = #ring_rns_L1_1_x65536> : !ct_L2_1 -> !ct_L1
    %pt_21 = preprocessing.load %arg1[] site 5<!pt> : <!pt>, !pt
    %ct_22 = ckks.sub_plain %ct_20, %pt_21 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L1, !pt) -> !ct_L1
    %ct_23 = ckks.level_reduce %extracted <levelToDrop = 23> : !ct_L25 -> !ct_L2
    %ct_24 = ckks.mul_plain %ct_23, %pt_12 : (!ct_L2, !pt) -> !ct_L2_1
    %ct_25 = ckks.rescale %ct_24 <to_ring = #ring_rns_L1_1_x65536> : !ct_L2_1 -> !ct_L1
    %ct_26 = ckks.mul %ct_25, %ct_22 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L1, !ct_L1) -> !ct_L1_D3
    %ct_27 = ckks.relinearize %ct_26 <from_basis = [0, 1, 2], to_basis = [0, 1]> : (!ct_L1_D3) -> !ct_L1_1
    %ct_28 = ckks.rescale %ct_27 <to_ring = #ring_rns_L0_1_x65536> : !ct_L1_1 -> !ct_L0
    %pt_29 = preprocessing.load %arg1[] site 6<!pt> : <!pt>, !pt
    %0 = tensor.empty() : tensor<1x!ct_L0>
    %ct_30 = ckks.sub_plain %ct_28, %pt_29 {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L0, !pt) -> !ct_L0
    %inserted = tensor.insert %ct_30 into %0[%c0] : tensor<1x!ct_L0>
    return %inserted : tensor<1x!ct_L0>
  }
  func.func @iterated(%arg0: tensor<1x!ct_L25> {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}) -> (tensor<1x!ct_L0> {tensor_ext.original_type = #original_type}) attributes {heir.interface = {func_name = "iterated", input_types = [tensor<8xf32>], result_types = [tensor<8xf32>], roles = ["entry"]}} {
    %0 = call @iterated__preprocessing() : () -> !preprocessing.storage<!pt>
    %1 = call @iterated__preprocessed(%arg0, %0) : (tensor<1x!ct_L25>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>
    return %1 : tensor<1x!ct_L0>
  }
  func.func @iterated__encrypt__arg0(%arg0: tensor<8xf32>, %pk: !pkey_L25) -> tensor<1x!ct_L25> attributes {heir.interface = {func_name = "iterated", index = 0 : i64, roles = ["client.encrypt"]}} {
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
    %pt = lwe.rlwe_encode %extracted_slice <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536, level = 25, scale = 45> : tensor<16xf32> -> !pt
    %ct = lwe.rlwe_encrypt %pt, %pk : (!pt, !pkey_L25) -> !ct_L25
    %from_elements = tensor.from_elements %ct : tensor<1x!ct_L25>
    return %from_elements : tensor<1x!ct_L25>
  }
  func.func @iterated__decrypt__result0(%arg0: tensor<1x!ct_L0>, %sk: !skey_L0) -> tensor<8xf32> attributes {heir.interface = {func_name = "iterated", index = 0 : i64, roles = ["client.decrypt"]}} {
    %c0 = arith.constant 0 : index
    %c16_i32 = arith.constant 16 : i32
    %c8_i32 = arith.constant 8 : i32
    %c1_i32 = arith.constant 1 : i32
    %c7_i32 = arith.constant 7 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<8xf32>
    %extracted = tensor.extract %arg0[%c0] : tensor<1x!ct_L0>
    %pt = lwe.rlwe_decrypt %extracted, %sk : (!ct_L0, !skey_L0) -> !pt
    %0 = lwe.rlwe_decode %pt <encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536> : !pt -> tensor<1x16xf32>
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

