//! Digit removal alone: the rows of Chen–Han 2018, Table 3, by every method.

use serde::{Deserialize, Serialize};
use windlass::circuits::{
    ChenHan, DigitMethod, DigitRoute, DigitSpec, HaleviShoup, LastStep, LeastDegree, Method, Searched,
};

use crate::page::{Table, or_dash, seconds};
use crate::record::Record;

/// (p, e, v), the published seconds of HElib's method and of Chen–Han's, the levels of HElib that
/// these took, and m. The paper does not say which rings it used.
pub type Row = (u64, u32, u32, [f64; 2], [u32; 2], u64);

/// The rows.
pub const ROWS: [Row; 6] = [
    (2, 11, 5, [15.0, 16.0], [20, 13], 18631),
    (2, 21, 13, [264.0, 239.0], [40, 34], 18631),
    (5, 6, 3, [49.5, 30.0], [34, 26], 32768),
    (17, 4, 2, [61.2, 35.5], [33, 24], 32768),
    (31, 3, 1, [26.3, 12.13], [24, 14], 32768),
    (127, 3, 1, [73.2, 38.0], [39, 22], 32768),
];

/// What each row is measured by.
pub const METHODS: [Method; 7] = [
    Method::Of(&HaleviShoup),
    Method::Of(&Section32),
    Method::Of(&Section33),
    Method::Of(&ChenHan),
    Method::Of(&LeastDegree),
    Method::Of(&Searched),
    Method::Automatic,
];

/// Chen–Han's algorithm of §3.2 alone.
#[derive(Debug)]
struct Section32;

impl DigitMethod for Section32 {
    fn name(&self) -> &'static str {
        "chen-han-3.2"
    }

    fn citation(&self) -> &'static str {
        "Chen–Han 2018, §3.2"
    }

    fn routes(&self, spec: &DigitSpec) -> Vec<DigitRoute> {
        ChenHan.routes(spec).into_iter().filter(|route| route.last == LastStep::Direct).collect()
    }
}

/// Their Algorithm 1, of §3.3, alone.
#[derive(Debug)]
struct Section33;

impl DigitMethod for Section33 {
    fn name(&self) -> &'static str {
        "chen-han-3.3"
    }

    fn citation(&self) -> &'static str {
        "Chen–Han 2018, Algorithm 1"
    }

    fn routes(&self, spec: &DigitSpec) -> Vec<DigitRoute> {
        ChenHan.routes(spec).into_iter().filter(|route| route.last != LastStep::Direct).collect()
    }
}

/// One removal of digits, verified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Removal {
    /// The prime.
    pub p: u64,
    /// Digits are removed modulo p^e.
    pub e: u32,
    /// How many go.
    pub v: u32,
    /// What was asked for.
    pub method: String,
    /// What that came to, where the planner chose.
    pub chosen: String,
    /// Ciphertext products.
    pub products: usize,
    /// Multiplicative depth.
    pub depth: usize,
    /// Capacity that it takes.
    pub bits: f64,
    /// The day.
    pub date: String,
}

/// By what a later record replaces an earlier one.
pub fn key(record: &Record<Removal>) -> impl PartialEq + use<> {
    let of = &record.of;
    (record.cpu.clone(), record.threads, (of.p, of.e, of.v), of.method.clone())
}

/// log2(e·p^v): the depth of Theorem 5.
fn theorem_5(p: u64, e: u32, v: u32) -> f64 {
    f64::from(e).log2() + f64::from(v) * (p as f64).log2()
}

/// The rows of Table 3 on one thread, a table for each core.
pub fn table(all: &[Record<Removal>]) -> String {
    let ours = ["(p, e, v)", "method", "products, depth; s; bits", "§3.2: products, depth; s; bits"];
    let theirs = ["Algorithm 1: the same", "log2(e·p^v)", "Chen–Han: seconds, levels"];
    let mut out = String::new();
    for cpu in crate::page::first_seen(all.iter().filter(|one| one.threads == 1).map(|one| &*one.cpu)) {
        let mut table = Table::new(ours.into_iter().chain(theirs));
        for (p, e, v, [_, seconds], [_, levels], _) in ROWS {
            let at = |method: &str| {
                all.iter().find(|one| {
                    (&*one.cpu, one.threads, one.of.p, one.of.e, one.of.v) == (cpu, 1, p, e, v)
                        && one.of.method == method
                })
            };
            let Some(best) = at("automatic") else { continue };
            table.row([
                format!("({p}, {e}, {v})"),
                best.of.chosen.clone(),
                cell(Some(best)),
                cell(at(Section32.name())),
                cell(at(Section33.name())),
                format!("{:.2}", theorem_5(p, e, v)),
                format!("{seconds}, {levels}"),
            ]);
        }
        out.push_str(&format!("\n{cpu}:\n\n{table}"));
    }
    out.push('\n');
    out
}

fn cell(one: Option<&Record<Removal>>) -> String {
    one.map_or_else(
        || or_dash(None, 0),
        |one| format!("{}, {}; {}; {:.0}", one.of.products, one.of.depth, seconds(one.median_s), one.of.bits),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass::circuits::DigitRemoval;

    use crate::record;

    fn records() -> Vec<Record<Removal>> {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../windlass-bench/record/intel-xeon-207/digits-2026-11-27.jsonl");
        record::read(path.as_ref(), key).unwrap()
    }

    #[test]
    fn the_page_shows_the_record() {
        let page = include_str!("../../../../docs/records/bootstrapping.md");
        let (_, rest) = page.split_once("<!-- begin tables -->\n").unwrap();
        assert_eq!(rest.split_once("<!-- end tables -->").unwrap().0, table(&records()));
    }

    /// What the plans of today come to is what the page says, and none is deeper than Theorem 5.
    #[test]
    fn plans_are_those_of_the_record() {
        for (p, e, v, ..) in ROWS {
            for method in METHODS {
                let Ok(plan) = DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) }) else { continue };
                let recorded = records()
                    .into_iter()
                    .find(|one| (one.of.p, one.of.e, one.of.v) == (p, e, v) && one.of.method == method.to_string());
                let of = recorded.unwrap().of;
                assert_eq!((of.products, of.depth), (plan.products(), plan.depth()), "({p}, {e}, {v}) {method}");
                assert!(method != Method::Automatic || plan.depth() as f64 <= theorem_5(p, e, v).ceil());
            }
        }
        let stated = [(5, 6, 3, 9.55), (17, 4, 2, 10.17)];
        assert!(stated.iter().all(|&(p, e, v, depth)| (theorem_5(p, e, v) - depth).abs() < 0.005));
    }

    /// The two algorithms of the paper are two.
    #[test]
    fn algorithm_1_is_that_of_section_3_3() {
        let routes = |method: &dyn DigitMethod| method.routes(&DigitSpec::new(5, 6, 3));
        assert_eq!(routes(&Section32).iter().map(|route| route.last).collect::<Vec<_>>(), [LastStep::Direct]);
        // 5^1 < 4·5 + 1 < 5^2.
        assert_eq!(routes(&Section33).iter().map(|route| route.last).collect::<Vec<_>>(), [LastStep::DirectBeyond(1)]);
    }
}
