// The sum of encrypted integers.
func.func @total(%x: tensor<16xi16> {secret.secret}) -> i16 {
  %zero = arith.constant 0 : i16
  %0 = affine.for %i = 0 to 16 iter_args(%s = %zero) -> i16 {
    %1 = tensor.extract %x[%i] : tensor<16xi16>
    %2 = arith.addi %s, %1 : i16
    affine.yield %2 : i16
  }
  return %0 : i16
}
