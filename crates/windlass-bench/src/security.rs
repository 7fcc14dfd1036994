//! `windlass-bench security`: every key that Windlass states a λ for, with the λ that it states.

use std::error::Error;

use serde::Serialize;
use windlass::bootstrap::{BootstrapPreset, Mode, bootstrap_preset_names};
use windlass::params::preset_names;
use windlass::rlwe::{RlweParams, SecretDistribution, SecurityEstimate, security};
use windlass::{Params, Scheme};
use windlass_retrieval::Moduli;

/// Where a key occurs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// The secret key of a preset.
    Main,
    /// The ephemeral key of a preset's bootstrapping.
    Ephemeral,
    /// Tables of any size.
    Retrieval,
    /// A point of the tables in `crates/windlass-rlwe/data`, at the limits of which parameters are planned.
    Table,
}

/// An LWE instance and what is said of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Key {
    kind: Kind,
    /// The preset, the moduli or the table.
    name: String,
    /// The ring dimension φ(m).
    n: usize,
    /// log2 of the largest modulus.
    log2_qp: f64,
    /// The Hamming weight of the secret; 0: uniform ternary.
    weight: u32,
    /// The standard deviation of errors.
    sigma: f64,
    /// λ.
    stated: f64,
}

impl Key {
    fn new(
        kind: Kind,
        name: &str,
        n: usize,
        log2_qp: f64,
        secret: SecretDistribution,
        estimate: SecurityEstimate,
    ) -> Self {
        let weight = match secret {
            SecretDistribution::Sparse { weight } => weight,
            // Of several parties' secrets one is unknown.
            SecretDistribution::Ternary | SecretDistribution::Collective { .. } => 0,
        };
        Self { kind, name: name.into(), n, log2_qp, weight, sigma: RlweParams::SIGMA, stated: estimate.bits }
    }

    fn of_set(kind: Kind, name: &str, set: &RlweParams) -> Self {
        Self::new(kind, name, set.n(), set.log2_qp(), set.secret(), set.security())
    }
}

/// Prints a line of JSON for each key.
pub fn run() -> Result<(), Box<dyn Error>> {
    for key in stated()? {
        println!("{}", serde_json::to_string(&key)?);
    }
    Ok(())
}

fn stated() -> Result<Vec<Key>, Box<dyn Error>> {
    let mut keys = Vec::new();
    for name in preset_names() {
        keys.push(Key::of_set(Kind::Main, name, Params::preset(name, Scheme::Bgv)?.rlwe()));
    }
    for name in bootstrap_preset_names() {
        let preset = BootstrapPreset::named(name, Mode::Thin)?;
        let secret = SecretDistribution::Sparse { weight: preset.spec.ephemeral_weight };
        let (log2_qp, estimate) = preset.ephemeral_key()?;
        keys.push(Key::new(Kind::Ephemeral, name, preset.params.rlwe().n(), log2_qp, secret, estimate));
    }
    for moduli in Moduli::ALL {
        let name = format!("{moduli:?}").to_lowercase();
        keys.push(Key::of_set(Kind::Retrieval, &name, &moduli.params()?));
    }
    for (n, log2_qp, secret) in security::table_points() {
        let name = match secret {
            SecretDistribution::Sparse { .. } => "sparse",
            _ => "ternary",
        };
        keys.push(Key::new(Kind::Table, name, n, log2_qp, secret, security::security_bits(n, log2_qp, secret)?));
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of the lattice estimator (data/security/rerun.py).
    const RUNS: &str = include_str!("../../../data/security/estimator_runs.csv");

    /// λ by the estimator of one LWE instance.
    struct Run<'a> {
        instance: [&'a str; 4],
        bits: f64,
    }

    fn runs() -> Vec<Run<'static>> {
        let mut lines = RUNS.lines();
        let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
        let place = |name| names.iter().position(|&other| other == name).expect("a column of that name");
        let instance = ["n", "log2_qp", "weight", "sigma"].map(place);
        let bits = place("lambda");
        let run = |line: &'static str| {
            let cells: Vec<&str> = line.split(',').collect();
            Run { instance: instance.map(|column| cells[column]), bits: cells[bits].parse().expect("a number") }
        };
        lines.map(run).collect()
    }

    /// As rerun.py writes it: of one modulus two runs are the same.
    fn instance(key: &Key) -> [String; 4] {
        [key.n.to_string(), format!("{:.4}", key.log2_qp), key.weight.to_string(), key.sigma.to_string()]
    }

    /// Weights of before rotations of the ring were counted: what was saved with them says λ of today.
    #[test]
    fn ephemeral_keys_of_older_presets_say_their_lambda_of_today() {
        for (name, weight, least, most) in [
            ("boot_n32768_p257", 24, 128.0, 128.1),
            ("boot_n32768_p127", 24, 128.0, 128.1),
            ("boot_n65536_p65537", 24, 127.4, 127.6),
            ("boot_n65536_p65537", 26, 135.0, 136.0),
        ] {
            let mut preset = BootstrapPreset::named(name, Mode::Thin).unwrap();
            preset.spec.ephemeral_weight = weight;
            let bits = preset.ephemeral_key().unwrap().1.bits;
            assert!(bits >= least && bits < most, "{name}, weight {weight}: {bits}");
        }
    }

    /// A new preset that is called secure needs a run for its main key and for its ephemeral one, and
    /// so does each point of the ternary table; nothing that was run is stated to be more.
    #[test]
    fn secure_presets_were_put_to_the_estimator_and_nothing_is_overstated() {
        let runs = runs();
        let mut secure = 0;
        for key in stated().unwrap() {
            let named = ["insecure", "paper"].iter().any(|prefix| key.name.starts_with(prefix));
            let needed = if key.kind == Kind::Table { key.name == "ternary" } else { !named };
            let wanted = instance(&key);
            let Some(run) = runs.iter().find(|run| wanted.iter().zip(run.instance).all(|(a, b)| a == b)) else {
                assert!(!needed, "{key:?} was not put to the estimator: run make estimates");
                continue;
            };
            assert!(key.stated <= run.bits, "{key:?}: {} by the estimator", run.bits);
            secure += usize::from(needed);
        }
        assert!(secure >= 45, "{secure} keys");
    }
}
