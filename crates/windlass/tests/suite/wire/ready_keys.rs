//! Evaluation keys in files that are mapped: the same bits as keys in memory, one copy for all, and
//! nothing of a damaged file.

use std::path::Path;
use std::sync::Arc;

use windlass::needs::{KeyRequest, Products};
use windlass::rlwe::EvaluationKeys;
use windlass::schemes::ckks;
use windlass::wire::{Kind, ReadyKeys, Wire, WireError, open, seal, to_bytes, to_payload};
use windlass::{Approximate, Client, Context, Error, Scheme, Server, Switching};

use crate::fixture::{SCHEMES, approximate, chain, context};
use crate::wire::common::{any_key, decode, golden, label, reject_damage};
use crate::wire::exact::golden_context;

/// Every half of every key begins in one of these ranges of addresses.
#[cfg(target_os = "linux")]
fn lie_in(keys: &EvaluationKeys, ranges: &[(usize, usize)]) -> bool {
    let all = keys.relinearisation().into_iter().chain(keys.galois_elements().filter_map(|t| keys.galois(t)));
    let mut starts = all.flat_map(|key| key.pairs().map(|half| half.row(0).as_ptr() as usize));
    starts.all(|start| ranges.iter().any(|&(from, to)| (from..to).contains(&start)))
}

fn wire_error<T>(result: Result<T, Error>) -> WireError {
    match result {
        Err(Error::Wire(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

fn sides(scheme: Scheme) -> (Context, Client, Server) {
    let context = context(scheme, (257, 1), chain(512, &[40, 40, 40], &[45]));
    let turn = KeyRequest::none("a test").with_galois([3]);
    let low = KeyRequest::none("a test").with_galois([511]).up_to(2);
    let (client, server) = context.generate_keys_from_seed([&Products, &turn, &low], 5).unwrap();
    (context, client, server)
}

#[test]
fn mapped_and_copied_keys_give_the_same_bits() {
    let directory = tempfile::tempdir().unwrap();
    for scheme in SCHEMES {
        let (context, client, server) = sides(scheme);
        let path = directory.path().join(format!("{scheme}.ready"));
        let size = server.save_ready_keys(&path).unwrap();
        let bytes = server.ready_keys_to_bytes().unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes && bytes.len() as u64 == size, "one form");
        let mapped = context.open_server(&path, &[]).unwrap();
        let copied = context.open_server(&bytes, &[]).unwrap();
        let x = client.encrypt(&[3, 1, 4, 1, 5]).unwrap();
        let turned = |server: &Server| server.engine().automorphism(&x, 3).unwrap();
        for other in [&mapped, &copied] {
            assert_eq!(turned(other).parts(), turned(&server).parts(), "{scheme}");
            assert_eq!(other.square(&x).unwrap().parts(), server.square(&x).unwrap().parts(), "{scheme}");
            assert!(other.to_bytes().unwrap() == server.to_bytes().unwrap(), "{scheme}: as packed keys");
            assert_eq!(other.engine().keys().bytes(), server.engine().keys().bytes());
        }
        assert_eq!(client.decrypt(&mapped.square(&x).unwrap()).unwrap()[..5], [9, 1, 16, 1, 25]);
        // What the keys lie in is never handed on as spare memory and written to.
        drop((mapped, copied));
        server.square(&x).unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes);
    }
}

/// So many keys that their fields are longer than a page, and the file than the MiB that is summed
/// up at a time: the residues begin on a later page, and a file that is written piece by piece is
/// the same, whether rows end where a piece does or not.
#[test]
fn files_may_be_longer_than_a_page_of_fields_and_a_chunk() {
    let directory = tempfile::tempdir().unwrap();
    for (m, p) in [(512, 257), (331, 2)] {
        let context = context(Scheme::Bgv, (p, 1), chain(m, &[40, 40, 40], &[45]));
        let elements = (2..m).filter(|t| m == 331 || t % 2 == 1).take(200);
        let many = KeyRequest::none("a test").with_galois(elements).up_to(1);
        let (_, server) = context.generate_keys_from_seed([&many], 5).unwrap();
        let path = directory.path().join(format!("{m}.ready"));
        let size = server.save_ready_keys(&path).unwrap();
        let bytes = server.ready_keys_to_bytes().unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes && bytes.len() as u64 == size, "m = {m}: one form");
        // 200 keys of a digit over 40 + 45 bits: two halves of two rows, which begin at multiples
        // of 64 bytes.
        let row = (context.n() as u64 * 8).next_multiple_of(64);
        assert_eq!(size, 3 * 4096 + 200 * 4 * row + 32, "m = {m}");
        for other in [context.open_server(&path, &[]).unwrap(), context.open_server(&bytes, &[]).unwrap()] {
            assert!(other.to_bytes().unwrap() == server.to_bytes().unwrap(), "m = {m}: as packed keys");
        }
    }
}

#[test]
fn mapped_keys_of_ckks_give_the_same_bits() {
    let context = Context::approximate(&approximate(64, 40, 2)).unwrap();
    let (turn, conjugation) = (context.rotation(32, 3).unwrap(), context.conjugation());
    let (client, server): (Client<Approximate>, Server<Approximate>) =
        context.generate_keys_from_seed([&Products, &turn, &conjugation], 5).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.ready");
    server.save_ready_keys(&path).unwrap();
    let x = client.encrypt(&(0..32).map(|k| k as f64 / 64.0).collect::<Vec<_>>()).unwrap();
    let results = |server: &Server<Approximate>| -> [ckks::Ciphertext; 3] {
        [server.rotate(&x, 3), server.conjugate(&x), server.square(&x)].map(Result::unwrap)
    };
    let expected = results(&server);
    let copied = context.open_server(&server.ready_keys_to_bytes().unwrap(), &[]).unwrap();
    for other in [context.open_server(&path, &[]).unwrap(), copied] {
        for (found, expected) in results(&other).iter().zip(&expected) {
            assert_eq!(found.parts(), expected.parts());
            assert_eq!(found.deviation(), expected.deviation());
        }
    }
}

/// The ranges of addresses at which the system says that this file is mapped, and the kilobytes
/// that it counts for them by name.
#[cfg(target_os = "linux")]
fn mappings(path: &Path, count: &str) -> (Vec<(usize, usize)>, usize) {
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut ranges, mut total, mut inside) = (Vec::new(), 0, false);
    for line in smaps.lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        if let Some((from, to)) = first.split_once('-') {
            let place = |hex| usize::from_str_radix(hex, 16).unwrap();
            inside = line.contains(path.to_str().unwrap());
            if inside {
                ranges.push((place(from), place(to)));
            }
        } else if inside && first.trim_end_matches(':') == count {
            total += line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap();
        }
    }
    (ranges, total)
}

