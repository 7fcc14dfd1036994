//! λ of the keys of recorded measurements, by the tables of today: what was recorded is older than
//! the attacks that are counted now.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use windlass::bootstrap::{BootstrapPreset, Mode};
use windlass::rlwe::SecretDistribution;

use super::figures::Refresh;

/// The preset, and the weight and encapsulation of its ephemeral key where the record says them.
type Place = (String, Option<(u32, Option<String>)>);

/// What was found, for a page asks for each preset often.
static FOUND: LazyLock<Mutex<HashMap<Place, Option<[Option<f64>; 2]>>>> = LazyLock::new(Mutex::default);

/// λ of the main and of the ephemeral key of a record. A uniform ternary main key has the λ that was
/// recorded, for its chain; so has a set that is no preset any more.
pub fn of(record: &Refresh) -> [f64; 2] {
    let circuit = record.circuit.as_ref();
    let own = circuit.map(|circuit| (circuit.ephemeral_weight, circuit.encapsulation.clone()));
    let place = (record.preset.clone(), own);
    let mut found = FOUND.lock().expect("nobody panics while it is held");
    let today = *found.entry(place).or_insert_with_key(|(preset, own)| today(preset, own.as_ref()));
    let recorded = [record.security_bits, record.ephemeral_security_bits];
    let today = today.unwrap_or_default();
    [0, 1].map(|key| today[key].unwrap_or(recorded[key]))
}

/// λ of a preset's main key, if that is sparse, and of its ephemeral key; `None` for other sets.
fn today(preset: &str, own: Option<&(u32, Option<String>)>) -> Option<[Option<f64>; 2]> {
    let mut preset = BootstrapPreset::named(preset, Mode::Thin).ok()?;
    if let Some((weight, encapsulation)) = own {
        preset.spec.ephemeral_weight = *weight;
        preset.spec.encapsulation = encapsulation.as_deref().unwrap_or("special-primes").parse().ok()?;
    }
    let rlwe = preset.params.rlwe();
    let main = match rlwe.secret() {
        SecretDistribution::Sparse { .. } => Some(rlwe.security().bits),
        _ => None,
    };
    Some([main, preset.ephemeral_key().ok().map(|(_, estimate)| estimate.bits)])
}

#[cfg(test)]
mod tests {
    use super::super::figures::Measured;
    use super::*;

    #[test]
    fn sparse_keys_of_records_have_the_lambda_of_today() {
        let line = include_str!("../../../windlass-bench/record/amd-epyc-zen4/bootstrap-2026-11-22.jsonl")
            .lines()
            .next()
            .unwrap();
        let mut one: Measured = serde_json::from_str(line).unwrap();
        let refresh = &mut one.of;
        (refresh.security_bits, refresh.ephemeral_security_bits) = (200.0, 200.0);
        refresh.preset = "paper_ma24_set1_p65537".into();
        assert!(of(refresh).iter().all(|&bits| bits < 140.0), "{:?}", of(refresh));
        // A uniform ternary main secret.
        refresh.preset = "boot_n32768_p257".into();
        assert!(of(refresh)[0] == 200.0 && of(refresh)[1] < 200.0, "{:?}", of(refresh));
        refresh.preset = "a set of one's own".into();
        assert_eq!(of(refresh), [200.0, 200.0]);
    }
}
