//! What the protocols need of a family of schemes.

use std::sync::Arc;

use rand_core::RngCore;
use windlass::bootstrap::approximate::{RefreshKeys, RefreshPlan};
use windlass::bootstrap::{BootstrapKeys, BootstrapPlan, BootstrapShare, SharedRefresh};
use windlass::needs::{KeyRequest, Products};
use windlass::schemes::ckks::Complex64;
use windlass::schemes::collective::{
    ApproximateDecryption, ApproximateSwitch, ExactDecryption, ExactSwitch, Holder, Opened, SwitchingShare,
};
use windlass::schemes::{Ciphertext, Encryptor, Publication, ckks};
use windlass::wire::{ApproximateContext, FileContext, Wire, WireContext};
use windlass::{Approximate, Context, Exact, Plaintext, Result};
use windlass_ring::{Basis, Eval, Poly};
use windlass_rlwe::collective::Common;
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{KeyId, PublicKey, SecretKey};

use crate::bootstrapping::NamedBootstrapping;

mod sealed {
    pub trait Sealed {}
    impl Sealed for windlass::Exact {}
    impl Sealed for windlass::Approximate {}
}

/// A family whose keys several parties can hold: BGV and BFV, or CKKS.
pub trait CollectiveFamily: windlass::front::Family + sealed::Sealed {
    /// What files are checked against.
    type Files: FileContext;
    /// Its ciphertexts.
    type Ciphertext: Wire<Self::Files> + Clone;
    /// The plan of one decryption.
    type Decryption: Send + Sync;
    /// The plan of one switch to the key of someone outside.
    type Switch: Send + Sync;
    /// What a decryption gives: an element of the plaintext ring, or numbers with their precision.
    type Opened;
    /// A refresh whose keys the parties make: a bootstrapping, or a refresh of CKKS.
    type Refresh: SharedRefresh + std::fmt::Debug + Send + Sync;
    /// Its keys.
    type RefreshKeys: Clone + std::fmt::Debug + Send + Sync;

