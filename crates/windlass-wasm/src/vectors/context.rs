//! What both sides agree on.

use std::sync::Arc;

use wasm_bindgen::prelude::*;
use windlass::rlwe::{Context as RlweContext, RlweParams};
use windlass::schemes::ckks::{CkksContext, CkksSpec};
use windlass::wire::{ApproximateContext, WireContext};
use windlass::{ParamSpec, Params, Scheme};

use crate::Result;
use crate::error::{raise, refuse};
use crate::parameters;

/// The parameters of a scheme, checked, before anything is made of them.
enum Parameters {
    Exact(Params),
    Approximate(CkksSpec, RlweParams),
}

/// A context of either kind.
#[derive(Clone)]
pub enum Kind {
    Exact(Box<Params>, WireContext),
    Approximate(ApproximateContext),
}

/// What client and server agree on: scheme, parameters, slots.
#[wasm_bindgen]
pub struct Context {
    kind: Kind,
}

impl Parameters {
    fn read(text: &str) -> Result<Self> {
        if text.contains("\"windlass_parameters\"") {
            let params = Params::from_json(text).map_err(refuse)?;
            if params.ephemeral().is_some() {
                return Err(of_refresh());
            }
            return Ok(Self::Exact(params));
        }
        if text.contains("\"windlass_ckks_refresh\"") {
            return Err(of_refresh());
        }
        Self::approximate(CkksSpec::from_json(text).map_err(refuse)?)
    }

    fn approximate(spec: CkksSpec) -> Result<Self> {
        let params = spec.to_params().map_err(refuse)?;
        Ok(Self::Approximate(spec, params))
    }

    fn rlwe(&self) -> &RlweParams {
        match self {
            Self::Exact(params) => params.rlwe(),
            Self::Approximate(_, params) => params,
        }
    }

    fn context(self) -> windlass::Result<Kind> {
        match self {
            Self::Exact(params) => {
                let slots = params.slot_ring()?;
                let rlwe = RlweContext::new(params.rlwe().clone())?;
                let files = WireContext::new(&rlwe, &slots, params.scheme());
                Ok(Kind::Exact(Box::new(params), files))
            }
            Self::Approximate(spec, _) => Ok(Kind::Approximate(ApproximateContext::new(&CkksContext::new(&spec)?))),
        }
    }
}

fn of_refresh() -> JsValue {
    raise(
        "ParameterError",
        "these parameters are made for refreshes, which clients in JavaScript do not support: choose parameters without",
    )
}

/// p and r of a modulus p^r below 2^45.
fn prime_power(modulus: u64) -> Option<(u64, u32)> {
    if !(2..1 << 45).contains(&modulus) {
        return None;
    }
    let p = (2..).take_while(|p| p * p <= modulus).find(|p| modulus.is_multiple_of(*p)).unwrap_or(modulus);
    let r = modulus.ilog(p);
    (p.pow(r) == modulus).then_some((p, r))
}

impl Context {
    fn of(parameters: Parameters, insecure: bool) -> Result<Self> {
        parameters::check(parameters.rlwe(), insecure)?;
        Ok(Self { kind: parameters.context().map_err(refuse)? })
    }

    pub(super) fn kind(&self) -> &Kind {
        &self.kind
    }
}

impl Kind {
    pub(super) fn rlwe(&self) -> &Arc<RlweContext> {
        match self {
            Self::Exact(_, files) => files.context(),
            Self::Approximate(files) => files.context().rlwe(),
        }
    }

    /// The level of fresh ciphertexts, and of keys for all of them.
    pub(super) fn top_level(&self) -> usize {
        match self {
            Self::Exact(_, files) => files.context().top_level(),
            Self::Approximate(files) => files.context().top_level(),
        }
    }

    pub(super) fn slots(&self) -> usize {
        match self {
            Self::Exact(_, files) => files.slot_ring().slots(),
            Self::Approximate(files) => files.context().spec().n / 2,
        }
    }
}

#[wasm_bindgen]
impl Context {
    /// The context of a parameter file. Below 128 bits of security it is refused unless `insecure`.
    pub fn read(text: &str, insecure: bool) -> Result<Self> {
        Self::of(Parameters::read(text)?, insecure)
    }

    /// The smallest parameters for a computation with integers.
    pub fn plan(modulus: u64, depth: u32, slots: usize, bfv: bool) -> Result<Self> {
        let (p, r) = prime_power(modulus).ok_or_else(|| {
            raise("ParameterError", &format!("the modulus {modulus} is not a power of a prime below 2^45"))
        })?;
        let scheme = if bfv { Scheme::Bfv } else { Scheme::Bgv };
        let spec = ParamSpec { p, r, scheme, slots, depth, ..ParamSpec::default() };
        Self::of(Parameters::Exact(Params::plan(&spec).map_err(refuse)?), false)
    }

    /// The smallest parameters for a computation with real numbers.
    pub fn approximate(depth: usize, scale_bits: u32, value_bits: u32, slots: usize) -> Result<Self> {
        let spec = CkksSpec::secure(depth, scale_bits, value_bits, slots).map_err(refuse)?;
        Self::of(Parameters::approximate(spec)?, false)
    }

    /// The parameter file.
    #[wasm_bindgen(getter)]
    pub fn parameters(&self) -> String {
        match &self.kind {
            Kind::Exact(params, _) => params.to_json(),
            Kind::Approximate(files) => files.context().spec().to_json(),
        }
    }

    /// BGV, BFV or CKKS.
    #[wasm_bindgen(getter)]
    pub fn scheme(&self) -> String {
        match &self.kind {
            Kind::Exact(params, _) => params.scheme().to_string(),
            Kind::Approximate(_) => "CKKS".to_owned(),
        }
    }

    /// The slots of a ciphertext.
    #[wasm_bindgen(getter)]
    pub fn slots(&self) -> usize {
        self.kind.slots()
    }

    /// The plaintext modulus of integers.
    #[wasm_bindgen(getter)]
    pub fn modulus(&self) -> Option<u64> {
        match &self.kind {
            Kind::Exact(params, _) => Some(params.plaintext_modulus()),
            Kind::Approximate(_) => None,
        }
    }

    /// log2 of the work of the best known attack.
    #[wasm_bindgen(getter, js_name = securityBits)]
    pub fn security_bits(&self) -> f64 {
        self.kind.rlwe().params().security().bits
    }
}
