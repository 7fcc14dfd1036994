//! The hammer itself: tiny circuits find nothing, and a mistake is found.

use super::dice::Dice;
use super::judge::{Fault, Judge};
use super::setting::Size;
use super::{complex, exact, judged, refreshing, seed_of};

/// All judges of circuits with these numbers in one.
fn all(count: u64, seed: u64, circuit: impl Fn(Dice, Judge) -> Judge) -> Judge {
    let mut judge = Judge::default();
    for number in 0..count {
        let seed = seed_of(seed, number);
        judge.merge(judged(seed, |judge| circuit(Dice::new(seed), judge)));
    }
    judge
}

#[test]
fn tiny_circuits_agree_with_plain_arithmetic() {
    let mut judge = all(120, 1, |dice, judge| exact::run(dice, judge, Size::Tiny, false));
    judge.merge(all(60, 2, complex::run));
    let lines: Vec<String> = judge.findings.iter().map(|finding| finding.line("")).collect();
    assert!(lines.is_empty(), "{lines:#?}");
    let counts = judge.counts;
    assert!(counts.are_clean() && counts.circuits == 180 && counts.approximate == 60);
    assert!(counts.operations > 1000 && counts.decryptions > 500 && counts.right_refusals > 25, "{counts:?}");
}

#[test]
fn bounds_hold_where_they_are_most_strained() {
    let mut judge = all(30, 4, |dice, judge| exact::run(dice.adversarial(), judge, Size::Tiny, false));
    judge.merge(all(30, 5, |dice, judge| complex::run(dice.adversarial(), judge)));
    let lines: Vec<String> = judge.findings.iter().map(|finding| finding.line("--adversarial ")).collect();
    assert!(lines.is_empty(), "{lines:#?}");
    assert!(judge.counts.operations > 300 && judge.counts.decryptions > 150, "{:?}", judge.counts);
}

/// Rings, modes, orders, transforms and digit methods as they come.
#[test]
fn drawn_bootstrappings_give_back_what_was_there() {
    let judge = all(12, 6, |dice, judge| refreshing::run(dice, judge, 10));
    let lines: Vec<String> = judge.findings.iter().map(|finding| finding.line("")).collect();
    assert!(lines.is_empty(), "{lines:#?}");
    assert!(judge.counts.refreshes > 15 && judge.counts.impossible_sets > 0, "{:?}", judge.counts);
}

#[test]
fn an_oracle_that_is_off_by_one_is_noticed_in_every_circuit() {
    for number in 0..10 {
        let seed = seed_of(3, number);
        let judge = judged(seed, |judge| exact::run(Dice::new(seed), judge, Size::Tiny, true));
        assert!(judge.counts.of(Fault::WrongAnswer) > 0 && !judge.counts.are_clean(), "seed {seed}");
        assert!(judge.findings.iter().any(|finding| finding.line("").contains(&seed.to_string())));
    }
}

#[test]
fn a_panic_is_a_finding() {
    let judge = judged(7, |_| panic!("on purpose"));
    assert_eq!((judge.counts.of(Fault::Panic), judge.counts.circuits), (1, 1));
    assert!(!judge.counts.are_clean());
}

/// The same seed is the same circuit, or a finding could not be run again.
#[test]
fn a_seed_says_everything() {
    let seed = seed_of(5, 0);
    let run = || judged(seed, |judge| exact::run(Dice::new(seed), judge, Size::Tiny, true));
    let stories = || run().findings.iter().map(|finding| finding.line("")).collect::<Vec<_>>();
    assert_eq!(stories(), stories());
}
