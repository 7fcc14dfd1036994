//! The sign of numbers in all slots.

use std::error::Error;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass::bootstrap::approximate::RefreshSpec;
use windlass::needs::Products;
use windlass::schemes::ckks::complex;
use windlass::{Context, NeedsKeys};
use windlass_papers::record::Record;

use super::args::Functions;
use super::measured::{Measured, row, timed};
use crate::machine;
use crate::process_time::Stopwatch;

/// Measures the sign, or prints its plan.
pub fn run(args: &Functions) -> Result<Option<Record<Measured>>, Box<dyn Error>> {
    let watch = Stopwatch::start();
    let preset = args.preset.as_deref().unwrap_or("refresh_n65536");
    let context = Context::refreshing(&RefreshSpec::preset(preset)?)?;
    let (refresh, gap) = (context.refresh()?, (-args.gap_bits).exp2());
    let sign = context.functions().sign(1.0, gap, args.bits)?;
    let schedule = context.functions().schedule(&sign)?;
    println!("{sign}\n{schedule}");
    if args.explain {
        return Ok(None);
    }
    let (client, server) = context.generate_keys_from_seed([&refresh as &dyn NeedsKeys, &Products], args.seed)?;
    server.refresher(refresh.spec().slots)?;
    let set_up_seconds = watch.seconds();
    println!("plan, keys and constants {set_up_seconds:.1} s");
    let messages: Vec<Vec<f64>> =
        (0..args.together).map(|k| numbers(refresh.spec().slots, gap, args.seed.wrapping_add(k as u64))).collect();
    let inputs = messages.iter().map(|message| client.encrypt_complex(&complex(message), 1.0));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let stated = sign.error_on(server.engine(), &inputs[0])?.total();
    let (mut seconds, mut worst) = (Vec::new(), 0f64);
    for _ in 0..args.runs {
        let (results, took) = timed(args.threads, || server.apply_each(&sign, &inputs));
        for (message, result) in messages.iter().zip(results?) {
            let off = message.iter().zip(client.decrypt(&result)?).map(|(x, y)| (y - x.signum()).abs());
            worst = off.fold(worst, f64::max);
        }
        if worst.is_nan() || worst > stated {
            return Err(format!("the sign is off by {worst:e}, above the stated {stated:e}").into());
        }
        seconds.push(took);
    }
    let of = Measured {
        function: "sign".to_owned(),
        preset: preset.to_owned(),
        dimension: refresh.spec().n,
        slots: refresh.spec().slots,
        security_bits: refresh.context().rlwe().params().security().bits,
        ciphertexts: args.together,
        refreshes: schedule.refreshes(),
        depth: sign.depth(),
        worst_bits: -worst.log2(),
        stated_bits: -stated.log2(),
        set_up_seconds,
        total_seconds: 0.0,
        peak_mebibytes: 0.0,
        date: machine::today(),
    };
    Ok(Some(row(args, seconds, of)))
}

/// Numbers of absolute value from the gap to 1, half of them in equal ratios, both ends among them.
fn numbers(count: usize, gap: f64, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut number = |place: usize| {
        let part = f64::from(rng.next_u32()) / f64::from(u32::MAX);
        let size = if place % 4 < 2 { gap.powf(part) } else { gap + (1.0 - gap) * part };
        if place % 2 == 0 { size } else { -size }
    };
    let random = (4..count).map(&mut number);
    [gap, -gap, 1.0, -1.0].into_iter().chain(random).take(count).collect()
}
