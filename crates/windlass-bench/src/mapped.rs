//! `windlass-bench mapped`: keys and constants from files that are read, copied or mapped; how long
//! each takes, what memory it holds, and a linear map with each.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use clap::Args;
use windlass::circuits::{LinearMap, LinearPlan};
use windlass::schemes::Ciphertext;
use windlass::{Context, Plaintext, Server};

use crate::machine;
use crate::threads::{measured, number, with_threads};
use crate::timing::{Sample, subject};

/// What is measured, and where its files go.
#[derive(Debug, Args)]
pub struct Mapped {
    /// The parameter set.
    #[arg(long, default_value = "bgv_n32768")]
    preset: String,
    /// The number of rotations in the linear map.
    #[arg(long, default_value_t = 49, value_parser = clap::value_parser!(u64).range(1..=4096))]
    rotations: u64,
    /// An existing directory for the files of some hundred megabytes, which are removed at the end.
    #[arg(long, default_value = ".")]
    directory: PathBuf,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = number())]
    threads: usize,
    /// Rounds. The median is taken, in processor time on one thread.
    #[arg(long, default_value_t = 5, value_parser = number())]
    rounds: usize,
}

/// The files of one run, removed when it ends.
struct Files {
    packed: PathBuf,
    ready: PathBuf,
    constants: PathBuf,
}

impl Files {
    fn beside(directory: &Path) -> Self {
        let name = |kind: &str| directory.join(format!("windlass-bench-{}.{kind}", std::process::id()));
        Self { packed: name("packed"), ready: name("ready"), constants: name("constants") }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in [&self.packed, &self.ready, &self.constants] {
            // It may not have been written yet.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Runs everything that was asked for and prints a line for each figure.
pub fn run(args: &Mapped) -> Result<(), Box<dyn Error>> {
    println!("{}", machine::describe());
    with_threads(args.threads, || measure(args)).map_err(|error| -> Box<dyn Error> { error })
}

fn measure(args: &Mapped) -> Result<(), Box<dyn Error + Send + Sync>> {
    let context = Context::preset(&args.preset)?;
    let plan = rotations(&context, args.rotations)?;
    let (client, server) = context.generate_keys([&plan])?;
    let files = Files::beside(&args.directory);
    context.save(&files.packed, &**server.engine().keys())?;
    let ready = server.save_ready_keys(&files.ready)?;
    let constants = server.save_prepared(&plan, &files.constants)?;
    println!(
        "{}: {} keys, {} bytes packed, {ready} ready; {} constants, {constants} bytes",
        args.preset,
        plan.required_keys().len(),
        std::fs::metadata(&files.packed)?.len(),
        plan.constants(),
    );
    drop(server);
    let x = client.encrypt(&[3, 1, 4, 1, 5])?;
    compared(args, &ways(&context, &plan, &files, &x), &plan, &x);
    Ok(())
}

/// A sum of rotations with as many different constants.
fn rotations(context: &Context, count: u64) -> Result<LinearPlan, windlass::Error> {
    let (slots, m) = (context.slot_ring(), context.m());
    let generator = slots.hypercube().dimensions()[0].generator;
    let mut terms = Vec::with_capacity(count as usize);
    let mut element = 1;
    for k in 0..count {
        let values: Vec<u64> = (0..slots.slots() as u64).map(|j| j * j + 3 * k * j + k).collect();
        terms.push((element, Plaintext::from_integers(slots, &values)?));
        element = element * generator % m;
    }
    LinearMap::from_terms(slots, terms)?.plan()
}

/// A way to come to a server.
type Way<'a> = (&'static str, Box<dyn Fn() -> Server + 'a>);

/// The ways to come to keys, and the two to keys with constants, last.
fn ways<'a>(context: &'a Context, plan: &'a LinearPlan, files: &'a Files, x: &'a Ciphertext) -> Vec<Way<'a>> {
    let bytes = |path: &Path| std::fs::read(path).expect("a readable file");
    let packed = move || context.server_from_bytes(&bytes(&files.packed), &[]).expect("keys");
    let copied = move || context.open_server(&bytes(&files.ready), &[]).expect("keys");
    let mapped = || context.open_server(&files.ready, &[]).expect("keys");
    let converted = move || {
        let server = packed();
        server.prepare(plan, x).expect("constants");
        server
    };
    let whole = move || {
        let server = mapped();
        server.open_prepared(plan, &files.constants).expect("constants");
        server
    };
    vec![
        ("keys, packed", Box::new(packed)),
        ("keys, ready, copied", Box::new(copied)),
        ("keys, ready, mapped", Box::new(mapped)),
        ("keys packed, constants converted", Box::new(converted)),
        ("keys and constants mapped", Box::new(whole)),
    ]
}

/// Opens servers in each way, then runs the map on one of each kind.
fn compared(args: &Mapped, ways: &[Way<'_>], plan: &LinearPlan, x: &Ciphertext) {
    for (name, open) in ways {
        let before = machine::own_mebibytes();
        let server = open();
        let held = machine::own_mebibytes() - before;
        drop(server);
        let times = measured(&mut [subject(*name, || drop(black_box(open())))], args.threads, args.rounds);
        print(&times[0], &format!(", {held:.0} MiB of its own"));
    }
    let [.., owned, mapped] = ways else { return };
    let [owned, mapped] = [owned, mapped].map(|(_, open)| open());
    let apply = |server: &Server| server.apply(plan, x).expect("a product");
    assert_eq!(apply(&owned).parts(), apply(&mapped).parts(), "one result");
    let mut subjects = [
        subject("the map, memory of its own", || drop(black_box(apply(&owned)))),
        subject("the map, mapped", || drop(black_box(apply(&mapped)))),
    ];
    measured(&mut subjects, args.threads, args.rounds).iter().for_each(|times| print(times, ""));
}

fn print(times: &Sample, more: &str) {
    println!("{:<36}{:>9.1} ms (least {:.1}){more}", times.id, times.median * 1e3, times.min * 1e3);
}
