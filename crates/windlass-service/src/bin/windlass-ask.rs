//! `windlass ask`: rows of a table that a service has, without telling which.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde_json::{Map, Value, json};
use windlass::wire::hex;
use windlass_retrieval::format_bytes;
use windlass_secrets::KeepArgs;
use windlass_service::client::{Access, AskError, Asker, Remote, Result, SECURE_BITS, State, Token, Wanted};

/// Asks a service for rows of its table. The service does not learn which rows. The exit code is 0
/// if the table has all rows, 3 if a row is missing, and 2 after an error.
#[derive(Debug, Parser)]
#[command(name = "windlass ask", version)]
struct Args {
    /// The service: HOST:PORT, or a URL.
    #[arg(value_name = "ADDR")]
    address: String,
    /// The key of a row (any number of times).
    #[arg(long = "key", value_name = "KEY", allow_hyphen_values = true, required_unless_present = "rows")]
    keys: Vec<String>,
    /// The number of a row, counted from 0 (any number of times).
    #[arg(long = "row", value_name = "N", conflicts_with = "keys")]
    rows: Vec<usize>,
    /// The directory with the secret key, the evaluation keys and the known tables (made if
    /// missing).
    #[arg(long, value_name = "DIR", default_value = ".windlass")]
    state: PathBuf,
    #[command(flatten)]
    keep: KeepArgs,
    /// For https: the certificates of the authority that signed the certificate of the service, or
    /// that certificate itself [default: the authorities that browsers trust].
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Your certificate, for a service that asks for one (mutual TLS).
    #[arg(long, value_name = "FILE", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// The private key of that certificate.
    #[arg(long, value_name = "FILE", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// A file whose first line is the token that the owner of the service gave you [default: the
    /// file that WINDLASS_TOKEN_FILE names].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Ask for rows in portions, which makes queries for short rows small if the table has a few
    /// long rows. The service then learns the number of portions of each row, rounded up to a power
    /// of two.
    #[arg(long)]
    portions: bool,
    /// Accept a table with parameters below 128 bits of security.
    #[arg(long)]
    insecure: bool,
    /// Accept that the service has another table than before: at least the first 8 digits of the
    /// hash of its schema.
    #[arg(long, value_name = "DIGITS", value_parser = digits)]
    accept_schema: Option<String>,
    /// Seconds for one request and its response.
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Print one JSON object on standard output instead of text.
    #[arg(long)]
    json: bool,
}

/// The beginning of a hash.
fn digits(text: &str) -> std::result::Result<String, String> {
    let whole = (8..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit());
    whole.then(|| text.to_owned()).ok_or_else(|| "give 8 to 64 hexadecimal digits".to_owned())
}

impl Args {
    /// The file of the token, by argument or by the environment.
    fn token_file(&self) -> Option<PathBuf> {
        let named = || std::env::var_os("WINDLASS_TOKEN_FILE").filter(|name| !name.is_empty()).map(PathBuf::from);
        self.token_file.clone().or_else(named)
    }
}

/// A query of so many bytes is explained to the user.
const LONG: usize = 1_000_000;

/// A row is missing.
const ABSENT: u8 = 3;

