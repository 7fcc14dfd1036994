//! What is answered at which path.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{MatchedPath, Path, Query as Parameters, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::IntoResponse as _;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use serde::Deserialize;
use tokio::sync::oneshot;
use windlass::rlwe::EvaluationKeys;
use windlass::wire::{hex, sha256};
use windlass_retrieval::{MOST_ROWS, POINT_BYTES, longest_keys};

use crate::bodies::Longest;
use crate::gate::{Caller, Peer};
use crate::keys::{KeyName, parse_name};
use crate::metrics;
use crate::problem::{Kind, Problem};
use crate::queue::{Job, Refusal};
use crate::service::Service;

type Shared = State<Arc<Service>>;

/// Every path, with its methods: the description names the same ones.
pub const ROUTES: [(&str, &[&str]); 10] = [
    ("/", &["get"]),
    ("/client/{*path}", &["get"]),
    ("/schema", &["get"]),
    ("/keys/{sha256}", &["head", "put"]),
    ("/blind", &["post"]),
    ("/ask", &["post"]),
    ("/metrics", &["get"]),
    ("/stats.json", &["get"]),
    ("/health", &["get"]),
    ("/openapi.json", &["get"]),
];

/// The description.
pub const OPENAPI: &str = include_str!("openapi.json");

/// The service as an application of HTTP.
pub fn application(service: &Arc<Service>) -> Router {
    let route = |path| -> MethodRouter<Arc<Service>> {
        match path {
            "/" => get(page),
            "/client/{*path}" => get(client),
            "/schema" => get(schema),
            "/keys/{sha256}" => MethodRouter::new().head(has_keys).put(put_keys),
            "/blind" => post(blind),
            "/ask" => post(ask),
            "/metrics" => get(counters),
            "/stats.json" => get(stats),
            "/health" => get(|| async { "ok\n" }),
            "/openapi.json" => get(|| async { with_type("application/json", OPENAPI) }),
            _ => unreachable!("every path has its function"),
        }
    };
    let paths = ROUTES.iter().fold(Router::new(), |paths, (path, _)| paths.route(path, route(path)));
    let other = |method: Method| async move { Problem::new(&Kind::METHOD, format!("{method} is not for this page")) };
    paths
        .fallback(|request: Request| async move { Problem::new(&Kind::NOT_FOUND, request.uri().path()) })
        .method_not_allowed_fallback(other)
        .layer(middleware::from_fn_with_state(Arc::clone(service), admit))
        .layer(middleware::from_fn_with_state(Arc::clone(service), observe))
        .with_state(Arc::clone(service))
}

/// Pages without a token, for monitoring the service and for authors of clients.
const OPEN: [&str; 2] = ["/health", "/openapi.json"];

/// Lets those pass who may ask, and tells the functions behind who it is.
async fn admit(State(service): Shared, mut request: Request, next: Next) -> Response {
    let unknown = || Peer { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), certificate: None };
    let peer = request.extensions().get::<Peer>().cloned().unwrap_or_else(unknown);
    match service.gate.admit(request.headers(), &peer) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(_) if OPEN.contains(&request.uri().path()) => next.run(request).await,
        Err(problem) => {
            let most = keys_body(&service);
            let (parts, body) = request.into_parts();
            service.hear(&parts.headers, body, most, problem).await.into_response()
        }
    }
}

/// Counts and logs every request.
async fn observe(State(service): Shared, request: Request, next: Next) -> Response {
    let (begun, _open) = (Instant::now(), service.metrics.open());
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let mut response = next.run(request).await;
    let status = response.status().as_u16();
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let seconds = begun.elapsed().as_secs_f64();
    tracing::info!(%method, route, status, seconds, "request");
    service.metrics.requests.get_or_create(&metrics::Request { route, status }).inc();
    response
}

