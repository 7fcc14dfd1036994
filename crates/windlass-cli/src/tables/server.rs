//! The steps of a server: prepare, change, answer.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use windlass::rlwe::EvaluationKeys;
use windlass::wire::{hex, prefixes};
use windlass_retrieval::{
    Contents, Error, KeyChange, KeyContext, Observer, OprfKey, Plan, Query, RowChange, RowStatistics, Schema, Table,
    TableContext, TableRequirements,
};

use super::args::{AnswerArgs, BuildArgs, RemoveArgs, SetArgs};
use super::client::open_schema;
use super::planning::{TRIES, describe_plan, plan_for, slack};
use super::source::Source;
use crate::error::{CliError, Result};
use crate::files::claim;
use crate::interrupt::Change;
use crate::memory;
use crate::progress::Stages;
use crate::report::{Report, printable};
use crate::values::{read, read_for, write};

/// The key that hides the keys of a table which is built.
pub struct TableKey<'p> {
    key: OprfKey,
    /// Where a fresh one belongs, until it is there.
    unsaved: Option<&'p Path>,
}

impl<'p> TableKey<'p> {
    /// The key in a file. If there is no such file, it makes a fresh key, except for a table that
    /// already has one: under a schema that clients know, or begun in the directory.
    fn of(path: &'p Path, args: &BuildArgs) -> Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Ok(Self { key: OprfKey::load(path)?, unsaved: None });
        }
        let table = match &args.like {
            Some(known) => Some(known),
            None => Table::begun(&args.out)?.map(|_| &args.out),
        };
        if let Some(table) = table {
            let reason = format!("there is no such file: give the key that hides the keys of {}", table.display());
            return Err(Error::BadFile { path: path.to_owned(), reason }.into());
        }
        Ok(Self { key: OprfKey::generate()?, unsaved: Some(path) })
    }

    /// Writes a fresh key into its file, before anything is made under it.
    fn save(&mut self) -> Result<()> {
        match self.unsaved.take() {
            Some(path) => Ok(self.key.save(path)?),
            None => Ok(()),
        }
    }
}

/// Prepares a table in a directory, planning with more room where entries do not fit. A fresh key is
/// saved when there is a plan.
pub fn prepare(
    source: &Source,
    dir: &Path,
    mut oprf: Option<&mut TableKey<'_>>,
    requirements: &TableRequirements,
    stages: &mut Stages,
) -> Result<(Plan, Table)> {
    let rows = source.statistics()?;
    Table::check_requirements(dir, rows, requirements)?;
    for attempt in 0..TRIES {
        let public = oprf.as_deref().map(|oprf| oprf.key.public());
        let mut plan = stages.run("plan", "choosing a layout", || {
            plan_for(rows, source.key.is_some(), public.as_ref(), slack(attempt), requirements)
        })?;
        plan.schema.fields.clone_from(&source.fields);
        plan.schema.key.clone_from(&source.key);
        oprf.as_deref_mut().map_or(Ok(()), TableKey::save)?;
        match prepare_as(&plan, source, dir, oprf.as_deref().map(|oprf| &oprf.key), stages)? {
            Err(Error::Full { .. }) if attempt + 1 < TRIES => {}
            made => return Ok((planned(made.as_ref().ok(), plan, rows), made?)),
        }
    }
    unreachable!("the last attempt returns")
}

/// The plan of a table: an earlier run may have begun with another layout.
fn planned(table: Option<&Table>, plan: Plan, rows: RowStatistics) -> Plan {
    table.map_or(plan, |table| Plan::of(table.setting(), table.schema().clone(), rows.total))
}

/// Prepares a table in a directory by a plan.
fn prepare_as(
    plan: &Plan,
    source: &Source,
    dir: &Path,
    oprf: Option<&OprfKey>,
    stages: &mut Stages,
) -> Result<windlass_retrieval::Result<Table>> {
    // Pages of the table that is being written need not all be in memory; the rows are.
    memory::check("the rows of the table", plan.data)?;
    let pieces = plan.sizes.prepared.div_ceil(64 << 20).max(1) as usize;
    Ok(stages.count("prepare", "preparing the table", pieces, |tick| {
        let observer = |_: usize, _: usize| {
            tick();
            ControlFlow::Continue(())
        };
        match (source.key.is_some(), oprf) {
            (false, _) => Table::create_rows(dir, &plan.schema, &source.values(), &observer),
            (true, None) => Table::create_keywords(dir, &plan.schema, &source.rows, &observer),
            (true, Some(key)) => Table::create_hidden(dir, &plan.schema, &source.rows, key, &observer),
        }
    }))
}

