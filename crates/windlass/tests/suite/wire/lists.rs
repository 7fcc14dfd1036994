//! Lists of ciphertexts.

use std::sync::Arc;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::rlwe::SecretKey;
use windlass::schemes::ckks::{self, Complex64};
use windlass::schemes::{Ciphertext, Scheme};
use windlass::wire::{
    CiphertextList, EncryptedRowsV1, EncryptedScoresV1, FileContext, KeyId, NumberKind, Stored, Wire, WireError,
    load_for, to_payload,
};
use windlass::{Approximate, Client, Context, Error, Plaintext};

use crate::wire::approximate;
use crate::wire::common::{KEY, decode, golden, label, reject_damage, through_bytes};
use crate::wire::exact;

type Exact = CiphertextList<Ciphertext>;
type Complex = CiphertextList<ckks::Ciphertext>;

/// Bytes before the first ciphertext, and where its length stands.
const FIELDS: usize = 17;

/// Two rows of 16 integers, the first row as a seeded ciphertext.
fn integers(context: &Context, client: &Client) -> Exact {
    let rows = [0, 16].map(|start| (start..start + 16).collect::<Vec<u64>>());
    let plaintext = Plaintext::from_integers(context, &rows[0]).unwrap();
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let (first, seed) = client.decryptor().encrypt(&plaintext, 2, &mut rng).unwrap();
    let second = Plaintext::from_integers(context, &rows[1]).unwrap();
    let second = Stored::new(client.encryptor().unwrap().encrypt(&second, &mut rng).unwrap());
    let ciphertexts = vec![Stored::seeded(first, seed).unwrap(), second];
    CiphertextList::new([2, 16], NumberKind::Unsigned, ciphertexts).unwrap()
}

fn check_integers(client: &Client, list: &Exact) {
    assert_eq!((list.shape(), list.numbers(), list.for_each_row()), ([2, 16], NumberKind::Unsigned, 1));
    let slots = list.ciphertexts().map(|ct| client.decrypt(ct).unwrap()).collect();
    let expected = [(0..16).collect::<Vec<u64>>(), (16..32).collect()];
    assert_eq!(list.assemble(slots).unwrap(), expected);
}

fn numbers() -> Vec<Complex64> {
    (0..12).map(|i| Complex64::new(0.5 - 0.05 * f64::from(i), 0.03125 * f64::from(i))).collect()
}

/// One row of twelve complex numbers: eight slots in a seeded ciphertext, four in another.
fn complex_numbers(client: &Client<Approximate>) -> Complex {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let (first, seed) = client.decryptor().unwrap().encrypt(&numbers()[..8], 1.0, 2, &mut rng).unwrap();
    let second = Stored::new(client.encryptor().unwrap().encrypt(&numbers()[8..], &mut rng).unwrap());
    let ciphertexts = vec![Stored::seeded(first, seed).unwrap(), second];
    CiphertextList::new([1, 12], NumberKind::Complex, ciphertexts).unwrap()
}

fn check_complex(client: &Client<Approximate>, list: &Complex) {
    assert_eq!((list.shape(), list.numbers(), list.for_each_row()), ([1, 12], NumberKind::Complex, 2));
    let slots = list.ciphertexts().map(|ct| client.decrypt_complex(ct).unwrap()).collect();
    let found = list.assemble(slots).unwrap();
    assert_eq!((found.len(), found[0].len()), (1, 12));
    assert!(found[0].iter().zip(numbers()).all(|(a, b)| (a - b).norm() < 1e-6));
}

fn again<X: FileContext, T: Wire<X>>(context: &X) -> impl Fn(&[u8]) -> Result<Vec<u8>, Error> + '_ {
    |payload| Ok(to_payload(context, &decode::<_, T>(context, payload)?).to_vec())
}

fn damage<X: FileContext, T: Wire<X>>(context: &X, value: &T) {
    reject_damage(&label(T::KIND, context), &to_payload(context, value), &again::<_, T>(context));
}

/// The list as rows for a model and as scores of one.
fn for_a_model(list: &Complex) -> (EncryptedRowsV1, EncryptedScoresV1) {
    let rows = EncryptedRowsV1 { schema: [7; 32], list: list.clone() };
    (rows, EncryptedScoresV1 { schema: [9; 32], list: list.clone() })
}

