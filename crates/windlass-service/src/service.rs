//! The parts of the service, and what it reports about itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use windlass::rlwe::EvaluationKeys;
use windlass::wire::from_bytes;
use windlass_retrieval::{Contents, OprfKey, POINT_BYTES, Query};

use crate::gate::{Caller, Gate};
use crate::keys::{KeyCache, KeyName};
use crate::limits::Limits;
use crate::metrics::{Levels, Metrics};
use crate::problem::{Kind, Problem};
use crate::published::{Published, Version};
use crate::queue::Queue;
use crate::shelf::Shelf;
use crate::site::Site;
use crate::start_error::StartError;
use crate::workers::{self, Work};

/// How a service is set up.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What it keeps to.
    pub limits: Limits,
    /// Passes at a time.
    pub workers: usize,
    /// Threads of each.
    pub threads: usize,
    /// Whether checksums of the table are computed when it is opened.
    pub verify: bool,
    /// For drills: one pass in so many panics.
    pub panic_every: Option<u64>,
    /// The key that hides the keys of the table, where it hides them.
    pub oprf_key: Option<PathBuf>,
    /// The file of clients that may ask, if not all may.
    pub tokens: Option<PathBuf>,
    /// Where evaluation keys are kept on the disk, and in how many bytes.
    pub shelf: Option<(PathBuf, u64)>,
    /// The folder of the npm package, if visitors ask on the page.
    pub page: Option<PathBuf>,
}

/// A service: a table, keys, and requests that wait.
#[derive(Debug)]
pub struct Service {
    /// What it keeps to.
    pub limits: Limits,
    /// The table.
    pub published: Arc<Published>,
    /// Which clients may ask, and how much.
    pub gate: Gate,
    /// The key that hides the keys of the table, where it hides them.
    oprf: Option<OprfKey>,
    /// The evaluation keys in memory.
    pub keys: KeyCache,
    /// Those on the disk.
    pub shelf: Option<Shelf>,
    /// The page.
    pub site: Site,
    /// What waits.
    pub queue: Arc<Queue>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// KiB for bodies that are being read.
    pub bodies: Arc<Semaphore>,
    threads: usize,
}

impl Service {
    /// Opens a table and starts the threads that compute.
    ///
    /// # Errors
    /// A table that cannot be opened; threads that cannot be had; a cache in which not even one
    /// client's keys fit; a file of tokens or a directory of keys that cannot be read.
    pub fn start(table: &Path, setup: &Setup) -> Result<(Arc<Self>, Vec<JoinHandle<()>>), StartError> {
        let published = Arc::new(Published::open(table, setup.verify)?);
        let least = memory_of_keys(&published.current());
        let oprf = setup.oprf_key.as_deref().map(OprfKey::load).transpose()?;
        oprf_key(oprf.as_ref(), &published.current())?;
        let portions = published.current().table.schema().portions();
        if setup.limits.client_portions.is_some_and(|most| (most as usize) < portions) {
            tracing::warn!(portions, "a query for one whole row takes more portions than the quota of a minute has");
        }
        let gate = Gate::new(setup.tokens.clone(), setup.limits.client_portions)?;
        let keys = KeyCache::new(setup.limits.keys, setup.limits.client_keys);
        if keys.share() < least {
            return Err(StartError::SmallCache { room: keys.share(), least });
        }
        let open = |(dir, room): &(PathBuf, u64)| {
            let shelf = Shelf::open(dir, *room);
            shelf.map_err(|error| StartError::Shelf { path: dir.display().to_string(), reason: error.to_string() })
        };
        let shelf = setup.shelf.as_ref().map(open).transpose()?;
        let site = setup.page.as_deref().map(Site::open).transpose()?.unwrap_or_default();
        let (queue, metrics) = (Arc::new(Queue::new(setup.limits.queue)), Arc::new(Metrics::default()));
        let work = Work {
            published: Arc::clone(&published),
            queue: Arc::clone(&queue),
            metrics: Arc::clone(&metrics),
            panic_every: setup.panic_every,
            passes: Arc::default(),
        };
        let workers = workers::start(&work, setup.workers, setup.threads)?;
        let threads = setup.workers * setup.threads;
        let bodies = Arc::new(Semaphore::new((setup.limits.bodies >> 10).min(Semaphore::MAX_PERMITS)));
        let limits = setup.limits;
        let service = Self { limits, published, gate, oprf, keys, shelf, site, queue, metrics, bodies, threads };
        Ok((Arc::new(service), workers))
    }

