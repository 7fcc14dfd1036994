// An encrypted matrix times a public one.
func.func @matrix_product(%x: tensor<3x4xf32> {secret.secret}) -> tensor<3x4xf32> {
  %matrix = arith.constant dense<[[1.0, 0.0, 0.5, -1.0], [0.0, -1.0, 0.25, 0.5], [0.5, 0.5, 0.0, 0.0], [-0.25, 1.0, 0.0, 2.0]]> : tensor<4x4xf32>
  %start = arith.constant dense<0.0> : tensor<3x4xf32>
  %0 = linalg.matmul ins(%x, %matrix : tensor<3x4xf32>, tensor<4x4xf32>) outs(%start : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
