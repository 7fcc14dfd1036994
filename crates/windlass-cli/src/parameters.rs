//! `windlass params`.

use windlass::params::{Candidate, SearchSpec, search};
use windlass::ring::kernels::arith;
use windlass::schemes::Scheme;
use windlass::{ParamSpec, Params};

use crate::args::{ParamsCommand, PlanArgs, SearchArgs};
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::Report;
use crate::session::rounded_down;

/// Lists, shows or plans parameter sets.
pub fn run(command: &ParamsCommand, quiet: bool) -> Result<Report> {
    match command {
        ParamsCommand::List => Stages::new(quiet).run("list", "building parameter sets", list),
        ParamsCommand::Show { name } => Ok(describe(&Params::preset(name, Scheme::Bgv)?)),
        ParamsCommand::Plan(args) => {
            let spec = specification(args)?;
            Ok(describe(&Stages::new(quiet).run("plan", "choosing parameters", || Params::plan(&spec))?))
        }
        ParamsCommand::Search(args) => find(args, quiet),
    }
}

fn list() -> Result<Report> {
    let mut report = Report::default();
    let mut names = Vec::new();
    for name in windlass::params::preset_names() {
        let params = Params::preset(name, Scheme::Bgv)?;
        let (rlwe, bits) = (params.rlwe(), rounded_down(params.rlwe().security().bits));
        report.line(format!(
            "{name:<26} m = {:<6} p^r = {:<6} slots = {:<6} log2 QP = {:<6.0} security {bits:.1} bits",
            rlwe.m(),
            params.plaintext_modulus(),
            params.slot_count(),
            rlwe.log2_qp(),
        ));
        names.push(name);
    }
    report.field("presets", names);
    Ok(report)
}

fn describe(params: &Params) -> Report {
    let mut report = Report::default();
    params.explain().lines().for_each(|line| report.line(line));
    let (rlwe, sizes) = (params.rlwe(), params.rlwe().key_sizes());
    report.field("name", params.name());
    report.field("scheme", params.scheme().to_string());
    report.field("m", rlwe.m());
    report.field("n", rlwe.n());
    report.field("p", params.p());
    report.field("r", params.r());
    report.field("slots", params.slot_count());
    report.field("slot_degree", params.slot_degree());
    report.field("security_bits", rounded_down(rlwe.security().bits));
    report.field("log2_q", rlwe.log2_q(rlwe.top_level()));
    report.field("log2_p", rlwe.log2_p());
    report.field("digits", rlwe.digits());
    report.field("depth", params.depth());
    report.field("fresh_capacity_bits", params.fresh_capacity());
    report.field("public_key_bytes", sizes.public_key_disk);
    report.field("switching_key_bytes", sizes.switching_key_disk);
    report
}

/// `windlass params search`.
fn find(args: &SearchArgs, quiet: bool) -> Result<Report> {
    const SHOWN: usize = 20;
    let (p, r) = prime_power(args.modulus)?;
    let spec = SearchSpec {
        p,
        r,
        phi: (args.least, args.most),
        slots: args.slots,
        most_degree: args.degree,
        security: f64::from(args.security),
        packed: args.packed,
    };
    let mut stages = Stages::new(quiet);
    let all = stages.run("search", "searching", || search(&spec))?;
    let mut report = Report::default();
    let limit = args.limit.unwrap_or(if quiet { usize::MAX } else { SHOWN });
    report.line(format!(
        "{} indices m for p^r = {p}^{r}, {} <= phi(m) <= {}, d <= {}, slots >= {}; {} bits of security, cheapest first",
        all.len(),
        args.least,
        args.most,
        args.degree,
        args.slots,
        args.security
    ));
    report.line(format!(
        "{:>6}  {:<14} {:>6} {:>4} {:>6} {:>8} {:>3} {:>8} {:>8}  dimensions: size, ! if bad, (generator)",
        "m", "factors", "phi(m)", "d", "slots", "log2 QP", "e", "cost", "each"
    ));
    for one in all.iter().take(limit) {
        report.line(row(one, args.packed));
    }
    report.line(
        "cost: linear maps of one bootstrapping in transforms of 2^15 points; each: thousandths of that for a slot",
    );
    report.field("found", all.len());
    report.field("candidates", all.iter().take(limit).map(|one| object(one, args.packed)).collect::<Vec<_>>());
    report.seconds(stages.seconds());
    Ok(report)
}

fn row(one: &Candidate, packed: bool) -> String {
    let join = |parts: Vec<String>, by: &str| parts.join(by);
    let factors = join(one.factors.iter().map(u64::to_string).collect(), "·");
    let dimension = |d: &windlass::params::CandidateDimension| {
        format!("{}{} ({})", d.size, if d.good { "" } else { "!" }, d.generator)
    };
    let dimensions = join(one.dimensions.iter().map(dimension).collect(), ", ");
    format!(
        "{:>6}  {factors:<14} {:>6} {:>4} {:>6} {:>8.0} {:>3} {:>8.0} {:>8.0}  {dimensions}",
        one.m,
        one.n,
        one.degree,
        one.slots,
        one.log2_qp.floor(),
        one.exponent,
        one.cost,
        one.amortised_cost(packed),
    )
}

fn object(one: &Candidate, packed: bool) -> serde_json::Value {
    let dimension = |d: &windlass::params::CandidateDimension| serde_json::json!({ "factor": d.factor, "generator": d.generator, "size": d.size, "good": d.good });
    serde_json::json!({
        "m": one.m,
        "phi": one.n,
        "factors": one.factors,
        "d": one.degree,
        "slots": one.slots,
        "dimensions": one.dimensions.iter().map(dimension).collect::<Vec<_>>(),
        "log2_qp": one.log2_qp,
        "e": one.exponent,
        "cost": one.cost,
        "cost_each": one.amortised_cost(packed),
    })
}

/// (p, r) of a power of a prime.
fn prime_power(modulus: u64) -> Result<(u64, u32)> {
    const MOST: u64 = 1 << 45;
    let wrong = || CliError::Usage(format!("--modulus must be a power of one prime, below 2^45, not {modulus}"));
    if modulus >= MOST {
        return Err(wrong());
    }
    let [one] = arith::factor(modulus)[..] else { return Err(wrong()) };
    Ok(one)
}

/// Fills a specification.
fn specification(args: &PlanArgs) -> Result<ParamSpec> {
    let (p, r) = prime_power(args.modulus)?;
    let security = f64::from(args.security);
    Ok(ParamSpec { p, r, slots: args.slots, depth: args.depth, security, ..ParamSpec::default() })
}
