//! Which keys a circuit needs.
//!
//! Every circuit implements [`NeedsKeys`]. [`crate::Context::generate_keys`] asks each circuit and
//! makes the union of the keys. A [`crate::Server`] asks again before it starts work, so a missing
//! key gives an error that names the circuit.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::KeyStrategy;

use crate::bootstrap::BootstrapPlan;
use crate::bootstrap::approximate::RefreshPlan;
use crate::bootstrap::approximate::precise::PreciseRefreshPlan;
use crate::bootstrap::exact_through_ckks::ExactRefreshPlan;
use crate::circuits::complex::Polynomial;
use crate::circuits::{
    Comparison, ComplexSlots, DigitRemoval, DigitRetention, Extremum, FixedPointProduct, FunctionPlan, IndexBits,
    InnerProduct, LinearPlan, Lookup, MatrixPlan, MatrixProduct, Membership, Plan, PolynomialPlan, Power,
    PublicInnerProduct, SlotFunction, SlotTable, Softmax, Sorting, TracePlan,
};

/// The levels for which a key is made.
///
/// A key for level l can switch ciphertexts of level l and below. Its size grows with l.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyLevel {
    /// Up to this level.
    UpTo(usize),
    /// Every level that callers use.
    Top,
    /// Up to this level, one of those of a refresh above all that callers use.
    Refresh(usize),
}

impl KeyLevel {
    /// The level as a number, if the highest that callers use is `top`. A level of a refresh is itself,
    /// wherever a ciphertext begins.
    pub fn in_chain(self, top: usize) -> usize {
        match self {
            Self::UpTo(level) => level.min(top),
            Self::Top => top,
            Self::Refresh(level) => level,
        }
    }

    /// The same, but at most this level of those that callers use. A level of a refresh stays.
    fn up_to(self, most: usize) -> Self {
        match self {
            Self::UpTo(level) => Self::UpTo(level.min(most)),
            Self::Top => Self::UpTo(most),
            Self::Refresh(level) => Self::Refresh(level),
        }
    }
}

/// The keys that one circuit needs, and the name of the circuit for error messages.
#[derive(Debug, Clone)]
pub struct KeyRequest {
    /// The name of the circuit, for example "a linear map on 8192 slots".
    pub needed_by: String,
    /// The exponents t of the automorphisms X ↦ X^t that need a Galois key.
    pub galois: BTreeMap<u64, KeyLevel>,
    /// The relinearisation key, which products of ciphertexts need.
    pub relinearisation: Option<KeyLevel>,
    /// The bootstrappings whose keys are needed.
    pub bootstrapping: Vec<Arc<BootstrapPlan>>,
    /// The refreshes of CKKS whose keys are needed: of real and complex numbers, or those inside a refresh of several
    /// passes or of exact integers.
    pub refreshes: Vec<Arc<RefreshPlan>>,
}

impl KeyRequest {
    /// A request for no keys.
    pub fn none(needed_by: impl Into<String>) -> Self {
        let (bootstrapping, refreshes) = (Vec::new(), Vec::new());
        Self { needed_by: needed_by.into(), galois: BTreeMap::new(), relinearisation: None, bootstrapping, refreshes }
    }

    /// This request with Galois keys for every level added.
    pub fn with_galois(mut self, elements: impl IntoIterator<Item = u64>) -> Self {
        elements.into_iter().for_each(|element| self.add_galois(element));
        self
    }

    fn add_galois(&mut self, element: u64) {
        self.galois.insert(element, KeyLevel::Top);
    }

