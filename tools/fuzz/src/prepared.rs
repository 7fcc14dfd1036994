//! Prepared constants of linear plans.

use windlass::circuits::linear::{ComplexSlots, LinearPlan};
use windlass::circuits::{LinearMap, PlanSpec, Strategy};
use windlass::schemes::ckks::Complex64;
use windlass::wire::{FileContext, KeyId, Kind, Label, PlanFiles};
use windlass::{Approximate, Context};

use crate::approximate::spec;
use crate::containers::{Reader, refused};
use crate::exact::{golden, golden_sides};
use crate::target::Target;

/// Constants belong to no key pair.
fn label(files: &impl FileContext) -> Label {
    Label { kind: Kind::PreparedConstants, context: *files.hash(), key: KeyId([0; KeyId::BYTES]) }
}

/// The plan of the golden file, in BGV.
pub fn exact() -> Target {
    let sides = golden_sides();
    let map = LinearMap::matmul_full(&sides.context, |i, k| i * i + 3 * i * k + 1).expect("a map");
    let plan = LinearPlan::new(&map, &PlanSpec::with_strategy(Strategy::AUTOMATIC)).expect("a plan");
    let server = sides.client.generate_server([&plan]).expect("keys");
    let ct = sides.seeded(2).into_ciphertext();
    let label = label(sides.context.files());
    let read = move |bytes: &[u8]| {
        let files = PlanFiles::new(sides.context.files(), server.engine(), &plan);
        match files.open(bytes) {
            Err(error) => {
                refused(&error);
                false
            }
            Ok(prepared) => {
                assert!(files.to_bytes(&prepared).expect("its own plan") == bytes, "two encodings of one value");
                server.open_prepared(&plan, bytes).expect("the same bytes");
                match server.apply(&plan, &ct) {
                    Ok(made) => sides.try_out(&made),
                    Err(error) => refused(&error),
                }
                server.forget();
                true
            }
        }
    };
    Target::containers(vec![Reader::own(label, read)], vec![golden!("prepared-constants")])
}

/// The plan of the golden file, in CKKS.
pub fn approximate() -> Target {
    let context: Context<Approximate> = Context::approximate(&spec(16, 40, 1)).expect("a context");
    let entry = |i: usize, k: usize| Complex64::new((2 * i + k) as f64 / 32.0, i as f64 / 16.0 - 0.25);
    let vectors = context.vectors(4).expect("a layout");
    let plan: LinearPlan<ComplexSlots> = LinearMap::matrix(&vectors, entry).and_then(|map| map.plan()).expect("a plan");
    let (client, server) = context.generate_keys_from_seed([&plan], 7).expect("keys");
    let ct = client.encrypt(&[0.5, -0.25, 0.125, 0.75]).expect("encrypts");
    let label = label(context.files());
    let read = move |bytes: &[u8]| {
        let files = PlanFiles::new(context.files(), server.engine(), &plan);
        match files.open(bytes) {
            Err(error) => {
                refused(&error);
                false
            }
            Ok(prepared) => {
                assert!(files.to_bytes(&prepared).expect("its own plan") == bytes, "two encodings of one value");
                server.open_prepared(&plan, bytes).expect("the same bytes");
                let made = server.apply(&plan, &ct).and_then(|made| client.decrypt_complex(&made));
                made.inspect_err(|error| refused(error)).ok();
                server.forget();
                true
            }
        }
    };
    Target::containers(vec![Reader::own(label, read)], vec![golden!("ckks-prepared-constants")])
}
