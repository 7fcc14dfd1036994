use windlass_ring::kernels::Isa;

use super::*;
use crate::circuits::{DigitRemoval, DigitSpec, LocalNull, Method, RootProducts};
use crate::params::Params;
use crate::schemes::Scheme;

/// Fewer products for one digit of two, and the bits of as many levels, from the floor of a level.
#[test]
fn products_over_roots_leave_what_polynomials_leave() {
    for (name, level) in [("paper_ma24_set2_p8191", 21), ("boot_n32768_p257", 13)] {
        let params = Params::preset(name, Scheme::Bgv).unwrap();
        let slots = Arc::new(SlotRing::new(params.m(), params.p(), 2, Isa::best()).unwrap());
        let left = |method| {
            let forecast = Forecast::new(params.rlwe(), &slots);
            let spec = DigitSpec { bound: Some(12), method, ..DigitSpec::new(params.p(), 2, 1) };
            let removal = DigitRemoval::new(spec).unwrap();
            let result = removal.apply(&forecast, &forecast.floor(level, 2)).unwrap();
            (removal.products(), forecast.capacity(&forecast.reduce(&result)))
        };
        let (polynomial, roots) = (left(Method::Of(&LocalNull)), left(Method::Of(&RootProducts)));
        assert_eq!((polynomial.0, roots.0), (14, 10), "{name}");
        assert!(roots.1 > polynomial.1 - 3.0, "{name}: {:.1} and {:.1} bits", roots.1, polynomial.1);
    }
}