/// Prepares a table under a schema that clients know.
fn prepare_like(
    known: &Path,
    source: &Source,
    dir: &Path,
    oprf: Option<&OprfKey>,
    stages: &mut Stages,
) -> Result<(Plan, Table)> {
    let path = if known.is_dir() { known.join(windlass_retrieval::SCHEMA_FILE) } else { known.to_owned() };
    let of_file = |source: Error| CliError::Table { path: path.clone(), source };
    let schema = open_schema(&path)?.0;
    if (&schema.fields, &schema.key) != (&source.fields, &source.key) {
        let reason = format!(
            "the columns and the key differ from those of the table: {}{}",
            schema.fields.join(","),
            schema.key.as_ref().map_or_else(|| ", by number".to_owned(), |key| format!(", by {key}"))
        );
        return Err(of_file(Error::OtherLayout { reason }));
    }
    refuse_other_schema(dir, &path, &schema)?;
    let rows = source.statistics()?;
    let plan = Plan::like(&schema, rows).map_err(of_file)?;
    match prepare_as(&plan, source, dir, oprf, stages)? {
        Err(Error::Full { key }) => {
            let reason = format!("the table has no space for the key '{key}'");
            Err(of_file(Error::OtherLayout { reason }))
        }
        made => {
            let table = made?;
            Ok((planned(Some(&table), plan, rows), table))
        }
    }
}

/// Refuses a directory whose table, finished or begun, has another schema than the one to keep,
/// which is read from `path`.
fn refuse_other_schema(dir: &Path, path: &Path, known: &Schema) -> Result<()> {
    let there = Table::begun(dir)?.map(|schema| schema.hash());
    let known = known.hash();
    match there {
        Some(found) if found != known => {
            let [found, known] = prefixes(&found, &known, 8);
            Err(CliError::OtherSchemaThere { dir: dir.into(), found, path: path.into(), known })
        }
        _ => Ok(()),
    }
}

/// `windlass table build`.
pub fn build(args: &BuildArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let source = stages.run("table", "reading the table", || Source::read(&args.table, args.key.as_deref()))?;
    let mut oprf = args.oprf_key.as_deref().map(|path| TableKey::of(path, args)).transpose()?;
    let before = Table::begun(&args.out)?.map(|schema| schema.hash());
    let resumable = Change::resumable(&args.out);
    let (plan, table) = match &args.like {
        Some(known) => prepare_like(known, &source, &args.out, oprf.as_ref().map(|oprf| &oprf.key), &mut stages)?,
        None => prepare(&source, &args.out, oprf.as_mut(), &args.requirements.requirements(), &mut stages)?,
    };
    drop(resumable);
    let mut report = Report::default();
    describe_plan(&plan, &mut report);
    report.field("rows", count_of(table.schema()));
    report.field("directory", args.out.display().to_string());
    report.line(format!("prepared in {}; clients need {}", args.out.display(), windlass_retrieval::SCHEMA_FILE));
    let made = table.schema().hash();
    // A table that is made like another one has its schema, or is refused.
    let known = match &args.like {
        Some(known) => format!("the one of {}, which its clients know", known.display()),
        None if before == Some(made) => format!("the one that {} had before", args.out.display()),
        None => "a new one, which clients must accept".to_owned(),
    };
    let hash = hex(&made);
    report.line(format!("schema {}..., {known}", &hash[..16]));
    report.field("schema", hash);
    report.seconds(stages.seconds());
    Ok(report)
}

fn count_of(schema: &Schema) -> usize {
    match &schema.contents {
        Contents::Rows(rows) => rows.count,
        Contents::Keywords(keywords) => keywords.count,
    }
}

/// `windlass table set`.
pub fn set(args: &SetArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let schema = Table::open(&args.dir, false)?.schema().clone();
    if let (Some(_), Some(key)) = (args.first, &schema.key) {
        return Err(CliError::Usage(format!(
            "{}: its rows have keys (column '{}') and no numbers: leave out --first",
            args.dir.display(),
            printable(key)
        )));
    }
    let source = stages.run("table", "reading the rows", || Source::read(&args.table, schema.key.as_deref()))?;
    if source.fields != schema.fields {
        let mut reason = "its columns differ from those of the prepared table: ".to_owned();
        let _ = write!(reason, "{}", schema.fields.join(","));
        return Err(CliError::NotATable { path: args.table.clone(), reason });
    }
    let count = source.rows.len();
    let oprf = args.oprf_key.as_deref().map(OprfKey::load).transpose()?;
    let table = stages.run("set", "preparing the pieces that change", || match schema.contents {
        Contents::Rows(_) => {
            let change = |(number, (_, row)): (usize, (Vec<u8>, Vec<u8>))| match args.first {
                Some(first) => RowChange::Set(first.saturating_add(number), row),
                None => RowChange::Append(row),
            };
            let changes: Vec<RowChange> = source.rows.into_iter().enumerate().map(change).collect();
            watched(&args.dir, |observer| Table::change_rows(&args.dir, &changes, observer))
        }
        Contents::Keywords(_) => {
            let changes: Vec<KeyChange> = source.rows.into_iter().map(|(key, row)| KeyChange::Set(key, row)).collect();
            watched(&args.dir, |observer| change_keys(&args.dir, &changes, oprf.as_ref(), observer))
        }
    });
    let table = table.map_err(|error| of_rows(&args.table, error))?;
    Ok(changed(&table, count, &stages))
}

