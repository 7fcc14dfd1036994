//! Tables of any size: messages, schemas, and what lies in their directories.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::rlwe::{EvaluationKeys, SecretKey};
use windlass::wire::{KeyId, sha256, to_bytes};
use windlass_retrieval::{
    Answer, BlindReply, BlindRequest, Blinding, Client, HiddenKeys, KeyChange, OprfKey, PartialAnswer, Plan, Query,
    Schema, Setting, Table, TableContext, Wanted, combine, evaluation_keys, unobserved,
};

use crate::command::place;
use crate::containers::{Readable, readers, refused};
use crate::memory::Bound;
use crate::target::{Target, is_thorough};

const ROWS: [(&[u8], &[u8]); 2] = [(b"other", b"another row"), (b"golden", b"the row")];

/// A schema in which two rows lie in one polynomial.
const SCHEMA_FILE: &str = include_str!("../../../crates/windlass-retrieval/tests/golden/schema.json");

/// A schema of version 3: keys are hidden, by the key of the golden file.
const HIDDEN_SCHEMA: &str = include_str!("../../../crates/windlass-retrieval/tests/golden/schema-hidden-v3.json");
/// A schema of version 4: plain keys under tags of 128 bits.
const LONG_TAG_SCHEMA: &str = include_str!("../../../crates/windlass-retrieval/tests/golden/schema-v4.json");
const OPRF_KEY: &[u8] = include_bytes!("../../../crates/windlass-retrieval/tests/golden/oprf.key");

/// The key in that file.
fn oprf_key() -> OprfKey {
    OprfKey::from_bytes([7; 32]).expect("a key")
}

/// A manifest of such a table.
const MANIFEST: &str = include_str!("../../../crates/windlass-retrieval/tests/golden/table.json");

/// One time in so many a message is computed with: that takes as long as reading a hundred.
const USED: u64 = 64;

/// Whether it is time again; the first time always, so that a single input is used, and for inputs
/// to begin with.
pub fn is_time() -> bool {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(USED) || is_thorough()
}

/// Both sides of a table.
struct Sides {
    schema: Schema,
    setting: Arc<Setting>,
    client: Client,
    keys: EvaluationKeys,
    table: Table,
    /// The key that hides keys, where they are hidden.
    oprf: Option<OprfKey>,
}

impl Sides {
    /// Of rows by key, in that many rows and columns of polynomials.
    fn new(rows: usize, columns: usize) -> Arc<Self> {
        let text = SCHEMA_FILE.replace("\"rows\": 1", &format!("\"rows\": {rows}"));
        let text = text.replace("\"columns\": 1", &format!("\"columns\": {columns}"));
        // Rows are chosen by selectors, whose digits keep errors small.
        let text = if rows > 1 {
            let text = text.replace("\"digits\": 2", "\"digits\": 5").replace("\"base_bits\": 1", "\"base_bits\": 12");
            text.replace("\"message_bits\": 18", "\"message_bits\": 14")
        } else {
            text
        };
        Self::of(&text, None)
    }

    /// Of a table with this schema.
    fn of(text: &str, oprf: Option<OprfKey>) -> Arc<Self> {
        let (schema, setting) = Schema::from_json(text.as_bytes()).expect("a schema");
        let mut rng = ChaCha20Rng::from_seed([4; 32]);
        let secret = SecretKey::generate(setting.context(), &mut rng);
        let keys = evaluation_keys(&setting, &schema.shape, &secret, &mut rng).expect("keys");
        let plan = Plan::of(&setting, schema.clone(), 64);
        let table = match &oprf {
            None => Table::of_keywords(&plan, &ROWS, &unobserved),
            Some(key) => Table::of_hidden(&plan, &ROWS, key, &unobserved),
        };
        let client = Client::with_secret(schema.clone(), &setting, secret).expect("a client");
        Arc::new(Self { schema, setting, client, keys, table: table.expect("a table"), oprf })
    }

    /// Three tables of plain keys, and one of hidden ones.
    fn all() -> [Arc<Self>; 4] {
        [Self::new(1, 1), Self::new(2, 4), Self::of(LONG_TAG_SCHEMA, None), Self::hiding()]
    }

    /// A table with hidden keys.
    fn hiding() -> Arc<Self> {
        Self::of(HIDDEN_SCHEMA, Some(oprf_key()))
    }

    /// The reply to a blind request, by the key of the table.
    fn help(&self, request: &BlindRequest) -> windlass_retrieval::Result<BlindReply> {
        self.table.blind_evaluate(&oprf_key(), request)
    }

