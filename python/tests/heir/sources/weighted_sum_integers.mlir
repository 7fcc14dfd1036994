// The inner product of two encrypted vectors of integers.
func.func @weighted_sum(%x: tensor<8xi16> {secret.secret}, %y: tensor<8xi16> {secret.secret}) -> i16 {
  %start = arith.constant dense<5> : tensor<i16>
  %0 = linalg.dot ins(%x, %y : tensor<8xi16>, tensor<8xi16>) outs(%start : tensor<i16>) -> tensor<i16>
  %1 = tensor.extract %0[] : tensor<i16>
  return %1 : i16
}
