//! Secret keys that a passphrase encrypts.

use std::fs;

use windlass::rlwe::SecretKey;
use windlass::schemes::ckks::CkksSpec;
use windlass::wire::{
    Passphrase, PassphraseCost, WireError, is_sealed, load, open_secret, read_secret, seal_secret, sha256,
};
use windlass::{Context, Error};

use crate::wire::exact::golden_context;

const PLAIN: &[u8] = include_bytes!("../../golden/secret-key-v2.bin");
const SEALED: &[u8] = include_bytes!("../../golden/sealed-secret-key-v2.bin");

fn golden_passphrase() -> Passphrase {
    Passphrase::new("correct horse battery staple").unwrap()
}

fn cheap() -> PassphraseCost {
    PassphraseCost::new(64, 1, 1).unwrap()
}

fn wire_error<T>(result: Result<T, Error>) -> WireError {
    match result.err() {
        Some(Error::Wire(error)) => error,
        other => panic!("not refused by the wire: {other:?}"),
    }
}

/// The golden file was made by another implementation of Argon2id and ChaCha20-Poly1305.
#[test]
fn the_golden_file_opens() {
    assert!(is_sealed(SEALED) && !is_sealed(PLAIN));
    assert_eq!(open_secret(SEALED, &golden_passphrase()).unwrap().as_slice(), PLAIN);
    let client = golden_context().client_from_sealed_bytes(SEALED, &golden_passphrase()).unwrap();
    assert_eq!(client.secret_to_bytes().unwrap().as_slice(), PLAIN);
}

#[test]
fn sealed_keys_of_every_scheme_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let (exact, right) = (golden_context(), golden_passphrase());
    let (client, _) = exact.generate_keys_from_seed([], 3).unwrap();
    let approximate = Context::approximate(&CkksSpec::secure(1, 30, 4, 64).unwrap()).unwrap();
    let (reals, _) = approximate.generate_keys([]).unwrap();
    let [one, other] = ["exact", "reals"].map(|name| dir.path().join(name));
    let size = client.save_sealed_secret(&one, &right).unwrap();
    reals.save_sealed_secret(&other, &right).unwrap();
    assert_eq!(size, fs::metadata(&one).unwrap().len());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&one).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let back = exact.load_sealed_client(&one, &right).unwrap();
    assert_eq!(back.secret_to_bytes().unwrap(), client.secret_to_bytes().unwrap());
    let back = approximate.load_sealed_client(&other, &right).unwrap();
    assert_eq!(back.secret_to_bytes().unwrap(), reals.secret_to_bytes().unwrap());
    // In place of a file that is there.
    let taken = wire_error(client.save_sealed_secret(&one, &right));
    assert!(matches!(taken, WireError::Io { kind: std::io::ErrorKind::AlreadyExists, .. }), "{taken}");
    // Neither the key nor the passphrase lies open in the file, and no two files are alike.
    let again = client.secret_to_sealed_bytes(&right).unwrap();
    assert_ne!(again, fs::read(&one).unwrap());
    let plain = client.secret_to_bytes().unwrap();
    let window = &plain[68..76];
    assert!(again.windows(8).all(|bytes| bytes != window && bytes != b"correct "));
}

/// Faults in the header are reported first: whether a passphrase is given, and which, is the same.
#[test]
fn keys_of_other_contexts_are_refused_before_a_passphrase() {
    let (exact, passphrase) = (golden_context(), golden_passphrase());
    let reals = Context::approximate(&CkksSpec::secure(1, 30, 4, 64).unwrap()).unwrap();
    let wrong = Passphrase::new("a guess").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secret.key");
    fs::write(&path, SEALED).unwrap();
    let refusals = [
        wire_error(reals.load_client(&path)),
        wire_error(reals.client_from_bytes(SEALED)),
        wire_error(reals.load_sealed_client(&path, &passphrase)),
        wire_error(reals.client_from_sealed_bytes(SEALED, &passphrase)),
        wire_error(reals.client_from_sealed_bytes(SEALED, &wrong)),
    ];
    for refused in refusals {
        assert!(matches!(refused, WireError::OtherContext { .. }), "{refused}");
    }
    // In its own context a passphrase is asked for, and tried.
    assert_eq!(wire_error(exact.load_client(&path)), WireError::Sealed);
    assert_eq!(wire_error(exact.client_from_sealed_bytes(SEALED, &wrong)), WireError::WrongPassphrase);
}

