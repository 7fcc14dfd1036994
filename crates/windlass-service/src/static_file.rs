//! A file that browsers keep: they ask whether it has changed, and are sent it once, compressed.

use std::io::Write as _;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use windlass::wire::{hex, sha256};

/// A file in the two forms in which it is sent.
#[derive(Debug)]
pub struct StaticFile {
    kind: &'static str,
    plain: Form,
    /// Absent if it is no shorter.
    compressed: Option<Form>,
}

/// Bytes and their tag, which tells the two forms apart.
#[derive(Debug)]
struct Form {
    bytes: Bytes,
    tag: String,
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a vector takes all bytes")
}

/// The parts of a header that is a list, in however many lines it comes.
fn listed(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    headers.get_all(name).iter().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')).map(str::trim)
}

/// Whether the browser reads gzip: it is named, and not with the weight zero.
fn reads_gzip(headers: &HeaderMap) -> bool {
    listed(headers, header::ACCEPT_ENCODING).any(|offer| {
        let (coding, weight) = offer.split_once(';').unwrap_or((offer, "q=1"));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        coding.trim().eq_ignore_ascii_case("gzip") && weight.is_some_and(|weight| weight > 0.0)
    })
}

/// Whether the browser has the form with that tag. A proxy may have made the tag weak.
fn has(headers: &HeaderMap, tag: &str) -> bool {
    listed(headers, header::IF_NONE_MATCH).any(|kept| kept == "*" || kept.strip_prefix("W/").unwrap_or(kept) == tag)
}

impl StaticFile {
    /// A file of that type.
    pub fn new(kind: &'static str, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let name = hex(&sha256(&bytes)[..16]);
        let short = gzip(&bytes);
        let compressed =
            (short.len() < bytes.len()).then(|| Form { bytes: Bytes::from(short), tag: format!("\"{name}-gzip\"") });
        Self { kind, plain: Form { bytes, tag: format!("\"{name}\"") }, compressed }
    }

    /// The answer to a request with these headers: the file, or 304 if the browser has it.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let compressed = self.compressed.as_ref().filter(|_| reads_gzip(headers));
        let form = compressed.unwrap_or(&self.plain);
        let mut response = Response::new(Body::empty());
        let mut set = |name, value: &str| {
            response.headers_mut().insert(name, HeaderValue::from_str(value).expect("the value is ASCII"));
        };
        set(header::ETAG, &form.tag);
        set(header::CACHE_CONTROL, "no-cache");
        set(header::VARY, "Accept-Encoding");
        if has(headers, &form.tag) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        set(header::CONTENT_TYPE, self.kind);
        if compressed.is_some() {
            set(header::CONTENT_ENCODING, "gzip");
        }
        *response.body_mut() = Body::from(form.bytes.clone());
        response
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use http_body_util::BodyExt as _;

    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn body(response: Response) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(response.into_body().collect()).unwrap().to_bytes().to_vec()
    }

    fn tag(response: &Response) -> String {
        response.headers()[header::ETAG].to_str().unwrap().to_owned()
    }

    #[test]
    fn a_browser_that_reads_gzip_gets_less_and_the_same_file() {
        let text = "the same words again and again. ".repeat(100);
        let file = StaticFile::new("text/javascript", text.clone().into_bytes());
        let plain = file.answer(&HeaderMap::new());
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
        assert_eq!(plain.headers()[header::VARY], "Accept-Encoding");
        let short = file.answer(&headers(&[(header::ACCEPT_ENCODING, "br, GZIP;q=0.5")]));
        assert_eq!(short.headers()[header::CONTENT_ENCODING], "gzip");
        assert_ne!(tag(&plain), tag(&short));
        assert_eq!(body(plain), text.as_bytes());
        let (short, mut again) = (body(short), String::new());
        assert!(short.len() < text.len() / 10, "{}", short.len());
        GzDecoder::new(&short[..]).read_to_string(&mut again).unwrap();
        assert_eq!(again, text);
        for none in ["br", "gzip;q=0", "gzip; q=0.0", "gzip;q=much", "xgzip"] {
            let answer = file.answer(&headers(&[(header::ACCEPT_ENCODING, none)]));
            assert!(!answer.headers().contains_key(header::CONTENT_ENCODING), "{none}");
        }
    }

    #[test]
    fn a_file_that_compression_would_lengthen_is_sent_as_it_is() {
        let file = StaticFile::new("text/javascript", "short");
        let answer = file.answer(&headers(&[(header::ACCEPT_ENCODING, "gzip")]));
        assert!(!answer.headers().contains_key(header::CONTENT_ENCODING));
        assert_eq!(body(answer), b"short");
    }

    #[test]
    fn a_browser_is_sent_a_file_once_and_again_only_if_it_changed() {
        let file = StaticFile::new("text/javascript", "let x = 1;");
        let first = file.answer(&HeaderMap::new());
        assert_eq!(
            (first.status(), &first.headers()[header::CACHE_CONTROL]),
            (StatusCode::OK, &"no-cache".parse().unwrap())
        );
        let kept = tag(&first);
        for known in [kept.clone(), format!("\"other\", W/{kept}"), "*".to_owned()] {
            let again = file.answer(&headers(&[(header::IF_NONE_MATCH, &known)]));
            assert_eq!((again.status(), tag(&again)), (StatusCode::NOT_MODIFIED, kept.clone()), "{known}");
            assert!(body(again).is_empty());
        }
        let changed = StaticFile::new("text/javascript", "let x = 2;");
        assert_eq!(changed.answer(&headers(&[(header::IF_NONE_MATCH, &kept)])).status(), StatusCode::OK);
    }

    #[test]
    fn a_tag_of_one_form_does_not_stand_for_the_other() {
        let file = StaticFile::new("text/javascript", "a".repeat(1000));
        let plain = tag(&file.answer(&HeaderMap::new()));
        let asked = headers(&[(header::ACCEPT_ENCODING, "gzip"), (header::IF_NONE_MATCH, &plain)]);
        assert_eq!(file.answer(&asked).status(), StatusCode::OK);
    }
}
