//! The circuits that a server is made for: maps, polynomials, functions of slots, inner products.

use std::sync::Arc;

use windlass::bootstrap::BootstrapPlan;
use windlass::circuits::{
    Comparison, DigitRemoval, DigitSpec, InnerProduct, PolynomialPlan, Power, PublicInnerProduct, SlotFunction,
};
use windlass::needs::KeyRequest;
use windlass::schemes::Ciphertext;
use windlass::{Error, NeedsKeys, Server};

use super::dice::Dice;
use super::maps::{Map, unit};
use super::setting::Setting;

/// What is made before the keys are.
pub struct Plans {
    /// Automorphisms with keys.
    pub units: Vec<u64>,
    pub maps: Vec<Map>,
    pub polynomial: (Vec<i64>, PolynomialPlan),
    pub power: Power,
    pub functions: Vec<Function>,
    pub inner: InnerProduct,
    pub weights: Vec<u64>,
    pub public: PublicInnerProduct,
    /// Of fewer digits than the integers have; none where they have one.
    pub removal: Option<DigitRemoval>,
    pub bootstrapping: Option<Arc<BootstrapPlan>>,
}

/// A function of the integers in slots.
pub enum Function {
    /// Its values at 0, .., p − 1.
    Table(Vec<u64>, SlotFunction),
    /// 1 where the slot is negative, up to this bound.
    Negative(u64, SlotFunction),
    /// 1 where two are equal.
    Equal(Comparison),
    /// 1 where the first is less, for differences up to this bound.
    Less(u64, Comparison),
}

impl Function {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Table(..) => "a table",
            Self::Negative(..) => "is negative",
            Self::Equal(_) => "equals",
            Self::Less(..) => "is less",
        }
    }

    /// The largest absolute value of a slot, or of a difference, that it is defined for; none where
    /// it is defined for all.
    pub fn bound(&self) -> Option<u64> {
        match self {
            Self::Table(..) | Self::Equal(_) => None,
            Self::Negative(bound, _) | Self::Less(bound, _) => Some(*bound),
        }
    }

    pub fn is_of_two(&self) -> bool {
        matches!(self, Self::Equal(_) | Self::Less(..))
    }

    /// The function of one ciphertext, or of two.
    pub fn apply(&self, server: &Server, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        match self {
            Self::Table(_, function) | Self::Negative(_, function) => server.apply(function, a),
            Self::Equal(comparison) | Self::Less(_, comparison) => server.apply(comparison, (a, b)),
        }
    }

    pub fn depth(&self) -> usize {
        match self {
            Self::Table(_, function) | Self::Negative(_, function) => function.depth(),
            Self::Equal(comparison) | Self::Less(_, comparison) => comparison.depth(),
        }
    }
}

impl Plans {
    /// For a setting.
    pub fn draw(dice: &mut Dice, setting: &Setting, bootstrapping: Option<Arc<BootstrapPlan>>) -> Result<Self, Error> {
        let (ring, oracle) = (setting.context.slot_ring(), &setting.oracle);
        let units = (0..2).map(|_| unit(dice, ring.m())).collect();
        let maps = (0..1 + dice.index(3)).map(|_| Map::draw(dice, oracle, ring)).collect::<Result<_, _>>()?;
        let degree = dice.index(10);
        let largest = dice.pick(&[1, 5, (oracle.t / 2) as i64]);
        let coefficients: Vec<i64> = (0..=degree).map(|_| dice.within(-largest, largest)).collect();
        let polynomial = PolynomialPlan::new(&coefficients);
        let weights = dice.residues(oracle.slots(), oracle.t);
        Ok(Self {
            units,
            maps,
            polynomial: (coefficients, polynomial),
            power: Power::new(1 + dice.below(12))?,
            functions: functions(dice, setting)?,
            inner: InnerProduct::new(ring)?,
            public: PublicInnerProduct::new(ring, &weights)?,
            weights,
            removal: removal(dice, setting)?,
            bootstrapping,
        })
    }

    /// The keys for all of them.
    pub fn key_request(&self) -> KeyRequest {
        let mut request =
            KeyRequest::none("a random circuit").with_relinearisation().with_galois(self.units.iter().copied());
        let mut take = |circuit: &dyn NeedsKeys| {
            let KeyRequest { galois, bootstrapping, .. } = circuit.key_request();
            for (unit, level) in galois {
                let highest = request.galois.entry(unit).or_insert(level);
                *highest = level.max(*highest);
            }
            request.bootstrapping.extend(bootstrapping);
        };
        self.maps.iter().for_each(|map| take(&map.plan));
        take(&self.inner);
        self.removal.iter().for_each(|removal| take(removal));
        take(&self.public);
        self.bootstrapping.iter().for_each(|plan| take(plan));
        request
    }
}

/// Digits are removed where there are two and more, and polynomials of p's degree take little.
fn removal(dice: &mut Dice, setting: &Setting) -> Result<Option<DigitRemoval>, Error> {
    let (p, e) = (setting.p, setting.r);
    if e < 2 || p > 31 {
        return Ok(None);
    }
    let removed = 1 + dice.below(u64::from(e - 1).min(4)) as u32;
    Ok(Some(DigitRemoval::new(DigitSpec::new(p, e, removed))?))
}

/// Functions exist where the modulus is prime; tables where it is small.
fn functions(dice: &mut Dice, setting: &Setting) -> Result<Vec<Function>, Error> {
    let (ring, p) = (setting.context.slot_ring(), setting.p);
    let mut functions = Vec::new();
    if setting.r > 1 {
        return Ok(functions);
    }
    functions.push(Function::Equal(Comparison::equals(ring)?));
    if p <= 41 {
        let values: Vec<u64> = (0..p).map(|_| dice.below(p)).collect();
        let function = SlotFunction::from_table(ring, &values)?;
        functions.push(Function::Table(values, function));
    }
    if p > 2 {
        let bound = 1 + dice.below(((p - 1) / 2).min(6));
        functions.push(Function::Negative(bound, SlotFunction::is_negative(ring, bound)?));
        functions.push(Function::Less(bound, Comparison::is_less(ring, bound)?));
    }
    Ok(functions)
}
