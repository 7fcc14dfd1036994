//! A query, from the schema to the row.

use std::sync::Arc;
use std::time::Duration;

use windlass::wire::{OVERHEAD, from_bytes, hex, sha256, to_bytes};
use windlass_retrieval::{
    Answer, Blinding, Client, HiddenKeys, OUTPUT_BYTES, Schema, TableContext, Wanted, decode_record,
};

use super::error::{AskError, Result};
use super::http::{Remote, Response};
use super::state::State;

/// How often a query is repeated that the service has no time for.
const TRIES: u32 = 8;
/// Longest wait between two of them, in seconds.
const LONGEST_WAIT: u64 = 30;

/// A client of a service and of its table, with its keys.
pub struct Asker {
    remote: Remote,
    client: Arc<Client>,
    files: TableContext,
    keys: Vec<u8>,
    name: String,
    /// Times that the keys were uploaded.
    pub uploads: u64,
    /// Times that the service had no time.
    pub waits: u64,
    /// Hears how long is waited, and why.
    told: Option<Box<dyn Fn(&str) + Send + Sync>>,
}

impl Asker {
    /// Fetches the schema of a service's table.
    ///
    /// # Errors
    /// [`AskError::Unreachable`], [`AskError::Refused`]; a body that is not a schema.
    pub fn schema(remote: &Remote) -> Result<(Schema, Arc<windlass_retrieval::Setting>)> {
        let response = remote.get("/schema")?;
        if response.status != 200 {
            return Err(remote.refused(&response));
        }
        Ok(Schema::from_json(&response.body)?)
    }

    /// A client with the keys of a state directory, which are made if they are missing, after
    /// `told` has received λ.
    ///
    /// # Errors
    /// As [`Self::schema`], [`State::pin`] and [`State::client`].
    pub fn new(
        remote: Remote,
        state: &State,
        accepted: Option<&str>,
        told: impl FnOnce(f64) -> Result<()>,
    ) -> Result<Self> {
        let (schema, setting) = Self::schema(&remote)?;
        state.pin(remote.address(), &schema, accepted)?;
        let client = state.client(schema, &setting, told)?;
        let keys = state.evaluation_keys(&client)?;
        Ok(Self::of(remote, client, keys))
    }

    /// A client with the file of its evaluation keys.
    pub fn of(remote: Remote, client: Client, keys: Vec<u8>) -> Self {
        let files = TableContext::new(client.setting(), client.schema());
        let name = hex(&sha256(&keys));
        Self { remote, client: Arc::new(client), files, keys, name, uploads: 0, waits: 0, told: None }
    }

    /// Before each wait, gives `told` its length and its reason.
    #[must_use]
    pub fn telling(self, told: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { told: Some(Box::new(told)), ..self }
    }

    /// The table's schema.
    pub fn table(&self) -> &Schema {
        self.client.schema()
    }

    /// λ, rounded down to a tenth.
    pub fn security_bits(&self) -> f64 {
        (self.client.setting().context().params().security().bits * 10.0).floor() / 10.0
    }

    /// The file of the evaluation keys, and its name.
    pub fn keys(&self) -> (&str, &[u8]) {
        (&self.name, &self.keys)
    }

    /// Uploads the evaluation keys.
    ///
    /// # Errors
    /// [`AskError::Unreachable`], [`AskError::Refused`].
    pub fn upload(&mut self) -> Result<()> {
        self.uploads += 1;
        let response = self.remote.put_keys(&self.name, &self.keys)?;
        if response.status < 300 { Ok(()) } else { Err(self.remote.refused(&response)) }
    }

    /// Uploads the evaluation keys where they are not known yet.
    ///
    /// # Errors
    /// As [`Self::upload`].
    pub fn introduce(&mut self) -> Result<()> {
        if self.remote.has_keys(&self.name)? { Ok(()) } else { self.upload() }
    }

    /// The bytes of a query.
    ///
    /// # Errors
    /// A row that the table does not have, a query that it does not take.
    pub fn query(&self, wanted: &Wanted) -> Result<Vec<u8>> {
        Ok(to_bytes(&self.files, &self.client.query(wanted)?)?.to_vec())
    }

    /// The earlier name of [`Self::query`].
    ///
    /// # Errors
    /// As [`Self::query`].
    #[deprecated(since = "0.3.0", note = "use `query`")]
    pub fn question(&self, wanted: &Wanted) -> Result<Vec<u8>> {
        self.query(wanted)
    }

    /// Sends a query. Keys that had to make room are uploaded again, and a service without time
    /// is asked again when it says.
    ///
    /// # Errors
    /// [`AskError::Unreachable`], [`AskError::Refused`].
    pub fn send(&mut self, wanted: &Wanted, query: &[u8]) -> Result<Vec<u8>> {
        self.exchange(wanted.count(), query)
    }

    /// Sends a query for so many rows.
    fn exchange(&mut self, rows: usize, query: &[u8]) -> Result<Vec<u8>> {
        let most = self.files.answer_bytes(rows) + OVERHEAD as u64;
        self.patiently(|asker| asker.remote.ask(&asker.name, query, most))
    }

