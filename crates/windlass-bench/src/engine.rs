//! BGV and BFV at n = 2^15, log Q ≈ 550, log P ≈ 240, and decryption at n = 2^14.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::rlwe::switching::Digits;
use windlass::rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey,
};
use windlass::schemes::{Decryptor, Encryptor, Engine, Scheme};
use windlass::{Evaluator, Plaintext};
use windlass_kernels::Isa;
use windlass_ring::slots::SlotRing;

use crate::Standard;
use crate::report::Report;
use crate::timing::{compare, subject};

const P: u64 = 65537;

/// Keys and plaintexts of one parameter set.
struct Setup {
    engine: Engine,
    encryptor: Encryptor,
    decryptor: Decryptor,
    slots: Arc<SlotRing>,
    context: Arc<Context>,
    rng: ChaCha20Rng,
}

fn setup(scheme: Scheme, m: u64, q: (u32, usize), special: (u32, usize), digits: usize) -> Setup {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![q.0; q.1],
        special_prime_bits: vec![special.0; special.1],
        digits,
        secret: SecretDistribution::Ternary,
        assurance: Assurance::Paper { name: "bench".into() },
    })
    .expect("valid parameters");
    let context = Context::new(params).expect("transforms");
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let secret = SecretKey::generate(&context, &mut rng);
    let public = Arc::new(PublicKey::generate(&secret, &mut rng));
    let mut keys = EvaluationKeys::empty(&context);
    keys.add_relinearisation(&secret, context.top_level(), &mut rng);
    keys.add_galois(&secret, 3, context.top_level(), &mut rng).expect("3 is a unit");
    let slots = Arc::new(SlotRing::new(m, P, 1, Isa::best()).expect("slots"));
    Setup {
        engine: Engine::new(scheme, &slots, Arc::new(keys)).expect("one ring"),
        encryptor: Encryptor::new(scheme, public),
        decryptor: Decryptor::new(scheme, &slots, Arc::new(secret)),
        slots,
        context,
        rng,
    }
}

/// Transforms of a rotation: the digits' and both mod-downs'.
fn transforms(context: &Context) -> usize {
    let (q, p) = (context.top_level(), context.special().len());
    let extended: usize = context.gadget().groups().iter().map(|group| q + p - group.len()).sum();
    q + extended + 2 * (p + q)
}

