//! One picture in one ciphertext.
//!
//! n = 8192, so a ciphertext has 8192 slots: 8 segments of 1024. Segment c holds the picture's 576
//! inputs from place 64 − 8c on, so that after a rotation by i place j sees input j − 64 + 8c + i:
//! the rotations by 0 to 7 of this one ciphertext show all 64 neighbours at once, one eighth in
//! each segment. Place j works for hidden unit j mod 64, by Halevi and Shoup's diagonals; adding up
//! all places of one hidden unit, 128 of them, leaves its value in each. After bias and square,
//! block c of 64 places is multiplied by the weights of digit c, and the client adds the 64
//! products up, as its own last step, together with the bias. It adds integers, not residues: no
//! product of any picture exceeds half of the plaintext prime, while a score may.
//!
//! Cost: 7 rotations that share a decomposition and 8 products, 7 rotations, a square, a product.

use windlass::circuits::{LinearPlan, TraceChain, TracePlan, TraceSpec};
use windlass::needs::Products;
use windlass::ring::kernels::arith;
use windlass::rlwe::{Assurance, RlweSpec, SecretDistribution};
use windlass::schemes::Ciphertext;
use windlass::{Client, Context, LinearMap, Params, Scheme, Server};

use super::model::{CLASSES, HIDDEN, INPUTS, Model, centred};
use crate::error::{EntryError, Result};

/// Places of a segment, of the shift between two, and rotations.
const SEGMENT: usize = 1024;
const STEPS: usize = 8;
const SEGMENTS: usize = HIDDEN / STEPS;

/// Steps of adding 128 places up, each of which doubles: fewer would be faster by a tenth, and need
/// more keys, which take longer to read than what they save for one picture.
const SUMS: usize = 7;

/// The slots are 4096 by 2: segments take turns in the second dimension.
const LINE: usize = 4096;

/// The slot of a place of a segment.
fn slot(segment: usize, place: usize) -> usize {
    2 * (segment / 2 * SEGMENT + place) + segment % 2
}

/// The slot of hidden unit h in the block of a digit.
fn block(class: usize, hidden: usize) -> usize {
    slot(0, class * HIDDEN + hidden)
}

/// The least prime from 5·2^23 on that gives 8192 slots: products stay below half of it.
fn plaintext_prime() -> u64 {
    (5u64 << 23..).find(|&p| p % 16384 == 1 && arith::is_prime(p)).expect("there are such primes")
}

/// What both sides know.
#[derive(Debug)]
pub struct Setting {
    model: Model,
    context: Context,
    first: LinearPlan,
    sum: TracePlan,
}

impl Setting {
    /// The parameters, and the plans of both steps of the first product.
    ///
    /// # Errors
    /// [`EntryError::Wraps`] where a product of a picture could exceed half of the plaintext prime;
    /// those of [`Params::new`] and of the plans.
    pub fn new(model: Model) -> Result<Self> {
        EntryError::check_carried("products", model.largest_product(), plaintext_prime())?;
        let spec = RlweSpec {
            m: 16384,
            q_prime_bits: vec![42, 42, 41, 38],
            spare_prime_bits: Vec::new(),
            special_prime_bits: vec![50],
            digits: 4,
            secret: SecretDistribution::Ternary,
            assurance: Assurance::Secure,
        };
        let context = Context::from_params(Params::new("mnist", Scheme::Bgv, (plaintext_prime(), 1), None, spec)?)?;
        let slots = context.slot_ring();
        let map = LinearMap::from_sparse(slots, entries(&model))?;
        let first = map.plan()?;
        let along = TraceChain::window_along(slots, 0, HIDDEN, LINE / HIDDEN)?;
        let chain = along.then(&TraceChain::dimension(slots, 1)?)?;
        let sum = TracePlan::new(&chain, &TraceSpec::with_groups(SUMS))?;
        Ok(Self { model, context, first, sum })
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The network.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Keys for the plans.
    ///
    /// # Errors
    /// Those of [`Context::generate_keys`].
    pub fn generate_keys(&self) -> Result<(Client, Server)> {
        Ok(self.context.generate_keys([&self.first, &self.sum, &Products])?)
    }

    /// The slots of a picture's inputs.
    pub fn layout(&self, inputs: &[i64]) -> Vec<i64> {
        let mut slots = vec![0; SEGMENTS * SEGMENT];
        for segment in 0..SEGMENTS {
            let start = HIDDEN - STEPS * segment;
            inputs.iter().enumerate().for_each(|(input, &x)| slots[slot(segment, start + input)] = x);
        }
        slots
    }

    /// What the server does: products of hidden units and weights, block by block.
    ///
    /// # Errors
    /// [`windlass::Error`].
    pub fn compute(&self, server: &Server, picture: &Ciphertext) -> Result<Ciphertext> {
        let parts = server.apply(&self.first, picture)?;
        let hidden = server.apply(&self.sum, &parts)?;
        let mut bias = vec![0; self.context.slots()];
        let mut weights = bias.clone();
        for (class, row) in self.model.second.iter().enumerate() {
            for (hidden, &weight) in row.iter().enumerate() {
                bias[block(class, hidden)] = self.model.first_bias[hidden];
                weights[block(class, hidden)] = weight;
            }
        }
        let square = server.square(&server.add_integers(&hidden, &bias)?)?;
        let products = server.multiply_integers(&square, &weights)?;
        Ok(server.engine().reduce_level(&products, 0.5)?)
    }

    /// The scores in decrypted slots.
    pub fn scores(&self, slots: &[u64]) -> [i64; CLASSES] {
        let p = self.context.modulus();
        std::array::from_fn(|class| {
            let product = |hidden| centred(slots[block(class, hidden)], p);
            (0..HIDDEN).map(product).sum::<i64>() + self.model.second_bias[class]
        })
    }
}

/// The first product: place j of segment c, j from 1 to 64 + 575, sees input j − 64 + 8c + i after
/// a rotation by i.
fn entries(model: &Model) -> impl Iterator<Item = (usize, usize, i64)> + '_ {
    (0..SEGMENTS * STEPS).flat_map(move |diagonal| {
        let (segment, step) = (diagonal / STEPS, diagonal % STEPS);
        (0..INPUTS).map(move |input| {
            let place = input + HIDDEN - diagonal;
            (slot(segment, place), slot(segment, place + step), model.first[place % HIDDEN][input])
        })
    })
}
