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
"builtin.module"() ({
  "func.func"() <{function_type = () -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>, sym_name = "layer__preprocessing"}> ({
    %53 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<16xf32>}> : () -> tensor<16xf32>
    %54 = "arith.constant"() <{value = dense<[[5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00, 5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00, 5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00, 5.000000e-01, 7.500000e-01, -2.500000e-01, 1.000000e+00], [-1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01, -1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01, -1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01, -1.000000e+00, 0.000000e+00, 5.000000e-01, -5.000000e-01], [2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01, 2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01, 2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01, 2.500000e-01, -5.000000e-01, 1.000000e+00, 5.000000e-01], [0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e-01]]> : tensor<4x16xf32>}> : () -> tensor<4x16xf32>
    %55 = "arith.constant"() <{value = dense<[1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00, 1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00, 1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00, 1.250000e-01, -2.500000e-01, 0.000000e+00, 1.000000e+00]> : tensor<16xf32>}> : () -> tensor<16xf32>
    %56 = "preprocessing.empty"() : () -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
    %57 = "kernel.prepare_linear_transform"(%54) <{diagonal_indices = array<i64: 0, 1, 2, 3>}> : (tensor<4x16xf32>) -> !kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>
    "preprocessing.store"(%57, %56) <{element_type = !kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, site_id = 0 : i32}> : (!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> ()
    %58 = "lwe.rlwe_encode"(%55) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%58, %56) <{element_type = !pt, site_id = 1 : i32}> : (!pt, !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> ()
    %59 = "lwe.rlwe_encode"(%53) <{encoding = #inverse_canonical_encoding, level = 1 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    "preprocessing.store"(%59, %56) <{element_type = !pt, site_id = 2 : i32}> : (!pt, !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> ()
    "func.return"(%56) : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> ()
  }) {heir.interface = {entry_arg_indices = array<i64>, func_name = "layer", roles = ["server.preprocessing"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}, tensor_ext.original_type = #original_type}, {}], function_type = (tensor<1x!ct_L2>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> tensor<1x!ct_L0>, sym_name = "layer__preprocessed"}> ({
  ^bb0(%arg13: tensor<1x!ct_L2>, %arg14: !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>):
    %42 = "arith.constant"() <{value = 0 : index}> : () -> index
    %43 = "preprocessing.load"(%arg14) <{element_type = !kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, site_id = 0 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> !kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>
    %44 = "tensor.extract"(%arg13, %42) : (tensor<1x!ct_L2>, index) -> !ct_L2
    %45 = "kernel.apply_linear_transform"(%44, %43) <{diagonal_indices = array<i64: 0, 1, 2, 3>, diagonal_width = 16 : i64}> : (!ct_L2, !kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>) -> !ct_L1
    %46 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 1 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> !pt
    %47 = "ckks.add_plain"(%45, %46) : (!ct_L1, !pt) -> !ct_L1
    %48 = "preprocessing.load"(%arg14) <{element_type = !pt, site_id = 2 : i32}> : (!preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> !pt
    %49 = "ckks.mul_plain"(%47, %48) : (!ct_L1, !pt) -> !ct_L1_1
    %50 = "tensor.empty"() : () -> tensor<1x!ct_L0>
    %51 = "ckks.rescale"(%49) <{to_ring = #ring_rns_L0_1_x16384}> : (!ct_L1_1) -> !ct_L0
    %52 = "tensor.insert"(%51, %50, %42) : (!ct_L0, tensor<1x!ct_L0>, index) -> tensor<1x!ct_L0>
    "func.return"(%52) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "layer", roles = ["client.preprocessed", "server.evaluate"]}} : () -> ()
  "func.func"() <{arg_attrs = [{heir.kernel_info = {gap_factor = 1 : i64, result_shape = array<i64: 4>}, tensor_ext.original_type = #original_type}], function_type = (tensor<1x!ct_L2>) -> tensor<1x!ct_L0>, res_attrs = [{tensor_ext.original_type = #original_type}], sym_name = "layer"}> ({
  ^bb0(%arg12: tensor<1x!ct_L2>):
    %40 = "func.call"() <{callee = @layer__preprocessing}> : () -> !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>
    %41 = "func.call"(%arg12, %40) <{callee = @layer__preprocessed}> : (tensor<1x!ct_L2>, !preprocessing.storage<!kernel.prepared_linear_transform<level = 2, slots = 16, log_bsgs_ratio = 0>, !pt>) -> tensor<1x!ct_L0>
    "func.return"(%41) : (tensor<1x!ct_L0>) -> ()
  }) {heir.interface = {func_name = "layer", input_types = [tensor<4xf32>], result_types = [tensor<4xf32>], roles = ["entry"]}} : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>, !pkey_L2) -> tensor<1x!ct_L2>, sym_name = "layer__encrypt__arg0"}> ({
  ^bb0(%arg6: tensor<4xf32>, %arg7: !pkey_L2):
    %24 = "arith.constant"() <{value = 0 : index}> : () -> index
    %25 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %26 = "arith.constant"() <{value = 4 : i32}> : () -> i32
    %27 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<1x16xf32>}> : () -> tensor<1x16xf32>
    %28 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %29 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %30 = "scf.for"(%28, %26, %29, %27) ({
    ^bb0(%arg8: i32, %arg9: tensor<1x16xf32>):
      %35 = "scf.for"(%arg8, %25, %26, %arg9) ({
      ^bb0(%arg10: i32, %arg11: tensor<1x16xf32>):
        %36 = "arith.index_cast"(%arg8) : (i32) -> index
        %37 = "tensor.extract"(%arg6, %36) : (tensor<4xf32>, index) -> f32
        %38 = "arith.index_cast"(%arg10) : (i32) -> index
        %39 = "tensor.insert"(%37, %arg11, %24, %38) : (f32, tensor<1x16xf32>, index, index) -> tensor<1x16xf32>
        "scf.yield"(%39) : (tensor<1x16xf32>) -> ()
      }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
      "scf.yield"(%35) : (tensor<1x16xf32>) -> ()
    }) : (i32, i32, i32, tensor<1x16xf32>) -> tensor<1x16xf32>
    %31 = "tensor.extract_slice"(%30) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1, 16>, static_strides = array<i64: 1, 1>}> : (tensor<1x16xf32>) -> tensor<16xf32>
    %32 = "lwe.rlwe_encode"(%31) <{encoding = #inverse_canonical_encoding, level = 2 : i64, ring = #ring_f64_1_x16384, scale = 45 : i64}> : (tensor<16xf32>) -> !pt
    %33 = "lwe.rlwe_encrypt"(%32, %arg7) : (!pt, !pkey_L2) -> !ct_L2
    %34 = "tensor.from_elements"(%33) : (!ct_L2) -> tensor<1x!ct_L2>
    "func.return"(%34) : (tensor<1x!ct_L2>) -> ()
  }) {heir.interface = {func_name = "layer", index = 0 : i64, roles = ["client.encrypt"]}} : () -> ()
  "func.func"() <{function_type = (tensor<1x!ct_L0>, !skey_L0) -> tensor<4xf32>, sym_name = "layer__decrypt__result0"}> ({
  ^bb0(%arg0: tensor<1x!ct_L0>, %arg1: !skey_L0):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 16 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 4 : i32}> : () -> i32
    %3 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    %4 = "arith.constant"() <{value = 3 : i32}> : () -> i32
    %5 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %6 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<4xf32>}> : () -> tensor<4xf32>
    %7 = "arith.constant"() <{value = 12 : i32}> : () -> i32
    %8 = "tensor.extract"(%arg0, %0) : (tensor<1x!ct_L0>, index) -> !ct_L0
    %9 = "lwe.rlwe_decrypt"(%8, %arg1) : (!ct_L0, !skey_L0) -> !pt
    %10 = "lwe.rlwe_decode"(%9) <{encoding = #inverse_canonical_encoding, ring = #ring_f64_1_x16384}> : (!pt) -> tensor<1x16xf32>
    %11 = "scf.for"(%5, %2, %3, %6) ({
    ^bb0(%arg2: i32, %arg3: tensor<4xf32>):
      %12 = "arith.subi"(%4, %arg2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %13 = "scf.for"(%12, %1, %2, %arg3) ({
      ^bb0(%arg4: i32, %arg5: tensor<4xf32>):
        %14 = "arith.addi"(%arg2, %7) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %15 = "arith.floordivsi"(%14, %2) : (i32, i32) -> i32
        %16 = "arith.muli"(%15, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %17 = "arith.addi"(%12, %16) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %18 = "arith.subi"(%arg4, %12) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %19 = "arith.subi"(%17, %18) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
        %20 = "arith.index_cast"(%19) : (i32) -> index
        %21 = "tensor.extract"(%10, %0, %20) : (tensor<1x16xf32>, index, index) -> f32
        %22 = "arith.index_cast"(%12) : (i32) -> index
        %23 = "tensor.insert"(%21, %arg5, %22) : (f32, tensor<4xf32>, index) -> tensor<4xf32>
        "scf.yield"(%23) : (tensor<4xf32>) -> ()
      }) : (i32, i32, i32, tensor<4xf32>) -> tensor<4xf32>
      "scf.yield"(%13) : (tensor<4xf32>) -> ()
    }) : (i32, i32, i32, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%11) : (tensor<4xf32>) -> ()
  }) {heir.interface = {func_name = "layer", index = 0 : i64, roles = ["client.decrypt"]}} : () -> ()
}) {backend.lattigo, ckks.schemeParam = #ckks.scheme_param<logN = 14, Q = [36028797017456641, 35184371138561, 35184372121601], P = [1152921504607338497, 1152921504608747521], logDefaultScale = 45, encryptionTechnique = extended>, scheme.actual_slot_count = 8192 : i64, scheme.ckks, scheme.requested_slot_count = 16 : i64} : () -> ()

