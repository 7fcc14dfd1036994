//! The design to compare with: BFV with packed slots, one diagonal for each dimension, baby steps
//! and giant steps, every rotation a whole key switch, constants prepared beforehand.

use windlass::circuits::{HoistMode, LinearMap, LinearPlan, PlanSpec, PreparedPlan, Strategy};
use windlass::schemes::{Ciphertext, Engine};
use windlass::{Client, Context, ParamSpec, Plaintext, Scheme, Server};
use windlass_retrieval::vectors::{QuantisedQuery, QuantisedTable};

use super::Outcome;

/// A table as diagonals, with a client and its query.
pub struct Diagonals {
    pub context: Context,
    client: Client,
    server: Server,
    pub plan: LinearPlan,
    prepared: PreparedPlan<Engine>,
    query: Ciphertext,
    vectors: usize,
}

impl Diagonals {
    /// A table whose dimension divides the length of a line of slots, and whose vectors fit into
    /// the slots: slot i of line h holds vector h·length + i, and meets coordinate (i − t) mod D of
    /// the query in diagonal t.
    pub fn new(table: &QuantisedTable, asked: &QuantisedQuery) -> Outcome<Self> {
        let scores = table.scores(asked, 0);
        let largest = scores.iter().map(|score| score.unsigned_abs()).max().unwrap_or(0);
        let bits = 2 + largest.ilog2();
        let spec = ParamSpec {
            scheme: Scheme::Bfv,
            slots: table.count(),
            depth: 0,
            linear_maps: 1,
            ..ParamSpec::with_plaintext_bits(bits)?
        };
        let context = Context::plan(&spec)?;
        let (slots, dimension) = (context.ring().clone(), table.dimension());
        let hypercube = slots.hypercube();
        let sizes = hypercube.dimensions().iter().map(|dimension| dimension.size);
        let (axis, length) = sizes.enumerate().max_by_key(|(_, size)| *size).ok_or("a ring with slots")?;
        // The place of every slot on its line, and the number of its line.
        let mut place = vec![(0, 0); slots.slots()];
        let starts = (0..slots.slots()).filter(|&slot| hypercube.coordinate(slot, axis) == 0);
        for (line, start) in starts.enumerate() {
            (0..length).for_each(|i| place[hypercube.rotated(start, axis, i as i64)] = (line, i));
        }
        let value = |slot: usize, t: usize| {
            let (line, i) = place[slot];
            let vector = table.values().chunks_exact(dimension).nth(line * length + i);
            vector.map_or(0, |vector| i64::from(vector[(i + dimension - t) % dimension]))
        };
        let terms = (0..dimension).map(|t| {
            let diagonal: Vec<i64> = (0..slots.slots()).map(|slot| value(slot, t)).collect();
            Ok((hypercube.generator_power(axis, t as i64), Plaintext::from_integers(&context, &diagonal)?))
        });
        let map = LinearMap::from_terms(&slots, terms.collect::<Outcome<Vec<_>>>()?)?;
        let babies = (dimension as f64).sqrt().ceil() as usize;
        let strategy = PlanSpec::with_strategy(Strategy::BABY_GIANT.with_babies(babies));
        let plan = LinearPlan::new(&map, &PlanSpec { hoisting: HoistMode::Off, ..strategy })?;
        let (client, server) = context.generate_keys([&plan])?;
        let prepared = plan.prepare(server.engine())?;
        let sent: Vec<i64> = place.iter().map(|&(_, i)| asked.sent(0)[i % dimension].into()).collect();
        let query = client.encrypt(&sent)?;
        let made = Self { context, client, server, plan, prepared, query, vectors: table.count() };
        let found = made.decrypt(&made.apply()?, &place)?;
        if found != scores[..made.vectors] {
            return Err("the diagonals give other scores than the clear".into());
        }
        Ok(made)
    }

    /// The scores, encrypted.
    pub fn apply(&self) -> Outcome<Ciphertext> {
        Ok(self.plan.apply(&self.prepared, self.server.engine(), &self.query)?)
    }

    fn decrypt(&self, scores: &Ciphertext, place: &[(usize, usize)]) -> Outcome<Vec<i64>> {
        let length = place.iter().map(|(_, i)| i + 1).max().unwrap_or(0);
        let modulus = self.context.modulus() as i64;
        let mut out = vec![0; place.len()];
        for (value, (line, i)) in self.client.decrypt(scores)?.into_iter().zip(place) {
            let value = value as i64;
            out[line * length + i] = if value > modulus / 2 { value - modulus } else { value };
        }
        out.truncate(self.vectors);
        Ok(out)
    }
}