#[test]
fn lists_come_back_and_damage_is_refused() {
    let context = exact::golden_context();
    let (client, _) = context.generate_keys_from_seed([], 7).unwrap();
    let list = integers(&context, &client);
    check_integers(&client, &through_bytes(context.files(), &list));
    damage(context.files(), &list);
    let context = approximate::golden_context();
    let (client, _) = context.generate_keys_from_seed([], 7).unwrap();
    let list = complex_numbers(&client);
    check_complex(&client, &through_bytes(context.files(), &list));
    damage(context.files(), &list);
    let (rows, scores) = for_a_model(&list);
    damage(context.files(), &rows);
    damage(context.files(), &scores);
}

/// Rows and scores are neither each other nor a list that names no schema.
#[test]
fn lists_of_scores_are_of_kinds_of_their_own() {
    let context = approximate::golden_context();
    let (client, _) = context.generate_keys_from_seed([], 7).unwrap();
    let (rows, scores) = for_a_model(&complex_numbers(&client));
    let back: EncryptedRowsV1 = context.from_bytes(&context.to_bytes(&rows).unwrap()).unwrap();
    assert_eq!(back.schema, [7; 32]);
    check_complex(&client, &back.list);
    let bytes = context.to_bytes(&scores).unwrap();
    assert_eq!(context.from_bytes::<EncryptedScoresV1>(&bytes).unwrap().schema, [9; 32]);
    let refusals = [
        context.from_bytes::<EncryptedRowsV1>(&bytes).unwrap_err(),
        context.from_bytes::<Complex>(&bytes).unwrap_err(),
        context.from_bytes::<EncryptedScoresV1>(&context.to_bytes(&rows.list).unwrap()).unwrap_err(),
    ];
    for refused in refusals {
        assert!(matches!(refused, Error::Wire(WireError::WrongKind { .. })), "{refused}");
    }
}

