//! The choices that determine the circuit of a measured bootstrapping: those that were requested,
//! and those that the planner made.

use serde::{Deserialize, Serialize};
use windlass::bootstrap::{BootstrapPlan, BootstrapSpec, Choices, Encapsulation, EvalStage, FactorOrder, MapChoice};
use windlass::circuits::SlotTable;

use crate::halevi_shoup_2018::{OLD_KEYS, OLD_MAPS};
use crate::moduli::moduli_in_words;
use crate::names::OLD_MAPS_NAME;

/// What was asked for, by names: a page shows records of different requests separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The front end.
    pub front_end: String,
    /// The slot transform.
    pub transform: String,
    /// How its stages are merged.
    pub partition: String,
    /// How packed elements come apart.
    pub unpacking: String,
    /// Where the packed maps to the coefficients stand.
    #[serde(default = "automatic")]
    pub order: String,
    /// The method of digit removal.
    pub digits: String,
    /// Ends of merged stages, where they were given one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_coefficients: Option<Vec<usize>>,
    /// As [`Self::to_coefficients`], to the slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_slots: Option<Vec<usize>>,
    /// The algorithm of the maps. This one and those below are said only where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<String>,
    /// The rule of Galois keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// The most Galois keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_keys: Option<usize>,
    /// The factors of a composite m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factors: Option<String>,
    /// The stage inside of slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<String>,
    /// e, e', α and t of Appendix A of 2015.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The weight of the ephemeral secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// How ciphertexts come under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encapsulation: Option<String>,
    /// The table that the refresh evaluates, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

impl Asked {
    /// By a specification; `weight` and `encapsulation` are what took the place of the preset's.
    pub fn of(spec: &BootstrapSpec, (weight, encapsulation): (Option<u32>, Option<Encapsulation>)) -> Self {
        Self {
            front_end: spec.front_end.to_string(),
            transform: spec.transform.to_string(),
            partition: spec.partition.to_string(),
            unpacking: spec.unpacking.to_string(),
            order: spec.order.to_string(),
            digits: spec.digits.to_string(),
            to_coefficients: spec.to_coefficients.clone(),
            to_slots: spec.to_slots.clone(),
            maps: match spec.maps {
                maps if maps == MapChoice::AUTOMATIC => None,
                maps if maps == OLD_MAPS => Some(OLD_MAPS_NAME.into()),
                other => Some(other.to_string()),
            },
            // Those that belong to the old maps go without saying.
            keys: spec.keys.filter(|&keys| (spec.maps, keys) != (OLD_MAPS, OLD_KEYS)).map(|keys| keys.to_string()),
            max_keys: spec.max_keys,
            factors: (spec.factors != FactorOrder::Standard).then(|| spec.factors.to_string()),
            eval: (spec.eval != EvalStage::Automatic).then(|| spec.eval.to_string()),
            formula: spec
                .front_end
                .method()
                .parameters()
                .map(|given| format!("{given}, t = {}", spec.ephemeral_weight)),
            weight,
            encapsulation: encapsulation.map(|way| way.to_string()),
            table: None,
        }
    }

    /// The same with a table of this name.
    pub fn with_table(self, table: Option<&str>) -> Self {
        Self { table: table.map(Into::into), ..self }
    }

