//! `windlass serve`: a prepared table over HTTP.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use mimalloc::MiMalloc;
use serde_json::json;
use tokio::net::TcpListener;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use windlass_service::client::{Access, Remote};
use windlass_service::limits::Limits;
use windlass_service::routes::application;
use windlass_service::server;
use windlass_service::service::{Service, Setup};
use windlass_service::start_error::StartError;

/// Megabytes come and go here, keys and queries. The system's allocator keeps ever larger ones in its
/// heap, which then grows for as long as clients come and go (design 0018).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Serves a prepared table over HTTP: encrypted queries in, encrypted answers out.
#[derive(Debug, Parser)]
#[command(name = "windlass serve", version)]
struct Args {
    /// The directory of the prepared table. When it changes or is replaced, the service serves the
    /// new version.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["new_token", "health"])]
    table: Option<PathBuf>,
    /// The address and port to listen on. Port 0 takes a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8765")]
    listen: SocketAddr,
    /// The OPRF key that hides the keys of the table (windlass table build --oprf-key).
    #[arg(long, value_name = "FILE")]
    oprf_key: Option<PathBuf>,
    /// Let visitors of the service's page ask for rows there. Their browser runs the client, which is in
    /// this folder: `js` of this version of Windlass after `make wasm`, or its npm package windlass. A browser
    /// sends no token, so not with --tokens.
    #[arg(long, value_name = "DIR", conflicts_with = "tokens")]
    page: Option<PathBuf>,
    /// Certificates for TLS, in PEM form.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the first certificate of --tls-cert.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Serve only clients with a certificate that one of these authorities signed (PEM; mutual
    /// TLS).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,
    /// Serve only clients whose token is in this file, with lines NAME SHA256-OF-TOKEN
    /// [PORTIONS-A-MINUTE]. The service reads the file again when it changes.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Serve nothing. Make a token for a client, print it, and add its line to --tokens, with
    /// --quota if that is given.
    #[arg(long, value_name = "NAME", requires = "tokens", conflicts_with = "table")]
    new_token: Option<String>,
    /// Serve nothing. Ask the service at this address whether it runs: exit code 0 if it does, 1 if not. It
    /// uses no proxy. For health checks of containers.
    #[arg(long, value_name = "URL", conflicts_with_all = ["table", "new_token"])]
    health: Option<String>,
    /// Portions of rows that each client may ask for in a minute [default: no limit]. Clients are
    /// distinguished by token, certificate or address. A row counts as many portions as the longest
    /// row of the table has, which is one unless `windlass table plan` prints "long rows". With
    /// hidden keys it counts one more, for the help with its key.
    #[arg(long, value_name = "PORTIONS", value_parser = clap::value_parser!(u32).range(1..))]
    quota: Option<u32>,
    /// MiB of the key cache that one client may use [default: all].
    #[arg(long, value_name = "MIB")]
    client_keys: Option<u64>,
    /// Also keep evaluation keys in this directory, so that the service has them after a restart.
    #[arg(long, value_name = "DIR")]
    key_dir: Option<PathBuf>,
    /// MiB of evaluation keys in --key-dir.
    #[arg(long, value_name = "MIB", default_value_t = 4096, requires = "key_dir")]
    key_disk: u64,
    /// Threads that compute [default: one for each core].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Passes over the table that run at the same time and share the threads.
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers: usize,
    /// MiB of memory for evaluation keys.
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    key_cache: u64,
    /// Selections that may wait for a pass.
    #[arg(long, value_name = "N", default_value_t = 512)]
    queue: usize,
    /// MiB of memory for bodies that are being read.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    bodies: usize,
    /// Rows that one request may ask for. The limit is lower if they need more than 256 selections.
    #[arg(long, value_name = "N", default_value_t = 32)]
    rows: usize,
    /// Connections at the same time.
    #[arg(long, value_name = "N", default_value_t = 256)]
    connections: usize,
    /// Seconds for the head of a request, and for an idle connection.
    #[arg(long, value_name = "S", default_value = "20", value_parser = seconds)]
    head_seconds: Duration,
    /// Seconds for the body of a request.
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds)]
    body_seconds: Duration,
    /// Seconds for an answer, including the time in the queue.
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    answer_seconds: Duration,
    /// Seconds that a client may wait before it reads a response.
    #[arg(long, value_name = "S", default_value = "20", value_parser = seconds)]
    stalled_seconds: Duration,
    /// Seconds for open connections after a signal to stop.
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    drain_seconds: Duration,
    /// Do not verify the checksums of the table. Damage of its files is then not detected.
    #[arg(long)]
    no_verify: bool,
    /// Log one JSON object a line.
    #[arg(long)]
    json: bool,
    /// What to log on standard error.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: Level,
    /// For drills: one pass in so many panics.
    #[arg(long, hide = true, value_name = "N")]
    drill_panic_every: Option<u64>,
}

