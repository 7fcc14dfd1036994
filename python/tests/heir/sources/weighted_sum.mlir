// The inner product of two encrypted vectors, and a constant.
func.func @weighted_sum(%x: tensor<8xf32> {secret.secret}, %y: tensor<8xf32> {secret.secret}) -> f32 {
  %start = arith.constant dense<2.5e-01> : tensor<f32>
  %0 = linalg.dot ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%start : tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  return %1 : f32
}
