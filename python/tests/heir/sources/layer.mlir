// A public matrix times an encrypted vector, and a bias.
func.func @layer(%x: tensor<4xf32> {secret.secret}) -> tensor<4xf32> {
  %matrix = arith.constant dense<[[0.5, -1.0, 0.25, 0.0], [0.0, 0.75, 0.0, -0.5], [1.0, 0.0, -0.25, 0.5], [-0.5, 0.5, 0.5, 1.0]]> : tensor<4x4xf32>
  %bias = arith.constant dense<[0.125, -0.25, 0.0, 1.0]> : tensor<4xf32>
  %0 = linalg.matvec ins(%matrix, %x : tensor<4x4xf32>, tensor<4xf32>) outs(%bias : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
