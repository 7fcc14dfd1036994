//! `windlass params search`.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde_json::{Value, json};
use windlass::bootstrap::{
    BootstrapPreset, Candidate, CandidateDimension, SearchProgress, SearchSpec, SearchStep, Unsuited, search_observed,
};

use crate::args::SearchArgs;
use crate::error::{CliError, Result};
use crate::files::{claim_parameters, save_parameters};
use crate::plaintext_modulus::prime_power;
use crate::progress::Stages;
use crate::report::{Report, rounded_down};

/// How many rows text shows; fewer when each is planned.
const SHOWN: usize = 20;
const SHOWN_PLANNED: usize = 5;

/// What a plan states about a candidate.
struct Outlook {
    left: f64,
    /// Multiplications in sequence between two refreshes.
    depth: u32,
    seconds: f64,
    security: f64,
    preset: BootstrapPreset,
}

/// Searches, plans if asked to, and prints.
pub fn run(args: &SearchArgs, quiet: bool) -> Result<Report> {
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
    let _claimed = args.out.as_deref().map(claim_parameters).transpose()?;
    let mut stages = Stages::new(quiet);
    let all = match args.m {
        Some(m) => vec![stages.run("search", "looking at m", || alone(&spec, m))?],
        None => stages.watch("search", "searching", |tell| search_observed(&spec, &told(tell)))?,
    };
    let everything = if quiet { usize::MAX } else { SHOWN };
    let limit = args.limit.unwrap_or(if args.plan { SHOWN_PLANNED } else { everything });
    let rows: Vec<(&Candidate, Option<Outlook>)> = match args.plan {
        false => all.iter().take(limit).map(|one| (one, None)).collect(),
        true => match stages.watch("plan", "planning", |tell| planned(&spec, &all, limit, tell)) {
            Planned { rows, why: Some(why) } if rows.is_empty() && args.m.is_some() => return Err(why),
            Planned { rows, .. } => rows,
        },
    };
    let mut report = Report::default();
    report.line(format!(
        "{} indices m for p^r = {p}^{r}, {} <= phi(m) <= {}, d <= {}, slots >= {}; {} bits of security, cheapest first",
        all.len(),
        args.least,
        args.most,
        args.degree,
        args.slots,
        args.security
    ));
    let outlook = if args.plan { format!("{:>7} {:>6} {:>7}  ", "leaves", "depth", "seconds") } else { String::new() };
    report.line(format!(
        "{:>6}  {:<14} {:>6} {:>4} {:>6} {:>8} {:>3} {:>8} {:>8}  {outlook}dimensions: size, ! if bad, (generator)",
        "m", "factors", "phi(m)", "d", "slots", "log2 QP", "e", "cost", "each"
    ));
    rows.iter().for_each(|(one, outlook)| report.line(row(one, outlook.as_ref(), args.packed)));
    report.line(
        "cost: linear maps of one bootstrapping in transforms of 2^15 points; each: thousandths of that for a slot",
    );
    if args.plan {
        report
            .line("leaves: bits after a refresh; depth: multiplications in sequence between two refreshes, at least 1");
    }
    report.field("found", all.len());
    report.field(
        "candidates",
        rows.iter().map(|(one, outlook)| object(one, outlook.as_ref(), args.packed)).collect::<Vec<_>>(),
    );
    if let Some(path) = &args.out {
        let first = rows.first().and_then(|(_, outlook)| outlook.as_ref());
        let nothing = || {
            let said = "with none of these m a multiplication fits between two refreshes, so nothing was saved";
            CliError::Usage(said.into())
        };
        save_parameters(&first.ok_or_else(nothing)?.preset.params, path)?;
        report.line(format!("saved to {}", path.display()));
    }
    report.seconds(stages.seconds());
    Ok(report)
}

/// The candidate of one index; where m does not suit, the error names the condition and the option
/// that states it.
fn alone(spec: &SearchSpec, m: u64) -> Result<Candidate> {
    Candidate::examine(spec, m)?.map_err(|why| {
        let remedy = match why {
            Unsuited::Dimension { .. } => "; change the range with --least and --most",
            Unsuited::Degree { .. } => "; raise the limit with --degree",
            Unsuited::Slots { .. } => "; lower the limit with --slots",
            Unsuited::Security { .. } => "; state other bits with --security",
            Unsuited::Even => ": see 'windlass params plan --m M --bootstrap'",
            _ => "; leave --m out to search all indices",
        };
        CliError::Usage(format!("m = {m} is not suitable: {why}{remedy}"))
    })
}

