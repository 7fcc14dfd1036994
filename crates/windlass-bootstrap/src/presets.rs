//! Named bootstrapping parameters.

use windlass_ring::kernels::Modulus;
use windlass_rlwe::{Assurance, RlweSpec, SecurityEstimate};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::names::unknown;
use windlass_schemes::params::{Ephemeral, Params, preset_ephemeral, preset_names};
use windlass_schemes::schemes::Scheme;

use super::bootstrap_plan::BootstrapPlan;
use super::encapsulation::InputModulus;
use super::formula::DecryptionFormula;
use super::safety;
use super::spec::{BootstrapSpec, Mode};

/// Parameters with the way to bootstrap under them.
#[derive(Debug, Clone)]
pub struct BootstrapPreset {
    /// The parameters.
    pub params: Params,
    /// How to bootstrap.
    pub spec: BootstrapSpec,
}

/// The weight of the ephemeral secret of sets that do not say one: the largest whose digits a
/// polynomial of degree 61 and depth 6 removes in powers of two.
pub const PLANNED_WEIGHT: u32 = 30;

/// The weight of the ephemeral secret in a paper's set that states none: for Halevi–Shoup the
/// largest up to their 56 that takes no more digits than 24 does, as their bound is heuristic and
/// ours holds at 2^−128; for powers of two 30, the largest weight whose digits a polynomial of
/// degree 61 and depth 6 removes.
fn paper_weight(name: &str, preset: &Params) -> Result<u32> {
    if !name.starts_with("paper_hs") {
        return Ok(30);
    }
    let removed = |weight: u32| {
        let spec = BootstrapSpec { ephemeral_weight: weight, ..BootstrapSpec::default() };
        DecryptionFormula::new(preset.rlwe().shape(), (preset.p(), preset.r()), &spec).map(|formula| formula.removed)
    };
    let least = removed(24)?;
    Ok((24..=56).rev().find(|&weight| removed(weight).is_ok_and(|digits| digits == least)).unwrap_or(24))
}

/// The names of all presets that are made for bootstrapping: our own, and the papers' parameter
/// sets.
pub fn bootstrap_preset_names() -> impl Iterator<Item = &'static str> {
    preset_names().filter(|name| preset_ephemeral(name).is_some() || name.starts_with("paper_"))
}

impl BootstrapPreset {
    /// A preset by name, or the set in a `.json` file ([`Params::named_or_file`]); a paper's set is
    /// bootstrapped in thin mode unless `mode` says otherwise.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::UnknownName`], which lists the names; [`windlass_schemes::Error::Unplannable`] for a
    /// preset that cannot bootstrap; those of reading a file.
    pub fn named(name: &str, mode: Mode) -> Result<Self> {
        let is_file = Params::is_file_name(name);
        let cannot = preset_names().any(|known| known == name) && !bootstrap_preset_names().any(|known| known == name);
        if cannot {
            let strategy = format!("a bootstrapping under the parameters '{name}'");
            let reason = "their modulus chain is too short for it; use a preset whose name begins with boot".to_owned();
            return Err(Error::Unplannable { strategy, reason });
        }
        if !is_file && !bootstrap_preset_names().any(|known| known == name) {
            return Err(unknown(bootstrap_preset_names(), name, "parameter preset"));
        }
        let params = Params::named_or_file(name, Scheme::Bgv)?;
        if is_file || params.ephemeral().is_some() {
            return Ok(Self::of_params(params, mode));
        }
        let weight = paper_weight(name, &params)?;
        Ok(Self::of_params(params.with_ephemeral(Ephemeral::by_special_primes(weight)), mode))
    }

    /// A custom set. If it was not made for bootstrapping, it gets an ephemeral secret of weight
    /// [`PLANNED_WEIGHT`] (weight n in smaller rings), with special primes.
    pub fn of_params(params: Params, mode: Mode) -> Self {
        let weight = PLANNED_WEIGHT.min(params.rlwe().n() as u32);
        let ephemeral = params.ephemeral().unwrap_or(Ephemeral::by_special_primes(weight));
        let spec = BootstrapSpec { mode, ..BootstrapSpec::under(ephemeral) };
        Self { params: params.with_ephemeral(ephemeral), spec }
    }