    fn context(&self) -> TableContext {
        TableContext::new(&self.setting, &self.schema)
    }

    /// What stands for the key where keys are hidden.
    fn hidden(&self) -> Option<HiddenKeys<'_>> {
        let output = self.oprf.as_ref()?.evaluate(b"golden").expect("a key");
        Some(HiddenKeys::new(&self.schema, vec![output]).expect("hidden keys"))
    }

    fn wanted(&self) -> Wanted {
        self.hidden().map_or_else(|| Wanted::Keys(vec![b"golden".to_vec()]), |hidden| hidden.wanted())
    }

    fn query(&self) -> Query {
        self.client.query(&self.wanted()).expect("a query")
    }

    /// The rows in an answer, opened where they are sealed.
    fn read(&self, answer: &Answer) -> windlass_retrieval::Result<Vec<Option<Vec<u8>>>> {
        let rows = self.client.read(answer, &self.wanted())?;
        self.hidden().map_or(Ok(rows.clone()), |hidden| hidden.open(rows))
    }
}

impl Readable for Sides {
    type Files = TableContext;

    fn files(&self) -> TableContext {
        self.context()
    }

    fn key(&self) -> KeyId {
        self.client.secret().key_id()
    }
}

pub fn queries() -> Target {
    let sides = Sides::all();
    let readers = readers(&sides, |sides, query: Query| match sides.table.check(&sides.keys, &query) {
        Ok(()) if is_time() => drop(sides.table.answer(&sides.keys, &query).inspect_err(|error| refused(error))),
        Ok(()) => {}
        Err(error) => refused(&error),
    });
    let seeds = sides.iter().map(|sides| to_bytes(&sides.context(), &sides.query()).expect("bytes").to_vec());
    let golden = include_bytes!("../../../crates/windlass-retrieval/tests/golden/query.bin").to_vec();
    Target::containers(readers, seeds.chain([golden]).collect())
}

/// What a client sends before it asks for hidden keys.
pub fn blind_requests() -> Target {
    let sides = [Sides::hiding()];
    let readers = readers(&sides, |sides, request: BlindRequest| {
        assert!(!request.points().is_empty(), "a request for nothing");
        match sides.help(&request) {
            Ok(reply) => assert_eq!(reply.points().len(), request.points().len()),
            Err(error) => refused(&error),
        }
    });
    let keys: [&[&str]; 2] = [&["golden"], &["golden", "other", ""]];
    let seeds = keys.map(|keys| {
        let request = sides[0].client.blind(keys).expect("a request");
        to_bytes(&sides[0].context(), &request).expect("bytes").to_vec()
    });
    Target::containers(readers, seeds.into())
}

/// What the server sends back.
pub fn blind_replies() -> Target {
    let sides = [Sides::hiding()];
    let request = sides[0].client.blind(&["golden"]).expect("a request");
    let reply = sides[0].help(&request).expect("a reply");
    assert_eq!(sides[0].client.unblind(&reply, &["golden"]).expect("hidden keys").wanted(), sides[0].wanted());
    let seeds = vec![to_bytes(&sides[0].context(), &reply).expect("bytes").to_vec()];
    let readers = readers(&sides, |sides, reply: BlindReply| {
        assert!(!reply.points().is_empty(), "a reply to nothing");
        for keys in [&["golden"][..], &["golden", "other"]] {
            sides.client.unblind(&reply, keys).inspect_err(|error| refused(error)).ok();
        }
    });
    Target::containers(readers, seeds)
}

pub fn answers() -> Target {
    let sides = Sides::all();
    let readers = readers(&sides, |sides, answer: Answer| {
        assert!(!answer.parts().is_empty(), "an answer to nothing");
        sides.read(&answer).inspect_err(|error| refused(error)).ok();
    });
    let seeds = sides.iter().map(|sides| {
        let answer = sides.table.answer(&sides.keys, &sides.query()).expect("an answer");
        assert_eq!(sides.read(&answer).expect("a row"), [Some(b"the row".to_vec())]);
        to_bytes(&sides.context(), &answer).expect("bytes").to_vec()
    });
    let golden = include_bytes!("../../../crates/windlass-retrieval/tests/golden/answer.bin").to_vec();
    Target::containers(readers, seeds.chain([golden]).collect())
}