#[test]
fn without_the_right_passphrase_nothing_is_read() {
    let (context, right) = (golden_context(), golden_passphrase());
    for wrong in ["correct horse battery stapl", "correct horse battery staple ", "\0", "Correct horse battery staple"]
    {
        let error = open_secret(SEALED, &Passphrase::new(wrong).unwrap()).unwrap_err();
        assert_eq!(error, WireError::WrongPassphrase, "{wrong}");
        assert!(error.to_string().contains("cannot distinguish the two") && !error.to_string().contains("correct"));
    }
    assert_eq!(Passphrase::new("").unwrap_err(), WireError::EmptyPassphrase);
    assert_eq!(format!("{right:?}"), "Passphrase(..)");
    // Readers of keys that are not encrypted, from bytes and from a file.
    assert_eq!(wire_error(context.client_from_bytes(SEALED)), WireError::Sealed);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secret.key");
    fs::write(&path, SEALED).unwrap();
    assert_eq!(wire_error(context.load_client(&path)), WireError::Sealed);
    assert_eq!(wire_error(load::<_, SecretKey>(&path, context.files())), WireError::Sealed);
    assert_eq!(read_secret(&path).unwrap().as_slice(), SEALED);
    // And the other way.
    assert_eq!(open_secret(PLAIN, &right), Err(WireError::NotSealed));
    assert_eq!(wire_error(seal_secret(SEALED, &right, cheap())), WireError::Sealed);
    let public = include_bytes!("../../golden/public-key-v2.bin");
    assert!(matches!(wire_error(seal_secret(public, &right, cheap())), WireError::WrongKind { .. }));
    assert!(matches!(open_secret(public, &right), Err(WireError::WrongKind { .. })));
}

/// The same bytes with a checksum that fits them.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let body = &bytes[..bytes.len() - 32];
    [body, &sha256(body)].concat()
}

#[test]
fn damage_is_told_from_a_wrong_passphrase_by_accidents_alone() {
    let right = golden_passphrase();
    for end in 0..SEALED.len() {
        let error = open_secret(&SEALED[..end], &right).unwrap_err();
        assert!(matches!(error, WireError::Truncated { .. }), "{end}: {error}");
    }
    assert_eq!(open_secret(&[SEALED, b"x"].concat(), &right), Err(WireError::TrailingBytes { extra: 1 }));
    let mut guessed = 0;
    for bit in 0..8 * (SEALED.len() - 32) {
        let mut bytes = SEALED.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let accident = open_secret(&bytes, &right).unwrap_err();
        assert_ne!(accident, WireError::WrongPassphrase, "bit {bit}: found without a passphrase");
        // More memory than that takes its time.
        let memory = u32::from_le_bytes(bytes[70..74].try_into().unwrap());
        if (1 << 12..=PassphraseCost::MOST_MEMORY_KIB).contains(&memory) || (74..78).contains(&(bit / 8)) {
            continue;
        }
        let attack = open_secret(&mended(&bytes), &right).unwrap_err();
        guessed += usize::from(attack == WireError::WrongPassphrase);
    }
    // Context, key pair, salt, nonce, ciphertext and tag at least.
    assert!(guessed >= 8 * (32 + 16 + 16 + 12 + PLAIN.len() + 16), "{guessed}");
}

/// A file may not ask for more memory or time than a reader has agreed to.
#[test]
fn files_that_ask_for_too_much_are_refused_at_once() {
    for (field, value) in [(70, 100 << 20), (70, u32::MAX), (74, u32::MAX), (78, u32::MAX), (70, 0), (74, 0), (78, 0)] {
        let mut bytes = SEALED.to_vec();
        bytes[field..field + 4].copy_from_slice(&u32::to_le_bytes(value));
        let start = std::time::Instant::now();
        let error = open_secret(&mended(&bytes), &golden_passphrase()).unwrap_err();
        assert!(matches!(error, WireError::PassphraseCost { .. }), "{error}");
        assert!(start.elapsed().as_secs_f64() < 1.0);
    }
}
