//! One ring and one number of parties: all keys made and a product decrypted, then the work of one party.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use windlass::needs::{KeyRequest, Products};
use windlass::schemes::{Encryptor, Publication};
use windlass::{Context, NeedsKeys, Params, Plaintext, Scheme};
use windlass_parties::{Agreement, Assembly, Identity, Party, Reading};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Assurance, EvaluationKeys, PublicKey, RlweSpec, SecretDistribution, SecretKey};

use crate::standard::{Facts, Report};
use crate::threads::pool;
use crate::timing::{Subject, compare_processor, median, subject};

/// A ring with its primes.
pub struct Ring {
    /// The order of the roots of unity.
    pub m: u64,
    /// The plaintext modulus.
    pub p: u64,
    q: (u32, usize),
    special: usize,
}

/// Powers of two with 128 bits of security, and a ring of three odd primes.
pub const RINGS: [Ring; 4] = [
    Ring { m: 1 << 14, p: 17, q: (50, 3), special: 1 },
    Ring { m: 1 << 15, p: 65537, q: (45, 6), special: 2 },
    Ring { m: 1 << 16, p: 65537, q: (50, 12), special: 4 },
    Ring { m: 21845, p: 2, q: (45, 6), special: 2 },
];

/// Galois keys beside the relinearisation key: as many as a sum over 2^15 slots takes.
const GALOIS: usize = 16;
/// No measurement takes part in more decryptions.
const DECRYPTIONS: u32 = 1 << 20;

fn params(ring: &Ring, secret: SecretDistribution) -> Result<Params, windlass::Error> {
    let (bits, primes) = ring.q;
    let spec = RlweSpec {
        m: ring.m,
        q_prime_bits: vec![bits; primes],
        spare_prime_bits: Vec::new(),
        special_prime_bits: vec![50; ring.special],
        digits: primes.div_ceil(ring.special),
        secret,
        assurance: Assurance::Insecure { name: "insecure_bench".into() },
    };
    Params::new("insecure_bench", Scheme::Bgv, (ring.p, 1), None, spec)
}

/// Units modulo m other than 1, the least ones.
fn elements(m: u64) -> Vec<u64> {
    let gcd = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (2..m).filter(|&x| gcd(x, m) == 1).take(GALOIS).collect()
}

/// Galois keys of these elements.
struct Automorphisms(Vec<u64>);

impl NeedsKeys for Automorphisms {
    fn key_request(&self) -> KeyRequest {
        KeyRequest::none("automorphisms").with_galois(self.0.iter().copied())
    }
}

/// Parties that have made their keys, and a ciphertext that some of them decrypt.
struct Session {
    agreement: Agreement,
    parties: Vec<Party>,
    ciphertext: windlass::schemes::Ciphertext,
    members: Vec<u32>,
    /// Bytes that one party sends: shares of keys, first share, one dealt share, second share.
    bytes: [usize; 4],
}

impl Session {
    /// All keys, a product under them, decrypted and compared.
    fn begin(context: &Context, count: u32, elements: &[u64]) -> Result<Self, Box<dyn Error>> {
        let identities: Vec<Identity> = (0..count).map(|_| Identity::generate()).collect::<Result<_, _>>()?;
        let members = (1..).zip(&identities).map(|(number, own)| own.member(&format!("party {number}"))).collect();
        let threshold = count / 2 + 1;
        let needs = Automorphisms(elements.to_vec());
        let publication = Publication { decryptions: DECRYPTIONS, ..Publication::default() };
        let agreement = Agreement::for_publication(context, members, threshold, &[&Products, &needs], publication)?;
        let mut parties: Vec<Party> =
            identities.iter().map(|own| Party::join(&agreement, own)).collect::<Result<_, _>>()?;
        let mut assembly = Assembly::new(&agreement);
        let mut bytes = [0; 4];
        for number in 0..parties.len() {
            let messages = parties[number].opening()?;
            // A message for each key, then the first share of the relinearisation key, then the dealt shares.
            let (keys, rest) = messages.split_at(agreement.key_message_bytes().len());
            bytes[0] = keys.iter().map(Vec::len).sum();
            [1, 2].iter().zip(rest).for_each(|(&at, message)| bytes[at] = message.len());
            for message in &messages {
                assembly.receive(message)?;
                for party in &mut parties {
                    party.receive(message)?;
                }
            }
        }
        for party in &parties {
            for message in party.closing()? {
                bytes[3] = message.len();
                assembly.receive(&message)?;
            }
        }
        let keys = assembly.finish()?;
        let values: Vec<u64> = (0..context.slots() as u64).map(|j| j % 7).collect();
        let plaintext = Plaintext::from_integers(context.slot_ring(), &values)?;
        let fresh = Encryptor::new(context.scheme(), Arc::clone(&keys.public)).encrypt(&plaintext, &mut os_rng()?)?;
        let server = context.server_from_keys(Arc::clone(&keys.evaluation), Vec::new())?;
        let ciphertext = server.square(&fresh)?;
        let members: Vec<u32> = (1..=threshold).collect();
        let mut reading = Reading::new(&agreement, &ciphertext, &members)?;
        for &number in &members {
            reading.receive(&parties[number as usize - 1].decrypt(&ciphertext, &members, None)?)?;
        }
        let t = context.params().p();
        let right = reading.open()?.to_integers()?.iter().zip(&values).all(|(got, x)| *got == x * x % t);
        assert!(right, "squares under keys of {count} parties");
        Ok(Self { agreement, parties, ciphertext, members, bytes })
    }
}

