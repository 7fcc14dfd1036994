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
"builtin.module"() ({
  "func.func"() <{function_type = () -> !preprocessing.storage<!pt>, sym_name = "iterated__preprocessing"}> ({
    %78 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<16xf32>}> : () -> tensor<16xf32>
    %79 = "preprocessing.empty"() : () -> !preprocessing.storage<!pt>
    %80 = "lwe.rlwe_encode"(%78) <{encoding = #inverse_canonical_encoding, level = 25 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%80, %79) <{element_type = !pt, site_id = 0 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %81 = "lwe.rlwe_encode"(%78) <{encoding = #inverse_canonical_encoding, level = 24 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%81, %79) <{element_type = !pt, site_id = 1 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %82 = "lwe.rlwe_encode"(%78) <{encoding = #inverse_canonical_encoding, level = 4 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%82, %79) <{element_type = !pt, site_id = 2 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %83 = "lwe.rlwe_encode"(%78) <{encoding = #inverse_canonical_encoding, level = 2 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%83, %79) <{element_type = !pt, site_id = 3 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %84 = "lwe.rlwe_encode"(%78) <{encoding = #inverse_canonical_encoding, level = 3 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%84, %79) <{element_type = !pt, site_id = 4 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %85 = "lwe.rlwe_encode"(%78) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%85, %79) <{element_type = !pt, site_id = 5 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    %86 = "lwe.rlwe_encode"(%78) <{encoding = #inverse_canonical_encoding, level = 0 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%86, %79) <{element_type = !pt, site_id = 6 : i32}> : (!pt, !preprocessing.storage<!pt>) -> ()
    "func.return"(%79) : (!preprocessing.storage<!pt>) -> ()
  }) {heir.interface = {entry_arg_indices = array<i64>, func_name = "iterated", roles = ["server.preprocessing"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}, {}], function_type = (tensor<1x!ct_L25>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>, sym_name = "iterated__preprocessed"}> ({
  ^bb0(%arg13: tensor<1x!ct_L25>, %arg14: !preprocessing.storage<!pt>):
    %41 = "arith.constant"() <{value = 0 : index}> : () -> index
    %42 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 0 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %43 = "tensor.extract"(%arg13, %41) : (tensor<1x!ct_L25>, index) -> !ct_L25
    %44 = "ckks.mul_plain"(%43, %42) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L25, !pt) -> !ct_L25_1
    %45 = "ckks.rescale"(%44) <{to_ring = #ring_rns_L24_1_x65536}> : (!ct_L25_1) -> !ct_L24
    %46 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 1 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %47 = "ckks.sub_plain"(%45, %46) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L24, !pt) -> !ct_L24
    %48 = "ckks.level_reduce"(%47) <{levelToDrop = 24 : i64}> : (!ct_L24) -> !ct_L0
    %49 = "ckks.bootstrap"(%48) : (!ct_L0) -> !ct_L3
    %50 = "ckks.level_reduce"(%43) <{levelToDrop = 21 : i64}> : (!ct_L25) -> !ct_L4
    %51 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 2 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %52 = "ckks.mul_plain"(%50, %51) : (!ct_L4, !pt) -> !ct_L4_1
    %53 = "ckks.rescale"(%52) <{to_ring = #ring_rns_L3_1_x65536}> : (!ct_L4_1) -> !ct_L3
    %54 = "ckks.mul"(%53, %49) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L3, !ct_L3) -> !ct_L3_D3
    %55 = "ckks.relinearize"(%54) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L3_D3) -> !ct_L3_1
    %56 = "ckks.rescale"(%55) <{to_ring = #ring_rns_L2_1_x65536}> : (!ct_L3_1) -> !ct_L2
    %57 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 3 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %58 = "ckks.sub_plain"(%56, %57) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L2, !pt) -> !ct_L2
    %59 = "ckks.level_reduce"(%43) <{levelToDrop = 22 : i64}> : (!ct_L25) -> !ct_L3
    %60 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 4 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %61 = "ckks.mul_plain"(%59, %60) : (!ct_L3, !pt) -> !ct_L3_1
    %62 = "ckks.rescale"(%61) <{to_ring = #ring_rns_L2_1_x65536}> : (!ct_L3_1) -> !ct_L2
    %63 = "ckks.mul"(%62, %58) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L2, !ct_L2) -> !ct_L2_D3
    %64 = "ckks.relinearize"(%63) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L2_D3) -> !ct_L2_1
    %65 = "ckks.rescale"(%64) <{to_ring = #ring_rns_L1_1_x65536}> : (!ct_L2_1) -> !ct_L1
    %66 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 5 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %67 = "ckks.sub_plain"(%65, %66) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L1, !pt) -> !ct_L1
    %68 = "ckks.level_reduce"(%43) <{levelToDrop = 23 : i64}> : (!ct_L25) -> !ct_L2
    %69 = "ckks.mul_plain"(%68, %57) : (!ct_L2, !pt) -> !ct_L2_1
    %70 = "ckks.rescale"(%69) <{to_ring = #ring_rns_L1_1_x65536}> : (!ct_L2_1) -> !ct_L1
    %71 = "ckks.mul"(%70, %67) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L1, !ct_L1) -> !ct_L1_D3
    %72 = "ckks.relinearize"(%71) <{from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>}> : (!ct_L1_D3) -> !ct_L1_1
    %73 = "ckks.rescale"(%72) <{to_ring = #ring_rns_L0_1_x65536}> : (!ct_L1_1) -> !ct_L0
    %74 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 6 : i32}> : (!preprocessing.storage<!pt>) -> !pt
    %75 = "tensor.empty"() : () -> tensor<1x!ct_L0>
    %76 = "ckks.sub_plain"(%73, %74) {heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}} : (!ct_L0, !pt) -> !ct_L0
    %77 = "tensor.insert"(%76, %75, %41) : (!ct_L0, tensor<1x!ct_L0>, index) -> tensor<1x!ct_L0>
    "func.return"(%77) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "iterated", roles = ["client.preprocessed", "server.evaluate"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 8>}, tensor_ext.original_type = #original_type}], function_type = (tensor<1x!ct_L25>) -> tensor<1x!ct_L0>, res_attrs = [{tensor_ext.original_type = #original_type}], sym_name = "iterated"}> ({
  ^bb0(%arg12: tensor<1x!ct_L25>):
    %39 = "func.call"() <{callee = @iterated__preprocessing}> : () -> !preprocessing.storage<!pt>
    %40 = "func.call"(%arg12, %39) <{callee = @iterated__preprocessed}> : (tensor<1x!ct_L25>, !preprocessing.storage<!pt>) -> tensor<1x!ct_L0>
    "func.return"(%40) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "iterated", input_types = [tensor<8xf32>], result_types = [tensor<8xf32>], roles = ["entry"]}} : () -> ()
  "func.func"() <{function_type = (tensor<8xf32>, !pkey_L25) -> tensor<1x!ct_L25>, sym_name = "iterated__encrypt__arg0"}> ({
  ^bb0(%arg6: tensor<8xf32>, %arg7: !pkey_L25):
    %23 = "arith.constant"() <{value = 0 : index}> : () -> index
    %24 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %25 = "arith.constant"() <{value = 8 : i32}> : () -> i32
    %26 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x16xf32>}> : () -> tensor<1x16xf32>
    %27 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %28 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %29 = "scf.for"(%27, %25, %28, %26) ({
    ^bb0(%arg8: i32, %arg9: tensor<1x16xf32>):
      %34 = "scf.for"(%arg8, %24, %25, %arg9) ({
      ^bb0(%arg10: i32, %arg11: tensor<1x16xf32>):
        %35 = "arith.index_cast"(%arg8) : (i32) -> index
        %36 = "tensor.extract"(%arg6, %35) : (tensor<8xf32>, index) -> f32
        %37 = "arith.index_cast"(%arg10) : (i32) -> index
        %38 = "tensor.insert"(%36, %arg11, %23, %37) : (f32, tensor<1x16xf32>, index, index) -> tensor<1x16xf32>
        "scf.yield"(%38) : (tensor<1x16xf32>) -> ()
      }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
      "scf.yield"(%34) : (tensor<1x16xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
    %30 = "tensor.extract_slice"(%29) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 16>, static_strides = array<i64: 1, 1>}> : (tensor<1x16xf32>) -> tensor<16xf32>
    %31 = "lwe.rlwe_encode"(%30) <{encoding = #inverse_canonical_encoding, level = 25 : i64, ring = #ring_f64_1_x65536, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    %32 = "lwe.rlwe_encrypt"(%31, %arg7) : (!pt, !pkey_L25) -> !ct_L25
    %33 = "tensor.from_elements"(%32) : (!ct_L25) -> tensor<1x!ct_L25>
    "func.return"(%33) : (tensor<1x!ct_L25>) -> ()
  }) {heir.interface = {func_name = "iterated", index = 0 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<1x!ct_L0>, !skey_L0) -> tensor<8xf32>, sym_name = "iterated__decrypt__result0"}> ({
  ^bb0(%arg0: tensor<1x!ct_L0>, %arg1: !skey_L0):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 8 : i32}> : () -> i32
    %3 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %4 = "arith.constant"() <{value = 7 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %6 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<8xf32>}> : () -> tensor<8xf32>
    %7 = "tensor.extract"(%arg0, %0) : (tensor<1x!ct_L0>, index) -> !ct_L0
    %8 = "lwe.rlwe_decrypt"(%7, %arg1) : (!ct_L0, !skey_L0) -> !pt
    %9 = "lwe.rlwe_decode"(%8) <{encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x65536}> : (!pt) -> tensor<1x16xf32>
    %10 = "scf.for"(%5, %2, %3, %6) ({
    ^bb0(%arg2: i32, %arg3: tensor<8xf32>):
      %11 = "arith.subi"(%4, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %12 = "scf.for"(%11, %1, %2, %arg3) ({
      ^bb0(%arg4: i32, %arg5: tensor<8xf32>):
        %13 = "arith.addi"(%arg2, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %14 = "arith.floordivsi"(%13, %2) : (i32, i32) -> i32
        %15 = "arith.muli"(%14, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %16 = "arith.addi"(%11, %15) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %17 = "arith.subi"(%arg4, %11) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %18 = "arith.subi"(%16, %17) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %19 = "arith.index_cast"(%18) : (i32) -> index
        %20 = "tensor.extract"(%9, %0, %19) : (tensor<1x16xf32>, index, index) -> f32
        %21 = "arith.index_cast"(%11) : (i32) -> index
        %22 = "tensor.insert"(%20, %arg5, %21) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
        "scf.yield"(%22) : (tensor<8xf32>) -> ()
      }) : (i32, i32, i32, tensor<8xf32>) -> tensor<8xf32>
      "scf.yield"(%12) : (tensor<8xf32>) -> ()
    }) : (i32, i32, i32, tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%10) : (tensor<8xf32>) -> ()
  }) {heir.interface = {func_name = "iterated", index = 0 : i64, roles = ["client.decrypt"]}} : () -> ()
}) {backend.openfhe, ckks.schemeParam = #ckks.scheme_param<logN = 16, Q = [36028797014376449, 35184388734977, 35184339320833, 35184386899969, 35184343908353, 35184385196033, 35184345088001, 35184383754241, 35184346267649, 35184383229953, 35184350330881, 35184382967809, 35184351772673, 35184380870657, 35184353083393, 35184379035649, 35184355704833, 35184378511361, 35184358850561, 35184377331713, 35184363569153, 35184376545281, 35184365273089, 35184373006337, 35184368025601, 35184372744193], P = [1152921504614055937, 1152921504615628801, 1152921504616808449, 1152921504618381313, 1152921504620347393, 1152921504622575617, 1152921504625328129], logDefaultScale = 45>, scheme.actual_slot_count = 32768 : i64, scheme.ckks, scheme.requested_slot_count = 16 : i64} : () -> ()

