//! Bodies of requests: bounded in bytes and in time, each and all together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;

use crate::problem::{Kind, Problem};
use crate::service::Service;

/// Time without a byte after which the rest of a body that was refused is no longer waited for.
const SILENCE: Duration = Duration::from_secs(2);

/// How long a body may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Longest {
    /// Its bytes.
    pub bytes: usize,
    /// The rows of a query that has as many; nothing for evaluation keys.
    pub rows: Option<usize>,
}

impl Longest {
    /// The refusal of a longer one.
    fn exceeded(self) -> Problem {
        let Self { bytes, rows } = self;
        match rows {
            None => Problem::new(&Kind::KEYS_TOO_LARGE, format!("at most {bytes} bytes are read")),
            Some(rows) => {
                let cause = format!("at most {bytes} bytes are read, those of a request for {rows} rows");
                Problem::new(&Kind::TOO_LARGE, cause)
            }
        }
    }
}

impl Service {
    /// A body that is no longer than `most`, and its room among the bodies of others, which it waits for.
    ///
    /// # Errors
    /// [`Kind::TOO_LARGE`] or [`Kind::KEYS_TOO_LARGE`], [`Kind::TOO_SLOW`], [`Kind::BUSY`]; [`Kind::UNREADABLE`] for one that
    /// breaks off.
    pub(crate) async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
        most: Longest,
    ) -> Result<(Vec<u8>, OwnedSemaphorePermit), Problem> {
        let length = stated(headers).and_then(|length| usize::try_from(length).ok());
        let length = length.unwrap_or(most.bytes).min(most.bytes);
        let kibibytes = |bytes: usize| u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let wanted = kibibytes(length).min(kibibytes(self.limits.bodies));
        let room = Arc::clone(&self.bodies).acquire_many_owned(wanted);
        let busy = || Problem::new(&Kind::BUSY, "too many bodies are being read").retry_after(self.retry_after());
        let room = tokio::time::timeout(self.limits.body, room).await.map_err(|_| busy())?.map_err(|_| busy())?;
        let mut kept = Vec::with_capacity(length);
        self.take(headers, body, most, |data| kept.extend_from_slice(data)).await?;
        Ok((kept, room))
    }

    /// Takes a body of which nothing is needed.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) async fn throw_away(&self, headers: &HeaderMap, body: Body, most: Longest) -> Result<(), Problem> {
        self.take(headers, body, most, |_| ()).await
    }

    /// The refusal of a request, once its body has been thrown away.
    pub(crate) async fn hear(&self, headers: &HeaderMap, body: Body, most: Longest, problem: Problem) -> Problem {
        self.throw_away(headers, body, most).await.err().unwrap_or(problem)
    }

    /// Hands the pieces of a body on.
    async fn take(
        &self,
        headers: &HeaderMap,
        mut body: Body,
        most: Longest,
        mut keep: impl FnMut(&[u8]),
    ) -> Result<(), Problem> {
        let Longest { bytes, .. } = most;
        if stated(headers).is_some_and(|length| length > bytes as u64) {
            throw_rest_away(body, self.limits.body);
            return Err(most.exceeded());
        }
        let whole = async {
            let mut seen = 0;
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| Problem::new(&Kind::UNREADABLE, error))?;
                let Ok(data) = frame.into_data() else { continue };
                seen += data.len();
                if seen > bytes {
                    return Ok(false);
                }
                keep(&data);
            }
            Ok(true)
        };
        let slow = || Problem::new(&Kind::TOO_SLOW, format!("more than {} s", self.limits.body.as_secs_f64()));
        if tokio::time::timeout(self.limits.body, whole).await.unwrap_or_else(|_| Err(slow()))? {
            return Ok(());
        }
        throw_rest_away(body, self.limits.body);
        Err(most.exceeded())
    }
}

/// Takes the rest of a body that is refused, within some time, while the refusal is sent: most clients read
/// the response when they have sent everything, and one who is cut off while sending hears nothing.
fn throw_rest_away(mut body: Body, most: Duration) {
    let rest = async move { while let Ok(Some(Ok(_))) = tokio::time::timeout(SILENCE, body.frame()).await {} };
    tokio::spawn(tokio::time::timeout(most, rest));
}

/// The length that a request states.
fn stated(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
