//! Compares rows of 32-bit words with rows of the engine: the residues must be equal, bit for bit.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_ring::{Coeff, Eval, Poly, sample};
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::keys::SecretKey;
use windlass_rlwe::switching::{Epilogue, switch};

use crate::error::Error;
use crate::expand::expand;
use crate::selector::{Selector, SelectorGadget, bits_of, move_down, select};
use crate::setting::{Moduli, N, PRIMES, Setting};
use crate::switch::{U32Keys, elements};
use crate::tiles::{Segment, Tile, scan_all};
use crate::u32_ciphertext::U32Ciphertext;

/// A ciphertext of the engine.
type Parts = [Poly<Eval>; 2];

const DEPTH: u32 = 4;

/// A client's keys, and random numbers.
struct World {
    setting: std::sync::Arc<Setting>,
    keys: EvaluationKeys,
    rng: ChaCha20Rng,
}

impl World {
    fn new(moduli: Moduli) -> Self {
        let mut rng = ChaCha20Rng::from_seed([moduli as u8; 32]);
        let setting = Setting::new(moduli).unwrap();
        let secret = SecretKey::generate(setting.context(), &mut rng);
        let mut keys = EvaluationKeys::of(&secret);
        for element in elements(DEPTH) {
            keys.add_galois(&secret, element, PRIMES, &mut rng).unwrap();
        }
        keys.add_relinearisation(&secret, PRIMES, &mut rng).unwrap();
        Self { setting, keys, rng }
    }

    /// Any residues: those of a ciphertext look the same.
    fn parts(&mut self) -> Parts {
        let mut seed = [0; 32];
        self.rng.fill_bytes(&mut seed);
        let setting = &self.setting;
        [0, 1].map(|k| sample::uniform(setting.context().ring(), setting.basis(), &seed, k))
    }

    /// Coefficients at the ends of their range.
    fn extreme(&mut self) -> Parts {
        let ring = self.setting.context().ring();
        [3, 5].map(|period| {
            let rows = [0, 1].iter().flat_map(|&index| {
                let top = self.setting.prime(index).value() - 1;
                (0..N).map(move |j| if j % period == 0 { 0 } else { top - (j % 2) as u64 })
            });
            Poly::<Coeff>::from_rows(ring, self.setting.basis(), rows.collect()).unwrap().into_eval()
        })
    }
}

fn narrow(setting: &Setting, parts: &Parts) -> U32Ciphertext {
    U32Ciphertext::of(setting, [&parts[0], &parts[1]])
}

fn assert_same(setting: &Setting, pair: &U32Ciphertext, parts: &Parts) {
    assert!(pair.to_parts(setting) == *parts);
}

/// A step of an expansion by the engine.
fn halves(setting: &Setting, keys: &EvaluationKeys, node: &Parts, step: u32, element: u64) -> [Parts; 2] {
    let context = setting.context();
    let automorphism = context.ring().automorphism(element).unwrap();
    let finish = Epilogue { addends: [Some(&node[0]), None], automorphism: Some(&automorphism) };
    let moved = switch(context, &node[1], 1, keys.galois(element).unwrap(), &finish).unwrap();
    let shift = monomial(setting, 1 << step);
    let even = [0, 1].map(|part| node[part].plus(&moved[part]));
    let odd = [0, 1].map(|part| node[part].minus(&moved[part]).mul(&shift));
    [even, odd]
}

/// X^{−k}.
fn monomial(setting: &Setting, k: usize) -> Poly<Eval> {
    let mut coefficients = vec![0; N];
    coefficients[(N - k) % N] = if k == 0 { 1 } else { -1 };
    Poly::from_signed(setting.context().ring(), setting.basis(), &coefficients).into_eval()
}

#[test]
fn switches_are_those_of_the_engine() {
    for moduli in Moduli::ALL {
        let mut world = World::new(moduli);
        for parts in [world.extreme(), world.parts()] {
            let World { setting, keys, .. } = &world;
            let u32_keys = U32Keys::new(setting, keys, DEPTH).unwrap();
            let (pair, key) = (narrow(setting, &parts), keys.relinearisation().unwrap());
            for addends in [[None, None], [Some(&parts[0]), None], [None, Some(&parts[0])]] {
                let finish = Epilogue { addends, automorphism: None };
                let expected = switch(setting.context(), &parts[1], 1, key, &finish).unwrap();
                let added = addends.map(|addend| addend.map(|_| pair.part(0)));
                let found = u32_keys.relinearisation().unwrap().switch(setting, pair.part(1), added);
                assert_same(setting, &found, &expected);
            }
        }
    }
}