#[cfg(target_os = "linux")]
#[test]
fn two_mappings_are_one_copy_and_outlive_the_name_of_the_file() {
    let (context, client, server) = sides(Scheme::Bgv);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("shared.ready");
    let size = server.save_ready_keys(&path).unwrap() as usize;
    let [one, two] = [(); 2].map(|()| context.open_server(&path, &[]).unwrap());
    let (ranges, resident) = mappings(&path, "Rss");
    let (_, own) = mappings(&path, "Pss");
    assert_eq!(ranges.len(), 2);
    for server in [&one, &two] {
        assert!(lie_in(server.engine().keys(), &ranges), "keys lie in the file");
    }
    assert!(!lie_in(server.engine().keys(), &ranges));
    assert!(1024 * resident > size * 3 / 2, "{resident} KiB in two mappings of {size} bytes");
    assert!(1024 * own < size * 5 / 4 + 8192, "{own} KiB for both together of {size} bytes");
    std::fs::remove_file(&path).unwrap();
    let x = client.encrypt(&[7]).unwrap();
    drop(one);
    assert_eq!(client.decrypt(&two.square(&x).unwrap()).unwrap()[0], 49);
}

#[cfg(unix)]
#[test]
fn files_to_be_mapped_are_for_reading_only() {
    use std::os::unix::fs::PermissionsExt;
    let (_, _, server) = sides(Scheme::Bfv);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.ready");
    server.save_ready_keys(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o222, 0);
    let again = wire_error(server.save_ready_keys(&path));
    assert!(matches!(again, WireError::Io { kind: std::io::ErrorKind::AlreadyExists, .. }), "{again}");
}