    /// Checks every second whether the table was replaced, as long as the service exists.
    ///
    /// # Errors
    /// Those of the system that starts no thread.
    pub fn watch(self: &Arc<Self>) -> std::io::Result<()> {
        let weak = Arc::downgrade(self);
        let watch = move || {
            let mut complaint = None;
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let Some(service) = weak.upgrade() else { return };
                complaint = service.look(complaint);
                match service.gate.refresh() {
                    Ok(None) => {}
                    Ok(Some(count)) => tracing::info!(count, "the file of tokens was read again"),
                    Err(error) => tracing::warn!(%error, "the file of tokens is faulty"),
                }
            }
        };
        std::thread::Builder::new().name("table".into()).spawn(watch)?;
        Ok(())
    }

    /// Serves the directory's version, unless it cannot be opened or does not fit the key of this
    /// service (then a plain table would be served although keys must be hidden, or a hidden table
    /// without help for its clients). What is wrong is logged once; it is returned for the next
    /// call.
    fn look(&self, complaint: Option<String>) -> Option<String> {
        let fits = |version: &Version| match oprf_key(self.oprf.as_ref(), version) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{error}; then start the service again")),
        };
        match self.published.refresh(fits) {
            Ok(None) => None,
            Ok(Some(version)) => {
                self.metrics.replaced.inc();
                self.keys.keep_only(version.setting().context());
                tracing::info!(revision = version.revision(), schema = version.name(), "the table was replaced");
                None
            }
            Err(error) => {
                let error = error.to_string();
                if complaint.as_ref() != Some(&error) {
                    tracing::warn!(error, "the version before it is served");
                }
                Some(error)
            }
        }
    }

    /// Helps a client to hide keys: its points times the key of this service (RFC 9497).
    ///
    /// # Errors
    /// [`Kind::NOT_HIDDEN`] where the table hides no keys, [`Kind::OTHER_OPRF_KEY`] where it hides
    /// them by a key that this service does not have; [`Kind::QUOTA`]; [`Kind::UNREADABLE`] for
    /// bytes that are no points.
    pub fn blind(&self, caller: &Caller, blinded: &[u8]) -> Result<Vec<u8>, Problem> {
        let version = self.published.current();
        if version.table.schema().oprf.is_none() {
            return Err(Problem::new(&Kind::NOT_HIDDEN, "the table is asked with plain keys"));
        }
        // Tables that do not fit the key are not served. This is looked at again, since points times
        // another key would be wrong.
        let key = oprf_key(self.oprf.as_ref(), &version)
            .and_then(|key| key.ok_or(StartError::NoOprfKey))
            .map_err(|error| Problem::new(&Kind::OTHER_OPRF_KEY, error))?;
        let count = blinded.len().div_ceil(POINT_BYTES);
        self.gate.take(caller, count)?;
        key.blind_evaluate(blinded).map_err(|error| {
            self.gate.give_back(caller, count);
            Problem::new(&Kind::UNREADABLE, error)
        })
    }

    /// Takes up a client's keys: into memory, and onto the disk where there is one for them.
    ///
    /// # Errors
    /// As [`Self::read_keys`]; [`Kind::KEYS_TOO_LARGE`] for more than a client may have.
    pub fn take_up(&self, name: &KeyName, bytes: &[u8], caller: &Caller) -> Result<(), Problem> {
        let keys = Self::read_keys(&self.published.current(), bytes)?;
        if !self.keys.insert(*name, keys, caller.name()) {
            let cause = format!("the keys need more than {} bytes of memory, the limit of a client", self.keys.share());
            return Err(Problem::new(&Kind::KEYS_TOO_LARGE, cause));
        }
        if let Some(shelf) = &self.shelf {
            shelf.keep(name, bytes);
        }
        Ok(())
    }

    /// The keys of that name, from memory or from the disk, which may take a moment. Those on the disk
    /// that are for other moduli than the table's are taken away; those that this client has no room
    /// for stay there.
    pub fn known(&self, name: &KeyName, caller: &Caller) -> Option<Arc<EvaluationKeys>> {
        if let Some(keys) = self.keys.get(name) {
            return Some(keys);
        }
        let shelf = self.shelf.as_ref()?;
        let bytes = shelf.read(name)?;
        match self.take_up(name, &bytes, caller) {
            Err(Problem { kind: &Kind::OTHER_TABLE | &Kind::MISSING_KEYS, .. }) => shelf.remove(name),
            Err(problem) => tracing::debug!(cause = problem.cause, "keys on the disk are not taken up"),
            Ok(()) => {}
        }
        self.keys.get(name)
    }

    /// Reads a file of evaluation keys, all of which must be of the kind that a table asks for.
    ///
    /// # Errors
    /// [`Problem`].
    pub fn read_keys(version: &Version, bytes: &[u8]) -> Result<EvaluationKeys, Problem> {
        let keys: EvaluationKeys =
            from_bytes(&version.key_files, bytes).map_err(|error| match Problem::of_file(&error) {
                Problem { kind: &Kind::TOO_LARGE, cause, .. } => Problem::new(&Kind::KEYS_TOO_LARGE, cause),
                problem => problem,
            })?;
        let top = version.setting().context().top_level();
        let galois = keys.galois_elements().filter_map(|element| keys.galois(element));
        if keys.relinearisation().into_iter().chain(galois).any(|key| key.level() != top) {
            return Err(Problem::new(&Kind::MISSING_KEYS, "some keys are for a smaller modulus than the table's"));
        }
        Ok(keys)
    }

    /// Reads a query, and checks that these keys can answer it.
    ///
    /// # Errors
    /// [`Problem`].
    pub fn read_query(&self, version: &Version, keys: &EvaluationKeys, bytes: &[u8]) -> Result<Query, Problem> {
        let query: Query = from_bytes(&version.table_files, bytes).map_err(|error| Problem::of_file(&error))?;
        let most = self.limits.selections(version.table.schema());
        if query.count() > most {
            let schema = version.table.schema();
            let (rows, fit) = (query.count().div_ceil(schema.selections()), self.limits.rows_at_once(schema));
            let cause = format!("the query is for {rows} rows, but one request may ask for {fit}");
            return Err(Problem::new(&Kind::TOO_LARGE, cause));
        }
        if !Arc::ptr_eq(keys.context(), version.setting().context()) {
            return Err(Problem::new(&Kind::MISSING_KEYS, "the keys are for other moduli than the table's"));
        }
        let shape = &version.table.schema().shape;
        let missing = shape.elements().into_iter().filter(|&element| keys.galois(element).is_none()).count();
        let relinearisation = shape.selectors() > 0 && keys.relinearisation().is_none();
        if missing > 0 || relinearisation {
            let cause = format!("{} of the keys for this table are missing", missing + usize::from(relinearisation));
            return Err(Problem::new(&Kind::MISSING_KEYS, cause));
        }
        if keys.key_id() != Some(query.key_id()) {
            return Err(Problem::new(&Kind::OTHER_KEY_PAIR, "the names of the two key pairs differ"));
        }
        Ok(query)
    }

    /// Seconds after which a place in the queue may be free: what waits now, at the pace of the
    /// last seconds.
    pub fn retry_after(&self) -> u64 {
        let seconds = self.metrics.seconds();
        let last = &seconds[seconds.len() - 10..];
        let pace = last.iter().map(|second| second.answers).sum::<usize>() as f64 / 10.0;
        // An answer has the selections of at least one row.
        let waiting = self.queue.length() / self.published.current().table.schema().selections();
        (waiting as f64 / pace.max(1.0)).ceil().clamp(1.0, 60.0) as u64
    }

    /// What is counted, as text.
    pub fn metrics(&self) -> String {
        let fill = self.keys.fill();
        self.metrics.text(Levels {
            cache: [fill.sets as i64, fill.bytes as i64],
            evicted: fill.evicted as i64,
            waiting: self.queue.length() as i64,
            revision: self.published.current().revision() as i64,
        })
    }

    /// What the page shows.
    pub fn stats(&self) -> Value {
        let (version, fill) = (self.published.current(), self.keys.fill());
        json!({
            "table": table(&version),
            "parameters": parameters(&version),
            "cache": { "sets": fill.sets, "bytes": fill.bytes, "room": fill.room, "evicted": fill.evicted },
            "queue": { "waiting": self.queue.length(), "room": self.limits.queue },
            "threads": self.threads,
            "uptime": Instant::now().duration_since(self.metrics.since).as_secs(),
            "open": self.metrics.open.get(),
            "panics": self.metrics.panics.get(),
            "replaced": self.metrics.replaced.get(),
            "seconds": self.metrics.seconds(),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }
}

/// The key of the service, if a table hides its keys by it; nothing if a service without one has a
/// table that hides nothing.
///
/// # Errors
/// [`StartError::NoOprfKey`] and [`StartError::Table`] if the two do not belong together.
fn oprf_key<'k>(key: Option<&'k OprfKey>, version: &Version) -> Result<Option<&'k OprfKey>, StartError> {
    match key {
        Some(key) => version.table.check_oprf_key(key)?,
        None if version.table.schema().oprf.is_some() => return Err(StartError::NoOprfKey),
        None => {}
    }
    Ok(key)
}

