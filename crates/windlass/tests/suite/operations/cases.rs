//! Every operation of an [`Evaluator`] with what it must give, for any scheme.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass::circuits::{LinearMap, LinearPlan, PlanSpec, PolynomialPlan, product_of_many, sum_of_many};
use windlass::{DividedProduct, Error, Evaluator, Plaintext};
use windlass_ring::slots::SlotRing;

use crate::operations::model::{Model, Values};

/// A result, what its slots must be, and modulo what.
pub struct Case<C> {
    pub name: String,
    pub ciphertext: C,
    pub expected: Values,
    pub modulus: u64,
}

/// A named linear map with its plan and its image of a given input.
struct Map {
    name: String,
    plan: LinearPlan,
    expected: Values,
}

/// Two inputs over one plaintext ring, and the maps that are tried on the first.
pub struct Inputs {
    pub ring: Arc<SlotRing>,
    pub model: Model,
    pub x: Values,
    pub y: Values,
    maps: Vec<Map>,
}

const POLYNOMIAL: [i64; 7] = [3, -1, 0, 2, 1, 0, -2];

impl Inputs {
    pub fn new(ring: &Arc<SlotRing>) -> Self {
        Self::with_integers(ring, [false, false])
    }

    /// Inputs x and y that hold integers, or not.
    pub fn with_integers(ring: &Arc<SlotRing>, [first, second]: [bool; 2]) -> Self {
        let model = Model::new(ring);
        let of = |seed, integers| if integers { model.integers(seed) } else { model.random(seed) };
        let (x, y) = (of(11, first), of(12, second));
        let maps = Self::maps(ring, &model, &x).expect("maps and plans of the ring's own dimensions");
        Self { ring: Arc::clone(ring), model, x, y, maps }
    }

    /// Rotations and shifts along every dimension, good and bad; Frobenius; trace.
    fn maps(ring: &Arc<SlotRing>, model: &Model, x: &Values) -> Result<Vec<Map>, Error> {
        let mut maps = Vec::new();
        let mut push = |name: String, map: LinearMap, expected: Values| {
            let plan = LinearPlan::new(&map, &PlanSpec::default())?;
            maps.push(Map { name, plan, expected });
            Ok::<_, Error>(())
        };
        for (s, dimension) in ring.hypercube().dimensions().iter().enumerate() {
            let goodness = if dimension.good { "good" } else { "bad" };
            let size = dimension.size as i64;
            for amount in BTreeSet::from([1, -1, size / 2]) {
                let map = LinearMap::rotation(ring, s, amount)?;
                push(
                    format!("rotation by {amount} in {goodness} dimension {s}"),
                    map,
                    model.moved(x, s, amount, true),
                )?;
            }
            for amount in [1, 1 - size] {
                let map = LinearMap::shift(ring, s, amount)?;
                push(format!("shift by {amount} in {goodness} dimension {s}"), map, model.moved(x, s, amount, false))?;
            }
        }
        push("Frobenius".into(), LinearMap::frobenius(ring, 1)?, model.frobenius(x, 1))?;
        if ring.degree() <= 16 {
            push("trace".into(), LinearMap::trace(ring)?, model.trace(x))?;
        }
        Ok(maps)
    }

    /// An automorphism that moves slots and coefficients: −1.
    fn element(&self) -> u64 {
        self.ring.m() - 1
    }

    /// The automorphisms that need keys.
    pub fn keys(&self) -> BTreeSet<u64> {
        let maps = self.maps.iter().flat_map(|map| map.plan.required_keys());
        maps.chain([self.element()]).collect()
    }

    pub fn plaintext(&self, values: &Values) -> Plaintext {
        Plaintext::from_slots(&self.ring, values).expect("one value for each slot").recognised()
    }

