//! All steps in one process, compared with the scores in the clear.

use std::path::Path;

use windlass::rlwe::context::os_rng;
use windlass_retrieval::vectors::{Metric, Neighbour, QuantisedQuery, QuantisedTable, SearchClient, Vectors, nearest};

use super::args::{SearchArgs, TableArgs};
use super::found::Found;
use super::schema::{Opened, open_table};
use super::steps::{prepare, quantise};
use super::vector_file::VectorFile;
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::Report;

/// `windlass search`.
pub fn run(args: &SearchArgs, quiet: bool) -> Result<Report> {
    let usage = |text: &str| CliError::Usage(text.to_owned());
    let path = args.table.clone().ok_or_else(|| usage("give --table FILE, or a step: see 'windlass search --help'"))?;
    let mut stages = Stages::new(quiet);
    let files: Vec<&Path> = [Some(path.as_path()), args.query.as_deref()].into_iter().flatten().collect();
    VectorFile::refuse_options(&files, &args.columns)?;
    let queries = args.query.as_ref().map(|query| VectorFile::read_queries(query, &args.columns)).transpose()?;
    // The queries may have columns to leave out that the table lacks.
    let elsewhere = queries.as_ref().map_or(&[][..], VectorFile::all_columns);
    let given = TableArgs { table: path, columns: args.columns.clone() };
    let (file, table, opened) = open_table(&given, &args.how, elsewhere, &mut stages)?;
    let mut report = Report::default();
    opened.describe(&mut report);
    if args.plan {
        report.seconds(stages.seconds());
        return Ok(report);
    }
    let queries = queries.ok_or_else(|| usage("give --query FILE, or --plan"))?;
    if !quiet {
        report.print_ahead();
    }
    queries.check_columns(file.path(), file.columns())?;
    search(args, [&file, &queries], (&table, &opened), stages, report)
}

/// Everything after the plan.
fn search(
    args: &SearchArgs,
    [file, queries]: [&VectorFile; 2],
    (table, opened): (&QuantisedTable, &Opened),
    mut stages: Stages,
    mut report: Report,
) -> Result<Report> {
    let asked = quantise(opened.schema.shape(), queries)?;
    let mut rng = os_rng().map_err(windlass::Error::from)?;
    let (client, keys) = stages.run("keygen", "client: making keys", || -> Result<_> {
        let client = SearchClient::generate(opened.schema.shape(), &mut rng)?;
        let keys = client.evaluation_keys(&mut rng)?;
        Ok((client, keys))
    })?;
    let server = prepare(table, opened.schema.shape(), opened.schema.files().setting(), &mut stages)?;
    let query = stages.run("query", "client: encrypting vectors", || client.query(&asked, &mut rng))?;
    let answer = stages.run("answer", "server: scoring all vectors", || server.answer(&keys, &query))?;
    let scores = stages.run("decrypt", "client: decrypting scores", || client.scores(&answer))?;
    // One more than are shown: it may be as near as the last of them.
    let wanted = args.k.saturating_add(1);
    let nearest = |(number, scores): (usize, &Vec<i64>)| nearest(opened.schema.shape(), &asked, number, scores, wanted);
    let found: Vec<Vec<Neighbour>> = scores.iter().enumerate().map(nearest).collect();
    let shown: Vec<&[Neighbour]> = found.iter().map(|list| &list[..args.k.min(list.len())]).collect();
    let recall = stages.run("check", "comparing with the clear", || {
        check(table, &asked, &scores)?;
        recall(&file.vectors()?, &queries.vectors()?, table.metric(), &shown)
    })?;
    report.line("");
    report.line("all scores are those of the same integers in the clear");
    report.line(format!("recall@{} against double precision in the clear: {recall:.4}", args.k));
    let found = Found { nearest: &found, k: args.k, asked: &asked, shape: opened.schema.shape(), names: Some(file) };
    found.describe(&mut report);
    report.field("verified", true);
    report.field("recall", recall);
    report.seconds(stages.seconds());
    Ok(report)
}

/// Every score must be that of the integers.
fn check(table: &QuantisedTable, asked: &QuantisedQuery, scores: &[Vec<i64>]) -> Result<()> {
    for (number, found) in scores.iter().enumerate() {
        let wrong = table.scores(asked, number).iter().zip(found).filter(|(wanted, found)| wanted != found).count();
        if wrong > 0 || found.len() != table.count() {
            return Err(CliError::SearchDiffers { query: number, wrong });
        }
    }
    Ok(())
}

/// The share of the k nearest by the vectors as they were given that were found.
fn recall(rows: &Vectors<'_>, queries: &Vectors<'_>, metric: Metric, found: &[&[Neighbour]]) -> Result<f64> {
    let (mut hits, mut all) = (0, 0);
    let (mut vector, mut query) = (vec![0.0; rows.dimension()], vec![0.0; rows.dimension()]);
    for (number, found) in found.iter().enumerate() {
        queries.read(number, &mut query);
        let mut scores = Vec::with_capacity(rows.count());
        for index in 0..rows.count() {
            rows.read(index, &mut vector);
            scores.push((metric.distance(&vector, &query), index));
        }
        let k = found.len();
        if (1..scores.len()).contains(&k) {
            scores.select_nth_unstable_by(k - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        let best = &scores[..k];
        hits += found.iter().filter(|neighbour| best.iter().any(|(_, index)| *index == neighbour.index)).count();
        all += k;
    }
    Ok(if all == 0 { 1.0 } else { hits as f64 / all as f64 })
}