/// An observer of the library as one of a stage.
pub fn told<'a>(
    tell: &'a (dyn Fn(&str, usize, usize) + Sync),
) -> impl Fn(SearchProgress) -> ControlFlow<()> + Sync + 'a {
    move |progress| {
        tell(&progress.step.to_string(), progress.done, progress.count);
        ControlFlow::Continue(())
    }
}

/// Candidates that were planned.
struct Planned<'a> {
    rows: Vec<(&'a Candidate, Option<Outlook>)>,
    /// Why the last that is left out is left out.
    why: Option<CliError>,
}

/// The first `limit` candidates whose bootstrapping leaves room for a multiplication between two
/// refreshes. Tells of each that is planned, of how many there are.
fn planned<'a>(
    spec: &SearchSpec,
    all: &'a [Candidate],
    limit: usize,
    tell: &(dyn Fn(&str, usize, usize) + Sync),
) -> Planned<'a> {
    let (mut rows, mut why) = (Vec::new(), None);
    let done = AtomicUsize::new(0);
    for few in all.chunks(rayon::current_num_threads().max(2)) {
        let outlook = |one: &'a Candidate| {
            let step = SearchStep::Plan { m: one.m }.to_string();
            tell(&step, done.load(Ordering::Relaxed), all.len());
            let outlook = Outlook::of(spec, one);
            tell(&step, done.fetch_add(1, Ordering::Relaxed) + 1, all.len());
            outlook.map(|outlook| (one, Some(outlook)))
        };
        for outcome in few.par_iter().map(outlook).collect::<Vec<_>>() {
            match outcome {
                Ok(row) => rows.push(row),
                Err(reason) => why = Some(reason),
            }
        }
        if rows.len() >= limit {
            break;
        }
    }
    rows.truncate(limit);
    Planned { rows, why }
}

impl Outlook {
    /// Errors where bootstrapping leaves no room for a multiplication, or cannot be planned.
    fn of(spec: &SearchSpec, one: &Candidate) -> Result<Self> {
        let refused = |why: &dyn std::fmt::Display| {
            CliError::Usage(format!(
                "m = {} does not bootstrap with {} bits of security: {why}; fewer bits of security (--security) allow a longer chain",
                one.m, spec.security
            ))
        };
        let plan = one.plan(spec).map_err(|error| refused(&error))?;
        let (depth, left) = (plan.depth_between(), plan.output_bits());
        if depth == 0 {
            let needed = plan.least_input_bits();
            return Err(refused(&format_args!(
                "a refresh leaves {left:.1} bits and needs {needed:.1}, so no multiplication fits between two refreshes"
            )));
        }
        let seconds = plan.estimated_seconds()?;
        let security = rounded_down(plan.params().security().bits);
        let preset = BootstrapPreset::of_plan(&plan)?;
        Ok(Self { left, depth, seconds, security, preset })
    }
}

fn row(one: &Candidate, outlook: Option<&Outlook>, packed: bool) -> String {
    let factors = one.factors.iter().map(u64::to_string).collect::<Vec<_>>().join("·");
    let dimension = |d: &CandidateDimension| format!("{}{} ({})", d.size, if d.good { "" } else { "!" }, d.generator);
    let dimensions = one.dimensions.iter().map(dimension).collect::<Vec<_>>().join(", ");
    let outlook = outlook.map_or_else(String::new, |o| format!("{:>7.0} {:>6} {:>7.1}  ", o.left, o.depth, o.seconds));
    format!(
        "{:>6}  {factors:<14} {:>6} {:>4} {:>6} {:>8.0} {:>3} {:>8.0} {:>8.0}  {outlook}{dimensions}",
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

fn object(one: &Candidate, outlook: Option<&Outlook>, packed: bool) -> Value {
    let dimension = |d: &CandidateDimension| json!({ "factor": d.factor, "generator": d.generator, "size": d.size, "good": d.good });
    let mut object = json!({
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
    });
    if let Some(outlook) = outlook {
        object["output_bits"] = outlook.left.into();
        object["depth_between_refreshes"] = outlook.depth.into();
        object["estimated_seconds"] = outlook.seconds.into();
        object["security_bits"] = outlook.security.into();
    }
    object
}
