//! The memory of the process after the last use of a secret: nothing in it is the secret.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{
    Assurance, Context, EvaluationKeys, PublicKey, RlweParams, RlweSpec, SecretDistribution, SecretKey, SecretRng,
};
use zeroize::Zeroize;

/// What patterns are held under, so that they do not find themselves.
const MASK: u64 = 0x5a17_93c4_0be8_d62f;

/// Words of a window: so many coefficients of a ternary secret hardly repeat by chance, and residues
/// never do.
const WORDS: usize = 24;

/// A piece of the secret in one of the forms that it takes in memory.
struct Pattern {
    what: String,
    masked: Vec<u64>,
}

/// Windows of some words, none of which is mostly zero, away from the ends: what has been freed holds
/// pointers of the allocator there.
fn windows(what: &str, words: &[u64]) -> Vec<Pattern> {
    let is_telling = |start: &usize| words[*start..][..WORDS].iter().filter(|word| **word != 0).count() >= WORDS / 3;
    let pattern = |quarter: usize| {
        let start = (quarter * words.len() / 4..words.len() - WORDS).find(is_telling).expect("a telling window");
        let masked = words[start..][..WORDS].iter().map(|word| word ^ MASK).collect();
        Pattern { what: format!("{what}, from {start}"), masked }
    };
    (1..4).map(pattern).collect()
}

/// The coefficients as they are kept and as bytes, the residues before a transform and after one, as
/// integers and as doubles.
fn patterns(context: &Arc<Context>, secret: &SecretKey) -> Vec<Pattern> {
    let ring = context.ring();
    let basis = context.base_qp(context.top_level());
    let row = |f: &dyn Fn(i64) -> u64| secret.expose_coefficients().iter().map(|&x| f(x)).collect::<Vec<u64>>();
    let mut found = Vec::new();
    let mut add = |what: &str, mut words: Vec<u64>| {
        found.extend(windows(what, &words));
        words.zeroize();
    };
    add("coefficients", row(&|x| x as u64));
    let mut bytes: Vec<u8> = secret.expose_coefficients().iter().map(|&x| x as u8).collect();
    add("bytes", bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect());
    bytes.zeroize();
    // 0 + 1·s.
    let constant = |value: u64| Poly::<Eval>::from_rows(ring, &basis, vec![value; basis.len() * ring.n()]).unwrap();
    let mut eval = secret.phase(&[constant(0), constant(1)]);
    for (place, index) in basis.indices().enumerate() {
        let q = ring.modulus(index);
        add(&format!("residues modulo {}", q.value()), row(&|x| q.reduce_i64(x)));
        add(&format!("values modulo {}", q.value()), eval.row(place).to_vec());
        add(
            &format!("values as doubles modulo {}", q.value()),
            eval.row(place).iter().map(|&x| (x as f64).to_bits()).collect(),
        );
    }
    eval.zeroize();
    found
}

/// Memory of this process that can be written to.
fn writable() -> Vec<Range<u64>> {
    let lines = BufReader::new(File::open("/proc/self/maps").unwrap()).lines();
    let range = |line: String| {
        let mut fields = line.split_whitespace();
        let (range, rights) = (fields.next()?, fields.next()?);
        let (start, end) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        rights.starts_with("rw").then_some(number(start)?..number(end)?)
    };
    lines.filter_map(|line| range(line.unwrap())).collect()
}

/// Reads memory from `start` on. Pages that were given back since they were listed are zeros; one
/// that is there still and cannot be read would not be looked at.
fn read(memory: &File, start: u64, chunk: &mut [u8]) {
    const PAGE: u64 = 4096;
    if memory.read_exact_at(chunk, start).is_ok() {
        return;
    }
    let end = start + chunk.len() as u64;
    let mut at = start;
    while at < end {
        let next = end.min((at / PAGE + 1) * PAGE);
        let page = &mut chunk[(at - start) as usize..(next - start) as usize];
        if let Err(error) = memory.read_exact_at(page, at) {
            let is_there = writable().iter().any(|range| range.contains(&at));
            assert!(!is_there, "memory at {at:#x} is not looked at: {error}");
            page.fill(0);
        }
        at = next;
    }
}