/// What is logged.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    /// Failures.
    Error,
    /// Warnings and failures.
    Warn,
    /// Also every request.
    Info,
    /// Also every pass and every connection.
    Debug,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "give a number of seconds".to_owned())?;
    let duration =
        Duration::try_from_secs_f64(seconds).ok().filter(|time| (0.001..=86_400.0).contains(&time.as_secs_f64()));
    duration.ok_or_else(|| "give 0.001 to 86400 seconds".to_owned())
}

impl Args {
    fn setup(&self) -> Result<Setup, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or(cores);
        for (name, count, most) in [
            ("threads", threads, 1024),
            ("workers", self.workers, 1024),
            ("queue", self.queue, 1 << 20),
            ("rows", self.rows, windlass_retrieval::MOST_ROWS),
            ("connections", self.connections, 1 << 16),
            ("bodies", self.bodies, 1 << 20),
        ] {
            if count == 0 || count > most {
                return Err(format!("--{name} takes a number from 1 to {most}"));
            }
        }
        let limits = Limits {
            keys: self.key_cache.saturating_mul(1 << 20),
            client_keys: self.client_keys.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
            client_portions: self.quota,
            queue: self.queue,
            rows: self.rows,
            bodies: self.bodies.saturating_mul(1 << 20),
            connections: self.connections,
            head: self.head_seconds,
            body: self.body_seconds,
            answer: self.answer_seconds,
            stalled: self.stalled_seconds,
            drain: self.drain_seconds,
        };
        let threads = (threads / self.workers).max(1);
        let panic_every = self.drill_panic_every.filter(|every| *every > 0);
        let shelf = self.key_dir.clone().map(|dir| (dir, self.key_disk.saturating_mul(1 << 20)));
        let (tokens, oprf_key, page) = (self.tokens.clone(), self.oprf_key.clone(), self.page.clone());
        let verify = !self.no_verify;
        Ok(Setup { limits, workers: self.workers, threads, verify, panic_every, oprf_key, tokens, shelf, page })
    }

    /// Starts the log; what it holds is written until the value is dropped. A log without a reader
    /// or without room loses lines and delays no request.
    fn start_log(&self) -> WorkerGuard {
        let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(4096).finish(std::io::stderr());
        let level = match self.log {
            Level::Error => tracing::Level::ERROR,
            Level::Warn => tracing::Level::WARN,
            Level::Info => tracing::Level::INFO,
            Level::Debug => tracing::Level::DEBUG,
        };
        let log = tracing_subscriber::fmt().with_max_level(level).with_target(false).log_internal_errors(false);
        let log = log.with_writer(writer);
        if self.json {
            log.json().flatten_event(true).init();
        } else {
            log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init();
        }
        guard
    }
}

fn main() -> ExitCode {
    let args: Args = windlass_secrets::parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let failed = |error: &dyn std::fmt::Display| {
        // Whoever closed it does not want to know.
        let _ = writeln!(std::io::stderr(), "error: {error}");
        ExitCode::from(2)
    };
    let setup = match args.setup() {
        Ok(setup) => setup,
        Err(error) => return failed(&error),
    };
    if let (Some(name), Some(file)) = (&args.new_token, &args.tokens) {
        return match windlass_service::tokens::add(file, name, args.quota) {
            Ok(token) => match writeln!(std::io::stdout(), "{}", *token) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => failed(&format!(
                    "the token of {name} could not be shown ({error}): remove its line and make another"
                )),
            },
            Err(error) => failed(&error),
        };
    }
    if let Some(address) = &args.health {
        return match check_health(address) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                failed(&error);
                // Docker reserves 2.
                ExitCode::FAILURE
            }
        };
    }
    let _log = args.start_log();
    match run(&args, &setup) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => failed(&"some connections were not answered in time and are closed"),
        Err(error) => failed(&error),
    }
}

