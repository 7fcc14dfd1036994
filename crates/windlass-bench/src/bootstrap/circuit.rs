//! What made the circuit of a measured bootstrapping.

use serde::{Deserialize, Serialize};
use windlass::bootstrap::{
    AppendixA, BootstrapPlan, BootstrapSpec, Choices, Encapsulation, EvalStage, FactorOrder, MapChoice,
};
use windlass::circuits::SlotTable;

use super::table::Table;
use crate::ring_args::moduli_in_words;

/// What was asked for, by names: a page shows records of different requests separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub front_end: String,
    pub transform: String,
    pub partition: String,
    pub unpacking: String,
    #[serde(default = "automatic")]
    pub order: String,
    pub digits: String,
    /// Ends of merged stages, where they were given one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_coefficients: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_slots: Option<Vec<usize>>,
    /// What was asked for of the maps, their keys, the factors of m, the stage inside of slots and the
    /// decryption formula, where it is not the planner's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_keys: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factors: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The weight of the ephemeral secret, where it is not the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// How ciphertexts come under it, likewise.
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
            maps: (spec.maps != MapChoice::AUTOMATIC).then(|| spec.maps.to_string()),
            keys: spec.keys.map(|keys| keys.to_string()),
            max_keys: spec.max_keys,
            factors: (spec.factors != FactorOrder::Standard).then(|| spec.factors.to_string()),
            eval: (spec.eval != EvalStage::Automatic).then(|| spec.eval.to_string()),
            formula: spec.appendix_a.map(|found| formula_in_words(&found, spec.ephemeral_weight)),
            weight,
            encapsulation: encapsulation.map(|way| way.to_string()),
            table: None,
        }
    }

    /// The same with a table.
    pub fn with_table(self, table: Option<Table>) -> Self {
        Self { table: table.map(|table| table.name().into()), ..self }
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

/// What Appendix A of 2015 found.
fn formula_in_words(found: &AppendixA, weight: u32) -> String {
    let AppendixA { exponent, cleared, alpha, .. } = found;
    format!("e = {exponent}, e' = {cleared}, α = {alpha:.5}, t = {weight}")
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
    pub m: u64,
    pub n: usize,
    pub p: u64,
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
    pub asked: Asked,
    pub front_end: String,
    pub transform: String,
    /// After which elementary stages merged ones end.
    pub to_coefficients: Vec<usize>,
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
    pub digits: String,
    pub digit_products: usize,
    pub digit_depth: usize,
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
    pub fn with_table(self, table: Option<(Table, &SlotTable)>) -> Self {
        let asked = self.asked.with_table(table.map(|(table, _)| table));
        let table_cost = table.map(|(_, circuit)| [circuit.products(), circuit.depth()]);
        Self { asked, table_cost, ..self }
    }

    /// A cell of a table: front end, transform with both partitions, unpacking, digits.
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
        let square = Table::Square.circuit(ring.message_ring()).unwrap();
        let with_table = thin.clone().with_table(Some((Table::Square, &square)));
        assert!(with_table.asked != thin.asked && with_table.words().ends_with("; table square (1 product, depth 1)"));
        assert_eq!(with_table.asked.differences(), ["table square"]);
        assert_eq!(serde_json::to_string(&thin).unwrap().find("table"), None);
        let words = packed.words();
        assert!(words.starts_with("prime-power; radix2 (") && words.contains("; monomials; "), "{words}");
    }
}
