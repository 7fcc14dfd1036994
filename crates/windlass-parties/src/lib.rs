//! Keys that several parties hold together, of whom any t can decrypt and fewer cannot.
//!
//! The parties make an [`Agreement`]: parameters, who takes part, how many of them are needed, which keys the circuits
//! take, how many decryptions there will be. Each party then runs a [`Party`]. Messages are bytes. They may pass
//! through anyone's hands: they are signed by the party that sends them, and encrypted where they are secret.
//!
//! ```text
//! making keys      party.opening()  ──►  everyone          shares of keys; a dealt share for each party, encrypted
//!                  party.receive(..) ◄──  the others
//!                  party.closing()  ──►  the assembler     the second share of the relinearisation key
//!                  Assembly         adds up the shares: the public key and the evaluation keys
//! computing        as with any other keys
//! decrypting       party.decrypt(..) ──►  the reader, or everyone
//!                  Reading          adds up the shares: the values
//! ```
//!
//! The assembler and whoever computes have no secret and are trusted with none.
//!
//! ```
//! use windlass::needs::Products;
//! use windlass::schemes::Publication;
//! use windlass::{Context, Params, Scheme};
//! use windlass_parties::{Agreement, Assembly, Identity, Party, Reading, Receipt};
//!
//! let params = Params::preset("insecure_toy_256", Scheme::Bgv)?.with_parties(3)?; // a toy
//! let context = Context::from_params(params)?;
//! let identities: Vec<Identity> = (0..3).map(|_| Identity::generate()).collect::<Result<_, _>>()?;
//! let members = identities.iter().zip(["Ada", "Ben", "Cleo"]).map(|(own, name)| own.member(name)).collect();
//! let agreement = Agreement::new(&context, members, 2, &[&Products])?;
//!
//! let mut parties: Vec<Party> = identities.iter().map(|own| Party::join(&agreement, own)).collect::<Result<_, _>>()?;
//! let mut assembly = Assembly::new(&agreement);
//! let opening: Vec<Vec<u8>> = parties.iter().map(Party::opening).collect::<Result<Vec<_>, _>>()?.concat();
//! for message in &opening {
//!     assembly.receive(message)?;
//!     for party in &mut parties {
//!         party.receive(message)?;
//!     }
//! }
//! for party in &parties {
//!     for message in party.closing()? {
//!         assembly.receive(&message)?;
//!     }
//! }
//! let keys = assembly.finish()?;
//!
//! // Anyone encrypts, anyone computes.
//! let encryptor = windlass::schemes::Encryptor::new(Scheme::Bgv, keys.public.clone());
//! let server = context.server_from_keys(keys.evaluation.clone(), Vec::new())?;
//! # let mut rng = windlass_rlwe::context::os_rng()?;
//! let votes = encryptor.encrypt(&windlass::Plaintext::from_integers(context.slot_ring(), &[1, 0, 1])?, &mut rng)?;
//! let squares = server.square(&votes)?;
//!
//! // Ada and Cleo decrypt.
//! let mut reading = Reading::new(&agreement, &squares, &[1, 3])?;
//! for number in [0, 2] {
//!     let share = parties[number].decrypt(&squares, &[1, 3], None)?;
//!     assert_eq!(reading.receive(&share)?, Receipt::New);
//! }
//! assert_eq!(reading.open()?.to_integers()?[..3], [1, 0, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Warning.** The parties keep to the protocol (*semi-honest*); whoever does not can spoil keys and results, and may
//! learn secrets of others. What this protects from, and what not, is on the page `docs/explanation/parties.md`.
#![forbid(unsafe_code)]

mod agreement;
mod assembly;
mod bootstrapping;
mod collected;
mod error;
mod family;
mod handover;
mod header;
mod identity;
mod mask;
mod members;
mod message;
mod party;
mod reading;
mod sharing;
mod sizes;
mod state;
mod state_file;
mod step;

pub use agreement::{Agreement, is_approximate};
pub use assembly::{Assembly, CollectiveKeys};
pub use error::{PartiesError, Result};
pub use family::CollectiveFamily;
pub use handover::Handover;
pub use identity::{Identity, Member};
pub use message::Receipt;
pub use party::Party;
pub use reading::Reading;
pub use sharing::ShareReading;
pub use state_file::lock_state;
pub use step::Step;
