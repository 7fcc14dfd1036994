//! A client and a server that refresh.

use std::sync::Arc;
use std::time::Instant;

use windlass::bootstrap::approximate::{RefreshPlan, RefreshSpec};
use windlass::{Approximate, Client, Context, Error, Server};

/// Who takes part, and what it took to make them ready.
pub struct Ready {
    pub client: Client<Approximate>,
    pub server: Server<Approximate>,
    pub plan: Arc<RefreshPlan>,
    pub plan_seconds: f64,
    pub key_seconds: f64,
    pub constant_seconds: f64,
}

impl Ready {
    pub fn new(spec: &RefreshSpec, seed: u64) -> Result<Self, Error> {
        let start = Instant::now();
        let context = Context::refreshing(spec)?;
        let plan = context.refresh()?;
        let plan_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (client, server) = context.generate_keys_from_seed([&plan], seed)?;
        let key_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        server.refresher(spec.slots)?;
        let constant_seconds = start.elapsed().as_secs_f64();
        println!("plan {plan_seconds:.1} s, keys {key_seconds:.1} s, constants {constant_seconds:.1} s");
        Ok(Self { client, server, plan, plan_seconds, key_seconds, constant_seconds })
    }
}