pub fn parts() -> Target {
    let sides = Sides::all();
    let readers = readers(&sides, |sides, part: PartialAnswer| {
        let (shard, columns) = (part.shard(), part.shard().columns());
        assert!(shard.index() < shard.count() && columns.end <= sides.schema.shape.columns && !columns.is_empty());
        if is_time() {
            let combined = combine(&sides.setting, &sides.schema, &[((&sides.keys, &sides.query()), &[part])]);
            combined.inspect_err(|error| refused(error)).ok();
        }
    });
    let seeds = sides.iter().flat_map(|sides| {
        let query = sides.query();
        let shards = sides.table.shards(sides.schema.shape.columns.div_ceil(2)).expect("pairs of columns");
        let part = |shard| sides.table.answer_part(shard, &[(&sides.keys, &query)]).expect("a part").remove(0);
        let context = sides.context();
        shards.into_iter().map(part).map(|part| to_bytes(&context, &part).expect("bytes").to_vec()).collect::<Vec<_>>()
    });
    Target::containers(readers, seeds.collect())
}

/// What a schema, a manifest or a piece of a table may hold: keys and queries of n = 4096 are made,
/// and tables of two rows.
const FILES: Bound = Bound { fixed: 8 << 20, per_byte: 64 };

/// As [`FILES`]; a table that is being made continues with the layout in its manifest, whose
/// columns may have 256 rows instead of the actual two.
const MADE: Bound = Bound { fixed: 24 << 20, per_byte: 64 };

/// Most selections of a schema under which something is asked.
const FEW: usize = 4;

pub fn schemas() -> Target {
    let rows = SCHEMA_FILE.replace("\"keywords\"", "\"rows\"").replace("\"choices\": 1", "\"bytes\": 19");
    let rows = rows.replace("\"fragments\": 1", "\"fixed\": true").replace("\"fragment_bytes\": 19", "\"pieces\": 1");
    let rows = rows.replace(",\n      \"seed\": \"601d\"", "").replace("\"count\": 2", "\"count\": 1");
    Schema::from_json(rows.as_bytes()).expect("rows by number");
    // Rings are shared for as long as someone holds them.
    let held = Sides::all();
    let seeds = vec![
        SCHEMA_FILE.as_bytes().to_vec(),
        rows.into_bytes(),
        HIDDEN_SCHEMA.as_bytes().to_vec(),
        LONG_TAG_SCHEMA.as_bytes().to_vec(),
    ];
    Target::text(seeds, FILES, move |text| {
        let (schema, setting) = match Schema::from_json(text) {
            Ok(schema) => schema,
            Err(error) => {
                refused(&error);
                return false;
            }
        };
        let (again, _) = Schema::from_json(&schema.to_json()).expect("what was written can be read");
        assert_eq!((again.hash(), &again), (schema.hash(), &schema));
        assert!(schema.shape.failure_bits(schema.selections()) > 64.0, "answers that may be wrong");
        let plan = Plan::of(&setting, schema.clone(), 64);
        assert!(!plan.explain().is_empty());
        if schema.selections() <= FEW && is_time() {
            let hidden = HiddenKeys::new(&schema, vec![[5; 64]]).map(|hidden| hidden.open(vec![Some(vec![0; 64])]));
            // A row that nobody sealed opens where rows are empty, and nowhere else.
            assert!(hidden.is_ok() == schema.oprf.is_some() && !matches!(hidden, Ok(Ok(_))), "{hidden:?}");
            let secret = SecretKey::generate(held[0].setting.context(), &mut ChaCha20Rng::from_seed([4; 32]));
            let asked = Client::with_secret(schema, &setting, secret)
                .and_then(|client| client.query_rows(&[0]).or_else(|_| client.query_keys(&[b"golden"])));
            asked.inspect_err(|error| refused(error)).ok();
        }
        true
    })
}

/// The file of a key that hides keys: read, written again in the same line, and of use.
pub fn oprf_keys() -> Target {
    let (file, again) = (place("oprf.key"), place("oprf-again.key"));
    let seeds = [b"", &b"\r\n"[..]].map(|end| [OPRF_KEY.trim_ascii_end(), end].concat());
    Target::text(seeds.into_iter().chain([OPRF_KEY.to_vec()]).collect(), FILES, move |bytes| {
        std::fs::write(&file, bytes).expect("a file is written");
        let key = match OprfKey::load(&file) {
            Ok(key) => key,
            Err(error) => {
                refused(&error);
                return false;
            }
        };
        let _ = std::fs::remove_file(&again);
        key.save(&again).expect("a new file");
        let (read, written) = (std::str::from_utf8(bytes).expect("text"), std::fs::read(&again).expect("a file"));
        assert!(read.trim_end().as_bytes() == written.trim_ascii_end(), "two encodings of one key");
        let blinding = Blinding::new(&["golden"]).expect("a key of a table");
        let helped = key.blind_evaluate(blinding.points()).expect("points");
        assert_eq!(blinding.finish(&helped).expect("points"), [key.evaluate(b"golden").expect("a key of a table")]);
        true
    })
}