/// Measures one case.
pub fn run(ring: &Ring, count: u32, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let one = pool(1);
    let outcome = one.install(|| measured(ring, count, report).map_err(|error| error.to_string()));
    outcome.map_err(Into::into)
}

fn measured(ring: &Ring, count: u32, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let elements = elements(ring.m);
    let context = Context::from_params(params(ring, SecretDistribution::Collective { parties: count })?)?;
    let alone = Context::from_params(params(ring, SecretDistribution::Ternary)?)?;
    let mut session = Session::begin(&context, count, &elements)?;
    let n = context.slot_ring().n();
    let isa = windlass_kernels::Isa::best().name();
    let name = |what: &str| format!("parties/{what}/m={},n={n},{count}/{isa}/1", ring.m);
    let rlwe = alone.rlwe();
    let (top, mut rng) = (rlwe.top_level(), os_rng()?);
    let own_keys = || {
        let secret = SecretKey::generate(rlwe, &mut rng);
        let public = PublicKey::generate(&secret, &mut rng);
        let mut keys = EvaluationKeys::of_pair(rlwe, secret.key_id());
        keys.add_relinearisation(&secret, top, &mut rng).expect("it has the level");
        elements.iter().for_each(|&x| keys.add_galois(&secret, x, top, &mut rng).expect("units"));
        black_box((public, keys));
    };
    let (first, rest) = session.parties.split_first_mut().expect("at least two parties");
    let (opening, closing): (&Party, &Party) = (&rest[0], &rest[0]);
    let samples = {
        let mut subjects: Vec<Subject<'_>> = vec![
            subject(name("keys of one's own"), own_keys),
            subject(name("opening"), || drop(black_box(opening.opening().expect("it was made before")))),
            subject(name("closing"), || drop(black_box(closing.closing().expect("it was made before")))),
            subject(name("share of a decryption"), || {
                let share = first.decrypt(&session.ciphertext, &session.members, None);
                black_box(share.expect("it was decrypted before"));
            }),
        ];
        compare_processor(&mut subjects, report.rounds)
    };
    let params = context.params();
    let facts = Facts {
        log2_q: rlwe.log2_modulus(top),
        log2_p: f64::from(50 * ring.special as u32),
        digits: params.spec().digits,
        security_bits: context.rlwe().params().security().bits.floor(),
        peak_mebibytes: 0.0,
    };
    report.add_with(&samples, facts);
    let seconds = |what: &str| median(&samples, &name(what));
    let ratio = (seconds("opening") + seconds("closing")) / seconds("keys of one's own");
    report.goals.at_most(format!("m = {}, {count} parties: one party's keys against its own", ring.m), ratio, 1.2);
    let share = session.parties[0].decrypt(&session.ciphertext, &session.members, None)?.len();
    let [keys, shares, dealt, second] = session.bytes;
    let threshold = session.agreement.threshold();
    report.note(&format!(
        "m = {}, {threshold} of {count}: bytes of one party: {keys} keys, {shares} first share, {dealt} for each dealt \
         share, {second} second share, {share} for a decryption",
        ring.m
    ));
    Ok(())
}
