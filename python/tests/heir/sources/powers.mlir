// x^8 + x^4 + x^2 + y, entry by entry: sums of ciphertexts at different levels.
func.func @powers(%x: tensor<8xf32> {secret.secret}, %y: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %0 = arith.mulf %x, %x : tensor<8xf32>
  %1 = arith.mulf %0, %0 : tensor<8xf32>
  %2 = arith.mulf %1, %1 : tensor<8xf32>
  %3 = arith.addf %2, %y : tensor<8xf32>
  %4 = arith.addf %3, %0 : tensor<8xf32>
  %5 = arith.addf %4, %1 : tensor<8xf32>
  return %5 : tensor<8xf32>
}