#[test]
fn expansions_are_those_of_the_engine() {
    for moduli in Moduli::ALL {
        let mut world = World::new(moduli);
        let parts = world.parts();
        let World { setting, keys, .. } = &world;
        let u32_keys = U32Keys::new(setting, keys, DEPTH).unwrap();
        for count in [1, 11, 16] {
            let mut nodes = vec![parts.clone()];
            for (step, element) in elements(DEPTH).enumerate() {
                let (mut evens, mut odds) = (Vec::new(), Vec::new());
                for (index, node) in nodes.iter().enumerate() {
                    // Where nothing but zeros are in the odd half, doubling is all that is done.
                    if index + (1 << step) >= count {
                        evens.push(node.each_ref().map(|part| part.plus(part)));
                        continue;
                    }
                    let [even, odd] = halves(setting, keys, node, step as u32, element);
                    evens.push(even);
                    odds.push(odd);
                }
                nodes = evens.into_iter().chain(odds).collect();
            }
            let found = expand(setting, &u32_keys, narrow(setting, &parts), &vec![true; count]).unwrap();
            assert_eq!((found.len(), nodes.len()), (count, count));
            found.iter().zip(&nodes).for_each(|(pair, parts)| assert_same(setting, pair, parts));
        }
        let none = EvaluationKeys::empty(setting.context());
        let without = U32Keys::new(setting, &none, DEPTH).unwrap();
        let refused = expand(setting, &without, narrow(setting, &parts), &[true; 2]);
        assert!(matches!(refused, Err(Error::MissingKey { .. })));
        assert!(matches!(without.relinearisation(), Err(Error::MissingKey { .. })));
    }
}

#[test]
fn a_pass_that_there_is_no_memory_for_is_refused() {
    let World { setting, .. } = World::new(Moduli::Compact);
    let segment = Segment::zeros(1, 1).unwrap();
    let tiles = [(); 2].map(|()| Tile::new(&setting, &[U32Ciphertext::unspecified(&setting)]).unwrap());
    for columns in [1usize << 46, usize::MAX - 1] {
        let refused = scan_all(&setting, &[&segment], 0..columns, &tiles).map(drop);
        assert!(matches!(refused, Err(Error::OutOfMemory { bytes, .. }) if bytes > 1 << 46), "{refused:?}");
    }
}

/// The external product by the engine: the digits of integers, one after another.
fn times(setting: &Setting, gadget: SelectorGadget, rows: &[Parts], ciphertext: &Parts) -> Parts {
    let (ring, modulus) = (setting.context().ring(), setting.modulus() as i64);
    let dropped = gadget.dropped(bits_of(setting.modulus()));
    let mut digits = Vec::new();
    for part in ciphertext {
        let part = part.clone().into_coeff();
        let integers = setting.integers([part.row(0), part.row(1)]);
        let centred = |&x: &u64| if x as i64 > modulus / 2 { x as i64 - modulus } else { x as i64 };
        let mut rest: Vec<i64> = integers.iter().map(centred).map(|x| (x + ((1 << dropped) >> 1)) >> dropped).collect();
        for k in 0..gadget.digits {
            let (base, half) = (1i64 << gadget.base_bits, 1i64 << (gadget.base_bits - 1));
            let digit = |&x: &i64| if k + 1 == gadget.digits { x } else { ((x + half) & (base - 1)) - half };
            let digit: Vec<i64> = rest.iter().map(digit).collect();
            rest = rest.iter().zip(&digit).map(|(x, digit)| (x - digit) >> gadget.base_bits).collect();
            digits.push(Poly::from_signed(ring, setting.basis(), &digit).into_eval());
        }
    }
    [0, 1].map(|part| {
        let terms: Vec<_> = rows.iter().zip(&digits).map(|(row, digit)| (&row[part], digit)).collect();
        Poly::dot(ring, setting.basis(), &terms)
    })
}

#[test]
fn choices_are_those_of_the_engine() {
    for (moduli, digits, base_bits) in [(Moduli::Wide, 3, 16), (Moduli::Compact, 2, 13), (Moduli::Wide, 8, 7)] {
        let mut world = World::new(moduli);
        let gadget = SelectorGadget { digits, base_bits };
        let encrypted: Vec<Parts> = (0..digits).map(|_| world.parts()).collect();
        let (zero, one) = (world.extreme(), world.parts());
        let World { setting, keys, .. } = &world;
        let u32_keys = U32Keys::new(setting, keys, 0).unwrap();
        let of = || encrypted.iter().map(|parts| narrow(setting, parts));
        let selector = || Selector::new(setting, &u32_keys, gadget, of()).unwrap();
        let mut rows = encrypted.clone();
        for parts in &encrypted {
            let finish = Epilogue { addends: [None, Some(&parts[0])], automorphism: None };
            rows.push(switch(setting.context(), &parts[1], 1, keys.relinearisation().unwrap(), &finish).unwrap());
        }
        let choose = |zero: &Parts, one: &Parts| -> Parts {
            let difference = [0, 1].map(|part| one[part].minus(&zero[part]));
            let product = times(setting, gadget, &rows, &difference);
            [0, 1].map(|part| product[part].plus(&zero[part]))
        };
        let columns = || [&zero, &one, &zero].map(|parts| narrow(setting, parts)).into_iter().collect();
        let expected = choose(&choose(&zero, &one), &zero);
        assert_same(setting, &select(setting, &[selector(), selector()], columns()), &expected);
        let mut expected = one.clone();
        for j in 0..2 {
            let moved = monomial(setting, 700 << j);
            let moved = expected.each_ref().map(|part| part.mul(&moved));
            expected = choose(&expected, &moved);
        }
        assert_same(setting, &move_down(setting, &[selector(), selector()], 700, narrow(setting, &one)), &expected);
    }
}
