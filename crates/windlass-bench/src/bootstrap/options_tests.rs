//! What the runs of `bootstrap` refuse.

use clap::{CommandFactory, Parser};

use super::Bootstrap;
use super::options::{CIRCUIT, MEASURING, PARAMETERS};

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    args: Bootstrap,
}

fn refuses(line: &str) -> bool {
    let words: Vec<&str> = std::iter::once("bootstrap").chain(line.split(' ')).collect();
    Line::try_parse_from(words).is_err_and(|error| error.kind() == clap::error::ErrorKind::ArgumentConflict)
}

/// Every option stands in a list, or is looked at by the runs that allow it.
#[test]
fn every_option_is_about_something() {
    Line::command().debug_assert();
    let looked_at = [
        "p",
        "family",
        "together",
        "digits_table",
        "appendix_a",
        "reach",
        "before",
        "only",
        "rounds",
        "all",
        "most_gib",
        "most_minutes",
        "most_hours",
        "retry",
        "threads",
        "runs",
        "explain",
        "record",
        "page",
        "plot",
    ];
    let command = Line::command();
    let mut ids: Vec<&str> = command.get_arguments().map(|option| option.get_id().as_str()).collect();
    let mut known: Vec<&str> = PARAMETERS.into_iter().chain(CIRCUIT).chain(MEASURING).chain(looked_at).collect();
    ids.sort_unstable();
    known.sort_unstable();
    assert_eq!(ids, known);
}

#[test]
fn options_that_a_run_does_not_look_at_are_refused() {
    let circuit = [
        "--partition paper",
        "--packed",
        "--table square",
        "--scheme bfv",
        "--seed 2",
        "--slack",
        "--weight 24",
        "--digits chen-han",
        "--max-keys 3",
        "--keys full",
        "--to-slots 3",
        "--enough-seconds 1",
        "--formula-2015",
    ];
    let runs =
        ["--all --record X", "--digits-table --record X", "--reach", "--page X --record X", "--plot X --record X"];
    for (run, option) in runs.iter().flat_map(|run| circuit.map(|option| (run, option))) {
        assert!(refuses(&format!("{run} {option}")), "{run} {option}");
    }
    for line in [
        "--appendix-a --record X",
        "--appendix-a --packed",
        "--appendix-a --runs 3",
        "--appendix-a --preset Y",
        "--digits-table --preset Y",
        "--digits-table --explain",
        "--digits-table --plot X --record X",
        "--reach --threads 2",
        "--reach --page X --record X",
        "--reach --explain",
        "--reach --preset Y",
        "--page X --record X --preset Y",
        "--plot X --record X --runs 3",
        "--all --record X --threads 2",
        "--preset Y --explain --record X",
        "--preset Y --explain --runs 3",
        "--preset Y --explain --scheme bfv",
    ] {
        assert!(refuses(line), "{line}");
    }
}

/// What the pages say to run.
#[test]
fn what_goes_together_is_taken() {
    for line in [
        "--appendix-a",
        "--digits-table --runs 3 --record X",
        "--digits-table --record X --page Y",
        "--all --runs 3 --record X",
        "--all --preset boot --record X",
        "--reach --only thin-18631 --rounds 3 --json X",
        "--record X Y --page P --plot Q",
        "--family ckks --record X Y --page P --plot Q",
        "--family ckks --preset Y --together 8 --threads 2 --runs 3 --json X",
        "--preset Y --table square --explain",
        "--preset Y --packed --explain",
        "--preset Y --packed --scheme bgv,bfv --threads 2 --runs 3 --record X",
        "--m 105 --p 2 --primes 14x50 --explain",
    ] {
        let words = std::iter::once("bootstrap").chain(line.split(' '));
        if let Err(error) = Line::try_parse_from(words) {
            panic!("{line}: {error}");
        }
    }
}
