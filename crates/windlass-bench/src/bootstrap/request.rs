//! What is asked for: arguments, and the preset and the plan that they name.

use std::path::PathBuf;

use windlass::bootstrap::{
    BootstrapPlan, BootstrapPreset, BootstrapSpec, Encapsulation, EvalStage, FactorOrder, FrontEnd, MapChoice, Mode,
    Order, Partition, Transform, Unpacking,
};
use windlass::circuits::Method;
use windlass::rlwe::KeyStrategy;
use windlass::{Error, Params, Scheme};
use windlass_papers::bootstrap::appendix_a;
use windlass_papers::halevi_shoup_2015::NearPrimePower;
use windlass_papers::halevi_shoup_2018::{OLD_MAPS, with_old_maps};
use windlass_papers::names;

use super::options::{CIRCUIT, MEASURING, PARAMETERS};
use super::reach::Reach;
use super::table::Table;
use crate::ring_args::Moduli;

/// Arguments of `bootstrap --all`.
#[derive(Debug, clap::Args)]
pub struct Every {
    /// Every preset but the insecure ones, thin and packed, in BGV and BFV, cheap ones first; with
    /// --preset those whose names contain it. Then, in BGV, the papers' own choices for their sets.
    /// Rows that the record has of this very program and processor are not measured again, so that
    /// a run that was ended goes on; what could not be measured is written to the record too.
    #[arg(
        long,
        requires = "record",
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING,
        conflicts_with_all = ["m", "reach", "page", "plot", "threads", "explain"]
    )]
    pub all: bool,
    /// End a row whose process takes more memory than this; by default nine tenths of what is free.
    #[arg(long, requires = "all", value_name = "GIB")]
    pub most_gib: Option<f64>,
    /// End a row that takes longer than this, with plan, keys and constants.
    #[arg(long, requires = "all", value_name = "MINUTES", default_value_t = 20.0)]
    pub most_minutes: f64,
    /// Begin no row after this.
    #[arg(long, requires = "all", value_name = "HOURS", default_value_t = f64::INFINITY)]
    pub most_hours: f64,
    /// Try again what this program left out before.
    #[arg(long, requires = "all")]
    pub retry: bool,
}

/// Arguments of `bootstrap`.
#[derive(Debug, clap::Args)]
pub struct Bootstrap {
    /// The preset; `list` prints the names.
    #[arg(long, default_value = "list")]
    pub preset: String,
    /// Instead of a preset: the cyclotomic index, with --p and --primes.
    #[arg(long, requires_all = ["p", "primes"], conflicts_with = "preset")]
    pub m: Option<u64>,
    /// The prime of the plaintext modulus p^r.
    #[arg(long, requires = "m")]
    pub p: Option<u64>,
    /// The exponent of the plaintext modulus p^r.
    #[arg(long, requires = "m", default_value_t = 1)]
    pub r: u32,
    #[command(flatten)]
    pub moduli: Moduli,
    /// Instead of a preset: digit removal alone, the rows of Chen–Han 2018, Table 3, by every
    /// method, appended to --record; with --page its table is put between the marks of the page.
    #[arg(
        long,
        conflicts_with_all = PARAMETERS,
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING,
        conflicts_with_all = ["reach", "all", "plot", "explain"]
    )]
    pub digits_table: bool,
    /// Instead of a preset: the parameters of Halevi–Shoup 2015 by the rule of its Appendix A,
    /// beside the published ones and ours.
    #[arg(long, exclusive = true)]
    pub appendix_a: bool,
    #[command(flatten)]
    pub reach: Reach,
    #[command(flatten)]
    pub every: Every,
    /// How stages of the linear maps are merged, unless given one by one: standard, least-time,
    /// most-capacity, paper (Table 3 of Ma et al.) or single (one map each way; large rings take
    /// minutes to plan and gigabytes).
    #[arg(long, default_value = "standard", value_parser = names::partition)]
    pub partition: Partition,
    /// The elementary stages for powers of two: automatic, radix2 or bruun.
    #[arg(long, default_value = "automatic")]
    pub transform: Transform,
    /// All slots of degree d instead of integers.
    #[arg(long)]
    pub packed: bool,
    /// Let the refresh evaluate a table of all residues modulo p^r, p^r at most 2^8: square, half
    /// (x/2, rounded down) or mixed (without a pattern).
    #[arg(long, value_name = "NAME", conflicts_with_all = ["packed", "slack"])]
    pub table: Option<Table>,
    /// How packed ciphertexts come apart: automatic, constants, monomials or monomials-in-slots.
    #[arg(long, default_value = "automatic")]
    pub unpacking: Unpacking,
    /// BGV, BFV, or both, one after the other.
    #[arg(long, value_delimiter = ',', default_value = "bgv", value_name = "SCHEMES")]
    pub scheme: Vec<Scheme>,
    /// Where the packed maps to the coefficients stand: automatic, to-coefficients-first or
    /// to-coefficients-last.
    #[arg(long, default_value = "automatic")]
    pub order: Order,
    /// The method of digit removal.
    #[arg(long, default_value = "automatic", value_parser = names::digits)]
    pub digits: Method,
    /// The decryption formula: prime-power (modulus p^e) or near-prime-power (p^e + 1, of 2015).
    #[arg(long, default_value = "prime-power", value_parser = names::front_end)]
    pub front_end: FrontEnd,
    /// The formula of 2015 with e, e', α and t of the paper's Table 3, for its presets.
    #[arg(long, conflicts_with_all = ["front_end", "weight", "m"])]
    pub formula_2015: bool,
    /// How the linear maps are evaluated: automatic, old-2018 (the old ones of Halevi–Shoup 2018,
    /// Table 5), or a strategy of linear maps by name.
    #[arg(long, default_value = "automatic", value_parser = names::maps)]
    pub maps: MapChoice,
    /// The rule of Galois keys: full, baby-giant, minimal or default; the planner's own without it.
    #[arg(long, value_parser = key_strategy)]
    pub keys: Option<KeyStrategy>,
    /// The most Galois keys.
    #[arg(long)]
    pub max_keys: Option<usize>,
    /// The factors of a composite m: standard, least-price, or in order, the first on which p has its
    /// whole order, as 73*13,37.
    #[arg(long, default_value = "standard")]
    pub factors: FactorOrder,
    /// The stage inside of slots of packed maps: automatic, alone or merged.
    #[arg(long, default_value = "automatic")]
    pub eval: EvalStage,
    /// The weight of the ephemeral secret instead of the preset's.
    #[arg(long)]
    pub weight: Option<u32>,
    /// How ciphertexts come under the ephemeral secret: special-primes, or digits. A preset has its
    /// own way.
    #[arg(long)]
    pub encapsulation: Option<Encapsulation>,
    /// Merged stages to the slots end after these elementary ones.
    #[arg(long, value_delimiter = ',')]
    pub to_slots: Option<Vec<usize>>,
    /// Merged stages to the coefficients end after these elementary ones.
    #[arg(long, value_delimiter = ',')]
    pub to_coefficients: Option<Vec<usize>>,
    /// Number of threads.
    #[arg(long, default_value_t = 1, value_parser = crate::threads::number())]
    pub threads: usize,
    /// How often to refresh; the median run is reported (with --reach at least three).
    #[arg(long, default_value_t = 1, value_parser = crate::threads::number())]
    pub runs: usize,
    /// Refresh no more once this many seconds were spent on it, however many runs were asked for.
    #[arg(long, default_value_t = f64::INFINITY, value_name = "SECONDS")]
    pub enough_seconds: f64,
    /// Seed of keys and messages.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Refresh once more and print for each stage by how many bits the bound on its noise exceeds
    /// the noise itself.
    #[arg(long)]
    pub slack: bool,
    /// Only print the plan.
    #[arg(long, conflicts_with_all = MEASURING, conflicts_with_all = ["threads", "runs", "record"])]
    pub explain: bool,
    /// Append the figures to a record: one line of JSON for each measurement. Pages are made of
    /// several. With --reach: hold its figures as `reach` in one object.
    #[arg(long, visible_alias = "json", value_name = "FILE", num_args = 1..)]
    pub record: Vec<PathBuf>,
    /// Measure nothing: make the page of tables of a record.
    #[arg(
        long,
        value_name = "FILE",
        requires = "record",
        conflicts_with_all = PARAMETERS,
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING
    )]
    pub page: Option<PathBuf>,
    /// Measure nothing: draw where the time goes by a record.
    #[arg(
        long,
        value_name = "FILE",
        requires = "record",
        conflicts_with_all = PARAMETERS,
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING,
        conflicts_with_all = ["threads", "runs"]
    )]
    pub plot: Option<PathBuf>,
}

