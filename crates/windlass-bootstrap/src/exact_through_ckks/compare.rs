//! Compares the two ways of refreshing exact ciphertexts by their price.

use std::fmt;

use super::plan::ExactRefreshPlan;
use crate::BootstrapPlan;

/// A way of refreshing BGV and BFV ciphertexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// The digits of the error are removed ([`BootstrapPlan`]).
    DigitRemoval,
    /// The error is read by a refresh of CKKS ([`ExactRefreshPlan`]).
    ThroughCkks,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DigitRemoval => "digit removal",
            Self::ThroughCkks => "through CKKS",
        })
    }
}

/// What a refresh costs and what it is good for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RefreshCost {
    /// The price of a refresh in butterflies: transforms of one row times n/2·log2 n. Transforms over
    /// rings whose m is no power of two take about three times as long as that.
    pub butterflies: f64,
    /// Products in sequence between two refreshes.
    pub products: u32,
    /// The integers that a ciphertext holds: its slots, or its coefficients where there are no slots.
    pub integers: usize,
    /// Whether the integers lie in slots, so that products are taken integer by integer. Products of
    /// coefficients are those of polynomials.
    pub in_slots: bool,
}

impl RefreshCost {
    /// That of a refresh through CKKS.
    pub fn of(plan: &ExactRefreshPlan) -> Self {
        let ring = plan.slot_ring();
        Self {
            butterflies: butterflies(plan.price(), plan.spec().refresh.n),
            products: plan.depth_between(),
            integers: if ring.has_slots() { ring.slots() } else { ring.n() },
            in_slots: ring.has_slots(),
        }
    }

    /// Butterflies for each product of each integer; infinite if no product fits between two refreshes.
    pub fn for_a_product(&self) -> f64 {
        self.butterflies / (f64::from(self.products) * self.integers as f64)
    }
}

/// The costs of both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// By digit removal.
    pub digit_removal: RefreshCost,
    /// Through CKKS.
    pub through_ckks: RefreshCost,
}

impl Comparison {
    /// The way that takes less for a product of an integer; `None` if one way multiplies slots and the other
    /// polynomials, which no price makes equal.
    pub fn cheaper(&self) -> Option<Way> {
        let (digits, ckks) = (&self.digit_removal, &self.through_ckks);
        let cheaper = if ckks.for_a_product() < digits.for_a_product() { Way::ThroughCkks } else { Way::DigitRemoval };
        (digits.in_slots == ckks.in_slots).then_some(cheaper)
    }
}

/// The costs of a digit removal and of a refresh through CKKS, whatever their rings: for products of as
/// many integers as a ciphertext holds, refreshed as rarely as each allows.
pub fn compare(digits: &BootstrapPlan, through_ckks: &ExactRefreshPlan) -> Comparison {
    Comparison {
        digit_removal: RefreshCost {
            butterflies: butterflies(digits.price(), digits.params().n()),
            products: digits.depth_between(),
            integers: digits.message_ring().slots(),
            in_slots: true,
        },
        through_ckks: RefreshCost::of(through_ckks),
    }
}

/// Transforms of a row of n coefficients, in butterflies.
fn butterflies(price: f64, n: usize) -> f64 {
    price * n as f64 / 2.0 * (n as f64).log2()
}