/// Runs the layer.
pub fn run(report: &mut Report, args: &Standard) {
    for &threads in &args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        for scheme in [Scheme::Bgv, Scheme::Bfv] {
            pool.install(|| operations(report, scheme, threads));
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("threads");
    pool.install(|| decoding(report));
}

fn operations(report: &mut Report, scheme: Scheme, threads: usize) {
    let mut s = setup(scheme, 1 << 16, (50, 11), (48, 5), 3);
    let params = s.context.params();
    let (log_q, log_p) = (params.log2_q(params.top_level()), params.log2_p());
    let bits = params.security().bits;
    report.note(&format!("{scheme}: log2 Q = {log_q:.0}, log2 P = {log_p:.0}, 3 digits, security {bits:.0} bits"));
    let values = |seed: u64| (0..s.slots.slots() as u64).map(|j| (j * j + seed) % P).collect::<Vec<_>>();
    let (x, y) = (values(1), values(2));
    let [px, py] = [&x, &y].map(|values| Plaintext::from_integers(&s.slots, values).expect("slots"));
    let a = s.encryptor.encrypt(&px, &mut s.rng).expect("encrypts");
    let b = s.encryptor.encrypt(&py, &mut s.rng).expect("encrypts");
    let e = &s.engine;
    let constant = e.prepare(&py).expect("prepares");
    let decrypted = |ct| s.decryptor.decrypt(&ct).expect("within capacity").to_integers().expect("integers");
    let expected: Vec<u64> = x.iter().zip(&y).map(|(x, y)| x * y % P).collect();
    assert_eq!(decrypted(e.multiply(&a, &b).expect("multiplies")), expected);
    assert_eq!(decrypted(e.multiply_constant(&a, &constant).expect("multiplies")), expected);
    let rotated = e.automorphism(&a, 3).expect("rotates");
    let hoisted = e.hoist(&a).expect("hoists");
    let again = e.mod_down(e.hoisted_automorphism(&hoisted, 3).expect("rotates")).expect("fits");
    assert_eq!(decrypted(rotated), decrypted(again));
    let digits = Digits::new(&s.context, &a.parts()[1], 1);
    let key = Arc::clone(e.keys().relinearisation().expect("a key"));
    // One transform of each prime of Q: the unit of the floor.
    let rows = a.parts()[0].clone().into_coeff();
    let id = |op: &str| {
        format!(
            "{}/{op}/n=32768,Q={log_q:.0},P={log_p:.0},d=3/{}/{threads}",
            scheme.to_string().to_lowercase(),
            Isa::best().name()
        )
    };
    let mut rng = s.rng.clone();
    let samples = compare(
        &mut [
            subject(id("transform-Q"), || drop(rows.clone().into_eval())),
            subject(id("multiply"), || drop(e.multiply(&a, &b))),
            subject(id("rotate"), || drop(e.automorphism(&a, 3))),
            subject(id("hoist"), || drop(e.hoist(&a))),
            subject(id("hoisted-rotation"), || drop(e.mod_down(e.hoisted_automorphism(&hoisted, 3).expect("rotates")))),
            subject(id("inner-product"), || drop(digits.inner_product(&s.context, &key))),
            subject(id("ct-pt"), || drop(e.multiply_constant(&a, &constant))),
            subject(id("add"), || drop(e.add(&a, &b))),
            subject(id("mod-switch"), || drop(e.switch_modulus(&a, 10))),
            subject(id("prepare"), || drop(e.prepare(&py))),
            subject(id("encode"), || drop(Plaintext::from_integers(&s.slots, &x))),
            subject(id("encrypt"), || drop(s.encryptor.encrypt(&px, &mut rng))),
            subject(id("decrypt"), || drop(s.decryptor.decrypt(&a))),
        ],
        report.rounds.min(15),
    );
    report.add(&samples);
    if threads == 1 {
        let floor = samples[0].median / 11.0 * transforms(&s.context) as f64;
        report.at_most(
            &format!("{scheme} rotation over its {} transforms", transforms(&s.context)),
            samples[2].median / floor,
            1.5,
        );
        if let Some(t) = report.yardstick {
            report.at_most(&format!("{scheme} multiply + relinearise in T"), samples[1].median / t, 67.0);
            report.at_most(&format!("{scheme} rotation in T"), samples[2].median / t, 64.0);
        }
    }
    let key_bytes = key.bytes() as f64;
    let disk = s.context.params().key_sizes().switching_key_disk as f64;
    report.note(&format!("one switching key: {:.1} MB in memory, {:.1} MB on disk", key_bytes / 1e6, disk / 1e6));
    if threads == 1 && scheme == Scheme::Bgv {
        let unseeded = s.context.params().key_sizes().switching_key_disk_unseeded as f64;
        report.at_least("switching key on disk: times smaller than unseeded", unseeded / disk, 2.0);
    }
}

/// Decrypt and decode all 16384 slots.
fn decoding(report: &mut Report) {
    let mut s = setup(Scheme::Bgv, 1 << 15, (50, 3), (50, 1), 3);
    let values: Vec<u64> = (0..s.slots.slots() as u64).map(|j| j * j % P).collect();
    let plaintext = Plaintext::from_integers(&s.slots, &values).expect("slots");
    let fresh = s.encryptor.encrypt(&plaintext, &mut s.rng).expect("encrypts");
    let low = s.engine.reduce_level(&fresh, 4.0).expect("switches");
    let decode = |ct| s.decryptor.decrypt(ct).expect("within capacity").to_integers().expect("integers");
    assert_eq!(decode(&low), values);
    let name = Isa::best().name();
    let samples = compare(
        &mut [
            subject(format!("bgv/decrypt+decode/n=16384,level=3/{name}/1"), || drop(decode(&fresh))),
            subject(format!("bgv/decrypt+decode/n=16384,level={}/{name}/1", low.level()), || drop(decode(&low))),
        ],
        report.rounds,
    );
    report.add(&samples);
    if let Some(t) = report.yardstick {
        report.at_most("decrypt and decode 16384 slots in T, level 3", samples[0].median / t, 20.0);
    }
}