/// The preset, or the parameters given one by one, with all that was chosen by name.
pub fn preset(args: &Bootstrap) -> Result<BootstrapPreset, Box<dyn std::error::Error>> {
    if args.m.is_none() && args.moduli.name().is_some() {
        return Err("--primes is for parameters of one's own: it needs --m and --p".into());
    }
    let mode = if args.packed { Mode::Packed } else { Mode::Thin };
    let mut preset = match (args.m, args.p, args.m.and_then(|m| args.moduli.spec(m))) {
        (Some(m), Some(p), Some(spec)) => {
            let name = format!("m={m} p^r={p}^{} {}", args.r, args.moduli.name().unwrap_or_default());
            BootstrapPreset::of_params(Params::new(&name, Scheme::Bgv, (p, args.r), None, spec)?, mode)
        }
        _ => BootstrapPreset::named(&args.preset, mode)?,
    };
    preset.spec = BootstrapSpec {
        digits: args.digits,
        ephemeral_weight: args.weight.unwrap_or(preset.spec.ephemeral_weight),
        encapsulation: args.encapsulation.unwrap_or(preset.spec.encapsulation),
        partition: args.partition,
        front_end: args.front_end,
        unpacking: args.unpacking,
        order: args.order,
        transform: args.transform,
        to_slots: args.to_slots.clone(),
        to_coefficients: args.to_coefficients.clone(),
        eval: args.eval,
        maps: args.maps,
        keys: args.keys,
        max_keys: args.max_keys,
        factors: args.factors.clone(),
        ..preset.spec
    };
    if args.maps == OLD_MAPS {
        preset.spec = with_old_maps(preset.spec);
    }
    if args.formula_2015 {
        let (found, weight) = appendix_a::published(preset.params.m(), (preset.params.p(), preset.params.r()))?;
        let front_end = NearPrimePower::spec(found).front_end;
        preset.spec = BootstrapSpec { front_end, ephemeral_weight: weight, ..preset.spec };
    }
    Ok(preset)
}

/// A rule of keys by its name.
fn key_strategy(name: &str) -> Result<KeyStrategy, String> {
    let known = || KeyStrategy::ALL.map(|strategy| strategy.to_string()).join(", ");
    KeyStrategy::named(name).ok_or_else(|| format!("no rule of keys has this name; there are {}", known()))
}

/// The plan of a preset.
pub fn plan(preset: &BootstrapPreset) -> Result<BootstrapPlan, Error> {
    let modulus = (preset.params.p(), preset.params.r());
    BootstrapPlan::new(preset.params.rlwe(), modulus, preset.spec.clone())
}