/// Points that a client sends, and those that a server sends back.
pub fn points() -> Target {
    let (key, blinding) = (oprf_key(), Blinding::new(&["golden", "other"]).expect("keys of a table"));
    let public = |byte| OprfKey::from_bytes([byte; 32]).expect("a key").public();
    let seeds = vec![public(7).to_vec(), [public(7), public(5)].concat()];
    Target::text(seeds, FILES, move |bytes| {
        let finished = blinding.finish(bytes);
        let helped = match key.blind_evaluate(bytes) {
            Ok(helped) => helped,
            Err(error) => {
                refused(&error);
                assert!(finished.is_err(), "points for one side and none for the other");
                return false;
            }
        };
        assert_eq!(helped.len(), bytes.len());
        assert!(finished.is_ok() == (bytes.len() == blinding.points().len()), "another number of points");
        key.blind_evaluate(&helped).expect("points again");
        true
    })
}

/// A directory of this process.
fn directory(name: &str) -> PathBuf {
    let directory = place(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// The only piece of a table under the schema of the golden manifest.
fn piece() -> Vec<u8> {
    let dir = directory("made");
    let _ = std::fs::remove_dir_all(&dir);
    let said: serde_json::Value = serde_json::from_str(MANIFEST).expect("JSON");
    let (schema, _) = Schema::from_json(said["schema"].to_string().as_bytes()).expect("a schema");
    Table::create_keywords(&dir, &schema, &ROWS, &unobserved).expect("a table");
    std::fs::read(dir.join(SEGMENT)).expect("a piece")
}

const SEGMENT: &str = "00000-000000.segment";

/// Leaves these files in a directory, and no others.
fn fill(dir: &Path, files: &[(&str, &[u8])]) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        std::fs::remove_file(entry.path()).expect("a file is removed");
    }
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).expect("a file is written");
    }
}

/// A manifest in the place of that of a table, and of one that is being made: opened, changed, and
/// gone on with.
pub fn manifests() -> Target {
    let (piece, dir) = (piece(), directory("table"));
    let finished = std::fs::read(directory("made").join("table.json")).expect("a manifest");
    let said: serde_json::Value = serde_json::from_str(MANIFEST).expect("JSON");
    let (schema, _) = Schema::from_json(said["schema"].to_string().as_bytes()).expect("a schema");
    let seeds = vec![MANIFEST.as_bytes().to_vec(), finished];
    Target::text(seeds, MADE, move |text| {
        if serde_json::from_slice::<serde_json::Value>(text).is_err() {
            fill(&dir, &[("table.json", text)]);
            refused(&Table::open(&dir, true).expect_err("no manifest"));
            return false;
        }
        fill(&dir, &[("table.json", text), (SEGMENT, &piece)]);
        let opened = Table::open(&dir, true).inspect_err(|error| refused(error));
        if let Ok(table) = &opened {
            table.read_all();
            let change = [KeyChange::Set(b"golden".to_vec(), b"new".to_vec())];
            Table::change_keys(&dir, &change, &unobserved).inspect_err(|error| refused(error)).ok();
        }
        for name in ["table.json", "building.json"] {
            fill(&dir, &[(name, text), (SEGMENT, &piece)]);
            Table::create_keywords(&dir, &schema, &ROWS, &unobserved).inspect_err(|error| refused(error)).ok();
        }
        opened.is_ok()
    })
}

/// A piece of a table whose manifest, of version 1, knows no checksum.
pub fn segments() -> Target {
    let (seed, dir) = (piece(), directory("piece"));
    Target::mended(vec![seed], mend, FILES, move |bytes| {
        fill(&dir, &[("table.json", MANIFEST.as_bytes()), (SEGMENT, bytes)]);
        let opened = Table::open(&dir, true).inspect_err(|error| refused(error));
        opened.map(|table| table.read_all()).is_ok()
    })
}

/// The checksum of a piece: of the header's and of each MiB's.
fn mend(bytes: &mut [u8]) {
    const HEADER: usize = 64;
    let Some((body, trailer)) = bytes.split_last_chunk_mut::<32>() else { return };
    let Some((header, data)) = body.split_at_checked(HEADER) else { return };
    let mut digests = sha256(header).to_vec();
    data.chunks(1 << 20).for_each(|chunk| digests.extend(sha256(chunk)));
    *trailer = sha256(&digests);
}
