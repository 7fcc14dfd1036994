//! The available transforms, by name.

use std::fmt;
use std::str::FromStr;

use windlass_schemes::error::{BootstrapError, Error, Result};
use windlass_schemes::names::named;

use super::bruun::Bruun;
use super::radix2::Radix2;
use super::tensor::CompositeTensor;
use super::transform::SlotTransform;

/// How the transform between slots and coefficients is split into elementary stages.
#[derive(Clone, Copy, Default)]
pub struct Transform {
    transform: Option<&'static dyn SlotTransform>,
    is_own: bool,
}

impl Transform {
    /// The least price of what the ring has.
    pub const AUTOMATIC: Self = Self { transform: None, is_own: false };
    /// Composite m: one stage for each factor (Halevi–Shoup 2015, §4), of a power of two one for
    /// each four doublings.
    pub const TENSOR: Self = Self::published(&CompositeTensor);
    /// Powers of two: binomials split over Z_{p^r}, or over its extension of degree 2 where p ≡ 3
    /// mod 4; three diagonals a stage.
    pub const RADIX2: Self = Self::published(&Radix2);
    /// Powers of two and p ≡ 3 mod 4: trinomials split over Z_{p^r}; six or seven diagonals a
    /// stage, and in packed mode d constants to unpack, not d².
    pub const BRUUN: Self = Self::published(&Bruun);

    /// All of them.
    pub const ALL: [Self; 4] = [Self::AUTOMATIC, Self::TENSOR, Self::RADIX2, Self::BRUUN];

    const fn published(transform: &'static dyn SlotTransform) -> Self {
        Self { transform: Some(transform), is_own: false }
    }

    /// One of your own.
    pub const fn own(transform: &'static dyn SlotTransform) -> Self {
        Self { transform: Some(transform), is_own: true }
    }

    /// Whether it is not a published one, so that its maps must be checked.
    pub(crate) fn is_own(self) -> bool {
        self.is_own
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.transform.map_or("automatic", |transform| transform.name())
    }

    /// Where it was published; nothing for [`Self::AUTOMATIC`].
    pub fn citation(self) -> &'static str {
        self.transform.map_or("", |transform| transform.citation())
    }

    /// What it leaves to choose among.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`] for a transform that m and p do not have.
    pub(crate) fn choices(self, m: u64, p: u64) -> Result<Vec<&'static dyn SlotTransform>> {
        let Some(transform) = self.transform else {
            let all = Self::ALL.iter().filter_map(|one| one.transform);
            return Ok(all.filter(|transform| transform.refusal(m, p).is_none()).collect());
        };
        let Some(needs) = transform.refusal(m, p) else { return Ok(vec![transform]) };
        let name = transform.name();
        let what = format!("{name} stages need {needs}, but m = {m} and p = {p}; use Transform::AUTOMATIC");
        Err(BootstrapError::Unsupported { what }.into())
    }
}

/// By name.
impl PartialEq for Transform {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Transform {}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transform({})", self.name())
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Transform {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&Self::ALL.map(|transform| (transform.name(), transform)), text, "transform")
    }
}
