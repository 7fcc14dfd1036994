//! The state of a party as a file.

use std::fs::File;
use std::path::Path;

use windlass::wire::{
    Access, FileContext, Passphrase, PassphraseCost, seal_secret, target_of, temporary_name, write_new,
    write_over_state,
};
use windlass_parties::{Agreement, CollectiveFamily, Party, lock_state};
use windlass_secrets::open_file_beside;
use zeroize::Zeroizing;

use super::agreed::at;
use super::args::OwnArgs;
use super::identity::OwnIdentity;
use crate::error::{CliError, Result};
use crate::interrupt::{self, Unfinished};
use crate::values::refused;

/// A party with its file, which no other command changes while this lives.
pub struct OwnParty<'a, F: CollectiveFamily> {
    pub party: Party<F>,
    path: &'a Path,
    passphrase: Option<Passphrase>,
    _lock: File,
}

impl<'a, F: CollectiveFamily> OwnParty<'a, F> {
    /// Reads the state of a party.
    pub fn load(args: &'a OwnArgs, agreement: &Agreement<F>, own: &OwnIdentity) -> Result<Self> {
        let path = args.state.as_path();
        let lock = lock_state(path).map_err(|error| CliError::at(path)(error.into()))?;
        let context = F::files(agreement.context()).hash();
        let opened = open_file_beside(path, context, &own.opened)?;
        let party = Party::from_bytes(agreement, &own.identity, &opened.bytes).map_err(at(path))?;
        Ok(Self { party, path, passphrase: opened.passphrase, _lock: lock })
    }

    /// Replaces the file in one step.
    pub fn save(&self) -> Result<u64> {
        let bytes = file_of(&self.party, self.path, self.passphrase.as_ref())?;
        let target = target_of(self.path).map_err(|error| CliError::at(self.path)(error.into()))?;
        let _watched = interrupt::remove_if_interrupted(Unfinished::Staging(temporary_name(&target)));
        write_over_state(self.path, &bytes).map_err(CliError::at(self.path))?;
        Ok(bytes.len() as u64)
    }
}

/// Writes the state of a new party to a new file, encrypted as its identity is, and gives its size.
pub fn create<F: CollectiveFamily>(party: &Party<F>, path: &Path, own: &OwnIdentity) -> Result<u64> {
    let bytes = file_of(party, path, own.opened.passphrase.as_ref())?;
    write_new(path, &bytes, Access::Owner).map_err(CliError::at(path))?;
    Ok(bytes.len() as u64)
}

fn file_of<F: CollectiveFamily>(
    party: &Party<F>,
    path: &Path,
    passphrase: Option<&Passphrase>,
) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = party.to_bytes().map_err(at(path))?;
    let Some(passphrase) = passphrase else { return Ok(bytes) };
    let sealed = seal_secret(&bytes, passphrase, PassphraseCost::default());
    Ok(sealed.map_err(|error| refused(path, error))?.into())
}
