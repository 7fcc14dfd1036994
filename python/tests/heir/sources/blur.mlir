// The sum of the nine neighbours of each pixel of a 4 x 4 image of integers, which repeats at its edges.
func.func @blur(%x: tensor<16xi16> {secret.secret}) -> tensor<16xi16> {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i16
  %out = tensor.empty() : tensor<16xi16>
  %r = affine.for %i = 0 to 4 iter_args(%a = %out) -> tensor<16xi16> {
    %q = affine.for %j = 0 to 4 iter_args(%b = %a) -> tensor<16xi16> {
      %s = affine.for %k = 0 to 3 iter_args(%t = %zero) -> i16 {
        %u = affine.for %l = 0 to 3 iter_args(%v = %t) -> i16 {
          %0 = arith.addi %i, %k : index
          %1 = arith.addi %0, %c3 : index
          %2 = arith.remui %1, %c4 : index
          %3 = arith.addi %j, %l : index
          %4 = arith.addi %3, %c3 : index
          %5 = arith.remui %4, %c4 : index
          %6 = arith.muli %2, %c4 : index
          %7 = arith.addi %6, %5 : index
          %8 = tensor.extract %x[%7] : tensor<16xi16>
          %9 = arith.addi %v, %8 : i16
          affine.yield %9 : i16
        }
        affine.yield %u : i16
      }
      %6 = arith.muli %i, %c4 : index
      %7 = arith.addi %6, %j : index
      %w = tensor.insert %s into %b[%7] : tensor<16xi16>
      affine.yield %w : tensor<16xi16>
    }
    affine.yield %q : tensor<16xi16>
  }
  return %r : tensor<16xi16>
}