fn main() -> ExitCode {
    let args = match windlass_secrets::parse_from::<Args, _>(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => misused(&error),
    };
    windlass_secrets::keep_memory_private();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(ABSENT),
        Err(error) => {
            // Whoever closed them does not want to know.
            if args.json {
                print_error(&error.to_string());
            }
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// A failure as an object for scripts, as `windlass` prints it.
fn print_error(message: &str) {
    let _ = writeln!(std::io::stdout(), "{}", json!({ "error": message, "exit_code": 2 }));
}

/// Ends with what is wrong with the arguments, an object beside it where scripts asked for one, or
/// with the help that was asked for.
fn misused(error: &clap::Error) -> ! {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let text = error.to_string();
        // Without the usage, and on one line.
        let told: Vec<&str> = text.split("\nUsage:").next().unwrap_or(&text).split_whitespace().collect();
        print_error(told.join(" ").trim_start_matches("error: "));
    }
    error.exit()
}

/// Asks and prints; whether every row is there.
fn run(args: &Args) -> Result<bool> {
    if windlass_secrets::stdout_is_closed() {
        return Err(AskError::Unheard);
    }
    #[cfg(unix)]
    windlass_secrets::show_again_at_end().map_err(AskError::Signals)?;
    let access = Access {
        authority: args.ca.clone(),
        certificate: args.cert.clone().zip(args.cert_key.clone()).map(<[PathBuf; 2]>::from),
        token: args.token_file().as_deref().map(Token::read).transpose()?,
        direct: false,
    };
    let remote = Remote::with(&args.address, &access, Duration::from_secs(args.seconds))?;
    let state = State::open(&args.state)?.keeping(args.keep.clone());
    let told = |bits: f64| {
        if bits < SECURE_BITS && !args.insecure {
            return Err(AskError::Weak { bits });
        }
        if !args.json {
            let _ = writeln!(std::io::stderr(), "parameters of {:.1} bits of security", (bits * 10.0).floor() / 10.0);
        }
        Ok(())
    };
    let mut asker = Asker::new(remote, &state, args.accept_schema.as_deref(), told)?.telling(|wait| {
        // Whoever closed it does not want to know.
        let _ = writeln!(std::io::stderr(), "{wait}");
    });
    let wanted = match &args.rows[..] {
        [] => Wanted::Keys(args.keys.iter().map(|key| key.clone().into_bytes()).collect()),
        rows => Wanted::Rows(rows.to_vec()),
    };
    let rows = if asker.table().oprf.is_some() {
        asker.introduce()?;
        asker.ask(&wanted)?
    } else if args.portions {
        asker.introduce()?;
        asker.ask_in_portions(&wanted)?
    } else {
        // What this table does not take is refused before anything is sent.
        let query = asker.query(&wanted)?;
        if !args.json && query.len() > LONG && asker.table().portions() > 1 {
            let _ = writeln!(
                std::io::stderr(),
                "the query has {}, since the longest row of the table has {} portions; with --portions the first portion is asked for alone, so that the query can be shorter, but the service learns about how long the row is",
                format_bytes(query.len() as u64),
                asker.table().portions()
            );
        }
        asker.introduce()?;
        let answer = asker.send(&wanted, &query)?;
        asker.rows(&wanted, &answer)?
    };
    let names: Vec<String> = match &wanted {
        Wanted::Keys(_) => args.keys.clone(),
        Wanted::Rows(rows) => rows.iter().map(|row| format!("row {row}")).collect(),
    };
    let text = if args.json { object(&asker, &names, &rows)? } else { lines(&asker, &names, &rows)? };
    let mut out = std::io::stdout();
    let printed = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    printed.map_err(|error| AskError::File { path: "standard output".into(), reason: error.to_string() })?;
    Ok(rows.iter().all(Option::is_some))
}

/// Bytes as text where they are text, in hexadecimal where not.
fn readable(row: &[u8]) -> String {
    match std::str::from_utf8(row) {
        Ok(text) if !text.contains(harmful) => text.to_owned(),
        _ => format!("0x{}", hex(row)),
    }
}

/// What could write elsewhere on a terminal, or turn the order of what follows.
fn harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn lines(asker: &Asker, names: &[String], rows: &[Option<Vec<u8>>]) -> Result<String> {
    let printable = |text: &str| text.chars().map(|c| if harmful(c) { '\u{fffd}' } else { c }).collect::<String>();
    let mut out = String::new();
    for (name, row) in names.iter().zip(rows) {
        let name = printable(name);
        let Some(row) = row else {
            out += &format!("{name}: not there\n");
            continue;
        };
        match asker.cells(row)? {
            None => out += &format!("{name}: {}\n", readable(row)),
            Some(cells) => {
                out += &format!("{name}\n");
                cells.iter().for_each(|(field, cell)| {
                    out += &format!("  {:<22}{}\n", printable(field), printable(cell));
                });
            }
        }
    }
    Ok(out)
}

fn object(asker: &Asker, names: &[String], rows: &[Option<Vec<u8>>]) -> Result<String> {
    let mut list = Vec::new();
    for (name, row) in names.iter().zip(rows) {
        let mut entry = json!({ "name": name, "found": row.is_some() });
        if let Some(row) = row {
            entry["hex"] = hex(row).into();
            if let Some(cells) = asker.cells(row)? {
                let cells: Map<String, Value> =
                    cells.into_iter().map(|(field, cell)| (field.to_owned(), cell.into())).collect();
                entry["fields"] = cells.into();
            } else if let Ok(text) = std::str::from_utf8(row) {
                entry["text"] = text.into();
            }
        }
        list.push(entry);
    }
    let bits = asker.security_bits();
    Ok(format!("{}\n", json!({ "rows": list, "security_bits": bits, "uploads": asker.uploads })))
}
