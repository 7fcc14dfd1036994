//! The engine gives the same bits for any number of threads.

use windlass::Arithmetic;
use windlass::schemes::{Ciphertext, Engine, Scheme};
use windlass::{Content, Evaluator, Plaintext, Result, Switching};
use windlass_ring::{Eval, Poly};

use crate::fixture::{SCHEMES, chain, context, keys, random};

/// One of everything that takes threads.
fn run(engine: &Engine, a: &Ciphertext, b: &Ciphertext, plain: &Plaintext, t: u64) -> Result<Vec<Poly<Eval>>> {
    let constant = engine.prepare(plain)?;
    let hoisted = engine.hoist(a)?;
    let inputs = [engine.extend(b)?, engine.hoisted_automorphism(&hoisted, t)?];
    let rows = [vec![(0, Some(&constant)), (1, Some(&constant))], vec![(1, Some(&constant))]];
    let sums = engine.dot_extended(&inputs.each_ref(), &rows)?;
    let moved = engine.extended_automorphism(&sums[0], t)?;
    let mut all = vec![
        engine.add(a, b)?,
        engine.multiply(a, b)?,
        engine.square(a)?,
        engine.multiply_constant(a, &constant)?,
        engine.automorphism(a, t)?,
        engine.switch_modulus(a, 2)?,
        engine.mod_down(moved)?,
    ];
    for sum in sums {
        all.push(engine.mod_down(sum)?);
    }
    Ok(all.into_iter().flat_map(|ct| ct.parts().to_vec()).collect())
}

#[test]
fn threads_do_not_change_a_bit() {
    for (m, p) in [(256, 257), (105, 2), (120, 17)] {
        let context = context(Scheme::Bgv, (p, 1), chain(m, &[45; 5], &[48; 2]));
        let plain = random(&context, Content::Elements, 1);
        for scheme in SCHEMES {
            let context = context.with_scheme(scheme).unwrap();
            let (client, server) = context.generate_keys_from_seed([&keys([m - 1])], 3).unwrap();
            let [a, b] = [(); 2].map(|()| client.encrypt_plaintext(&plain).unwrap());
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| run(server.engine(), &a, &b, &plain, m - 1).unwrap())
            };
            let single = with(1);
            for threads in [2, 3, 4] {
                assert!(with(threads) == single, "{scheme} m = {m}: {threads} threads give other bits than one");
            }
        }
    }
}