/// Whether a service at an address answers that it runs.
fn check_health(address: &str) -> Result<(), String> {
    let access = Access { direct: true, ..Access::default() };
    let remote = Remote::with(address, &access, Duration::from_secs(5)).map_err(|error| error.to_string())?;
    match remote.get("/health").map_err(|error| error.to_string())?.status {
        200 => Ok(()),
        status => Err(format!("{address} answers with status {status}: is it a service of Windlass?")),
    }
}

/// Serves until a signal. Returns whether every open request was answered then.
fn run(args: &Args, setup: &Setup) -> Result<bool, StartError> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(server::tls(certificate, key, args.tls_client_ca.as_deref())?),
        _ => None,
    };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let table = args.table.as_deref().expect("the arguments ask for a table");
    let (service, workers) = Service::start(table, setup)?;
    service.watch()?;
    // Talking takes little: the cores are for passes.
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).max_blocking_threads(8).enable_all();
    let answered = runtime.build()?.block_on(async {
        let listener = TcpListener::bind(args.listen).await;
        let listener = listener.map_err(|error| StartError::listen(args.listen, &error))?;
        let address = format!("{scheme}://{}", listener.local_addr()?);
        let stop = signalled()?;
        announce(args.json, &address);
        tracing::info!(address, schema = service.published.current().name(), "listening");
        for danger in dangers(args, listener.local_addr()?.ip()) {
            tracing::warn!("{danger}: give --tls-cert, or put a proxy with TLS in front");
        }
        Ok::<bool, StartError>(server::serve(listener, tls, application(&service), setup.limits, stop).await)
    })?;
    service.queue.close();
    if answered {
        for worker in workers {
            // A worker that panicked has said so.
            let _ = worker.join();
        }
    }
    tracing::info!("ended");
    Ok(answered)
}

/// What everyone on the path to an address could do.
fn dangers(args: &Args, address: IpAddr) -> Vec<&'static str> {
    if args.tls_cert.is_some() || address.is_loopback() {
        return Vec::new();
    }
    let tokens = args.tokens.is_some().then_some("tokens are sent unencrypted");
    let page = args.page.is_some().then_some(
        "the page is sent unencrypted, and whoever is on the path can replace its script and read the queries",
    );
    tokens.into_iter().chain(page).collect()
}

/// Tells on standard output where the service is.
fn announce(json: bool, address: &str) {
    let line = if json { json!({ "listening": address }).to_string() } else { format!("listening on {address}") };
    let mut out = std::io::stdout();
    // Whoever closed it does not want to know.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// The first signal that asks for an end.
#[cfg(unix)]
fn signalled() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signalled() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_unencrypted_to_other_machines_is_told() {
        let told = |arguments: &str, address: &str| {
            let words = ["windlass-serve", "--table", "t"].into_iter().chain(arguments.split_whitespace());
            dangers(&Args::parse_from(words), address.parse().unwrap()).concat()
        };
        for address in ["192.0.2.7", "0.0.0.0", "::"] {
            assert!(told("--page js", address).contains("replace its script"), "{address}");
            assert_eq!(told("--tokens t", address), "tokens are sent unencrypted");
            assert_eq!(told("", address), "");
            assert_eq!(told("--page js --tls-cert c --tls-key k", address), "");
        }
        for address in ["127.0.0.1", "::1"] {
            assert_eq!(told("--page js", address) + &told("--tokens t", address), "", "{address}");
        }
    }

    #[test]
    fn a_page_goes_without_tokens() {
        let refused = Args::try_parse_from(["windlass-serve", "--table", "t", "--page", "js", "--tokens", "t"]);
        let told = refused.unwrap_err().to_string();
        assert!(["cannot be used with", "--page", "--tokens"].iter().all(|part| told.contains(part)), "{told}");
    }
}
