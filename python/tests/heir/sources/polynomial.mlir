// x^3 - 2 x + 1, entry by entry.
func.func @polynomial(%x: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %0 = arith.mulf %x, %x : tensor<8xf32>
  %1 = arith.mulf %0, %x : tensor<8xf32>
  %2 = arith.mulf %x, %two : tensor<8xf32>
  %3 = arith.subf %1, %2 : tensor<8xf32>
  %4 = arith.addf %3, %one : tensor<8xf32>
  return %4 : tensor<8xf32>
}
