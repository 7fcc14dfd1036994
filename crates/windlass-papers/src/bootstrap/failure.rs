//! The probability that the bound of the front end fails, for recorded circuits: by the formula of
//! today, since older records hold what was asked for.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use windlass::bootstrap::{BootstrapPreset, BootstrapSpec, DecryptionFormula, Mode};

use super::appendix_a::published;
use super::circuit::Asked;
use super::figures::Refresh;
use crate::halevi_shoup_2015::NearPrimePower;
use crate::names;

/// Nothing is said of a bound that fails with this probability or less.
const NEGLIGIBLE_BITS: f64 = 128.0;

/// Preset, front end, parameters of Appendix A, and weight of the ephemeral key if that was asked for.
type Place = (String, String, Option<String>, Option<u32>);

/// What was found, for a page asks for each preset often.
static FOUND: LazyLock<Mutex<HashMap<Place, Option<f64>>>> = LazyLock::new(Mutex::default);

/// −log2 of the probability; of a set that is no preset any more, what was recorded.
pub fn bits(record: &Refresh) -> f64 {
    let asked = record.asked();
    let place = (record.preset.clone(), asked.front_end.clone(), asked.formula.clone(), asked.weight);
    let mut found = FOUND.lock().expect("nobody panics while it is held");
    found.entry(place).or_insert_with(|| today(&record.preset, &asked)).unwrap_or(record.failure_bits)
}

/// In words, rounded to the safe side, unless it is negligible.
pub fn words(record: &Refresh) -> Option<String> {
    let bits = bits(record);
    (bits < NEGLIGIBLE_BITS).then(|| format!("fails with 2^−{:.1}", (10.0 * bits).floor() / 10.0))
}

/// By the specification of a preset with what was asked for; `None` for other sets and parameters
/// that are not the published ones.
fn today(preset: &str, asked: &Asked) -> Option<f64> {
    let BootstrapPreset { params, spec } = BootstrapPreset::named(preset, Mode::Thin).ok()?;
    let modulus = (params.p(), params.r());
    let spec = match &asked.formula {
        None => BootstrapSpec {
            front_end: names::front_end(&asked.front_end).ok()?,
            ephemeral_weight: asked.weight.unwrap_or(spec.ephemeral_weight),
            ..spec
        },
        Some(_) => {
            let (found, weight) = published(params.m(), modulus).ok()?;
            let front_end = NearPrimePower::spec(found).front_end;
            BootstrapSpec { front_end, ephemeral_weight: weight, ..spec }
        }
    };
    let same = asked.formula.is_none() || Asked::of(&spec, (None, None)).formula == asked.formula;
    let formula = DecryptionFormula::new(params.rlwe().shape(), modulus, &spec).ok()?;
    same.then_some(formula.failure_bits)
}

#[cfg(test)]
mod tests {
    use super::super::records::Records;
    use super::*;

    /// The parameters of 2015 promise little for p = 2, and the planner's own circuits what was
    /// asked for.
    #[test]
    fn published_parameters_have_their_own_probability() {
        let all = Records::committed();
        let of = |preset: &str, published: bool| {
            let is_it = |one: &&super::super::figures::Measured| {
                one.of.preset == preset && one.of.asked().formula.is_some() == published
            };
            let one = all.measured.iter().find(is_it).unwrap_or_else(|| panic!("{preset}"));
            (bits(&one.of).round(), words(&one.of))
        };
        for (preset, rounded) in [("paper_hs15_18631", 19.0), ("paper_hs15_21845", 2.0)] {
            let (bits, words) = of(preset, true);
            assert!(bits == rounded && words.is_some_and(|words| words.starts_with("fails with 2^−")), "{bits}");
            assert_eq!(of(preset, false), (128.0, None));
        }
        // Every row with published parameters is told from one whose bound holds.
        let published = all.measured.iter().filter(|one| one.of.asked().formula.is_some());
        assert!(published.clone().count() >= 9 && published.map(|one| bits(&one.of)).all(|bits| bits != 128.0));
        // A set that no preset has keeps what was recorded.
        let mut other = all.measured[0].of.clone();
        (other.preset, other.failure_bits) = ("a set of one's own".into(), 77.0);
        assert_eq!(bits(&other), 77.0);
    }
}
