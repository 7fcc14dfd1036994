//! Prints the time of transforms, in microseconds: `transform_times [ROUNDS [m[:bits]...]]`. The
//! rings of `docs/design/0002-lanes.md` unless others are named, those of one prime after another,
//! each forward and back (checked), the minimum of all rounds, on every instruction set of the
//! machine.

use std::sync::Arc;
use std::time::Instant;

use windlass_kernels::{Isa, NttPlan, Shape, modulus};

/// Transforms of one prime that follow each other: the tables of more would come from memory.
const REPEATED: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(60), |word| word.parse())?;
    let named: Vec<String> = arguments.collect();
    let usual = ["32768:50", "32768:48", "65536:50", "65536:48", "18631:50", "18631:48", "49981:48", "28679:48"];
    let rings = if named.is_empty() { usual.map(str::to_owned).to_vec() } else { named };
    for isa in Isa::available() {
        let mut plans = Vec::new();
        for ring in &rings {
            let (m, bits) = ring.split_once(':').unwrap_or((ring, "50"));
            let shape = Arc::new(Shape::new(m.parse()?)?);
            let prime = modulus::find_primes(shape.root_order(), bits.parse()?, 1, &[])?[0];
            plans.push((ring, NttPlan::new(&shape, prime, isa)?, [f64::INFINITY; 2]));
        }
        for _ in 0..rounds {
            for (_, plan, least) in &mut plans {
                let q = plan.modulus().value();
                let row: Vec<u64> =
                    (0..plan.shape().n() as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % q).collect();
                let mut image = row.clone();
                for _ in 0..REPEATED {
                    least[0] = least[0].min(micros(|| plan.forward(&mut image)));
                    least[1] = least[1].min(micros(|| plan.inverse(&mut image)));
                }
                assert!(image == row, "a transform and its inverse");
            }
        }
        println!("{}, least of {}: forward, inverse, µs", isa.name(), rounds * REPEATED);
        for (ring, _, least) in &plans {
            println!("{ring:>10}  {:8.1} {:8.1}", least[0], least[1]);
        }
    }
    Ok(())
}

fn micros(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}
