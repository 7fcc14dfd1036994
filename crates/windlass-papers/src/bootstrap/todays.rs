//! What the presets are today, beside what records were measured with: a preset may have got other
//! primes since.

use std::collections::BTreeMap;

use windlass::Result;
use windlass::bootstrap::{BootstrapPreset, Mode, bootstrap_preset_names};

use super::figures::{Measured, Refresh};
use super::records::LeftOut;
use crate::moduli::moduli_in_words;

/// Whether a record is of a preset's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// The primes, the digits of keys and both secrets are those of the preset.
    Todays,
    /// Something of it has changed, or there is no such preset any more.
    Earlier,
    /// The record does not say its primes.
    Unsaid,
}

/// All that makes the chain of one preset.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Preset {
    ring: (u64, u64, u32),
    moduli: String,
    secret: String,
    weight: u32,
    encapsulation: String,
}

/// The chains of all presets that bootstrap.
#[derive(Debug)]
pub struct Presets(BTreeMap<&'static str, Preset>);

impl Presets {
    /// As the library has them now.
    ///
    /// # Errors
    /// None for presets of the library.
    pub fn todays() -> Result<Self> {
        let preset = |name| {
            let BootstrapPreset { params, spec } = BootstrapPreset::named(name, Mode::Thin)?;
            let preset = Preset {
                ring: (params.rlwe().m(), params.p(), params.r()),
                moduli: moduli_in_words(params.rlwe()),
                secret: params.rlwe().secret().to_string(),
                weight: spec.ephemeral_weight,
                encapsulation: spec.encapsulation.to_string(),
            };
            Ok((name, preset))
        };
        bootstrap_preset_names().map(preset).collect::<Result<_>>().map(Self)
    }

    /// Whether a record is of its preset's chain. What was asked for by name instead, a weight or a
    /// way to the ephemeral key, is held to that name; a formula of a paper brings its own weight.
    pub fn chain(&self, of: &Refresh) -> Chain {
        let Some((circuit, moduli)) = of.circuit.as_ref().and_then(|circuit| Some((circuit, of.moduli()?))) else {
            return Chain::Unsaid;
        };
        let Some(preset) = self.0.get(&*of.preset) else { return Chain::Earlier };
        let asked = &circuit.asked;
        let encapsulation = asked.encapsulation.as_ref().unwrap_or(&preset.encapsulation);
        let is_todays = (circuit.m, circuit.p, circuit.r) == preset.ring
            && moduli == preset.moduli
            && circuit.secret.as_ref().is_none_or(|secret| *secret == preset.secret)
            && (asked.formula.is_some() || circuit.ephemeral_weight == asked.weight.unwrap_or(preset.weight))
            && circuit.encapsulation.as_ref() == Some(encapsulation);
        if is_todays { Chain::Todays } else { Chain::Earlier }
    }

    /// What was measured of the presets as they are.
    pub fn of<'a>(&self, all: impl IntoIterator<Item = &'a Measured>) -> Vec<Measured> {
        all.into_iter().filter(|one| self.chain(&one.of) == Chain::Todays).cloned().collect()
    }

    /// Whether this was left out of the preset as it is.
    pub fn has(&self, left_out: &LeftOut) -> bool {
        self.0.get(&*left_out.place.preset).is_some_and(|preset| preset.moduli == left_out.moduli)
    }
}

/// The sizes of a preset's primes.
///
/// # Errors
/// A name that no preset has.
pub fn moduli(preset: &str) -> Result<String> {
    Ok(moduli_in_words(BootstrapPreset::named(preset, Mode::Thin)?.params.rlwe()))
}

#[cfg(test)]
mod tests {
    use super::super::records::Records;
    use super::*;

    /// One of a preset as it is now.
    fn of_today(presets: &Presets) -> Measured {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-bench/record/amd-epyc-zen3/bootstrap-2026-11-26.jsonl");
        let mut one = Records::read(&[path.into()]).unwrap().measured.swap_remove(0);
        let (preset, circuit) = (&presets.0[&*one.of.preset], one.of.circuit.as_mut().unwrap());
        (circuit.m, circuit.p, circuit.r) = preset.ring;
        (circuit.moduli, circuit.secret) = (Some(preset.moduli.clone()), Some(preset.secret.clone()));
        (circuit.ephemeral_weight, circuit.encapsulation) = (preset.weight, Some(preset.encapsulation.clone()));
        one
    }

    /// Every single difference counts, and a record that says nothing is not the preset's.
    #[test]
    fn a_record_of_another_chain_is_not_the_presets() {
        let presets = Presets::todays().unwrap();
        let changed = |change: fn(&mut Refresh)| {
            let mut one = of_today(&presets);
            change(&mut one.of);
            presets.chain(&one.of)
        };
        assert_eq!(changed(|_| ()), Chain::Todays);
        let changes: [fn(&mut Refresh); 8] = [
            |of| of.circuit.as_mut().unwrap().moduli = Some("Q 8x50, P 3x50, 3 digits".into()),
            |of| of.circuit.as_mut().unwrap().moduli.as_mut().unwrap().push('0'),
            |of| of.circuit.as_mut().unwrap().ephemeral_weight += 1,
            |of| of.circuit.as_mut().unwrap().secret = Some("a uniform ternary secret".into()),
            |of| of.circuit.as_mut().unwrap().encapsulation = Some("digits".into()),
            |of| of.circuit.as_mut().unwrap().asked.weight = Some(9),
            |of| of.circuit.as_mut().unwrap().p = 3,
            |of| of.preset = "paper_of_long_ago".into(),
        ];
        for change in changes {
            assert_eq!(changed(change), Chain::Earlier);
        }
        assert_eq!(changed(|of| of.circuit.as_mut().unwrap().moduli = None), Chain::Unsaid);
        assert_eq!(changed(|of| of.circuit = None), Chain::Unsaid);
        // What was asked for by name instead.
        let asked = |of: &mut Refresh| {
            let circuit = of.circuit.as_mut().unwrap();
            (circuit.ephemeral_weight, circuit.asked.weight) = (9, Some(9));
            (circuit.encapsulation, circuit.asked.encapsulation) = (Some("digits".into()), Some("digits".into()));
        };
        assert_eq!(changed(asked), Chain::Todays);
    }
}