    /// Galois keys for the rotations and Frobenius powers of a ring, as a [`KeyStrategy`] selects
    /// them. Use this if the linear maps are not known yet; plan them later with these keys
    /// ([`crate::circuits::PlanSpec::with_keys`]).
    ///
    /// ```
    /// use windlass::circuits::{LinearPlan, PlanSpec};
    /// use windlass::needs::KeyRequest;
    /// use windlass::rlwe::KeyStrategy;
    /// use windlass::{Context, LinearMap};
    ///
    /// let context = Context::preset("insecure_toy_256")?; // a toy
    /// let keys = KeyRequest::whole_ring(KeyStrategy::Default, &context);
    /// let (client, server) = context.generate_keys([&keys])?;
    ///
    /// let sums = LinearMap::matmul_full(&context, |row, column| u64::from(column <= row))?;
    /// let plan = LinearPlan::new(&sums, &PlanSpec::with_keys(keys.galois.into_keys()))?;
    /// let answer = server.apply(&plan, &client.encrypt(&vec![1; context.slots()])?)?;
    /// assert_eq!(client.decrypt(&answer)?[..3], [1, 2, 3]);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    pub fn whole_ring(strategy: KeyStrategy, slot_ring: &SlotRing) -> Self {
        Self::none(format!("a ring with {strategy} keys")).with_galois(strategy.of_ring(slot_ring.hypercube()))
    }

    /// This request with the relinearisation key for every level added.
    pub fn with_relinearisation(mut self) -> Self {
        self.relinearisation = Some(KeyLevel::Top);
        self
    }

    /// The keys of both, each for the higher of its levels; a bootstrapping or a refresh that both name is
    /// there once. The name is that of the first.
    pub fn and(mut self, other: Self) -> Self {
        for (element, level) in other.galois {
            let highest = self.galois.entry(element).or_insert(level);
            *highest = level.max(*highest);
        }
        self.relinearisation = self.relinearisation.max(other.relinearisation);
        for plan in other.bootstrapping {
            if !self.bootstrapping.iter().any(|own| same_bootstrapping(own, &plan)) {
                self.bootstrapping.push(plan);
            }
        }
        for plan in other.refreshes {
            if !self.refreshes.iter().any(|own| own.spec() == plan.spec()) {
                self.refreshes.push(plan);
            }
        }
        self
    }

    /// The keys of all of these, each for the highest level that any of them names.
    pub(crate) fn union(needs: &[&dyn NeedsKeys]) -> Self {
        needs.iter().map(|need| need.key_request()).fold(Self::none("circuits"), Self::and)
    }

    /// The number of keys; those of one bootstrapping or refresh count as one.
    pub(crate) fn count(&self) -> usize {
        let products = usize::from(self.relinearisation.is_some());
        self.galois.len() + products + self.bootstrapping.len() + self.refreshes.len()
    }

    /// The same keys for ciphertexts of at most this level. They take less memory. The keys of a refresh of
    /// real and complex numbers stay as they are: it raises every ciphertext to its own levels.
    pub fn up_to(mut self, level: usize) -> Self {
        let lower = |own: &mut KeyLevel| *own = own.up_to(level);
        self.galois.values_mut().for_each(lower);
        self.relinearisation.iter_mut().for_each(lower);
        self
    }
}

/// A circuit that runs on a server and needs keys there.
pub trait NeedsKeys {
    /// The keys without which it cannot run, and no others.
    fn key_request(&self) -> KeyRequest;
}

impl<T: NeedsKeys + ?Sized> NeedsKeys for &T {
    fn key_request(&self) -> KeyRequest {
        (**self).key_request()
    }
}

/// A custom list of keys, for programs that use the layer below.
impl NeedsKeys for KeyRequest {
    fn key_request(&self) -> KeyRequest {
        self.clone()
    }
}

/// The key for products, squares and powers of ciphertexts: the relinearisation key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Products;

impl NeedsKeys for Products {
    fn key_request(&self) -> KeyRequest {
        KeyRequest::none("a product of ciphertexts").with_relinearisation()
    }
}

/// Planned linear maps: the Galois keys that the plan names.
macro_rules! of_plans {
    ($($plan:ty),*) => {
        $(impl NeedsKeys for $plan {
            fn key_request(&self) -> KeyRequest {
                of_plan(self)
            }
        })*
    };
}

of_plans!(LinearPlan, LinearPlan<ComplexSlots>, MatrixPlan, MatrixPlan<ComplexSlots>, TracePlan);

fn of_plan(plan: &dyn Plan) -> KeyRequest {
    KeyRequest::none(plan.name()).with_galois(plan.required_keys())
}

impl NeedsKeys for PolynomialPlan {
    fn key_request(&self) -> KeyRequest {
        let name = format!("a polynomial of {} products", self.products());
        with_products(name, self.products())
    }
}

impl NeedsKeys for Polynomial {
    fn key_request(&self) -> KeyRequest {
        let name = format!("a polynomial of degree {}", self.degree());
        with_products(name, self.degree().saturating_sub(1))
    }
}

impl NeedsKeys for FunctionPlan {
    fn key_request(&self) -> KeyRequest {
        with_products(format!("the function {}", self.name()), self.products())
    }
}

impl NeedsKeys for Softmax {
    fn key_request(&self) -> KeyRequest {
        let name = format!("a softmax of {} numbers", self.row().entries);
        KeyRequest::none(name).with_galois(self.required_keys()).with_relinearisation()
    }
}

impl NeedsKeys for Sorting {
    fn key_request(&self) -> KeyRequest {
        let name = format!("the {} largest of {} numbers", self.results(), self.row().entries);
        KeyRequest::none(name).with_galois(self.required_keys()).with_relinearisation()
    }
}

impl NeedsKeys for MatrixProduct {
    fn key_request(&self) -> KeyRequest {
        let name = format!("a product of two {0} x {0} matrices", self.size());
        KeyRequest::none(name).with_galois(self.required_keys()).with_relinearisation()
    }
}

