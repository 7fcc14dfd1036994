//! The state that `windlass ask` keeps between queries: what lies there may be damaged, and is
//! read with a key pair at stake.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::rlwe::{EvaluationKeys, SecretKey};
use windlass::wire::{FileContext, KeyId, Kind, Label, from_bytes, hex, is_sealed, to_bytes};
use windlass_retrieval::{Client, KeyContext, Plan, RowStatistics, Schema, Setting, TableRequirements, Wanted};
use windlass_service::client::State;

use crate::command::place;
use crate::containers::{Reader, refused};
use crate::memory::Bound;
use crate::tables::is_time;
use crate::target::Target;

/// The service that is asked.
const ADDRESS: &str = "http://127.0.0.1:7777";

/// A state directory, the table that is asked, and what lies there after a query.
struct Kept {
    dir: PathBuf,
    state: State,
    schema: Schema,
    setting: Arc<Setting>,
    context: KeyContext,
    key: KeyId,
}

impl Kept {
    /// A state with the files of one query.
    fn new(name: &str) -> Self {
        let dir = place(name);
        let state = State::open(&dir).expect("a directory");
        let rows = RowStatistics { count: 2, longest: 4, fixed: true, total: 8 };
        let mut plan = Plan::rows(rows, &TableRequirements::default()).expect("a plan");
        // The same name in every process, so that what one has found is of use to the next.
        plan.schema.id = "5eed".to_owned();
        let (schema, setting) = Schema::from_json(&plan.schema.to_json()).expect("a schema");
        state.pin(ADDRESS, &schema, None).expect("a table");
        let client = state.client(schema.clone(), &setting, |_| Ok(())).expect("a client");
        state.evaluation_keys(&client).expect("keys");
        let (context, key) = (KeyContext::new(&setting), client.secret().key_id());
        Self { dir, state, schema, setting, context, key }
    }

    /// The file whose name begins so.
    fn file(&self, beginning: &str) -> PathBuf {
        let mut files = std::fs::read_dir(&self.dir).expect("a directory").flatten().map(|entry| entry.path());
        let is_it = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning));
        files.find(is_it).expect("a file of a state")
    }

    fn label(&self, kind: Kind) -> Label {
        Label { kind, context: *self.context.hash(), key: self.key }
    }

    fn client(&self) -> windlass_service::client::Result<Client> {
        self.state.client(self.schema.clone(), &self.setting, |_| Ok(()))
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file")
}

/// A secret key in the place of the one that is there: taken as it is or refused, and never replaced.
pub fn secret_keys() -> Target {
    let kept = Kept::new("state-secret");
    let path = kept.file("secret-");
    let seed = read(&path);
    let reader = Reader::own(kept.label(Kind::SecretKey), move |bytes| {
        // A passphrase would be asked for.
        if is_sealed(bytes) {
            return false;
        }
        std::fs::write(&path, bytes).expect("a file is written");
        let client = kept.client();
        assert!(read(&path) == bytes, "a secret key is replaced");
        let client = match client {
            Ok(client) => client,
            Err(error) => {
                refused(&error);
                assert!(error.to_string().contains("or remove it"), "no remedy: {error}");
                return false;
            }
        };
        let secret: SecretKey = from_bytes(&kept.context, bytes).expect("what a client has was read");
        assert_eq!(client.secret().key_id(), secret.key_id());
        assert!(*to_bytes(&kept.context, client.secret()).expect("bytes") == bytes, "two encodings of one key");
        if is_time() {
            client.query(&Wanted::Rows(vec![1])).inspect_err(|error| refused(error)).ok();
        }
        true
    });
    Target::containers(vec![reader], vec![seed])
}

/// Evaluation keys in the place of those that are there: what is read is what is given, and what
/// cannot be read is made again.
pub fn evaluation_keys() -> Target {
    let kept = Kept::new("state-keys");
    let (path, client) = (kept.file("keys-"), kept.client().expect("a client"));
    let seed = read(&path);
    let reader = Reader::own(kept.label(Kind::EvaluationKeys), move |bytes| {
        let found = from_bytes::<_, EvaluationKeys>(&kept.context, bytes);
        let is_ours = found.as_ref().is_ok_and(|keys| keys.key_id() == Some(kept.key));
        // To make them takes as long as reading a thousand.
        if !is_ours && !is_time() {
            return false;
        }
        std::fs::write(&path, bytes).expect("a file is written");
        let given = kept.state.evaluation_keys(&client).expect("keys that cannot be read are made again");
        assert!(read(&path) == given, "other keys are kept than are given");
        assert_eq!(is_ours, given == bytes, "keys that can be read are used, and no others");
        is_ours
    });
    Target::containers(vec![reader], vec![seed])
}

/// Memory of the text that says which table a service has.
const TEXT: Bound = Bound { fixed: 4 << 20, per_byte: 64 };

/// The table that a service had: another text is never taken for the table that it has now, and the
/// name of that table is always a way on.
pub fn tables() -> Target {
    let kept = Kept::new("state-table");
    let (path, hash) = (kept.file("table-"), hex(&kept.schema.hash()));
    let other = format!("{} {ADDRESS}\n", "0".repeat(64));
    let seeds = vec![read(&path)];
    Target::text(seeds, TEXT, move |bytes| {
        std::fs::write(&path, bytes).expect("a file is written");
        let known = kept.state.pin(ADDRESS, &kept.schema, None);
        assert!(read(&path) == bytes, "what is known is replaced");
        let named = std::str::from_utf8(bytes).ok().and_then(|text| text.split_whitespace().next());
        assert_eq!(known.is_ok(), named == Some(&hash), "another table is taken for the one that was known");
        if let Err(error) = &known {
            refused(error);
            assert!(error.to_string().contains("--accept-schema"), "no remedy: {error}");
            assert!(kept.state.pin(ADDRESS, &kept.schema, Some(&"f".repeat(16))).is_err(), "a name of no table");
            kept.state.pin(ADDRESS, &kept.schema, Some(&hash)).expect("the table that is named is taken");
            kept.state.pin(ADDRESS, &kept.schema, None).expect("and known from now on");
        }
        std::fs::write(&path, &other).expect("a file is written");
        assert!(kept.state.pin(ADDRESS, &kept.schema, None).is_err(), "another table is taken for this one");
        known.is_ok()
    })
}