    /// The context of a text of parameters.
    #[doc(hidden)]
    fn from_json(text: &str) -> Result<Context<Self>>;
    #[doc(hidden)]
    fn to_json(context: &Context<Self>) -> String;
    #[doc(hidden)]
    fn files(context: &Context<Self>) -> &Self::Files;
    /// The refreshes that a request asks for; `None` if there is one whose keys parties cannot make.
    #[doc(hidden)]
    fn requested(request: &KeyRequest) -> Option<&[Arc<Self::Refresh>]>;
    /// The context's own refresh, which a text names without saying more.
    ///
    /// # Errors
    /// Those of a context that has none.
    #[doc(hidden)]
    fn own_refresh(context: &Context<Self>) -> Result<Arc<Self::Refresh>>;
    /// What a text states about another refresh than the context's own; `None` if it cannot be named.
    #[doc(hidden)]
    fn named(context: &Context<Self>, plan: &Self::Refresh) -> Option<NamedBootstrapping>;
    /// The refresh that a text names.
    ///
    /// # Errors
    /// Those of planning it, and of names.
    #[doc(hidden)]
    fn of_name(context: &Context<Self>, named: &NamedBootstrapping) -> Result<Arc<Self::Refresh>>;
    /// Whether the keys of one refresh of a context are those of another.
    #[doc(hidden)]
    fn is_same(a: &Self::Refresh, b: &Self::Refresh) -> bool;
    /// The keys of a refresh, from the sum of the shares of all members.
    #[doc(hidden)]
    fn refresh_keys(
        context: &Context<Self>,
        common: &Common,
        plan: &Self::Refresh,
        sum: BootstrapShare,
    ) -> Result<Self::RefreshKeys>;
    /// A fresh ciphertext under the name of a key pair, to plan with: it encrypts 0 under a key that was thrown away.
    #[doc(hidden)]
    fn fresh(context: &Context<Self>, id: KeyId) -> Result<Self::Ciphertext>;
    /// A fresh ciphertext of keys that are thrown away, squared so often.
    #[doc(hidden)]
    fn after_squarings(context: &Context<Self>, count: usize) -> Result<Self::Ciphertext>;
    /// The highest level of ciphertexts.
    #[doc(hidden)]
    fn top_level(context: &Context<Self>) -> usize;
    #[doc(hidden)]
    fn key_id(ciphertext: &Self::Ciphertext) -> KeyId;
    #[doc(hidden)]
    fn plan(
        context: &Context<Self>,
        ciphertext: &Self::Ciphertext,
        publication: (Publication, u32),
    ) -> Result<Self::Decryption>;
    /// log2 of the noise of shares.
    #[doc(hidden)]
    fn noise_bits(decryption: &Self::Decryption) -> u32;
    /// The primes of shares.
    #[doc(hidden)]
    fn basis(context: &Context<Self>, decryption: &Self::Decryption) -> Basis;
    #[doc(hidden)]
    fn share(decryption: &Self::Decryption, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<Poly<Eval>>;
    #[doc(hidden)]
    fn open(context: &Context<Self>, decryption: &Self::Decryption, shares: &[Poly<Eval>]) -> Result<Self::Opened>;
    /// The plan of a switch to another key, the primes of its shares and log2 of their noise.
    #[doc(hidden)]
    fn plan_switch(
        context: &Context<Self>,
        ciphertext: &Self::Ciphertext,
        publication: (Publication, u32),
        target: &Arc<PublicKey>,
    ) -> Result<(Self::Switch, Basis, u32)>;
    #[doc(hidden)]
    fn switching_share(switch: &Self::Switch, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<SwitchingShare>;
    #[doc(hidden)]
    fn finish_switch(switch: &Self::Switch, shares: &[SwitchingShare]) -> Result<Self::Ciphertext>;
}

/// A public key whose secret is thrown away, under this name.
fn throwaway_key(context: &Arc<windlass_rlwe::Context>, id: KeyId) -> Result<PublicKey> {
    let mut rng = os_rng()?;
    let key = PublicKey::generate(&SecretKey::generate(context, &mut rng), &mut rng);
    let (seed, b) = key.parts();
    Ok(PublicKey::from_parts(context, id, *seed, b.clone())?)
}

fn encrypted_zero(context: &Context, key: Arc<PublicKey>) -> Result<Ciphertext> {
    let zero = Plaintext::new(context.slot_ring(), vec![0; context.slot_ring().n()])?;
    let encryptor = Encryptor::new(context.scheme(), key).at_level(context.params().top_level())?;
    encryptor.encrypt(&zero, &mut os_rng()?)
}

/// Zeros in all slots, stated to be up to 1.
fn wide_zeros(context: &Context<Approximate>, key: Arc<PublicKey>) -> Result<ckks::Ciphertext> {
    let zeros = vec![ckks::WideComplex::from(Complex64::default()); context.slots()];
    ckks::Encryptor::new(context.ckks(), key)?.encrypt_wide(&zeros, 1.0, &mut os_rng()?)
}

impl CollectiveFamily for Exact {
    type Files = WireContext;
    type Ciphertext = Ciphertext;
    type Decryption = ExactDecryption;
    type Switch = ExactSwitch;
    type Opened = Plaintext;
    type Refresh = BootstrapPlan;
    type RefreshKeys = BootstrapKeys;

    fn from_json(text: &str) -> Result<Context> {
        Context::from_json(text)
    }

    fn to_json(context: &Context) -> String {
        context.to_json()
    }

    fn files(context: &Context) -> &WireContext {
        context.files()
    }

    fn requested(request: &KeyRequest) -> Option<&[Arc<BootstrapPlan>]> {
        request.refreshes.is_empty().then_some(&request.bootstrapping)
    }

    fn own_refresh(context: &Context) -> Result<Arc<BootstrapPlan>> {
        context.bootstrapping()
    }

    fn named(context: &Context, plan: &BootstrapPlan) -> Option<NamedBootstrapping> {
        NamedBootstrapping::of(&context.bootstrapping_spec(), plan.spec())
    }

    fn of_name(context: &Context, named: &NamedBootstrapping) -> Result<Arc<BootstrapPlan>> {
        context.bootstrapping_with(named.spec(&context.bootstrapping_spec())?)
    }

    fn is_same(a: &BootstrapPlan, b: &BootstrapPlan) -> bool {
        a.spec() == b.spec()
    }

    fn refresh_keys(
        context: &Context,
        common: &Common,
        plan: &BootstrapPlan,
        sum: BootstrapShare,
    ) -> Result<BootstrapKeys> {
        sum.into_keys(plan, context.scheme(), common)
    }

    fn fresh(context: &Context, id: KeyId) -> Result<Ciphertext> {
        encrypted_zero(context, Arc::new(throwaway_key(context.rlwe(), id)?))
    }

    fn after_squarings(context: &Context, count: usize) -> Result<Ciphertext> {
        let (client, server) = context.generate_keys([&Products])?;
        let fresh = encrypted_zero(context, Arc::new(client.public_key()?))?;
        (0..count).try_fold(fresh, |ciphertext, _| server.square(&ciphertext))
    }

    fn top_level(context: &Context) -> usize {
        context.params().top_level()
    }

    fn key_id(ciphertext: &Ciphertext) -> KeyId {
        ciphertext.key_id()
    }

    fn plan(context: &Context, ciphertext: &Ciphertext, publication: (Publication, u32)) -> Result<ExactDecryption> {
        ExactDecryption::plan(context.rlwe(), (context.scheme(), context.slot_ring()), ciphertext, publication)
    }

    fn noise_bits(decryption: &ExactDecryption) -> u32 {
        decryption.flooding().bits
    }

    fn basis(_: &Context, decryption: &ExactDecryption) -> Basis {
        decryption.ciphertext().parts()[0].basis().clone()
    }

    fn share(decryption: &ExactDecryption, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<Poly<Eval>> {
        decryption.share(holder, rng)
    }

    fn open(context: &Context, decryption: &ExactDecryption, shares: &[Poly<Eval>]) -> Result<Plaintext> {
        decryption.open(context.slot_ring(), shares)
    }

    fn plan_switch(
        context: &Context,
        ciphertext: &Ciphertext,
        publication: (Publication, u32),
        target: &Arc<PublicKey>,
    ) -> Result<(ExactSwitch, Basis, u32)> {
        let slots = (context.scheme(), context.slot_ring());
        let switch = ExactSwitch::plan(context.rlwe(), slots, ciphertext, publication, target)?;
        let basis = switch.ciphertext().parts()[0].basis().clone();
        let bits = switch.flooding().bits;
        Ok((switch, basis, bits))
    }

    fn switching_share(switch: &ExactSwitch, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<SwitchingShare> {
        switch.share(holder, rng)
    }

    fn finish_switch(switch: &ExactSwitch, shares: &[SwitchingShare]) -> Result<Ciphertext> {
        switch.finish(shares)
    }
}

impl CollectiveFamily for Approximate {
    type Files = ApproximateContext;
    type Ciphertext = ckks::Ciphertext;
    type Decryption = ApproximateDecryption;
    type Switch = ApproximateSwitch;
    type Opened = Opened;
    type Refresh = RefreshPlan;
    type RefreshKeys = RefreshKeys;

    fn from_json(text: &str) -> Result<Context<Self>> {
        Context::approximate_from_json(text)
    }

    fn to_json(context: &Context<Self>) -> String {
        context.to_json()
    }

    fn files(context: &Context<Self>) -> &ApproximateContext {
        context.files()
    }

    fn requested(request: &KeyRequest) -> Option<&[Arc<RefreshPlan>]> {
        request.bootstrapping.is_empty().then_some(&request.refreshes)
    }

    /// Of several passes it is that of a pass.
    fn own_refresh(context: &Context<Self>) -> Result<Arc<RefreshPlan>> {
        context.precise_refresh().map(|plan| Arc::clone(plan.pass())).or_else(|_| context.refresh())
    }

    fn named(_: &Context<Self>, _: &RefreshPlan) -> Option<NamedBootstrapping> {
        None
    }

    fn of_name(_: &Context<Self>, _: &NamedBootstrapping) -> Result<Arc<RefreshPlan>> {
        let what = "a bootstrapping of integers, with parameters of CKKS".into();
        Err(windlass::bootstrap::BootstrapError::Unsupported { what }.into())
    }

    fn is_same(a: &RefreshPlan, b: &RefreshPlan) -> bool {
        a.spec() == b.spec()
    }

    fn refresh_keys(
        _: &Context<Self>,
        common: &Common,
        plan: &RefreshPlan,
        sum: BootstrapShare,
    ) -> Result<RefreshKeys> {
        sum.into_refresh_keys(plan, common)
    }

    fn fresh(context: &Context<Self>, id: KeyId) -> Result<ckks::Ciphertext> {
        wide_zeros(context, Arc::new(throwaway_key(context.ckks().rlwe(), id)?))
    }

    fn after_squarings(context: &Context<Self>, count: usize) -> Result<ckks::Ciphertext> {
        let (client, server) = context.generate_keys([&Products])?;
        let fresh = wide_zeros(context, Arc::new(client.public_key()?))?;
        (0..count).try_fold(fresh, |ciphertext, _| server.square(&ciphertext))
    }

    fn top_level(context: &Context<Self>) -> usize {
        context.ckks().top_level()
    }

    fn key_id(ciphertext: &ckks::Ciphertext) -> KeyId {
        ciphertext.key_id()
    }

    fn plan(
        context: &Context<Self>,
        ciphertext: &ckks::Ciphertext,
        publication: (Publication, u32),
    ) -> Result<ApproximateDecryption> {
        ApproximateDecryption::plan(context.ckks(), ciphertext, publication)
    }

    fn noise_bits(decryption: &ApproximateDecryption) -> u32 {
        decryption.flooding().bits
    }

    fn basis(_: &Context<Self>, decryption: &ApproximateDecryption) -> Basis {
        decryption.basis().clone()
    }

    fn share(decryption: &ApproximateDecryption, holder: &Holder<'_>, rng: &mut impl RngCore) -> Result<Poly<Eval>> {
        decryption.share(holder, rng)
    }

    fn open(_: &Context<Self>, decryption: &ApproximateDecryption, shares: &[Poly<Eval>]) -> Result<Opened> {
        decryption.open(shares)
    }

    fn plan_switch(
        context: &Context<Self>,
        ciphertext: &ckks::Ciphertext,
        publication: (Publication, u32),
        target: &Arc<PublicKey>,
    ) -> Result<(ApproximateSwitch, Basis, u32)> {
        let switch = ApproximateSwitch::plan(context.ckks(), ciphertext, publication, target)?;
        let basis = switch.ciphertext().parts()[0].basis().clone();
        let bits = switch.flooding().bits;
        Ok((switch, basis, bits))
    }

    fn switching_share(
        switch: &ApproximateSwitch,
        holder: &Holder<'_>,
        rng: &mut impl RngCore,
    ) -> Result<SwitchingShare> {
        switch.share(holder, rng)
    }

    fn finish_switch(switch: &ApproximateSwitch, shares: &[SwitchingShare]) -> Result<ckks::Ciphertext> {
        switch.finish(shares)
    }
}