/// The file with bytes changed, tried both ways.
fn refusal(context: &Context, path: &Path, bytes: &[u8]) -> WireError {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
    let mapped = wire_error(context.open_server(path, &[]));
    assert_eq!(mapped, wire_error(context.open_server(bytes, &[])), "mapped or not");
    mapped
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let (context, _, server) = sides(Scheme::Bgv);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("damaged.ready");
    let bytes = server.ready_keys_to_bytes().unwrap();
    for end in [0, 1, 67, 68, 72, 4000, 4096, bytes.len() / 2, bytes.len() - 33, bytes.len() - 1] {
        let error = refusal(&context, &path, &bytes[..end]);
        assert!(matches!(error, WireError::Truncated { .. }), "{end}: {error}");
    }
    assert_eq!(refusal(&context, &path, &[&bytes[..], b"x"].concat()), WireError::TrailingBytes { extra: 1 });
    // Length of the fields, fields, zeros, residues, checksum.
    for at in [68, 75, 90, 4000, 4096, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 4;
        assert_eq!(refusal(&context, &path, &bytes), WireError::Corrupt, "byte {at}");
    }
    let packed = server.to_bytes().unwrap().0;
    let kinds = refusal(&context, &path, &packed);
    assert!(matches!(kinds, WireError::WrongKind { found: Some(Kind::EvaluationKeys), .. }), "{kinds}");
    assert_eq!(kinds.to_string(), "expected evaluation keys, ready for use, but found evaluation keys");
    let other = context.with_scheme(Scheme::Bfv).unwrap();
    assert!(matches!(refusal(&other, &path, &bytes), WireError::OtherContext { .. }));
    let missing = wire_error(context.open_server(directory.path().join("none"), &[]));
    assert!(matches!(missing, WireError::Io { kind: std::io::ErrorKind::NotFound, .. }), "{missing}");
    #[cfg(unix)]
    {
        let folder = wire_error(context.open_server(directory.path(), &[]));
        assert!(matches!(folder, WireError::Io { kind: std::io::ErrorKind::InvalidInput, .. }), "{folder}");
    }
}

/// With a checksum that fits: what is wrong is found all the same, or it is another value.
#[test]
fn damaged_payloads_are_refused_or_canonical() {
    let context = golden_context();
    let payload = std::fs::read(golden_path()).unwrap();
    let (_, payload) = open(&payload, &any_key(Kind::ReadyKeys, context.files())).unwrap();
    let again = |payload: &[u8]| {
        let keys = decode::<_, ReadyKeys>(context.files(), payload)?;
        Ok(to_payload(context.files(), &keys).to_vec())
    };
    reject_damage(&label(Kind::ReadyKeys, context.files()), payload, &again);
    let malformed = |at: usize, value: &[u8]| {
        let mut payload = payload.to_vec();
        payload[at..at + value.len()].copy_from_slice(value);
        // As in a file: sealed, and read back.
        let bytes = seal(&label(Kind::ReadyKeys, context.files()), &payload);
        match wire_error(context.from_bytes::<ReadyKeys>(&bytes)) {
            WireError::Malformed { what } => what,
            other => panic!("{other}"),
        }
    };
    let rows = 4096 - 68;
    assert_eq!(malformed(0, &[0xff; 4]), "length of the fields");
    assert_eq!(malformed(4, &[9]), "automorphism of an evaluation key");
    assert_eq!(malformed(4, &[0]), "evaluation keys");
    // The identity, and the element of the key that follows: keys come in one order.
    for element in [1u64, 31] {
        assert_eq!(malformed(8, &element.to_le_bytes()), "order of the evaluation keys");
    }
    assert_eq!(malformed(8, &32u64.to_le_bytes()), "level or automorphism of an evaluation key");
    assert_eq!(malformed(16, &[9]), "level or automorphism of an evaluation key");
    assert_eq!(malformed(rows - 1, &[1]), "zeros before the residues");
    assert_eq!(malformed(rows, &u64::MAX.to_le_bytes()), "evaluation key");
    assert_eq!(malformed(payload.len() - 1, &[1]), "evaluation key");
}

/// A file of every automorphism's key fits, and nothing much longer: some pages and a key more.
#[test]
fn limits_leave_room_for_every_key() {
    let context = context(Scheme::Bgv, (17, 1), chain(64, &[40, 40, 40], &[45]));
    let all = KeyRequest::none("a test").with_galois((3..64).step_by(2));
    let (_, server) = context.generate_keys_from_seed([&Products, &all], 5).unwrap();
    let ready = ReadyKeys(Arc::clone(server.engine().keys()));
    let (length, limit) =
        (to_payload(context.files(), &ready).len() as u64, <ReadyKeys as Wire>::limit(context.files()));
    assert!(length <= limit && limit < length + length / 32 + 3 * 4096, "{length} bytes, at most {limit}");
    assert!(
        to_bytes(context.files(), &ready).unwrap().to_vec() == ready.to_bytes(context.files()).unwrap(),
        "one form"
    );
}

fn golden_path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ready-keys-v2.bin")
}

#[test]
fn golden_files_of_version_2_stay_readable() {
    let context = golden_context();
    let ready: ReadyKeys = golden("ready-keys", context.files());
    let packed: EvaluationKeys = golden("evaluation-keys", context.files());
    let mapped = ReadyKeys::open(golden_path(), context.files()).unwrap();
    let expected = ReadyKeys(Arc::new(packed)).to_bytes(context.files()).unwrap();
    for keys in [ready, mapped] {
        assert!(keys.to_bytes(context.files()).unwrap() == expected);
    }
}
