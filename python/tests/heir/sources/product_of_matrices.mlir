// The product of two encrypted matrices.
func.func @product_of_matrices(%x: tensor<3x4xf32> {secret.secret}, %y: tensor<4x5xf32> {secret.secret}) -> tensor<3x5xf32> {
  %start = arith.constant dense<0.0> : tensor<3x5xf32>
  %0 = linalg.matmul ins(%x, %y : tensor<3x4xf32>, tensor<4x5xf32>) outs(%start : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
