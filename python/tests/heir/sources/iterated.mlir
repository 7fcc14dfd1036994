// s -> s x - 1, four times, from s = 1.
func.func @iterated(%x: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %0 = affine.for %i = 0 to 4 iter_args(%s = %one) -> tensor<8xf32> {
    %1 = arith.mulf %x, %s : tensor<8xf32>
    %2 = arith.subf %1, %one : tensor<8xf32>
    affine.yield %2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