/// Bytes in memory of the keys that a client of this version uploads.
fn memory_of_keys(version: &Version) -> u64 {
    let shape = &version.table.schema().shape;
    let count = shape.elements().len() as u64 + u64::from(shape.selectors() > 0);
    count * version.setting().context().params().key_sizes().switching_key_memory
}

fn table(version: &Version) -> Value {
    let schema = version.table.schema();
    let (by, count) = match &schema.contents {
        Contents::Rows(rows) => ("number", rows.count),
        Contents::Keywords(keywords) => ("key", keywords.count),
    };
    json!({
        "by": by,
        "count": count,
        "fields": schema.fields,
        "matrix": [schema.shape.rows, schema.shape.columns],
        "selections": schema.selections(),
        "revision": version.revision(),
        "schema": version.name(),
    })
}

fn parameters(version: &Version) -> Value {
    let (schema, setting) = (version.table.schema(), version.setting());
    let (sizes, selections) = (schema.shape.sizes(setting), schema.selections() as u64);
    json!({
        "security_bits": (setting.context().params().security().bits * 10.0).floor() / 10.0,
        "n": windlass_retrieval::N,
        "log2_modulus": setting.log2_modulus(),
        "message_bits": schema.shape.message_bits,
        "keys_bytes": sizes.keys,
        "query_bytes": selections.div_ceil(schema.shape.selections as u64) * sizes.query,
        "answer_bytes": selections * sizes.answer,
        "prepared_bytes": sizes.prepared,
    })
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use axum::http::HeaderMap;
    use windlass::rlwe::SecretKey;
    use windlass::rlwe::context::os_rng;
    use windlass::wire::{sha256, to_bytes};
    use windlass_retrieval::{KeyContext, Moduli, Plan, RowStatistics, Setting, Table, TableRequirements, unobserved};

    use super::*;
    use crate::gate::Peer;

    fn table(dir: &Path) -> PathBuf {
        let rows = ["zero", "one", "two"].map(str::to_owned);
        let plan = Plan::rows(RowStatistics::of(&rows).unwrap(), &TableRequirements::default()).unwrap();
        Table::create_rows(&dir.join("table"), &plan.schema, &rows, &unobserved).unwrap();
        dir.join("table")
    }

    /// A service with a shelf in `dir`, whose clients have memory for the keys that the table needs and
    /// for no more.
    fn tight(dir: &Path) -> (Arc<Service>, Vec<JoinHandle<()>>) {
        let table = table(dir);
        let least = memory_of_keys(&Published::open(&table, false).unwrap().current());
        let setup = Setup {
            limits: Limits { client_keys: Some(least), ..Limits::default() },
            workers: 1,
            threads: 1,
            verify: false,
            panic_every: None,
            oprf_key: None,
            tokens: None,
            shelf: Some((dir.join("kept"), 1 << 30)),
            page: None,
        };
        Service::start(&table, &setup).unwrap()
    }

    /// A file of one Galois key more than `count`.
    fn keys(setting: &Arc<Setting>, count: u64) -> Vec<u8> {
        let mut rng = os_rng().unwrap();
        let secret = SecretKey::generate(setting.context(), &mut rng);
        let mut keys = EvaluationKeys::of(&secret);
        let top = setting.context().top_level();
        for element in (1..=count + 1).map(|k| 2 * k + 1) {
            keys.add_galois(&secret, element, top, &mut rng).unwrap();
        }
        to_bytes(&KeyContext::new(setting), &keys).unwrap().to_vec()
    }

    #[test]
    fn keys_on_the_disk_go_when_they_are_for_other_moduli_and_stay_when_a_client_has_no_room() {
        let dir = tempfile::tempdir().unwrap();
        let (service, workers) = tight(dir.path());
        let shelf = service.shelf.as_ref().unwrap();
        let peer = Peer { address: IpAddr::V4(Ipv4Addr::LOCALHOST), certificate: None };
        let caller = service.gate.admit(&HeaderMap::new(), &peer).unwrap();
        let version = service.published.current();
        let one = version.setting().context().params().key_sizes().switching_key_memory;
        let large = keys(version.setting(), service.keys.share() / one);
        let name = sha256(&large);
        shelf.keep(&name, &large);
        assert_eq!(service.take_up(&name, &large, &caller).unwrap_err().kind, &Kind::KEYS_TOO_LARGE);
        assert!(service.known(&name, &caller).is_none());
        assert!(shelf.read(&name).is_some(), "they are for this table");
        let moduli = [Moduli::Compact, Moduli::Wide];
        let settings = moduli.map(|moduli| Setting::new(moduli).unwrap());
        let own = version.setting().modulus();
        let other = settings.iter().find(|setting| setting.modulus() != own).unwrap();
        let foreign = keys(other, 0);
        let name = sha256(&foreign);
        shelf.keep(&name, &foreign);
        assert!(service.known(&name, &caller).is_none() && shelf.read(&name).is_none());
        service.queue.close();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    }
}
