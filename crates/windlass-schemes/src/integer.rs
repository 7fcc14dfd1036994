//! Integers in any primitive type, reduced modulo p^r.

use windlass_ring::slots::PrimePower;
use windlass_rlwe::Number;

/// A primitive integer. Functions that take integers accept any of these types, including negative
/// numbers, and reduce them modulo the plaintext modulus p^r. Results are residues in [0, p^r) as
/// `u64`.
pub trait Integer: Copy + Send + Sync + 'static {
    /// The residue in [0, p^r).
    fn residue(self, modulus: PrimePower) -> u64;

    /// The integer as an index; `None` if it is negative or too large.
    fn index(self) -> Option<usize>;

    /// The integer itself, for comparison with bounds and for messages.
    fn whole(self) -> Number;
}

macro_rules! integers {
    ($method:ident as $wide:ty: $($type:ty)*) => {
        $(impl Integer for $type {
            fn residue(self, modulus: PrimePower) -> u64 {
                modulus.$method(self as $wide)
            }

            fn index(self) -> Option<usize> {
                usize::try_from(self).ok()
            }

            fn whole(self) -> Number {
                Number::from(self as $wide)
            }
        })*
    };
}

integers!(reduce as u64: u8 u16 u32 u64 usize);
integers!(reduce_i64 as i64: i8 i16 i32 i64 isize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_means_the_same_residue() {
        let modulus = PrimePower::new(257, 2).unwrap();
        assert_eq!([7u8.residue(modulus), 7i8.residue(modulus), 7usize.residue(modulus)], [7; 3]);
        assert_eq!((-1i32).residue(modulus), 257 * 257 - 1);
        assert_eq!(i64::MIN.residue(modulus), (i128::from(i64::MIN)).rem_euclid(257 * 257) as u64);
        assert_eq!(((-1i32).index(), 5u8.index(), u64::MAX.index()), (None, Some(5), usize::try_from(u64::MAX).ok()));
        assert_eq!(u64::MAX.residue(modulus), u64::MAX % (257 * 257));
    }
}