    /// What differs from [`Asked::default`], in words.
    pub fn differences(&self) -> Vec<String> {
        let plain = Self::default();
        let named = |name: &str, ours: &str, plain: &str| (ours != plain).then(|| format!("{name} {ours}"));
        let ends = |name: &str, list: &Option<Vec<usize>>| list.as_ref().map(|list| format!("{name} {list:?}"));
        [
            named("front end", &self.front_end, &plain.front_end),
            named("transform", &self.transform, &plain.transform),
            named("partition", &self.partition, &plain.partition),
            named("unpacking", &self.unpacking, &plain.unpacking),
            named("order", &self.order, &plain.order),
            named("digits", &self.digits, &plain.digits),
            ends("to coefficients", &self.to_coefficients),
            ends("to slots", &self.to_slots),
            self.maps.as_ref().map(|maps| format!("maps {maps}")),
            self.keys.as_ref().map(|keys| format!("{keys} keys")),
            self.max_keys.map(|most| format!("at most {most} keys")),
            self.factors.as_ref().map(|factors| format!("factors {factors}")),
            self.eval.as_ref().map(|eval| format!("stage inside of slots {eval}")),
            self.formula.clone(),
            self.weight.map(|weight| format!("weight {weight}")),
            self.encapsulation.as_ref().map(|way| format!("encapsulation {way}")),
            self.table.as_ref().map(|table| format!("table {table}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Of records that do not say the order.
fn automatic() -> String {
    "automatic".into()
}

impl Default for Asked {
    /// What stands for nothing asked: so were older records measured, which do not say it.
    fn default() -> Self {
        Self::of(&BootstrapSpec::default(), (None, None))
    }
}

/// All choices that made the circuit: as asked for, and as used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circuit {
    /// The cyclotomic index.
    pub m: u64,
    /// φ(m).
    pub n: usize,
    /// The plaintext modulus is p^r.
    pub p: u64,
    /// The exponent r.
    pub r: u32,
    /// Digits are removed modulo p^e.
    pub e: u32,
    /// Sizes of all primes, and digits of a key switch. Records before 26 November 2026 do not say
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moduli: Option<String>,
    /// How the main secret is drawn. Records before 27 November 2026 do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// What was asked for.
    pub asked: Asked,
    /// The front end.
    pub front_end: String,
    /// The slot transform.
    pub transform: String,
    /// After which elementary stages merged ones end.
    pub to_coefficients: Vec<usize>,
    /// As [`Self::to_coefficients`], to the slots.
    pub to_slots: Vec<usize>,
    /// How packed elements came apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unpacking: Option<String>,
    /// Where the maps to the coefficients stood in packed mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// `merged`, where the stage inside of slots was part of its neighbour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<String>,
    /// The method of digit removal.
    pub digits: String,
    /// Its ciphertext products.
    pub digit_products: usize,
    /// Its depth.
    pub digit_depth: usize,
    /// The weight of the ephemeral secret.
    pub ephemeral_weight: u32,
    /// Records before 23 November 2026 do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encapsulation: Option<String>,
    /// Galois keys.
    pub keys: usize,
    /// Products and depth of the table, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_cost: Option<[usize; 2]>,
}

impl Circuit {
    /// Of a plan; `own` as [`Asked::of`] takes it.
    pub fn of(plan: &BootstrapPlan, own: (Option<u32>, Option<Encapsulation>)) -> Self {
        let (params, formula, spec) = (plan.params(), plan.formula(), plan.spec());
        let Choices { transform, unpacking, order, to_coefficients, to_slots, eval, digits } = plan.choices().clone();
        Self {
            m: params.m(),
            n: params.n(),
            p: formula.prime,
            r: formula.message_exponent,
            e: formula.exponent,
            moduli: Some(moduli_in_words(params)),
            secret: Some(params.secret().to_string()),
            asked: Asked::of(spec, own),
            front_end: spec.front_end.to_string(),
            transform: transform.into(),
            to_coefficients,
            to_slots,
            unpacking: unpacking.map(|unpacking| unpacking.to_string()),
            order: order.map(|order| order.to_string()),
            eval: eval.filter(|eval| *eval == EvalStage::Merged).map(|eval| eval.to_string()),
            digits: digits.to_string(),
            digit_products: plan.digits().products(),
            digit_depth: plan.digits().depth(),
            ephemeral_weight: spec.ephemeral_weight,
            encapsulation: Some(spec.encapsulation.to_string()),
            keys: plan.required_keys().len(),
            table_cost: None,
        }
    }

    /// The same with a table, and what that costs.
    pub fn with_table(self, table: Option<(&str, &SlotTable)>) -> Self {
        let asked = self.asked.with_table(table.map(|(table, _)| table));
        let table_cost = table.map(|(_, circuit)| [circuit.products(), circuit.depth()]);
        Self { asked, table_cost, ..self }
    }

    /// A cell of a table: front end, transform with both partitions, unpacking, digits, a table, and
    /// what was asked for: rows of different requests may be of the same stages.
    pub fn words(&self) -> String {
        let ends = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let (back, there) = (ends(&self.to_coefficients), ends(&self.to_slots));
        let mut words = vec![self.front_end.clone(), format!("{} ({back}), ({there})", self.transform)];
        words.extend(self.unpacking.clone());
        words.extend(self.order.clone());
        words.extend(self.eval.as_ref().map(|eval| format!("stage inside of slots {eval}")));
        words.push(self.digits.clone());
        if let (Some(table), Some([products, depth])) = (&self.asked.table, self.table_cost) {
            let plural = if products == 1 { "" } else { "s" };
            words.push(format!("table {table} ({products} product{plural}, depth {depth})"));
        }
        let asked = self.asked.clone().with_table(None).differences();
        if !asked.is_empty() {
            words.push(format!("asked for: {}", asked.join(", ")));
        }
        words.join("; ")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use windlass::bootstrap::{Mode, Partition, Transform, Unpacking};
    use windlass::rlwe::{Assurance, RlweParams, RlweSpec, SecretDistribution};

    use super::*;

    /// Over a ring of 128 coefficients, p = 31.
    pub fn plan(spec: BootstrapSpec) -> BootstrapPlan {
        let params = RlweParams::new(&RlweSpec {
            m: 256,
            q_prime_bits: vec![50; 14],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50; 5],
            digits: 3,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Insecure { name: "insecure_test".into() },
        });
        BootstrapPlan::new(&params.unwrap(), (31, 1), BootstrapSpec { ephemeral_weight: 8, ..spec }).unwrap()
    }

    #[test]
    fn a_record_says_what_made_the_circuit() {
        let thin = Circuit::of(&plan(BootstrapSpec::default()), (None, None));
        assert_eq!((thin.m, thin.n, thin.p, thin.r), (256, 128, 31, 1));
        assert_eq!(thin.asked, Asked::default());
        // Nothing is left open: p = 31 has no stages of its own kind, and 16 slots.
        assert!(["radix2", "bruun"].contains(&&*thin.transform) && thin.unpacking.is_none(), "{thin:?}");
        assert!(thin.digits != "automatic" && thin.digit_products > 0 && thin.keys > 0, "{thin:?}");
        assert!(!thin.to_slots.is_empty() && thin.to_slots.windows(2).all(|pair| pair[0] < pair[1]), "{thin:?}");
        let asked = BootstrapSpec {
            mode: Mode::Packed,
            transform: Transform::RADIX2,
            partition: Partition::MostCapacity,
            unpacking: Unpacking::Monomials,
            ..BootstrapSpec::default()
        };
        let packed = Circuit::of(&plan(asked), (Some(8), None));
        assert_eq!((&*packed.transform, packed.unpacking.as_deref()), ("radix2", Some("monomials")));
        assert_eq!((&*packed.asked.partition, packed.asked.weight), ("most-capacity", Some(8)));
        let words = ["transform radix2", "partition most-capacity", "unpacking monomials", "weight 8"];
        assert!(thin.asked.differences().is_empty());
        assert_eq!(packed.asked.differences(), words);
        let digits = BootstrapSpec { encapsulation: Encapsulation::Digits, ..BootstrapSpec::default() };
        let digits = Circuit::of(&plan(digits), (None, Some(Encapsulation::Digits)));
        assert!(digits.encapsulation == Some("digits".into()) && digits.asked != thin.asked);
        assert_eq!(packed.encapsulation, Some("special-primes".into()));
        // A refresh with a table is another circuit, and says so.
        let ring = plan(BootstrapSpec::default());
        let square = SlotTable::from_fn(ring.message_ring(), |x| x * x % 31).unwrap();
        let with_table = thin.clone().with_table(Some(("square", &square)));
        assert!(with_table.asked != thin.asked && with_table.words().ends_with("; table square (1 product, depth 1)"));
        assert_eq!(with_table.asked.differences(), ["table square"]);
        assert_eq!(serde_json::to_string(&thin).unwrap().find("table"), None);
        let words = packed.words();
        assert!(words.starts_with("prime-power; radix2 (") && words.contains("; monomials; "), "{words}");
        let asked = "; asked for: transform radix2, partition most-capacity, unpacking monomials, weight 8";
        assert!(words.ends_with(asked) && !thin.words().contains("asked"), "{words}");
    }
}
