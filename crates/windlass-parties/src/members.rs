//! Who takes part: names that people can tell apart, and identities of their own.

use std::collections::BTreeSet;

use crate::error::{PartiesError, Result};
use crate::identity::{Member, PUBLIC, is_identity};

/// The longest name of a member, in bytes.
const MOST_NAME: usize = 100;

/// Characters that are not seen, or that change how others are shown (Unicode's format characters, fillers, joiners,
/// variation selectors, and spaces other than U+0020). A fixed list: builds with other tables read the same agreements.
const UNSEEN: [(u32, u32); 27] = [
    (0x00a0, 0x00a0),
    (0x00ad, 0x00ad),
    (0x034f, 0x034f),
    (0x0600, 0x0605),
    (0x061c, 0x061c),
    (0x06dd, 0x06dd),
    (0x070f, 0x070f),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x206f),
    (0x2800, 0x2800),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xe000, 0xf8ff),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xffff),
    (0x110bd, 0x110cd),
    (0x13430, 0x13455),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0x10ffff),
];

fn is_seen(c: char) -> bool {
    let code = u32::from(c);
    !c.is_control() && !UNSEEN.iter().any(|&(first, last)| (first..=last).contains(&code))
}

impl Member {
    /// Refuses names that a list with commas cannot hold, or that do not show what they are.
    ///
    /// # Errors
    /// [`PartiesError::Name`] for a name that is empty or longer than 100 bytes, has a comma, a control character or
    /// one that is not seen, or a blank at an end.
    pub fn check_name(name: &str) -> Result<()> {
        let refused = |reason: &str| {
            let shown = name.chars().take(MOST_NAME).map(|c| if is_seen(c) { c } else { '?' }).collect();
            Err(PartiesError::Name { name: shown, reason: reason.into() })
        };
        match name {
            "" => refused("it is empty"),
            _ if name.len() > MOST_NAME => refused("it is longer than 100 bytes"),
            _ if !name.chars().all(is_seen) => refused("it has a character that is not seen (shown as ?)"),
            _ if name.contains(',') => refused("it has a comma, which separates names in lists"),
            _ if name.trim() != name => refused("it begins or ends with a blank"),
            _ => Ok(()),
        }
    }
}

/// Refuses members of whom two could be taken for one, and identities that are no public keys.
pub(crate) fn check_members(members: &[Member]) -> Result<()> {
    let (mut names, mut halves) = (BTreeSet::new(), BTreeSet::new());
    for Member { name, identity } in members {
        Member::check_name(name)?;
        if !is_identity(identity) {
            let reason = format!("the identity of {name:?} is no public key");
            return Err(PartiesError::Text { what: "agreement", reason });
        }
        // Whoever has one half of another's identity speaks or reads for it.
        let (signing, reading) = identity.split_at(PUBLIC / 2);
        if !names.insert(name) || !halves.insert((0, signing)) || !halves.insert((1, reading)) {
            return Err(PartiesError::MemberTwice { name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_what_they_are() {
        for name in
            ["Ada", "Ada Lovelace", "Ødegård", "Nguyễn", "Nguye\u{302}\u{303}n", "नेहा", "中本", "O'Neill-2", "x"]
        {
            assert_eq!(Member::check_name(name), Ok(()), "{name:?}");
        }
        let long = "x".repeat(101);
        for name in [
            "",
            " Ada",
            "Ada ",
            "A,B",
            "A\nB",
            "A\u{200b}da",
            "Ada\u{202e}",
            "\u{feff}Ada",
            "A\u{ad}da",
            "Ada\u{3164}",
            "A\u{a0}B",
            "Ada\u{fe0f}",
            "Ada\u{e0041}",
            "A\u{7f}",
            &long,
        ] {
            let refused = Member::check_name(name);
            let Err(PartiesError::Name { name: shown, .. }) = &refused else { panic!("{name:?}: {refused:?}") };
            assert!(shown.chars().all(is_seen), "{name:?}");
        }
    }
}
