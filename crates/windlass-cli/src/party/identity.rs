//! `windlass party identity`, and the files of identities.

use std::path::Path;

use windlass::wire::{
    Access, KeyId, PassphraseCost, WireError, hex, seal_secret, sha256, text_context, text_from_file, text_to_file,
    write_new,
};
use windlass_parties::{Identity, Member};
use windlass_secrets::{OpenArgs, OpenedSecret};

use super::agreed::at;
use super::args::IdentityArgs;
use crate::error::{CliError, Result};
use crate::files::claim;
use crate::report::Report;
use crate::values::refused;

/// What files of identities are.
const PURPOSE: &str = "identity of a party";
/// Hexadecimal digits of the public half of an identity.
const DIGITS: usize = 128;

/// An identity with what opened its file.
pub struct OwnIdentity {
    pub identity: Identity,
    pub opened: OpenedSecret,
}

impl OwnIdentity {
    /// Reads the file of an identity. It asks for a passphrase if there is one.
    pub fn read(path: &Path, open: &OpenArgs) -> Result<Self> {
        let opened = open.read_to_keep(path, &text_context(PURPOSE))?;
        let text = text_from_file(PURPOSE, &opened.bytes).map_err(|error| match error {
            WireError::OtherContext { .. } | WireError::WrongKind { .. } | WireError::NotWindlass => {
                CliError::NotOfFormat {
                    path: path.into(),
                    what: "an identity",
                    reason: "give a file that 'windlass party identity' wrote".into(),
                }
            }
            error => CliError::at(path)(error),
        })?;
        Ok(Self { identity: Identity::from_text(&text).map_err(at(path))?, opened })
    }
}

/// The public line of a member: the public half of its identity, a space, its name.
pub fn line_of(member: &Member) -> String {
    format!("{} {}", hex(&member.identity), member.name)
}

/// The member of a public line, or what is wrong with the line. It may be a secret by mistake: the reason has no word of
/// it, but for a name after 128 digits.
pub fn member_of(line: &str) -> std::result::Result<Member, String> {
    const WANTED: &str = "it has to begin with 128 hexadecimal digits";
    let (digits, name) = line.trim().split_once(' ').ok_or("it is not digits, a blank and a name")?;
    let bytes = bytes_of(digits).filter(|_| digits.len() == DIGITS).ok_or(WANTED)?;
    let identity = bytes.try_into().map_err(|_| WANTED)?;
    Member::check_name(name.trim()).map_err(|error| error.to_string())?;
    Ok(Member { name: name.trim().to_owned(), identity })
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let nibble = |digit: char| digit.to_digit(16).map(|x| x as u8);
    let nibbles: Vec<u8> = digits.chars().map(nibble).collect::<Option<_>>()?;
    Some(nibbles.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect())
}

/// `windlass party identity`.
pub fn run(args: &IdentityArgs) -> Result<Report> {
    let name = args.name.as_str();
    Member::check_name(name)?;
    let _claimed = claim(&args.out)?;
    let _public = args.public.as_deref().map(claim).transpose()?;
    let passphrase = args.seal.passphrase(&args.out)?;
    let identity = Identity::generate()?;
    let line = line_of(&identity.member(name));
    let digest = sha256(&identity.public());
    let mut id = [0; KeyId::BYTES];
    id.copy_from_slice(&digest[..KeyId::BYTES]);
    let mut file = text_to_file(PURPOSE, KeyId(id), &identity.to_text());
    if let Some(passphrase) = &passphrase {
        let sealed = seal_secret(&file, passphrase, PassphraseCost::default());
        file = sealed.map_err(|error| refused(&args.out, error))?.into();
    }
    if let Some(public) = &args.public {
        write_new(public, format!("{line}\n").as_bytes(), Access::Public).map_err(CliError::at(public))?;
    }
    write_new(&args.out, &file, Access::Owner).map_err(CliError::at(&args.out))?;
    let mut report = Report::default();
    report.line(&line);
    report.line("give this line to the party that writes the agreement, over a channel that no one else can change");
    report.field("member", line);
    report.made("identity", &args.out, file.len() as u64);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_from_their_lines() {
        let identity = Identity::generate().unwrap();
        let member = identity.member("Ada Lovelace");
        assert_eq!(member_of(&line_of(&member)).unwrap(), member);
        assert_eq!(member_of(&format!("  {}\r\n", line_of(&member))).unwrap(), member);
        let digits = hex(&member.identity);
        for line in
            ["", "Ada", &digits, &format!("{} Ada", &digits[1..]), &format!("{digits} "), &format!("{digits} A,B")]
        {
            assert!(member_of(line).is_err(), "{line}");
        }
        assert!(member_of(&format!("g{} Ada", &digits[1..])).is_err());
    }
}
