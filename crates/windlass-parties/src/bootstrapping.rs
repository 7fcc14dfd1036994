//! The bootstrappings that an agreement names: by what they have other than the context's own.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use windlass::Error;
use windlass::bootstrap::BootstrapSpec;
use windlass_rlwe::KeyStrategy;

/// What a specification has other than that of the context. Choices are named as everywhere; what has no name, such as
/// a rule of a program's own, cannot be agreed on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "an object in braces")]
#[doc(hidden)]
pub struct NamedBootstrapping {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    front_end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unpacking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transform: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_slots: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_coefficients: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maps: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_keys: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ephemeral_weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encapsulation: Option<String>,
}

/// The name of a choice, if it is not that of the context's own.
fn differs<T: PartialEq + Display>(own: &T, other: &T) -> Option<String> {
    (own != other).then(|| other.to_string())
}

/// The choice of a name, or that of the context's own.
fn choice<T: FromStr<Err = Error>>(name: Option<&String>, own: T) -> windlass::Result<T> {
    name.map_or(Ok(own), |name| name.parse())
}

impl NamedBootstrapping {
    /// The names of a specification beside the context's own; `None` if it has something that has no name.
    pub fn of(own: &BootstrapSpec, other: &BootstrapSpec) -> Option<Self> {
        let list =
            |own: &Option<Vec<usize>>, other: &Option<Vec<usize>>| if own == other { None } else { other.clone() };
        let named = Self {
            mode: differs(&own.mode, &other.mode),
            front_end: differs(&own.front_end, &other.front_end),
            digits: differs(&own.digits, &other.digits),
            unpacking: differs(&own.unpacking, &other.unpacking),
            order: differs(&own.order, &other.order),
            transform: differs(&own.transform, &other.transform),
            partition: differs(&own.partition, &other.partition),
            to_slots: list(&own.to_slots, &other.to_slots),
            to_coefficients: list(&own.to_coefficients, &other.to_coefficients),
            eval: differs(&own.eval, &other.eval),
            maps: differs(&own.maps, &other.maps),
            keys: other.keys.filter(|_| own.keys != other.keys).map(|keys| keys.to_string()),
            max_keys: other.max_keys.filter(|_| own.max_keys != other.max_keys),
            ephemeral_weight: (own.ephemeral_weight != other.ephemeral_weight).then_some(other.ephemeral_weight),
            encapsulation: differs(&own.encapsulation, &other.encapsulation),
        };
        // This is not so for a name that two rules have, a choice that says less than the context's own, and other factors of m.
        named.spec(own).is_ok_and(|again| again == *other).then_some(named)
    }

    /// The specification.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn spec(&self, own: &BootstrapSpec) -> windlass::Result<BootstrapSpec> {
        let rule = |name: &String| {
            let known = || KeyStrategy::ALL.map(|one| one.to_string()).to_vec();
            let unknown = || Error::UnknownName { what: "rule of keys", given: name.clone(), known: known() };
            KeyStrategy::named(name).ok_or_else(unknown)
        };
        Ok(BootstrapSpec {
            mode: choice(self.mode.as_ref(), own.mode)?,
            front_end: choice(self.front_end.as_ref(), own.front_end)?,
            digits: choice(self.digits.as_ref(), own.digits)?,
            unpacking: choice(self.unpacking.as_ref(), own.unpacking)?,
            order: choice(self.order.as_ref(), own.order)?,
            transform: choice(self.transform.as_ref(), own.transform)?,
            factors: own.factors.clone(),
            partition: choice(self.partition.as_ref(), own.partition)?,
            to_slots: self.to_slots.clone().or_else(|| own.to_slots.clone()),
            to_coefficients: self.to_coefficients.clone().or_else(|| own.to_coefficients.clone()),
            eval: choice(self.eval.as_ref(), own.eval)?,
            maps: choice(self.maps.as_ref(), own.maps)?,
            keys: self.keys.as_ref().map(rule).transpose()?.or(own.keys),
            max_keys: self.max_keys.or(own.max_keys),
            ephemeral_weight: self.ephemeral_weight.unwrap_or(own.ephemeral_weight),
            encapsulation: choice(self.encapsulation.as_ref(), own.encapsulation)?,
            failure_bits: own.failure_bits,
        })
    }
}

#[cfg(test)]
mod tests {
    use windlass::bootstrap::{Mode, Unpacking};

    use super::*;

    #[test]
    fn what_differs_is_named_and_read_back() {
        let own = BootstrapSpec::default();
        let packed = BootstrapSpec { mode: Mode::Packed, ..own.clone() };
        let more = BootstrapSpec {
            unpacking: Unpacking::Monomials,
            to_slots: Some(vec![2, 4]),
            keys: Some(KeyStrategy::Default),
            max_keys: Some(9),
            ephemeral_weight: 40,
            ..packed.clone()
        };
        for other in [own.clone(), packed.clone(), more] {
            let named = NamedBootstrapping::of(&own, &other).unwrap();
            let text = serde_json::to_string(&named).unwrap();
            println!("{text}");
            let again: NamedBootstrapping = serde_json::from_str(&text).unwrap();
            assert_eq!(again.spec(&own).unwrap(), other);
        }
        assert_eq!(
            serde_json::to_string(&NamedBootstrapping::of(&own, &packed).unwrap()).unwrap(),
            r#"{"mode":"packed"}"#
        );
        // What the context's own says cannot be taken back, and other bounds have no name.
        let limited = BootstrapSpec { max_keys: Some(9), ..own.clone() };
        assert!(NamedBootstrapping::of(&limited, &own).is_none());
        let likely = BootstrapSpec { failure_bits: 40.0, ..own.clone() };
        assert!(NamedBootstrapping::of(&own, &likely).is_none());
        let unknown = NamedBootstrapping { mode: Some("thick".into()), ..NamedBootstrapping::default() };
        assert!(matches!(unknown.spec(&own), Err(Error::UnknownName { .. })));
    }
}
