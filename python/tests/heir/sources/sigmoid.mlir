// The logistic function, entry by entry, on the interval from -4 to 4.
func.func @sigmoid(%x: tensor<8xf32> {secret.secret}) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %0 = arith.negf %x : tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  %2 = arith.addf %1, %one : tensor<8xf32>
  %3 = arith.divf %one, %2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