    /// log2 of the modulus that the switching key of the ephemeral secret lives under, and λ of it,
    /// as of every plan of this preset; nothing is planned.
    ///
    /// # Errors
    /// [`super::BootstrapError::EphemeralWeight`], [`super::BootstrapError::ChainTooShort`] as of
    /// [`BootstrapPlan::new`].
    pub fn ephemeral_key(&self) -> Result<(f64, SecurityEstimate)> {
        let rlwe = self.params.rlwe();
        let formula = DecryptionFormula::new(rlwe.shape(), (self.params.p(), self.params.r()), &self.spec)?;
        let input = InputModulus::choose(rlwe, &formula, &self.spec)?;
        Ok((input.log2_modulus(rlwe), safety::ephemeral_security(rlwe, &input, &self.spec)))
    }

    /// The parameters and the way of a plan, as a set that can be saved ([`Params::to_json`]). Its
    /// name says m, p and r.
    ///
    /// # Errors
    /// None for a plan whose primes are the largest of their sizes, as [`RlweSpec`] chooses them.
    pub fn of_plan(plan: &BootstrapPlan) -> Result<Self> {
        let (rlwe, formula) = (plan.params(), plan.formula());
        let (m, p, r) = (rlwe.m(), formula.prime, formula.message_exponent);
        let mark = match rlwe.assurance() {
            Assurance::Secure => "",
            Assurance::Insecure { .. } => "insecure_",
            Assurance::Paper { .. } => "paper_",
        };
        let sizes = |primes: &[Modulus]| primes.iter().map(|q| q.value().ilog2() + 1).collect();
        let set = RlweSpec {
            m,
            q_prime_bits: sizes(&rlwe.q_primes()[rlwe.spare()..]),
            spare_prime_bits: sizes(&rlwe.q_primes()[..rlwe.spare()]),
            special_prime_bits: sizes(rlwe.special_primes()),
            digits: rlwe.digits(),
            secret: rlwe.secret(),
            assurance: rlwe.assurance().clone(),
        };
        let params = Params::new(&format!("{mark}boot_m{m}_p{p}_r{r}"), Scheme::Bgv, (p, r), None, set)?;
        let spec = plan.spec().clone();
        Ok(Self { params: params.with_ephemeral(spec.ephemeral()), spec })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use windlass_schemes::error::BootstrapError;

    #[test]
    fn every_preset_has_parameters() {
        for name in bootstrap_preset_names() {
            let preset = BootstrapPreset::named(name, Mode::Thin).unwrap();
            let formula = DecryptionFormula::new(
                preset.params.rlwe().shape(),
                (preset.params.p(), preset.params.r()),
                &preset.spec,
            );
            let formula = formula.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(formula.removed >= 1 && formula.exponent == preset.params.r() + formula.removed, "{name}");
            let secure = !name.starts_with("insecure") && !name.starts_with("paper");
            assert!(!secure || preset.params.rlwe().security().bits >= 128.0, "{name}");
            let input = InputModulus::choose(preset.params.rlwe(), &formula, &preset.spec).unwrap();
            let (size, ephemeral) = preset.ephemeral_key().unwrap();
            let bits = ephemeral.bits;
            assert!(!secure || bits >= 128.0, "{name}: {bits}");
            // Published: 130 to 134 bits, without rotations of the ring.
            assert!(!name.starts_with("paper_ma24") || bits >= 123.0, "{name}: {bits} bits at {size}");
            let main = preset.params.rlwe().security().bits;
            assert!(!name.starts_with("paper_ch18") || bits >= main, "{name}: {bits} bits, main key {main}");
            let accepted = safety::check(preset.params.rlwe(), &input, &formula, &preset.spec);
            assert!(accepted.is_ok(), "{name}: {accepted:?}");
            assert_eq!(*preset.params.rlwe().assurance() == Assurance::Secure, secure, "{name}");
        }
        let weight = |name| BootstrapPreset::named(name, Mode::Thin).unwrap().spec.ephemeral_weight;
        assert_eq!([weight("paper_ma24_set2_p8191"), weight("boot_m28679_p2")], [24, 28]);
        assert!(matches!(BootstrapPreset::named("paper_none", Mode::Thin), Err(Error::UnknownName { .. })));
        let refused = BootstrapPreset::named("demo", Mode::Thin).unwrap_err().to_string();
        assert!(refused.contains("'demo' cannot be planned here: their modulus chain is too short"), "{refused}");
    }

    /// The set in a file of this text.
    fn saved(params: &Params, mode: Mode) -> BootstrapPreset {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("set.json");
        std::fs::write(&path, params.to_json()).unwrap();
        BootstrapPreset::named(path.to_str().unwrap(), mode).unwrap()
    }

    #[test]
    fn saved_presets_bootstrap_in_the_same_way() {
        for name in bootstrap_preset_names() {
            let preset = BootstrapPreset::named(name, Mode::Packed).unwrap();
            let back = saved(&preset.params, Mode::Packed);
            assert_eq!((&back.spec, back.params.id()), (&preset.spec, preset.params.id()), "{name}");
        }
    }

    #[test]
    fn saved_plans_make_the_same_circuit() {
        let toy = Params::preset("insecure_boot_105", Scheme::Bgv).unwrap();
        let plan = |params: &Params, spec| BootstrapPlan::new(params.rlwe(), (params.p(), params.r()), spec).unwrap();
        let plans =
            [Ephemeral::by_special_primes(6), Ephemeral::in_digits(6), Ephemeral::in_digits(5)].map(|ephemeral| {
                let own = plan(&toy, BootstrapSpec::under(ephemeral));
                let back = saved(&BootstrapPreset::of_plan(&own).unwrap().params, Mode::Thin);
                let again = plan(&back.params, back.spec);
                assert_eq!(
                    (again.explain(), again.input(), again.params().id()),
                    (own.explain(), own.input(), own.params().id())
                );
                own.input().pairs()
            });
        assert!(plans[0] == 1 && plans[1] > 1 && plans[2] > 1, "{plans:?}");
    }

    /// Weights that a preset refuses: none and more than n under any parameters, too few bits under
    /// secure ones.
    #[test]
    fn ephemeral_keys_that_are_too_weak_are_refused() {
        let plan = |name, weight| {
            let preset = BootstrapPreset::named(name, Mode::Thin).unwrap();
            let spec = BootstrapSpec { ephemeral_weight: weight, ..preset.spec };
            match BootstrapPlan::new(preset.params.rlwe(), (preset.params.p(), preset.params.r()), spec) {
                Ok(_) => None,
                Err(Error::Bootstrap(error)) => Some(error),
                Err(other) => panic!("{name}, weight {weight}: {other}"),
            }
        };
        assert_eq!(plan("insecure_boot_105", 0), Some(BootstrapError::EphemeralWeight { weight: 0, n: 48 }));
        assert_eq!(plan("insecure_boot_105", 49), Some(BootstrapError::EphemeralWeight { weight: 49, n: 48 }));
        assert_eq!(plan("boot_n32768_p257", 0), Some(BootstrapError::EphemeralWeight { weight: 0, n: 32768 }));
        assert_eq!(plan("insecure_boot_105", 6), None);
        for small in [1, 8, 20] {
            let error = plan("boot_n32768_p257", small).unwrap();
            let BootstrapError::EphemeralKeyTooWeak { weight, log2_qp, security } = error else { panic!("{error}") };
            assert!(weight == small && security.bits < 128.0 && log2_qp > 49.0 && log2_qp < 200.0, "{error}");
            let text = error.to_string();
            assert!(text.contains("larger BootstrapSpec::ephemeral_weight") && text.contains("Insecure"), "{text}");
        }
    }
}
