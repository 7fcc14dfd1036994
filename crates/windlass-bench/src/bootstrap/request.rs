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
    /// Measure every preset except the insecure ones, thin and packed, in BGV and BFV, cheap ones
    /// first. With --preset, measure those whose names contain it. Then, in BGV, measure the
    /// choices of the papers for their sets. Rows that the record already has of this program and
    /// processor are not measured again, so a run that was ended continues. Rows that could not be
    /// measured are also written to the record.
    #[arg(
        long,
        requires = "record",
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING,
        conflicts_with_all = ["m", "reach", "page", "plot", "threads", "explain"]
    )]
    pub all: bool,
    /// End a row whose process uses more memory than this [default: nine tenths of the free
    /// memory].
    #[arg(long, requires = "all", value_name = "GIB")]
    pub most_gib: Option<f64>,
    /// End a row that takes longer than this, including plan, keys and constants.
    #[arg(long, requires = "all", value_name = "MINUTES", default_value_t = 20.0)]
    pub most_minutes: f64,
    /// Start no row after this time.
    #[arg(long, requires = "all", value_name = "HOURS", default_value_t = f64::INFINITY)]
    pub most_hours: f64,
    /// Try the rows again that this program left out before.
    #[arg(long, requires = "all")]
    pub retry: bool,
}

/// Other schemes than BGV and BFV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Family {
    /// Refreshes of real and complex numbers.
    Ckks,
    /// Refreshes of integers through CKKS.
    ExactThroughCkks,
    /// Refreshes of real and complex numbers in several passes.
    Precise,
}

/// Arguments of `bootstrap`.
#[derive(Debug, clap::Args)]
pub struct Bootstrap {
    /// Measure refreshes of CKKS: --preset is then a named set (`list` prints the names) or a JSON file
    /// with the parameters of one. Sets that refresh real vectors in pairs get a row for these, too. Or
    /// measure refreshes of integers through CKKS: --preset is then a named set, or `prices`, which
    /// prints what both ways of refreshing integers cost for four plaintext moduli. Or measure refreshes of CKKS in
    /// several passes, of a named set.
    #[arg(
        long,
        value_name = "FAMILY",
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = ["m", "reach", "all", "digits_table", "scheme", "enough_seconds", "slack"]
    )]
    pub family: Option<Family>,
    /// Refresh as many complex ciphertexts in one call as well, in a row of its own. Only for CKKS.
    #[arg(long, value_name = "COUNT", requires = "family", value_parser = crate::threads::number(), conflicts_with_all = ["page", "plot"])]
    pub together: Option<usize>,
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
    /// Instead of a preset: measure only digit removal, the rows of Chen–Han 2018, Table 3, with
    /// every method, and append them to --record. With --page, write the table between the marks of
    /// the page.
    #[arg(
        long,
        conflicts_with_all = PARAMETERS,
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING,
        conflicts_with_all = ["reach", "all", "plot", "explain"]
    )]
    pub digits_table: bool,
    /// Instead of a preset: print the parameters of Halevi–Shoup 2015 by the rule of its Appendix
    /// A, with the published ones and those of Windlass.
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
    /// Fill the slots with elements of degree d instead of integers.
    #[arg(long)]
    pub packed: bool,
    /// Evaluate a table of all residues modulo p^r in the refresh, with p^r at most 2^8: square,
    /// half (x/2, rounded down) or mixed (without a pattern).
    #[arg(long, value_name = "NAME", conflicts_with_all = ["packed", "slack"])]
    pub table: Option<Table>,
    /// How packed ciphertexts are unpacked: automatic, constants, monomials or monomials-in-slots.
    #[arg(long, default_value = "automatic")]
    pub unpacking: Unpacking,
    /// bgv, bfv, or both (bgv,bfv).
    #[arg(long, value_delimiter = ',', default_value = "bgv", value_name = "SCHEMES")]
    pub scheme: Vec<Scheme>,
    /// The order of the packed maps: automatic, to-coefficients-first or to-coefficients-last.
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
    /// The rule of Galois keys: full, baby-giant, minimal or default [default: the planner chooses
    /// keys].
    #[arg(long, value_parser = key_strategy)]
    pub keys: Option<KeyStrategy>,
    /// The maximum number of Galois keys.
    #[arg(long)]
    pub max_keys: Option<usize>,
    /// The factors of a composite m: standard, least-price, or a list such as 73*13,37. The order
    /// of p modulo the first factor must be its order modulo m.
    #[arg(long, default_value = "standard")]
    pub factors: FactorOrder,
    /// The stage of packed maps that acts inside the slots: automatic, alone or merged.
    #[arg(long, default_value = "automatic")]
    pub eval: EvalStage,
    /// The weight of the ephemeral secret [default: that of the preset].
    #[arg(long)]
    pub weight: Option<u32>,
    /// How the key switch to the ephemeral secret works: special-primes or digits [default: that of
    /// the preset].
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
    /// How often to refresh. The median run is reported. With --reach, at least three.
    #[arg(long, default_value_t = 1, value_parser = crate::threads::number())]
    pub runs: usize,
    /// Stop refreshing after this many seconds, even if more runs are asked for.
    #[arg(long, default_value_t = f64::INFINITY, value_name = "SECONDS")]
    pub enough_seconds: f64,
    /// Seed of keys and messages.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Refresh once more and print, for each stage, how many bits the noise bound is above the
    /// noise.
    #[arg(long)]
    pub slack: bool,
    /// Only print the plan.
    #[arg(long, conflicts_with_all = MEASURING, conflicts_with_all = ["threads", "runs", "record"])]
    pub explain: bool,
    /// Append the figures to a record, one line of JSON for each measurement. Pages can show
    /// several records. With --reach, write its figures as `reach` into one object.
    #[arg(long, visible_alias = "json", value_name = "FILE", num_args = 1..)]
    pub record: Vec<PathBuf>,
    /// Measure nothing: write the page with the tables of a record.
    #[arg(
        long,
        value_name = "FILE",
        requires = "record",
        conflicts_with_all = PARAMETERS,
        conflicts_with_all = CIRCUIT,
        conflicts_with_all = MEASURING
    )]
    pub page: Option<PathBuf>,
    /// Measure nothing: draw a plot of the time of each stage in a record.
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
        return Err("--primes makes custom parameters: give --m and --p too".into());
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
    KeyStrategy::named(name).ok_or_else(|| format!("unknown rule of keys; choose one of {}", known()))
}

/// The plan of a preset.
pub fn plan(preset: &BootstrapPreset) -> Result<BootstrapPlan, Error> {
    let modulus = (preset.params.p(), preset.params.r());
    BootstrapPlan::new(preset.params.rlwe(), modulus, preset.spec.clone())
}
