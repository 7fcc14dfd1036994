//! What an answer is made of: transforms, key switches, external products, the scan, and a plain
//! read of memory beside it.

use std::error::Error;
use std::hint::black_box;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_kernels::scan::{Sums, Two, scan};
use windlass_kernels::{Isa, Modulus};
use windlass_retrieval::parts::Parts;
use windlass_retrieval::{
    Moduli, N, PRIMES, Query, SELECTIONS_PER_PASS, Selection, SelectorGadget, Setting, Shape, evaluation_keys,
};
use windlass_ring::sample;
use windlass_rlwe::keys::SecretKey;
use windlass_rlwe::switching::{Epilogue, switch};

use crate::standard::Report;
use crate::timing::{Subject, compare_processor, median, subject};

/// Words of 32 bits, eight of two columns, in the table that is scanned: 256 MiB.
const TABLE: usize = 1 << 22;

/// Blocks of that table, each with a part of the query of its own.
const BLOCKS: usize = 256;

/// Measures every part.
pub fn run(report: &mut Report) -> Result<(), Box<dyn Error>> {
    let gadget = SelectorGadget { digits: 3, base_bits: 16 };
    let (moduli, message_bits) = (Moduli::Wide, 16);
    let (rows, columns) = (384, 342);
    let shape =
        Shape { moduli, message_bits, rows, columns, record_coefficients: N, records: 1, selections: 1, gadget };
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let setting = Setting::new(moduli)?;
    let context = setting.context();
    let secret = SecretKey::generate(context, &mut rng);
    let keys = evaluation_keys(&setting, &shape, &secret, &mut rng)?;
    let wanted = [Selection { polynomial: 1, record: 0 }];
    let query = Query::new(&setting, &shape, &secret, &wanted, &mut rng)?;
    let mut parts = [(); 3].map(|()| Parts::new(&setting, &shape, &keys, &query));
    let [transforms, switches, products] = &mut parts;
    let (transforms, switches, products) = (transforms.as_mut(), switches.as_mut(), products.as_mut());
    let (Ok(transforms), Ok(switches), Ok(products)) = (transforms, switches, products) else {
        return Err("the parts of a query that was just made".into());
    };
    let id = |what: &str| format!("lookup/{what}/parts/{}/1", Isa::best().name());
    let x = sample::uniform(context.ring(), setting.basis(), &[3; 32], 0);
    let mut row: Vec<u64> = x.row(0).to_vec();
    let key = keys.relinearisation().ok_or("a relinearisation key")?;
    let one = crate::threads::pool(1);
    let mut subjects = vec![
        subject(id("transform"), || transforms.transform()),
        subject(id("transform-of-50-bits"), || context.ring().plan(PRIMES).forward(black_box(&mut row))),
        subject(id("switch"), || one.install(|| switches.switch().expect("its key is there"))),
        subject(id("switch-of-the-engine"), || {
            one.install(|| drop(black_box(switch(context, &x, 1, key, &Epilogue::default()))))
        }),
        subject(id("product"), || one.install(|| products.product())),
        subject(id("keys-made-ready"), || Parts::ready(&setting, &shape, &keys).expect("they were before")),
    ];
    report.add(&compare_processor(&mut subjects, report.rounds));
    drop(subjects);
    scans(report, setting.prime(0), &mut rng);
    Ok(())
}

/// A block of words below half of a prime.
fn twos(q: Modulus, count: usize, rng: &mut ChaCha20Rng) -> Vec<Two> {
    let half = (q.value() / 2) as u32;
    (0..count).map(|_| [(); 2].map(|()| [(); 8].map(|()| (rng.next_u32() % half) as i32))).collect()
}

/// The scan by rows and queries, and a sum of all words.
fn scans(report: &mut Report, q: Modulus, rng: &mut ChaCha20Rng) {
    let table = twos(q, TABLE, rng);
    let bytes = (TABLE * size_of::<Two>()) as f64;
    let shapes = [(128, 1), (128, SELECTIONS_PER_PASS), (512, 1), (512, SELECTIONS_PER_PASS)];
    let queries = twos(q, 512 * BLOCKS * SELECTIONS_PER_PASS, rng);
    let id = |rows: usize, asked: usize| format!("lookup/scan/{rows}-rows-{asked}-queries/{}/1", Isa::best().name());
    let mut subjects: Vec<Subject<'_>> = shapes
        .iter()
        .map(|&(rows, asked)| {
            let (table, queries) = (&table, &queries);
            let mut out = vec![Sums::default(); TABLE / BLOCKS / rows * asked];
            subject(id(rows, asked), move || {
                let blocks = table.chunks_exact(TABLE / BLOCKS).zip(queries.chunks_exact(rows * asked));
                for (table, queries) in blocks {
                    let queries: Vec<&[Two]> = queries.chunks_exact(rows).collect();
                    scan(Isa::best(), q, rows, table, &queries, &mut out);
                }
                black_box(&out);
            })
        })
        .collect();
    let read = format!("lookup/read/{}-MiB/{}/1", (TABLE * size_of::<Two>()) >> 20, Isa::best().name());
    subjects.push(subject(read.clone(), || {
        let mut sums = [0i32; 16];
        for two in &table {
            sums.iter_mut().zip(two.as_flattened()).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        black_box(sums);
    }));
    let samples = compare_processor(&mut subjects, report.rounds);
    report.add(&samples);
    for (rows, asked) in shapes {
        let rate = bytes * asked as f64 / median(&samples, &id(rows, asked)) / 1e9;
        report.note(&format!("scan of {rows} rows for {asked}: {rate:.1} GB/s of prepared table for each query"));
    }
    report.note(&format!("read: {:.1} GB/s", bytes / median(&samples, &read) / 1e9));
}