/// Changes rows by key, which may be hidden.
fn change_keys(
    dir: &Path,
    changes: &[KeyChange],
    oprf: Option<&OprfKey>,
    observer: &Observer<'_>,
) -> windlass_retrieval::Result<Table> {
    match oprf {
        None => Table::change_keys(dir, changes, observer),
        Some(key) => Table::change_hidden(dir, changes, key, observer),
    }
}

/// Makes a change of the table in a directory; an interruption says what became of it.
fn watched(
    dir: &Path,
    make: impl FnOnce(&Observer<'_>) -> windlass_retrieval::Result<Table>,
) -> windlass_retrieval::Result<Table> {
    let change = Change::of(dir);
    let observer = |done: usize, count: usize| {
        if done == count {
            change.begins();
        }
        ControlFlow::Continue(())
    };
    let before = Table::fingerprint(dir).ok();
    let made = make(&observer);
    // One that fails may fail after the step that is seen.
    if made.is_ok() || Table::fingerprint(dir).ok() != before {
        change.is_made();
    }
    made
}

/// Names the file of rows that a table does not take.
fn of_rows(path: &Path, error: Error) -> CliError {
    match error {
        Error::RowTooLong { .. } | Error::RowTooShort { .. } | Error::EntryTooLong { .. } | Error::Full { .. } => {
            CliError::Table { path: path.into(), source: error }
        }
        other => other.into(),
    }
}

/// `windlass table remove`.
pub fn remove(args: &RemoveArgs, quiet: bool) -> Result<Report> {
    let mut stages = Stages::new(quiet);
    let wanted = &args.wanted;
    let before = Table::open(&args.dir, false)?;
    let oprf = args.oprf_key.as_deref().map(OprfKey::load).transpose()?;
    refuse_absent(&args.dir, &before, &wanted.keys, oprf.as_ref())?;
    let before = count_of(before.schema());
    let table = stages.run("remove", "preparing the pieces that change", || {
        if wanted.keys.is_empty() {
            let changes: Vec<RowChange> = wanted.rows.iter().map(|&row| RowChange::Clear(row)).collect();
            watched(&args.dir, |observer| Table::change_rows(&args.dir, &changes, observer))
        } else {
            let remove = |key: &String| KeyChange::Remove(key.as_bytes().to_vec());
            let changes: Vec<KeyChange> = wanted.keys.iter().map(remove).collect();
            watched(&args.dir, |observer| change_keys(&args.dir, &changes, oprf.as_ref(), observer))
        }
    })?;
    // A key that was named twice is gone once; rows by number become empty.
    let removed =
        if wanted.keys.is_empty() { wanted.rows.len() } else { before - count_of(table.schema()).min(before) };
    Ok(changed(&table, removed, &stages))
}

/// Refuses keys of which a table by key has no row; one that is asked by number says so later.
fn refuse_absent(dir: &Path, table: &Table, keys: &[String], oprf: Option<&OprfKey>) -> Result<()> {
    if matches!(table.schema().contents, Contents::Rows(_)) {
        return Ok(());
    }
    for key in keys {
        let there = match oprf {
            None => table.has_key(key.as_bytes()),
            Some(oprf) => table.has_hidden_key(key.as_bytes(), oprf),
        };
        if !there? {
            return Err(CliError::AbsentKey { path: dir.into(), key: key.clone() });
        }
    }
    Ok(())
}

fn changed(table: &Table, count: usize, stages: &Stages) -> Report {
    let mut report = Report::default();
    let rows = count_of(table.schema());
    report.line(format!("{count} changes; the table has {rows} rows now"));
    report.field("changes", count);
    report.field("rows", rows);
    report.seconds(stages.seconds());
    report
}

/// `windlass table answer`.
pub fn answer(args: &AnswerArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let table = stages.run("table", "opening the table", || Table::open(&args.dir, true))?;
    let bytes = make_answer(&table, &args.evaluation_keys, &args.input, &args.out, &mut stages)?;
    let mut report = Report::default();
    report.line("answered");
    report.made("answer", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Writes the answer to a query.
pub fn make_answer(table: &Table, keys: &Path, query: &Path, out: &Path, stages: &mut Stages) -> Result<u64> {
    let context = TableContext::new(table.setting(), table.schema());
    let (keys, asked) = stages.run("answer_load", "reading keys and query", || -> Result<_> {
        let (asked, key): (Query, _) = read(query, &context)?;
        let keys: Arc<EvaluationKeys> = Arc::new(read_for(keys, &KeyContext::new(table.setting()), (key, query))?);
        Ok((keys, asked))
    })?;
    let answer = stages.run("answer", "answering", || table.answer(&keys, &asked))?;
    write(out, &context, &answer)
}
