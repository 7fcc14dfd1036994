//! `hammer`: random circuits over random rings, in every scheme, compared with schoolbook arithmetic for
//! as long as one likes. Its exit code is 1 if anything is wrong.
#![forbid(unsafe_code)]

mod arithmetic;
mod circuits;
mod complex;
mod dice;
mod drawn;
mod exact;
mod judge;
mod maps;
mod oracle;
mod plans;
mod refreshing;
mod setting;
mod several;
mod strangers;
mod world;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use clap::builder::RangedU64ValueParser;
use dice::Dice;
use judge::{Fault, Judge};
use setting::Size;

/// Random circuits over random rings, in every scheme, compared with schoolbook arithmetic.
#[derive(Debug, Parser)]
struct Hammer {
    /// Minutes to run.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// The seed from which the seeds of all circuits follow [default: the time].
    #[arg(long)]
    seed: Option<u64>,
    /// Circuits that run at the same time.
    #[arg(long, default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: usize,
    /// Choose rings, secrets, values and constants at the ends of their ranges.
    #[arg(long)]
    adversarial: bool,
    /// Bootstrap in every circuit.
    #[arg(long)]
    refreshing: bool,
    /// Run only the circuit with this seed, as a finding prints it.
    #[arg(long)]
    only_seed: Option<u64>,
}

/// What is asked of all circuits of a run.
#[derive(Debug, Clone, Copy)]
struct Asked {
    adversarial: bool,
    refreshing: bool,
}

impl Hammer {
    fn asked(&self) -> Asked {
        Asked { adversarial: self.adversarial, refreshing: self.refreshing }
    }
}

impl Asked {
    /// As they are written behind `hammer`.
    fn options(self) -> String {
        let options = [(self.adversarial, "--adversarial "), (self.refreshing, "--refreshing ")];
        options.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, name)| name).collect()
    }
}

fn main() -> ExitCode {
    match run(&Hammer::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hammer: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs circuits until the time is up and prints what was counted; whether nothing was wrong.
fn run(args: &Hammer) -> Result<bool, Box<dyn std::error::Error>> {
    panic::set_hook(Box::new(|info| LAST_PANIC.set(info.to_string())));
    let start = Instant::now();
    let judge = match args.only_seed {
        Some(seed) => circuit(seed, args.asked()),
        None => hammer(args, start)?,
    };
    if args.only_seed.is_some() {
        print_findings(&judge, args);
    }
    print!("{}", judge.counts.table(start.elapsed().as_secs_f64()));
    Ok(judge.counts.are_clean())
}

fn print_findings(judge: &Judge, args: &Hammer) {
    let options = args.asked().options();
    judge.findings.iter().for_each(|finding| println!("{}", finding.line(&options)));
}

fn hammer(args: &Hammer, start: Instant) -> Result<Judge, String> {
    let length = Duration::try_from_secs_f64(args.minutes * 60.0).map_err(|error| format!("--minutes: {error}"))?;
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = args.seed.unwrap_or_else(clock);
    println!("random circuits for {} minutes, --seed {seed}", args.minutes);
    let (next, all) = (AtomicU64::new(0), Mutex::new(Judge::default()));
    let work = || {
        // The library's own parallelism stays within the thread.
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        one.install(|| {
            while start.elapsed() < length {
                let judge = circuit(seed_of(seed, next.fetch_add(1, Ordering::Relaxed)), args.asked());
                print_findings(&judge, args);
                all.lock().expect("no thread panics while it adds").merge(judge);
            }
        });
    };
    std::thread::scope(|scope| (0..args.threads).for_each(|_| drop(scope.spawn(work))));
    Ok(all.into_inner().expect("no thread panics while it adds"))
}

/// The seed of a circuit by its number: the output function of SplitMix64.
fn seed_of(seed: u64, number: u64) -> u64 {
    let mut x = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// One circuit of the kind that its seed says: one in 500 refreshes, one in six is approximate.
fn circuit(seed: u64, asked: Asked) -> Judge {
    let mut dice = Dice::new(seed);
    let (refreshing, approximate) = (dice.once_in(500) || asked.refreshing, dice.once_in(6));
    if asked.adversarial {
        dice = dice.adversarial();
    }
    judged(seed, move |judge| match (refreshing, approximate) {
        (true, _) => refreshing::run(dice, judge, 24),
        (_, true) => complex::run(dice, judge),
        _ => exact::run(dice, judge, Size::Any, false),
    })
}

thread_local! {
    /// What the last panic of this thread said, and where.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs a circuit; a panic is a finding. What the circuit counted before it is lost.
fn judged(seed: u64, circuit: impl FnOnce(Judge) -> Judge) -> Judge {
    let mut judge = panic::catch_unwind(AssertUnwindSafe(|| circuit(Judge::new(seed)))).unwrap_or_else(|_| {
        let mut judge = Judge::new(seed);
        judge.find(Fault::Panic, LAST_PANIC.take().replace('\n', " "));
        judge
    });
    judge.counts.circuits += 1;
    judge
}
