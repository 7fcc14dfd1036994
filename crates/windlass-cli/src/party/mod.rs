//! `windlass party`: keys that several parties hold together, through files.

mod agree;
mod agreed;
mod args;
mod costs;
mod family;
mod identity;
mod mailbox;
mod outside;
mod shared;
mod state;
mod steps;

pub use args::PartyCommand;

use agreed::{AnyAgreement, on_agreement};
use args::OwnArgs;
use identity::OwnIdentity;

use crate::error::Result;
use crate::files::claim;
use crate::progress::Stages;
use crate::report::Report;

/// The files that every step of a party reads. The identity comes first, since it may ask for a passphrase.
fn own(args: &OwnArgs, stages: &mut Stages) -> Result<(OwnIdentity, AnyAgreement)> {
    let identity = OwnIdentity::read(&args.identity, &args.open)?;
    Ok((identity, agreement(&args.agreement, stages)?))
}

fn agreement(path: &std::path::Path, stages: &mut Stages) -> Result<AnyAgreement> {
    stages.run("agreement", "building transforms", || AnyAgreement::read(path))
}

/// `windlass party`.
pub fn run(command: &PartyCommand, quiet: bool) -> Result<Report> {
    let stages = &mut Stages::new(quiet);
    match command {
        PartyCommand::Identity(args) => identity::run(args),
        PartyCommand::Agree(args) => agree::run(args, quiet),
        PartyCommand::Join(args) => {
            let _claimed = claim(&args.own.state)?;
            let (own, any) = own(&args.own, stages)?;
            on_agreement!(any, agreement => steps::join(agreement, &own, args))
        }
        PartyCommand::Open(args) => {
            let (own, any) = own(&args.own, stages)?;
            on_agreement!(any, agreement => steps::open(agreement, &own, args, stages))
        }
        PartyCommand::Receive(args) => {
            let (own, any) = own(&args.own, stages)?;
            on_agreement!(any, agreement => steps::receive(agreement, &own, args, stages))
        }
        PartyCommand::Close(args) => {
            let (own, any) = own(&args.own, stages)?;
            on_agreement!(any, agreement => steps::close(agreement, &own, args, stages))
        }
        PartyCommand::Decrypt(args) => {
            let (own, any) = own(&args.own, stages)?;
            on_agreement!(any, agreement => steps::decrypt(agreement, &own, args, stages))
        }
        PartyCommand::Status(args) => {
            let (own, any) = own(&args.own, stages)?;
            on_agreement!(any, agreement => steps::status(agreement, &own, args))
        }
        PartyCommand::Assemble(args) => {
            let any = agreement(&args.on.agreement, stages)?;
            on_agreement!(any, agreement => shared::assemble(agreement, args, stages))
        }
        PartyCommand::Encrypt(args) => {
            let any = agreement(&args.on.agreement, stages)?;
            on_agreement!(any, agreement => shared::encrypt(agreement, args, stages))
        }
        PartyCommand::Add(args) => {
            let any = agreement(&args.on.agreement, stages)?;
            on_agreement!(any, agreement => shared::add(agreement, args))
        }
        PartyCommand::Recipient(args) => {
            let any = agreement(&args.on.agreement, stages)?;
            on_agreement!(any, agreement => outside::recipient(agreement, args, stages))
        }
        PartyCommand::HandOver(args) => {
            let any = agreement(&args.on.agreement, stages)?;
            on_agreement!(any, agreement => outside::hand_over(agreement, args, stages))
        }
        PartyCommand::Show(args) => {
            let any = agreement(&args.on.agreement, stages)?;
            on_agreement!(any, agreement => outside::show(agreement, args, stages))
        }
        PartyCommand::Read(args) => {
            let own = args.identity.as_ref().map(|path| OwnIdentity::read(path, &args.open)).transpose()?;
            let any = agreement(&args.on.agreement, stages)?;
            on_agreement!(any, agreement => shared::read_values(agreement, own.as_ref(), args, stages))
        }
    }
}
