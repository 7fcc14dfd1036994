// The difference of two squares, entry by entry, of integers.
func.func @squares(%x: tensor<4xi16> {secret.secret}, %y: tensor<4xi16> {secret.secret}) -> tensor<4xi16> {
  %0 = arith.addi %x, %y : tensor<4xi16>
  %1 = arith.subi %x, %y : tensor<4xi16>
  %2 = arith.muli %0, %1 : tensor<4xi16>
  return %2 : tensor<4xi16>
}