    /// Repeats a request while the service has no time for it, or no keys.
    fn patiently(&mut self, request: impl Fn(&Self) -> Result<Response>) -> Result<Vec<u8>> {
        let (mut tries, mut patience) = (0, self.remote.patience());
        loop {
            let response = request(self)?;
            if response.status == 200 {
                return Ok(response.body);
            }
            tries += 1;
            match wait_for(&response) {
                _ if tries == TRIES => return Err(self.remote.refused(&response)),
                Some(0) => self.upload()?,
                Some(seconds) => {
                    let wait = Duration::from_secs(seconds.min(LONGEST_WAIT));
                    let Some(left) = patience.checked_sub(wait) else { return Err(self.remote.refused(&response)) };
                    patience = left;
                    self.waits += 1;
                    if let Some(told) = &self.told {
                        told(&format!("waiting {} s {}", wait.as_secs(), reason(&response)));
                    }
                    std::thread::sleep(wait);
                }
                None => return Err(self.remote.refused(&response)),
            }
        }
    }

    /// The rows in an answer; `None` for a key that the table does not have, and for a row that was
    /// removed.
    ///
    /// # Errors
    /// A body that is not an answer, or an answer to another query.
    pub fn rows(&self, wanted: &Wanted, answer: &[u8]) -> Result<Vec<Option<Vec<u8>>>> {
        let answer: Answer = from_bytes(&self.files, answer)?;
        Ok(self.there(self.client.read(&answer, wanted)?))
    }

    /// Rows without those that were cleared.
    fn there(&self, rows: Vec<Option<Vec<u8>>>) -> Vec<Option<Vec<u8>>> {
        rows.into_iter().map(|row| row.filter(|row| !self.table().is_cleared(row))).collect()
    }

    /// Asks for rows; where the keys of the table are hidden, with the help of the service, which
    /// does not learn them.
    ///
    /// # Errors
    /// All of the above.
    pub fn ask(&mut self, wanted: &Wanted) -> Result<Vec<Option<Vec<u8>>>> {
        let client = Arc::clone(&self.client);
        let Some(outputs) = self.hide(wanted)? else {
            let query = self.query(wanted)?;
            let answer = self.send(wanted, &query)?;
            return self.rows(wanted, &answer);
        };
        let hidden = HiddenKeys::new(client.schema(), outputs)?;
        let wanted = hidden.wanted();
        let query = self.query(&wanted)?;
        let answer = self.send(&wanted, &query)?;
        let answer: Answer = from_bytes(&self.files, &answer)?;
        Ok(self.there(hidden.open(client.read(&answer, &wanted)?)?))
    }

    /// What stands for keys in a table that hides them; none in one that does not.
    fn hide(&mut self, wanted: &Wanted) -> Result<Option<Vec<[u8; OUTPUT_BYTES]>>> {
        let Wanted::Keys(keys) = wanted else { return Ok(None) };
        if self.table().oprf.is_none() || keys.is_empty() {
            return Ok(None);
        }
        let blinding = Blinding::new(keys)?;
        let points = self.patiently(|asker| asker.remote.blind(blinding.points()))?;
        Ok(Some(blinding.finish(&points)?))
    }

    /// Asks for rows in portions: short rows of a table with long ones cost little, and the service
    /// learns about how long each row is ([`Client::in_portions`]).
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_in_portions(&mut self, wanted: &Wanted) -> Result<Vec<Option<Vec<u8>>>> {
        let client = Arc::clone(&self.client);
        let mut gathering = client.in_portions(wanted.clone());
        while let Some(query) = gathering.query()? {
            let bytes = to_bytes(&self.files, &query)?;
            let answer = self.exchange(gathering.count(), &bytes)?;
            gathering.read(&from_bytes(&self.files, &answer)?)?;
        }
        Ok(self.there(gathering.rows()?))
    }

    /// The cells of a row, where rows are fields; none where they are bytes.
    ///
    /// # Errors
    /// [`AskError::NotARow`].
    pub fn cells(&self, row: &[u8]) -> Result<Option<Vec<(&str, String)>>> {
        let fields = &self.table().fields;
        if fields.is_empty() {
            return Ok(None);
        }
        let cells = decode_record(row, fields.len()).ok_or(AskError::NotARow)?;
        Ok(Some(fields.iter().map(String::as_str).zip(cells).collect()))
    }
}

/// For what is waited.
fn reason(response: &Response) -> &'static str {
    match response.problem().as_deref() {
        Some("quota") => "for the quota",
        Some("stopping") => "for the service, which is stopping",
        _ => "for the service, which is busy",
    }
}

/// Seconds to wait before the query is sent again, 0 when keys are to be uploaded before; none
/// when it is of no use.
fn wait_for(response: &Response) -> Option<u64> {
    match response.problem()?.as_str() {
        "unknown-keys" => Some(0),
        "busy" | "stopping" | "quota" => Some(response.retry_after.unwrap_or(1).max(1)),
        _ => None,
    }
}
