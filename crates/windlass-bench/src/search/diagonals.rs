//! The design to compare with: BFV with packed slots, one diagonal for each dimension, baby steps
//! and giant steps, every rotation a whole key switch, constants prepared beforehand.

use windlass::circuits::{HoistMode, LinearMap, LinearPlan, PlanSpec, PreparedPlan, Strategy};
use windlass::schemes::{Ciphertext, Engine};
use windlass::{Client, Context, ParamSpec, Plaintext, Scheme, Server};
use windlass_retrieval::vectors::{QuantisedQuery, QuantisedTable};

use super::data::Outcome;

/// A table as diagonals, with a client and its query.
pub struct Diagonals {
    pub context: Context,
    client: Client,
    server: Server,
    pub plan: LinearPlan,
    prepared: PreparedPlan<Engine>,
    query: Ciphertext,
}

/// The longest lines of slots that a rotation moves along.
struct Lines {
    axis: usize,
    length: usize,
    /// The line of each slot, and its place there.
    places: Vec<(usize, usize)>,
}

impl Lines {
    fn of(context: &Context) -> Outcome<Self> {
        let hypercube = context.slot_ring().hypercube();
        let sizes = hypercube.dimensions().iter().map(|dimension| dimension.size);
        let (axis, length) = sizes.enumerate().max_by_key(|(_, size)| *size).ok_or("a ring with slots")?;
        let mut places = vec![(0, 0); context.slots()];
        let starts = (0..context.slots()).filter(|&slot| hypercube.coordinate(slot, axis) == 0);
        for (line, start) in starts.enumerate() {
            (0..length).for_each(|i| places[hypercube.rotated(start, axis, i as i64)] = (line, i));
        }
        Ok(Self { axis, length, places })
    }

    /// The table as Σ_t κ_t·θ^t: slot i of line h holds vector h·length + i, and meets coordinate
    /// (i − t) mod D of the query in diagonal t.
    fn map(&self, context: &Context, table: &QuantisedTable) -> Outcome<LinearMap> {
        let (dimension, count) = (table.dimension(), table.count());
        let value = |t: usize, &(line, i): &(usize, usize)| match line * self.length + i {
            vector if vector < count => i64::from(table.values()[vector * dimension + (i + dimension - t) % dimension]),
            _ => 0,
        };
        let term = |t: usize| -> Outcome<_> {
            let diagonal: Vec<i64> = self.places.iter().map(|place| value(t, place)).collect();
            let element = context.slot_ring().hypercube().generator_power(self.axis, t as i64);
            Ok((element, Plaintext::from_integers(context, &diagonal)?))
        };
        let terms = (0..dimension).map(term).collect::<Outcome<Vec<_>>>()?;
        Ok(LinearMap::from_terms(context.slot_ring(), terms)?)
    }
}

impl Diagonals {
    /// A table whose dimension divides the length of a line of slots, and whose vectors fit into
    /// the slots, under the smallest parameters that carry the scores of a query.
    pub fn new(table: &QuantisedTable, asked: &QuantisedQuery) -> Outcome<Self> {
        let scores = table.scores(asked, 0);
        let largest = scores.iter().map(|score| score.unsigned_abs()).max().unwrap_or(0);
        let modulus = ParamSpec::with_plaintext_bits(2 + largest.ilog2())?;
        let spec = ParamSpec { scheme: Scheme::Bfv, slots: table.count(), depth: 0, linear_maps: 1, ..modulus };
        let context = Context::plan(&spec)?;
        let lines = Lines::of(&context)?;
        let babies = (table.dimension() as f64).sqrt().ceil() as usize;
        let strategy = PlanSpec::with_strategy(Strategy::BABY_GIANT.with_babies(babies));
        let spec = PlanSpec { hoisting: HoistMode::Off, ..strategy };
        let plan = LinearPlan::new(&lines.map(&context, table)?, &spec)?;
        let (client, server) = context.generate_keys([&plan])?;
        let prepared = plan.prepare(server.engine())?;
        let vector = asked.sent(0);
        let sent: Vec<i64> = lines.places.iter().map(|&(_, i)| vector[i % vector.len()].into()).collect();
        let query = client.encrypt(&sent)?;
        let made = Self { context, client, server, plan, prepared, query };
        if made.decrypt(&made.apply()?, &lines)?[..scores.len()] != scores {
            return Err("the diagonals give other scores than the clear".into());
        }
        Ok(made)
    }

    /// The scores, encrypted.
    pub fn apply(&self) -> Outcome<Ciphertext> {
        Ok(self.plan.apply(&self.prepared, self.server.engine(), &self.query)?)
    }

    fn decrypt(&self, scores: &Ciphertext, lines: &Lines) -> Outcome<Vec<i64>> {
        let modulus = self.context.modulus() as i64;
        let mut out = vec![0; lines.places.len()];
        for (value, (line, i)) in self.client.decrypt(scores)?.into_iter().zip(&lines.places) {
            let value = value as i64;
            out[line * lines.length + i] = if value > modulus / 2 { value - modulus } else { value };
        }
        Ok(out)
    }
}