#[test]
fn impossible_fields_are_named() {
    let context = exact::golden_context();
    let (client, _) = context.generate_keys_from_seed([], 7).unwrap();
    let whole = to_payload(context.files(), &integers(&context, &client));
    let refusal = |offset: usize, bytes: &[u8]| {
        let mut payload = whole.to_vec();
        payload[offset..offset + bytes.len()].copy_from_slice(bytes);
        match decode::<_, Exact>(context.files(), &payload) {
            Err(Error::Wire(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let malformed = |what| WireError::Malformed { what };
    let (count, columns) = ("number of ciphertexts of a list", "columns of a list of ciphertexts");
    for rows in [0u32, 3, u32::MAX] {
        assert_eq!(refusal(0, &rows.to_le_bytes()), malformed(count));
    }
    // A ciphertext holds at least one number and at most n = 16.
    for got in [0u64, 17, u64::MAX] {
        assert_eq!(refusal(4, &got.to_le_bytes()), malformed(columns));
    }
    for kind in [5u8, 255] {
        assert_eq!(refusal(12, &[kind]), malformed("kind of the numbers of a list"));
    }
    for got in [0u32, 3] {
        assert_eq!(refusal(13, &got.to_le_bytes()), malformed(count));
    }
    // As many as there can be: refused where the bytes end, without memory for the rest.
    let most = [&u32::MAX.to_le_bytes(), &whole[4..13], &u32::MAX.to_le_bytes()].concat();
    assert_eq!(refusal(0, &most), malformed("length of a ciphertext in a list"));
    let huge = refusal(FIELDS, &u64::MAX.to_le_bytes());
    assert!(matches!(huge, WireError::TooLarge { length: u64::MAX, limit } if limit < 1000), "{huge:?}");
    assert!(matches!(refusal(FIELDS, &0u64.to_le_bytes()), WireError::Malformed { .. }));
}

#[test]
fn ciphertexts_that_make_no_list_are_refused() {
    let context = exact::golden_context();
    let (client, _) = context.generate_keys_from_seed([], 7).unwrap();
    let (other, _) = context.generate_keys_from_seed([], 8).unwrap();
    let one = || Stored::new(client.encrypt(&[1]).unwrap());
    let list = |shape, ciphertexts| Exact::new(shape, NumberKind::Unsigned, ciphertexts).map(|list| list.shape());
    assert_eq!(list([2, 3], vec![one(), one()]), Ok([2, 3]));
    assert!(matches!(list([1, 3], vec![]), Err(Error::ShapeMismatch { got: 0, .. })));
    assert!(matches!(list([2, 3], vec![one()]), Err(Error::ShapeMismatch { expected: 2, got: 1, .. })));
    // Two rows of two would take four.
    let three = vec![one(), one(), one()];
    assert!(matches!(list([2, 3], three), Err(Error::ShapeMismatch { expected: 4, got: 3, .. })));
    for (rows, columns) in [(0, 3), (1, 0), (1, 17), (1, usize::MAX)] {
        assert!(matches!(list([rows, columns], vec![one()]), Err(Error::OutOfRange(_))), "{rows}, {columns}");
    }
    let stranger = Stored::new(other.encrypt(&[1]).unwrap());
    assert!(matches!(list([1, 20], vec![one(), stranger]), Err(Error::OtherKeyPair(_))));
    // Slots that do not fit the shape.
    let made = Exact::new([1, 20], NumberKind::Unsigned, vec![one(), one()]).unwrap();
    assert!(matches!(made.assemble(vec![vec![0; 16]]), Err(Error::ShapeMismatch { expected: 2, got: 1, .. })));
    assert!(matches!(made.assemble(vec![vec![0; 9]; 2]), Err(Error::ShapeMismatch { expected: 20, got: 18, .. })));
    // Slots behind the last column are left out.
    assert_eq!(made.assemble(vec![vec![5; 16]; 2]), Ok(vec![vec![5; 20]]));
    // As many of the longest ciphertexts as can be counted: of those without a seed.
    let server = context.server_without_keys().unwrap();
    let sum = || Stored::new(server.add(one().ciphertext(), one().ciphertext()).unwrap());
    let longest = Exact::new([1, 20], NumberKind::Unsigned, vec![sum(), sum()]).unwrap();
    let (fields, both) = (FIELDS as u64, to_payload(context.files(), &longest).len() as u64);
    assert_eq!(<Exact as Wire>::limit(context.files()), fields + (both - fields) / 2 * u64::from(u32::MAX));
    assert_eq!(made.into_ciphertexts().len(), 2);
}

/// A header may promise what it likes: a pipe that ends is truncated, and no memory was taken.
#[cfg(unix)]
#[test]
fn long_promises_of_pipes_are_not_believed() {
    let context = exact::golden_context();
    let (client, _) = context.generate_keys_from_seed([], 7).unwrap();
    let mut bytes = context.to_bytes(&integers(&context, &client)).unwrap();
    let promised = <Exact as Wire>::limit(context.files());
    bytes[60..68].copy_from_slice(&promised.to_le_bytes());
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let (pipe, bytes) = (pipe.clone(), bytes.clone());
        move || std::fs::write(pipe, bytes)
    });
    let refused = context.load::<Exact>(&pipe).unwrap_err();
    writer.join().unwrap().unwrap();
    let got = bytes.len() as u64;
    assert_eq!(refused, Error::Wire(WireError::Truncated { expected: promised + 100, got }));
}

#[test]
fn files_of_lists_are_bound_to_key_pair_and_scheme() {
    let context = exact::golden_context();
    let (client, _) = context.generate_keys_from_seed([], 7).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list.bin");
    context.save(&path, &integers(&context, &client)).unwrap();
    let refused = load_for::<_, Exact>(&path, context.files(), KeyId([5; 16])).unwrap_err();
    assert!(matches!(refused, Error::Wire(WireError::OtherKeyPair { .. })), "{refused}");
    let other = context.with_scheme(Scheme::Bfv).unwrap();
    for refused in
        [other.load::<Exact>(&path).unwrap_err(), approximate::golden_context().load::<Complex>(&path).unwrap_err()]
    {
        assert!(matches!(refused, Error::Wire(WireError::OtherContext { .. })), "{refused}");
    }
    let refused = context.load::<Ciphertext>(&path).unwrap_err();
    assert!(refused.to_string().contains("expected a ciphertext, but found a list of ciphertexts"), "{refused}");
}

#[test]
fn golden_files_stay_readable() {
    let context = exact::golden_context();
    let secret: SecretKey = golden("secret-key", context.files());
    let client = context.client_from_key(Arc::new(secret)).unwrap();
    assert_eq!(client.secret_key().key_id(), KEY);
    check_integers(&client, &golden("ciphertext-list", context.files()));
    let context = approximate::golden_context();
    let secret: SecretKey = golden("ckks-secret-key", context.files());
    let client = context.client_from_key(Arc::new(secret)).unwrap();
    check_complex(&client, &golden("ckks-ciphertext-list", context.files()));
    let rows: EncryptedRowsV1 = golden("ckks-encrypted-rows", context.files());
    let scores: EncryptedScoresV1 = golden("ckks-encrypted-scores", context.files());
    assert_eq!((rows.schema, scores.schema), ([7; 32], [9; 32]));
    check_complex(&client, &rows.list);
    check_complex(&client, &scores.list);
}