/// The patterns that are somewhere in memory.
fn found(patterns: &[Pattern]) -> Vec<&str> {
    const CHUNK: usize = 1 << 20;
    let memory = File::open("/proc/self/mem").unwrap();
    let mut chunk = vec![0u8; CHUNK];
    // The chunk itself holds copies of what was looked at before.
    let own = chunk.as_ptr() as u64..chunk.as_ptr() as u64 + CHUNK as u64;
    let mut seen = vec![false; patterns.len()];
    for range in writable() {
        // Windows that begin in one chunk may end in the next.
        for start in (range.start..range.end).step_by(CHUNK - 8 * WORDS) {
            let length = CHUNK.min((range.end - start) as usize);
            read(&memory, start, &mut chunk[..length]);
            let words = |at: usize| u64::from_le_bytes(chunk[at..at + 8].try_into().unwrap());
            for at in (0..length.saturating_sub(8 * WORDS)).step_by(8) {
                let first = words(at) ^ MASK;
                for (pattern, seen) in patterns.iter().zip(&mut seen).filter(|(pattern, _)| pattern.masked[0] == first)
                {
                    let whole = pattern.masked.iter().enumerate().all(|(k, word)| words(at + 8 * k) ^ MASK == *word);
                    *seen |= whole && !own.contains(&(start + at as u64));
                }
            }
        }
    }
    chunk.zeroize();
    patterns.iter().zip(seen).filter(|(_, seen)| *seen).map(|(pattern, _)| pattern.what.as_str()).collect()
}

fn context(m: u64, secret: SecretDistribution) -> Arc<Context> {
    let params = RlweParams::new(&RlweSpec {
        m,
        q_prime_bits: vec![45, 40, 38, 40, 36],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![45; 2],
        digits: 3,
        secret,
        assurance: Assurance::Insecure { name: "insecure_test".into() },
    });
    Context::new(params.unwrap()).unwrap()
}

/// The search finds what has been freed and is not written over.
fn what_is_freed_is_found() {
    let decoy: Vec<u64> = (1..5000).map(|x: u64| x.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let patterns = windows("decoy", &decoy);
    drop(decoy);
    assert!(!found(&patterns).is_empty());
}

/// Keys are made, used and dropped; what they leave, public keys, stays. The coefficients and the
/// values are found while the secret is there: the search sees what it looks for.
#[test]
fn a_dropped_secret_is_nowhere_in_memory() {
    what_is_freed_is_found();
    let sparse = SecretDistribution::Sparse { weight: 600 };
    for (m, distribution) in [(2048, SecretDistribution::Ternary), (4096, sparse), (1705, SecretDistribution::Ternary)]
    {
        let context = context(m, distribution);
        // What to look for comes from a twin before: later it would write over what it looks for.
        let rng = || SecretRng::fork(&mut ChaCha20Rng::from_seed([m as u8; 32]));
        let patterns = patterns(&context, &SecretKey::generate(&context, &mut rng()));
        let mut rng = rng();
        let secret = Arc::new(SecretKey::generate(&context, &mut rng));
        let top = context.top_level();
        let mut keys = EvaluationKeys::of(&secret);
        keys.add_relinearisation(&secret, top, &mut rng).unwrap();
        keys.add_galois(&secret, if m == 1705 { 2 } else { 3 }, top, &mut rng).unwrap();
        let public = PublicKey::generate(&secret, &mut rng);
        let pair = secret.encrypt_zero(top, [7; 32], 1, &mut rng);
        let mut phase = secret.phase(&pair);
        phase.zeroize();
        let again =
            SecretKey::from_coefficients(&context, secret.key_id(), secret.expose_coefficients().to_vec().into());
        drop(again.unwrap());
        let alive = found(&patterns);
        assert!(alive.iter().any(|what| what.starts_with("coefficients")), "m = {m}: {alive:?}");
        assert!(alive.iter().any(|what| what.starts_with("values modulo")), "m = {m}: {alive:?}");
        drop(secret);
        let left = found(&patterns);
        assert!(left.is_empty(), "m = {m}: {left:?}");
        assert_eq!(Some(public.key_id()), keys.key_id());
    }
}
