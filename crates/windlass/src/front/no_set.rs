//! The refusal if no parameter set bootstraps as requested, with alternatives that work.
//!
//! An alternative is named only if it was found to work: one demand at a time is relaxed, and the
//! sets that then fit are planned.

use super::refreshing_sets::{candidates, presets, refreshing, security_of_both};
use crate::params::{ParamSpec, Params};

/// The minimum security in bits of parameters that count as secure.
const LEAST_SECURITY: f64 = 128.0;

/// The message: the request, what the last set lacked (if one was tried), and the alternatives.
pub(super) fn refusal(spec: &ParamSpec, last: Option<String>) -> String {
    let asked = format!("the plaintext modulus {}^{}, {} slots and {} bits", spec.p, spec.r, spec.slots, spec.security);
    let ring = spec.m.map_or_else(String::new, |m| format!(" and m = {m}"));
    let last = last.unwrap_or_else(|| nothing_to_try(spec));
    let remedies = remedies(spec);
    let remedies = if remedies.is_empty() { String::new() } else { format!("; {}", remedies.join(", or ")) };
    format!("no bootstrapping set has {asked} of security{ring}: {last}{remedies}")
}

/// Why no set was tried.
fn nothing_to_try(spec: &ParamSpec) -> String {
    let Some(m) = spec.m else {
        return "none of the rings that are tried has as many slots of degree up to 100".into();
    };
    let any = ParamSpec { slots: 1, security: LEAST_SECURITY, ..spec.clone() };
    match candidates(&any).first() {
        Some(set) if set.slot_count() < spec.slots => format!("its ring has {} slots", set.slot_count()),
        Some(set) => format!("{} has {}", set.name(), set.rlwe().security()),
        None if m % 2 == 0 && m % spec.p == 0 => format!("m is divisible by {}", spec.p),
        None => {
            "bootstrapping needs an m that is 2^16 or 2^17, or odd and not a prime power; such an odd m needs a factor of one or two prime powers modulo which p has the same order as modulo m and the units have a cyclic quotient by the powers of p"
                .into()
        }
    }
}

/// The alternatives that work.
///
/// Cost: one bootstrapping is planned for each relaxed demand, which takes seconds.
fn remedies(spec: &ParamSpec) -> Vec<String> {
    [less_security(spec), another_ring(spec), fewer_slots(spec), less_modulus(spec), less_capacity(spec)]
        .into_iter()
        .flatten()
        .collect()
}

/// The first of these sets that bootstraps as requested.
fn first(sets: Vec<Params>, spec: &ParamSpec) -> Option<Params> {
    sets.into_iter().find(|set| refreshing(set.clone(), spec).is_ok())
}

fn less_security(spec: &ParamSpec) -> Option<String> {
    if spec.security <= LEAST_SECURITY {
        return None;
    }
    let least = ParamSpec { security: LEAST_SECURITY, ..spec.clone() };
    let mut sets = candidates(&least);
    sets.sort_by(|a, b| security_of_both(b).total_cmp(&security_of_both(a)));
    let set = first(sets, &least)?;
    Some(format!("ask for at most {} bits of security ({})", security_of_both(&set).floor(), set.name()))
}

fn another_ring(spec: &ParamSpec) -> Option<String> {
    spec.m?;
    let free = ParamSpec { m: None, ..spec.clone() };
    let set = first(candidates(&free), &free)?;
    Some(format!("ask for no m, or for m = {} ({})", set.m(), set.name()))
}

fn fewer_slots(spec: &ParamSpec) -> Option<String> {
    let one = ParamSpec { slots: 1, ..spec.clone() };
    let mut sets = candidates(&one);
    sets.retain(|set| set.slot_count() < spec.slots);
    sets.sort_by_key(|set| std::cmp::Reverse(set.slot_count()));
    let set = first(sets, &one)?;
    Some(format!("ask for at most {} slots ({})", set.slot_count(), set.name()))
}

fn less_modulus(spec: &ParamSpec) -> Option<String> {
    let modulus = |p: u64, r: u32| u128::from(p).pow(r);
    let own = |set: &Params| ParamSpec { p: set.p(), r: set.r(), ..spec.clone() };
    let mut sets: Vec<Params> = presets(spec.scheme)
        .filter(|set| modulus(set.p(), set.r()) < modulus(spec.p, spec.r))
        .filter(|set| spec.m.is_none_or(|m| m == set.m()) && set.slot_count() >= spec.slots)
        .filter(|set| security_of_both(set) >= spec.security)
        .collect();
    sets.sort_by_key(|set| std::cmp::Reverse(modulus(set.p(), set.r())));
    let set = sets.into_iter().find(|set| refreshing(set.clone(), &own(set)).is_ok())?;
    let power = if set.r() == 1 { String::new() } else { format!("^{}", set.r()) };
    Some(format!("ask for the plaintext modulus {}{power} ({})", set.p(), set.name()))
}

fn less_capacity(spec: &ParamSpec) -> Option<String> {
    if spec.capacity <= 0.0 {
        return None;
    }
    let none = ParamSpec { capacity: 0.0, ..spec.clone() };
    let left = |set: &Params| {
        let plan = refreshing(set.clone(), &none).ok()?.bootstrapping().ok()?;
        Some((plan.output_bits() - plan.least_input_bits(), set.name().to_owned()))
    };
    let most = candidates(&none).iter().filter_map(left).max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("ask for a capacity of at most {:.0} bits ({})", most.0.floor(), most.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every alternative that a refusal names is tried, and works.
    #[test]
    fn what_is_advised_can_be_taken() {
        let spec = ParamSpec { p: 65537, m: Some(1 << 16), ..ParamSpec::default() };
        let refused = refusal(&spec, None);
        assert!(refused.contains("ask for no m, or for m = 131072 (boot_n65536_p65537)"), "{refused}");
        assert!(refused.contains("ask for the plaintext modulus 257 (boot_n32768_p257)"), "{refused}");
        assert!(!refused.contains("fewer slots") && !refused.contains("capacity"), "{refused}");

        let spec = ParamSpec { p: 257, m: Some(1 << 16), security: 192.0, ..ParamSpec::default() };
        assert_eq!(less_security(&spec).unwrap(), "ask for at most 136 bits of security (boot_n32768_p257)");
        let advised = ParamSpec { security: 136.0, ..spec };
        let set = candidates(&advised).remove(0);
        assert!(refreshing(set.clone(), &advised).is_ok());
        assert!(refreshing(set, &ParamSpec { security: 137.0, ..advised }).is_err());

        let spec = ParamSpec { p: 257, slots: 1 << 20, ..ParamSpec::default() };
        assert_eq!(fewer_slots(&spec).unwrap(), "ask for at most 128 slots (boot_n32768_p257)");
    }
}
