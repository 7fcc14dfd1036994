//! The layout of a table, before anything is made.

use windlass_retrieval::{Error, POINT_BYTES, Plan, RowStatistics, TableRequirements, fresh_seed};

use super::args::{PlanArgs, RequirementArgs};
use super::source::Source;
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::Report;

/// How often bins that cannot hold all entries are planned again, each time with more of them and
/// another seed.
pub const TRIES: u32 = 8;

/// How many times the bins that should do an attempt takes.
pub fn slack(attempt: u32) -> f64 {
    1.0 + f64::from(attempt * attempt) / 20.0
}

impl RequirementArgs {
    pub fn requirements(&self) -> TableRequirements {
        // The parser takes 64 and 128 only.
        let tag_bits = self.tag_bits.as_deref().and_then(|bits| bits.parse().ok());
        TableRequirements {
            keys: self.most_keys,
            query: self.most_query,
            answer: self.most_answer,
            room: self.room,
            tag_bits,
        }
    }
}

/// The layout of rows like these; `public` is of the key that hides keys.
pub fn plan_for(
    rows: RowStatistics,
    keyed: bool,
    public: Option<&[u8; POINT_BYTES]>,
    slack: f64,
    requirements: &TableRequirements,
) -> Result<Plan> {
    Ok(match (keyed, public) {
        (false, _) => Plan::rows(rows, requirements),
        (true, None) => Plan::keywords(rows, &fresh_seed()?, slack, requirements),
        (true, Some(public)) => Plan::hidden(rows, public, &fresh_seed()?, slack, requirements),
    }?)
}

/// `windlass table plan`.
pub fn plan(args: &PlanArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let requirements = args.requirements.requirements();
    // Every key that hides keys gives the same layout.
    let public = args.hidden.then_some(&[0; POINT_BYTES]);
    let (plan, tried) = match (&args.table, args.rows, args.bytes) {
        (Some(path), ..) => {
            let source = stages.run("table", "reading the table", || Source::read(path, args.key.as_deref()))?;
            (stages.run("plan", "looking for a place for every row", || plan_of(&source, public, &requirements))?, true)
        }
        (None, Some(count), Some(bytes)) => {
            let total = count.saturating_mul(bytes) as u64;
            let rows = RowStatistics { count, longest: bytes, fixed: bytes > 0, total };
            (plan_for(rows, args.key.is_some(), public, 1.0, &requirements)?, args.key.is_none())
        }
        _ => return Err(CliError::Usage("give --table, or --rows and --bytes".into())),
    };
    let mut report = Report::default();
    describe_plan(&plan, &mut report);
    if !tried {
        report.line(format!(
            "it was not checked whether every row fits into the bins. If one does not, 'table build' uses more bins, at most {:.2} times as many; with --table the plan checks it",
            slack(TRIES - 1)
        ));
    }
    report.field("places_found", tried);
    report.seconds(stages.seconds());
    Ok(report)
}

/// The plan that a build of these rows makes: with more bins where entries do not fit.
fn plan_of(source: &Source, public: Option<&[u8; POINT_BYTES]>, requirements: &TableRequirements) -> Result<Plan> {
    let rows = source.statistics()?;
    for attempt in 0..TRIES {
        let plan = plan_for(rows, source.key.is_some(), public, slack(attempt), requirements)?;
        match plan.find_places(&source.rows) {
            Err(Error::Full { .. }) if attempt + 1 < TRIES => {}
            placed => return Ok(placed.map(|()| plan)?),
        }
    }
    unreachable!("the last attempt returns")
}

/// Prints a plan.
pub fn describe_plan(plan: &Plan, report: &mut Report) {
    plan.explain().lines().for_each(|line| report.line(line));
    report.field("plan", plan.explain());
    report.field("key_bytes", plan.sizes.keys);
    report.field("query_bytes", plan.traffic[0]);
    report.field("answer_bytes", plan.traffic[1]);
    report.field("prepared_bytes", plan.sizes.prepared);
    report.field("estimated_prepare_seconds", plan.seconds.prepare);
    report.field("estimated_answer_seconds", plan.seconds.answer);
}