impl NeedsKeys for Extremum {
    fn key_request(&self) -> KeyRequest {
        with_products(format!("the {}", self.name()), self.products())
    }
}

impl NeedsKeys for Power {
    fn key_request(&self) -> KeyRequest {
        let name = format!("a power with exponent {}", self.exponent());
        with_products(name, self.products())
    }
}

impl NeedsKeys for SlotFunction {
    fn key_request(&self) -> KeyRequest {
        with_products(self.name(), self.products())
    }
}

impl NeedsKeys for SlotTable {
    fn key_request(&self) -> KeyRequest {
        with_products(self.name(), self.products())
    }
}

impl NeedsKeys for Comparison {
    fn key_request(&self) -> KeyRequest {
        with_products(self.name(), self.products())
    }
}

impl NeedsKeys for Membership {
    fn key_request(&self) -> KeyRequest {
        with_products(self.name(), self.products())
    }
}

impl NeedsKeys for InnerProduct {
    fn key_request(&self) -> KeyRequest {
        let keys = self.total().required_keys();
        KeyRequest::none("an inner product").with_galois(keys).with_relinearisation()
    }
}

impl NeedsKeys for PublicInnerProduct {
    fn key_request(&self) -> KeyRequest {
        KeyRequest::none("an inner product with a public vector").with_galois(self.total().required_keys())
    }
}

/// A request for the relinearisation key, if there are any products.
fn with_products(name: impl Into<String>, products: usize) -> KeyRequest {
    match products {
        0 => KeyRequest::none(name),
        _ => KeyRequest::none(name).with_relinearisation(),
    }
}

impl NeedsKeys for DigitRemoval {
    fn key_request(&self) -> KeyRequest {
        KeyRequest::none(format!("digit removal modulo {}", self.spec().prime)).with_relinearisation()
    }
}

impl NeedsKeys for DigitRetention {
    fn key_request(&self) -> KeyRequest {
        self.removal().key_request()
    }
}

impl NeedsKeys for FixedPointProduct {
    fn key_request(&self) -> KeyRequest {
        let prime = self.rescalings()[0].spec().prime;
        KeyRequest::none(format!("a fixed-point product to base {prime}")).with_relinearisation()
    }
}

impl NeedsKeys for Lookup {
    fn key_request(&self) -> KeyRequest {
        let name = format!("a lookup in {} rows", self.layout().rows());
        let keys = self.required_keys().expect("a layout that exists can be planned");
        KeyRequest::none(name).with_galois(keys)
    }
}

impl NeedsKeys for IndexBits {
    fn key_request(&self) -> KeyRequest {
        with_products(format!("an index of {} bits", self.count()), self.count() - 1)
    }
}

impl NeedsKeys for Arc<BootstrapPlan> {
    fn key_request(&self) -> KeyRequest {
        let levels = self.required_key_levels().into_iter();
        KeyRequest {
            needed_by: "bootstrapping".into(),
            galois: levels.map(|(element, level)| (element, KeyLevel::UpTo(level))).collect(),
            relinearisation: Some(KeyLevel::Top),
            bootstrapping: vec![Arc::clone(self)],
            refreshes: Vec::new(),
        }
    }
}

impl NeedsKeys for Arc<RefreshPlan> {
    fn key_request(&self) -> KeyRequest {
        let levels = self.galois_levels().iter();
        KeyRequest {
            galois: levels.map(|(&element, &level)| (element, KeyLevel::Refresh(level))).collect(),
            relinearisation: Some(KeyLevel::Refresh(self.relinearisation_level())),
            refreshes: vec![Arc::clone(self)],
            ..KeyRequest::none("a refresh")
        }
    }
}

/// Those of the CKKS refresh of a pass.
impl NeedsKeys for Arc<PreciseRefreshPlan> {
    fn key_request(&self) -> KeyRequest {
        KeyRequest { needed_by: "a refresh of several passes".into(), ..self.pass().key_request() }
    }
}

/// Those of the CKKS refresh of a pass. Its relinearisation key serves products of exact ciphertexts too.
impl NeedsKeys for Arc<ExactRefreshPlan> {
    fn key_request(&self) -> KeyRequest {
        KeyRequest { needed_by: "a refresh through CKKS".into(), ..self.ckks().key_request() }
    }
}

/// Whether the keys of one plan can be used for the other: both have the same parameters and the
/// same specification.
pub(super) fn same_bootstrapping(a: &Arc<BootstrapPlan>, b: &Arc<BootstrapPlan>) -> bool {
    let place = |plan: &BootstrapPlan| (plan.params().id(), plan.message_ring().modulus());
    Arc::ptr_eq(a, b) || (place(a) == place(b) && a.spec() == b.spec())
}