    /// All operations on encryptions a of x and b of y.
    pub fn run<E: Evaluator>(
        &self,
        e: &E,
        a: &E::Ciphertext,
        b: &E::Ciphertext,
    ) -> Result<Vec<Case<E::Ciphertext>>, Error> {
        let (model, x, y) = (&self.model, &self.x, &self.y);
        let py = self.plaintext(y);
        let mut cases = Vec::new();
        let mut push = |name: &str, ciphertext: Result<E::Ciphertext, Error>, expected: Values| {
            let name = name.to_owned();
            cases.push(Case { name, ciphertext: ciphertext?, expected, modulus: model.modulus() });
            Ok::<_, Error>(())
        };
        let product = model.mul(x, y);
        push("add", e.add(a, b), model.add(x, y))?;
        push("subtract", e.sub(a, b), model.sub(x, y))?;
        push("negate", e.negate(a), model.scale(x, -1))?;
        push("add plaintext", e.add_plain(a, &py), model.add(x, y))?;
        push("subtract plaintext", e.sub_plain(a, &py), model.sub(x, y))?;
        push("multiply", e.multiply(a, b), product.clone())?;
        push("square", e.square(a), model.mul(x, x))?;
        push("multiply by a scalar", e.multiply_scalar(a, -7), model.scale(x, -7))?;
        push("multiply by zero", e.multiply_scalar(a, 0), model.scalar(0))?;
        push("multiply by a constant", e.multiply_constant(a, &e.prepare(&py)?), product.clone())?;
        push("automorphism", e.automorphism(a, self.element()), model.automorphism(x, self.element()))?;
        let deep = e.multiply(&e.multiply(a, b)?, a)?;
        let deeper = model.add(&model.mul(&product, x), y);
        push("add across levels", e.add(&deep, b), deeper)?;
        let [sum, all] = [
            sum_of_many(e, &[a.clone(), b.clone(), a.clone(), b.clone(), b.clone()]),
            product_of_many(e, &[a.clone(), b.clone(), b.clone()]),
        ];
        push("sum of many", sum, model.add(&model.scale(x, 2), &model.scale(y, 3)))?;
        push("product of many", all, model.mul(&product, y))?;
        push("polynomial", PolynomialPlan::new(&POLYNOMIAL).apply(e, a), model.polynomial(x, &POLYNOMIAL))?;
        for map in &self.maps {
            push(&map.name, map.plan.apply_once(e, a), map.expected.clone())?;
        }
        cases.extend(self.division(e, a, b)?);
        Ok(cases)
    }

    /// Exact division by p, products and sums after it, and the ways to smaller powers of p and
    /// back; refused where nothing would be left.
    fn division<E: Evaluator>(
        &self,
        e: &E,
        a: &E::Ciphertext,
        b: &E::Ciphertext,
    ) -> Result<Vec<Case<E::Ciphertext>>, Error> {
        let modulus = self.ring.modulus();
        let p = modulus.prime();
        let multiple = e.multiply_scalar(a, p as i64)?;
        let quotient = e.divide_by_p(&multiple);
        if modulus.exponent() == 1 {
            assert!(matches!(quotient, Err(Error::NotDivisible { exponent: 1, .. })), "nothing is left modulo p^0");
            return Ok(Vec::new());
        }
        let quotient = quotient?;
        let squared = e.square(&quotient)?;
        let other = e.divide_by_p(&e.multiply_scalar(b, p as i64)?)?;
        let sum = e.add(&quotient, &other)?;
        let smaller = e.reduce_exponent(a, modulus.exponent() - 1)?;
        assert_eq!([a, &smaller].map(|x| e.exponent_of(x)), [modulus.exponent(), modulus.exponent() - 1]);
        let mixed = e.multiply(&smaller, &other)?;
        let multiplied = e.multiply_by_p(&smaller)?;
        // Values of different levels and moduli, one of them twice, in every part of a product.
        let (model, x, y) = (&self.model, &self.x, &self.y);
        let product = |factors: [&[i64]; 2], rest: &[i64], divisions| DividedProduct {
            factors: factors.map(<[i64]>::to_vec),
            rest: rest.to_vec(),
            divisions,
        };
        let values = [a, b, &quotient, &squared];
        let whole = e.divided_product(&values, &product([&[2, 0, -1], &[1, 3]], &[0, 1, 5, -2], 0))?;
        let linear = model.add(y, &model.scale(x, 5));
        let on_top = model.sub(&linear, &model.scale(&model.mul(x, x), 2));
        let whole_values = model.add(&model.mul(x, &model.add(x, &model.scale(y, 3))), &on_top);
        let p_times = p as i64;
        let divided = e.divided_product(&values, &product([&[p_times], &[1, 1]], &[0, p_times], 1))?;
        let divided_values = model.add(&model.mul(x, &model.add(x, y)), y);
        let twice = e.divided_product(&[a, a], &product([&[1, -1], &[1]], &[0, 1], 0))?;
        assert!(matches!(
            e.divided_product(&[a], &product([&[1], &[1]], &[0, -1], 0)),
            Err(Error::ShapeMismatch { expected: 2, got: 1, .. })
        ));
        assert!(e.divided_product(&[a], &product([&[1], &[0]], &[], 0)).is_err());
        let case = |name: &str, ciphertext, expected: Values| Case {
            name: name.into(),
            ciphertext,
            expected: expected.iter().map(|x| x % (modulus.value() / p)).collect(),
            modulus: modulus.value() / p,
        };
        Ok(vec![
            case("product of sums", whole, whole_values),
            case("product of sums divided", divided, divided_values),
            Case { name: "one value twice".into(), ciphertext: twice, expected: x.clone(), modulus: modulus.value() },
            case("divide by p", quotient, self.x.clone()),
            case("square after division", squared, self.model.mul(&self.x, &self.x)),
            case("add after division", sum, self.model.add(&self.x, &self.y)),
            case("reduce the modulus", smaller, self.x.clone()),
            case("multiply reduced and divided", mixed, self.model.mul(&self.x, &self.y)),
            Case {
                name: "multiply by p".into(),
                ciphertext: multiplied,
                expected: self.model.scale(&self.x, p as i64),
                modulus: modulus.value(),
            },
        ])
    }
}
