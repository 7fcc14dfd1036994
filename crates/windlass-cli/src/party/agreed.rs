//! Agreements as files, of any scheme.

use std::path::Path;
use std::sync::Arc;

use windlass::rlwe::PublicKey;
use windlass::wire::{WireError, hex};
use windlass::{Approximate, Exact};
use windlass_parties::{Agreement, CollectiveFamily, PartiesError};

use crate::error::{CliError, Result};
use crate::values;

/// The longest file of an agreement.
const MOST_BYTES: u64 = 1 << 22;

/// An agreement of any scheme.
pub enum AnyAgreement {
    Exact(Agreement<Exact>),
    Approximate(Agreement<Approximate>),
}

/// Runs an expression for the agreement of either family.
macro_rules! on_agreement {
    ($any:expr, $agreement:ident => $run:expr) => {
        match &$any {
            $crate::party::agreed::AnyAgreement::Exact($agreement) => $run,
            $crate::party::agreed::AnyAgreement::Approximate($agreement) => $run,
        }
    };
}
pub(super) use on_agreement;

/// Names the file of a refusal.
pub fn at(path: &Path) -> impl Fn(PartiesError) -> CliError {
    let path = path.to_path_buf();
    move |source| CliError::Parties { path: path.clone(), source }
}

impl AnyAgreement {
    /// Reads an agreement and builds its transforms.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = |error: std::io::Error| CliError::at(path)(WireError::from(error));
        let bytes = std::fs::metadata(path).map_err(refused)?.len();
        if bytes > MOST_BYTES {
            return Err(CliError::LargeFile { path: path.into(), bytes, most: MOST_BYTES });
        }
        let text = std::fs::read(path).map_err(refused)?;
        let text = String::from_utf8(text).map_err(|_| CliError::NotOfFormat {
            path: path.into(),
            what: "an agreement",
            reason: "it is not a text in UTF-8".into(),
        })?;
        // Files that were edited may end in line breaks, which the digest does not cover.
        let text = text.trim();
        Ok(match windlass_parties::is_approximate(text) {
            true => Self::Approximate(Agreement::from_json(text).map_err(at(path))?),
            false => Self::Exact(Agreement::from_json(text).map_err(at(path))?),
        })
    }
}

/// The digest in hexadecimal.
pub fn digest<F: CollectiveFamily>(agreement: &Agreement<F>) -> String {
    hex(agreement.digest())
}

/// The number of a member that is given by its name or its number.
pub fn number_of<F: CollectiveFamily>(agreement: &Agreement<F>, given: &str) -> Result<u32> {
    let members = agreement.members();
    let by_name = (1..).zip(members).find(|(_, member)| member.name == given).map(|(number, _)| number);
    let by_number = || given.parse().ok().filter(|number| (1..=members.len() as u32).contains(number));
    by_name.or_else(by_number).ok_or_else(|| {
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        CliError::Usage(format!("'{given}' is no member; the members are {}", names.join(", ")))
    })
}

/// The numbers of the members that decrypt, ascending.
pub fn numbers_of<F: CollectiveFamily>(agreement: &Agreement<F>, given: &[String]) -> Result<Vec<u32>> {
    let (all, needed) = (agreement.members().len(), agreement.threshold() as usize);
    if given.is_empty() {
        if needed == all {
            return Ok((1..=all as u32).collect());
        }
        return Err(CliError::Usage(format!(
            "{needed} of {all} members decrypt: name them with --by, for example --by {}",
            agreement.members()[..needed].iter().map(|member| member.name.as_str()).collect::<Vec<_>>().join(",")
        )));
    }
    let mut numbers = given.iter().map(|one| number_of(agreement, one)).collect::<Result<Vec<_>>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() != given.len() || numbers.len() != needed {
        return Err(CliError::Usage(format!(
            "--by names {} members, but exactly {needed} of them decrypt; name each once",
            numbers.len()
        )));
    }
    Ok(numbers)
}

/// The public key of someone outside.
pub fn target<F: CollectiveFamily>(agreement: &Agreement<F>, path: &Path) -> Result<Arc<PublicKey>> {
    let (key, id) = values::read::<_, PublicKey>(path, F::files(agreement.context()))?;
    if id == agreement.key_id() {
        return Err(CliError::Usage(format!(
            "{}: it is the public key of the agreement itself; give one that 'windlass party recipient' wrote",
            path.display()
        )));
    }
    Ok(Arc::new(key))
}