fn with_type(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn page(State(service): Shared) -> Response {
    with_policy(&service, with_type("text/html; charset=utf-8", service.site.page()))
}

/// A file of the client that runs on the page. A worker keeps to the policy of its own file.
async fn client(State(service): Shared, path: Named, headers: HeaderMap) -> Result<Response, Problem> {
    let Path(path) = path.map_err(|error| Problem::new(&Kind::NOT_FOUND, error.body_text()))?;
    let answer = service.site.answer(&path, &headers);
    let answer = answer.ok_or_else(|| Problem::new(&Kind::NOT_FOUND, format!("/client/{path}")))?;
    Ok(with_policy(&service, answer))
}

fn with_policy(service: &Service, mut response: Response) -> Response {
    let policy = HeaderValue::from_str(&service.site.policy()).expect("the policy is ASCII");
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

async fn counters(State(service): Shared) -> Response {
    with_type("application/openmetrics-text; version=1.0.0; charset=utf-8", service.metrics())
}

async fn stats(State(service): Shared) -> Response {
    with_type("application/json", service.stats().to_string())
}

async fn schema(State(service): Shared) -> Response {
    let version = service.published.current();
    let mut response = with_type("application/json", version.schema.clone());
    let tag = HeaderValue::from_str(&format!("\"{}\"", version.name())).expect("hexadecimal digits");
    response.headers_mut().insert(header::ETAG, tag);
    response
}

fn named(name: &str) -> Result<KeyName, Problem> {
    parse_name(name).ok_or_else(|| Problem::new(&Kind::BAD_NAME, "it is not 64 hexadecimal digits"))
}

type Named = Result<Path<String>, PathRejection>;

/// The name in a path.
fn in_path(name: Named) -> Result<KeyName, Problem> {
    named(&name.map_err(|error| Problem::new(&Kind::BAD_NAME, error.body_text()))?.0)
}

async fn has_keys(
    State(service): Shared,
    Extension(caller): Extension<Caller>,
    name: Named,
) -> Result<StatusCode, Problem> {
    known(&service, in_path(name)?, caller).await.map(|_| StatusCode::OK)
}

/// The keys of that name.
async fn known(service: &Arc<Service>, name: KeyName, caller: Caller) -> Result<Arc<EvaluationKeys>, Problem> {
    let unknown = || Problem::new(&Kind::UNKNOWN_KEYS, hex(&name));
    match service.keys.get(&name) {
        Some(keys) => Ok(keys),
        None if service.shelf.is_none() => Err(unknown()),
        None => {
            let service = Arc::clone(service);
            compute(move || Ok(service.known(&name, &caller))).await?.ok_or_else(unknown)
        }
    }
}

/// The longest body with evaluation keys.
fn keys_body(service: &Service) -> Longest {
    Longest { bytes: longest_keys(service.published.current().setting()), rows: None }
}

async fn put_keys(
    State(service): Shared,
    Extension(caller): Extension<Caller>,
    name: Named,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let most = keys_body(&service);
    let name = match in_path(name) {
        Ok(name) => name,
        Err(problem) => return Err(service.hear(&headers, body, most, problem).await),
    };
    if service.keys.get(&name).is_some() {
        service.throw_away(&headers, body, most).await?;
        return Ok(StatusCode::NO_CONTENT);
    }
    let (body, room) = service.read(&headers, body, most).await?;
    compute(move || {
        let _room = room;
        let found = sha256(&body);
        if found != name {
            return Err(Problem::new(&Kind::OTHER_NAME, format!("the SHA-256 of the body is {}", hex(&found))));
        }
        service.take_up(&name, &body, &caller)?;
        Ok(StatusCode::CREATED)
    })
    .await
}

async fn blind(
    State(service): Shared,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let rows = service.limits.rows.min(MOST_ROWS);
    let most = Longest { bytes: rows * POINT_BYTES, rows: Some(rows) };
    let (body, room) = service.read(&headers, body, most).await?;
    let points = compute(move || {
        let _room = room;
        service.blind(&caller, &body)
    });
    Ok(with_type("application/octet-stream", points.await?))
}

/// The parameters of `/ask`.
#[derive(Debug, Deserialize)]
struct Asked {
    keys: Option<String>,
}

/// The keys that `/ask` names.
async fn asked_keys(
    service: &Arc<Service>,
    asked: Result<Parameters<Asked>, QueryRejection>,
    caller: &Caller,
) -> Result<Arc<EvaluationKeys>, Problem> {
    let Parameters(asked) = asked.map_err(|error| Problem::new(&Kind::BAD_NAME, error.body_text()))?;
    let missing = || Problem::new(&Kind::BAD_NAME, "the parameter 'keys' is missing");
    let name = named(&asked.keys.ok_or_else(missing)?)?;
    let found = known(service, name, caller.clone()).await;
    found.inspect_err(|_| {
        service.metrics.missed.inc();
    })
}

async fn ask(
    State(service): Shared,
    Extension(caller): Extension<Caller>,
    asked: Result<Parameters<Asked>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let begun = Instant::now();
    let deadline = begun + service.limits.answer;
    let version = service.published.current();
    let schema = version.table.schema();
    let bytes = service.limits.query_body(schema, version.setting());
    let most = Longest { bytes, rows: Some(service.limits.rows_at_once(schema)) };
    drop(version);
    // Who has no keys here takes no memory either.
    let keys = match asked_keys(&service, asked, &caller).await {
        Ok(keys) => keys,
        Err(problem) => return Err(service.hear(&headers, body, most, problem).await),
    };
    let (body, room) = service.read(&headers, body, most).await?;
    let (reply, answer) = oneshot::channel();
    let asker = Arc::clone(&service);
    compute(move || {
        let (version, _room) = (asker.published.current(), room);
        let query = asker.read_query(&version, &keys, &body)?;
        let portions = version.portions(&query);
        asker.gate.take(&caller, portions)?;
        let job = Job { keys, query, schema: version.hash, deadline, reply };
        asker.queue.push(job).map_err(|refusal| {
            asker.gate.give_back(&caller, portions);
            match refusal {
                Refusal::Full => Problem::new(&Kind::BUSY, "the queue is full").retry_after(asker.retry_after()),
                Refusal::Closed => Problem::new(&Kind::STOPPING, "no new queries are taken").retry_after(5),
            }
        })
    })
    .await?;
    let late = || {
        let seconds = service.limits.answer.as_secs_f64();
        Problem::new(&Kind::TIMEOUT, format!("{seconds} s have passed, the service's --answer-seconds"))
    };
    let answer = match tokio::time::timeout_at(deadline.into(), answer).await {
        Ok(Ok(answer)) => answer?,
        // The worker dropped it: nobody was to wait any more, or it is gone.
        Ok(Err(_)) if Instant::now() >= deadline => return Err(late()),
        Ok(Err(_)) => return Err(Problem::new(&Kind::FAILED, "the worker ended before the answer was there")),
        Err(_) => return Err(late().retry_after(service.retry_after())),
    };
    service.metrics.answered(begun.elapsed());
    Ok(with_type("application/octet-stream", answer))
}

/// Work that would hold up the other connections.
async fn compute<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Problem::new(&Kind::FAILED, "reading the body ended in a panic, which is our bug")))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_description_names_every_path_and_every_problem() {
        let description: Value = serde_json::from_str(OPENAPI).unwrap();
        assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
        assert_eq!(description["info"]["version"], env!("CARGO_PKG_VERSION"));
        let paths = description["paths"].as_object().unwrap();
        assert_eq!(paths.len(), ROUTES.len());
        for (path, methods) in ROUTES {
            // A path of several parts, in the words of axum.
            let described = paths[&path.replace("{*", "{")].as_object().unwrap();
            for method in methods {
                assert!(described[*method]["responses"].is_object(), "{method} {path}");
            }
            let described = described.keys().filter(|key| *key != "parameters").count();
            assert_eq!(described, methods.len(), "{path}");
        }
        let problems =
            description["components"]["schemas"]["Problem"]["properties"]["type"]["enum"].as_array().unwrap();
        let named: Vec<&str> = problems.iter().map(|name| name.as_str().unwrap()).collect();
        let all: Vec<String> = Kind::ALL.iter().map(|kind| format!("/openapi.json#{}", kind.name)).collect();
        assert_eq!(named, all);
    }
}
