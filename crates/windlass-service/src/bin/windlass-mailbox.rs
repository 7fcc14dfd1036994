//! `windlass mailbox`: messages of several parties over HTTP.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use windlass_service::client::{Access, Remote, Token, mailbox};
use windlass_service::limits::Limits;
use windlass_service::mailbox::{Bounds, Mailbox, application};
use windlass_service::server;
use windlass_service::start_error::StartError;

/// A mailbox for the messages of several parties (windlass party): it is trusted with nothing.
#[derive(Debug, Parser)]
#[command(name = "windlass mailbox", version)]
struct Arguments {
    #[command(subcommand)]
    step: Step,
    /// Print one JSON object on standard output instead of text.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Serve a directory as a mailbox, until Ctrl-C.
    Serve(ServeArgs),
    /// Send messages of an agreement.
    Send(SendArgs),
    /// Fetch the messages of an agreement that a directory does not have yet.
    Fetch(FetchArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// The directory of the messages (made if missing).
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// The address and port to listen on. Port 0 takes a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8766")]
    listen: SocketAddr,
    /// Serve only clients whose token is in this file (windlass serve --new-token). It is read at the start.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Certificates for TLS, in PEM form.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the first certificate of --tls-cert.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// MiB of a message.
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=1024))]
    message_mib: u64,
    /// Messages of an agreement.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=4096))]
    messages: u64,
    /// Agreements.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1 << 16))]
    agreements: u64,
    /// MiB of all messages.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    space_mib: u64,
    /// Seconds for the body of a request.
    #[arg(long, value_name = "S", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    body_seconds: u64,
}

/// Where the mailbox is, and for which agreement.
#[derive(Debug, Args)]
struct RemoteArgs {
    /// The mailbox: HOST:PORT, or a URL.
    #[arg(value_name = "ADDR")]
    address: String,
    /// The agreement.
    #[arg(long, value_name = "FILE")]
    agreement: PathBuf,
    /// For https: the certificates of the authority that signed the certificate of the mailbox, or that certificate
    /// itself [default: the authorities that browsers trust].
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// A file whose first line is the token that the owner of the mailbox gave you.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Seconds for one message.
    #[arg(long, value_name = "S", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
}

#[derive(Debug, Args)]
struct SendArgs {
    #[command(flatten)]
    to: RemoteArgs,
    /// Messages, or directories: of a directory every file whose name ends in .message is sent.
    #[arg(value_name = "PATH", required = true)]
    messages: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct FetchArgs {
    #[command(flatten)]
    from: RemoteArgs,
    /// The directory for the messages (made if missing). Names of files begin with the number of the member that sent
    /// the message, and its step.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn main() -> ExitCode {
    let args: Arguments = windlass_secrets::parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let done = match &args.step {
        Step::Serve(own) => serve(own, args.json).map_err(|error| error.to_string()),
        Step::Send(own) => send(own).map(|moved| tell(args.json, "sent", moved)).map_err(|error| error.to_string()),
        Step::Fetch(own) => {
            fetch(own).map(|moved| tell(args.json, "fetched", moved)).map_err(|error| error.to_string())
        }
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    // A reader that closed them does not want to know.
    if args.json {
        say(&json!({ "error": error, "exit_code": 2 }));
    }
    let _ = writeln!(std::io::stderr(), "error: {error}");
    ExitCode::from(2)
}

fn say(text: &impl std::fmt::Display) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn tell(json: bool, what: &str, moved: mailbox::Moved) {
    let mailbox::Moved { new, again } = moved;
    match json {
        true => say(&json!({ "new": new, "again": again }) as &Value),
        false => say(&format!("messages {what}: {new}; there before: {again}")),
    }
}

impl RemoteArgs {
    fn open(&self) -> windlass_service::client::Result<(Remote, String)> {
        let token = self.token_file.as_deref().map(Token::read).transpose()?;
        let access = Access { authority: self.ca.clone(), token, ..Access::default() };
        let digest = mailbox::digest_of(&self.agreement)?;
        Ok((Remote::with(&self.address, &access, Duration::from_secs(self.seconds))?, digest))
    }
}

fn send(args: &SendArgs) -> windlass_service::client::Result<mailbox::Moved> {
    let (remote, agreement) = args.to.open()?;
    mailbox::send(&remote, &agreement, &mailbox::files(&args.messages)?)
}

fn fetch(args: &FetchArgs) -> windlass_service::client::Result<mailbox::Moved> {
    let (remote, agreement) = args.from.open()?;
    mailbox::fetch(&remote, &agreement, &args.out)
}

/// Serves until a signal.
fn serve(args: &ServeArgs, json: bool) -> Result<(), StartError> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(server::tls(certificate, key, None)?),
        _ => None,
    };
    let bytes = |mebibytes: u64| mebibytes << 20;
    let bounds = Bounds {
        message: bytes(args.message_mib) as usize,
        messages: args.messages as usize,
        agreements: args.agreements as usize,
        bytes: bytes(args.space_mib),
        time: Duration::from_secs(args.body_seconds),
    };
    let mailbox = Mailbox::start(&args.dir, bounds, args.tokens.clone())?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    if args.tokens.is_some() && tls.is_none() && !args.listen.ip().is_loopback() {
        let _ = writeln!(
            std::io::stderr(),
            "warning: tokens are sent unencrypted: give --tls-cert, or put a proxy with TLS in front"
        );
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).max_blocking_threads(8).enable_all();
    runtime.build()?.block_on(async {
        let listener = TcpListener::bind(args.listen).await;
        let listener = listener.map_err(|error| StartError::listen(args.listen, &error))?;
        let address = format!("{scheme}://{}", listener.local_addr()?);
        match json {
            true => say(&json!({ "listening": address })),
            false => say(&format!("listening on {address}")),
        }
        let stop = async {
            let _ = tokio::signal::ctrl_c().await;
        };
        server::serve(listener, tls, application(&mailbox), Limits::default(), stop).await;
        Ok(())
    })
}
