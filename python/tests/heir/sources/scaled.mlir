// An encrypted number times a public one, plus another.
func.func @scaled(%x: i16 {secret.secret}, %a: i16, %b: i16) -> i16 {
  %0 = arith.muli %x, %a : i16
  %1 = arith.addi %0, %b : i16
  return %1 : i16
}
