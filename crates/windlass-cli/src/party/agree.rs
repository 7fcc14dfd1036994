//! `windlass party agree`.

use std::path::Path;

use serde_json::{Map, Value, json};
use windlass::needs::NeedsKeys;
use windlass::schemes::Publication;
use windlass::schemes::ckks::CkksSpec;
use windlass::wire::{Access, kind_of, write_new};
use windlass::{Context, Params};
use windlass_parties::{Agreement, Member};

use super::agreed::digest;
use super::args::AgreeArgs;
use super::costs;
use super::family::Side;
use super::identity::member_of;
use super::mailbox::read_bounded;
use crate::error::{CliError, Result};
use crate::files::claim;
use crate::progress::Stages;
use crate::refresh::text_of;
use crate::report::Report;
use crate::security::vouch;
use crate::values::refused_parameters;

const WHAT: &str = "a list of members";
/// The longest list of members.
const MOST_BYTES: u64 = 1 << 20;

/// `windlass party agree`.
pub fn run(args: &AgreeArgs, quiet: bool) -> Result<Report> {
    if args.depth.is_some() && !args.products && !args.ckks {
        let reason = "--depth does nothing here: give it with --products, or with --ckks, or leave it out";
        return Err(CliError::Usage(reason.into()));
    }
    let _claimed = claim(&args.out)?;
    let members = members(args)?;
    let parties = u32::try_from(members.len()).unwrap_or(u32::MAX);
    let mut stages = Stages::new(quiet);
    let given = args.preset.as_deref().unwrap_or("--ckks");
    match spec(args)? {
        Some(spec) => {
            let spec = spec.with_parties(parties);
            let context = stages.run("setup", "building transforms", || Context::approximate(&spec));
            let context = context.map_err(|error| refused_parameters(given, error))?;
            write(&context, members, args, quiet, &mut stages)
        }
        None => {
            let params = Params::named_or_file(given, args.scheme.into());
            let params = params.and_then(|params| params.with_parties(parties));
            let params = params.map_err(|error| refused_parameters(given, error))?;
            let context = stages.run("setup", "building transforms", || Context::from_params(params))?;
            write(&context, members, args, quiet, &mut stages)
        }
    }
}

/// Parameters of CKKS, if they were asked for.
fn spec(args: &AgreeArgs) -> Result<Option<CkksSpec>> {
    let Some(name) = &args.preset else {
        return Ok(Some(CkksSpec::secure_wide(args.depth.unwrap_or(1), args.scale_bits, args.value_bits, args.slots)?));
    };
    let Some(text) = text_of(name) else { return Ok(None) };
    let is_ckks = serde_json::from_str::<Value>(&text).is_ok_and(|own| own.get("windlass_ckks_parameters").is_some());
    if !is_ckks {
        return Ok(None);
    }
    Ok(Some(CkksSpec::from_json(&text).map_err(|error| refused_parameters(name, error))?))
}

/// The members that were given, in order.
fn members(args: &AgreeArgs) -> Result<Vec<Member>> {
    // What was given may be a secret by mistake: no message shows it.
    let wrong = |place: String, reason: String| {
        CliError::Usage(format!(
            "{place} is no public line of an identity: {reason}; give the line that 'windlass party identity' printed"
        ))
    };
    let mut all = Vec::new();
    for (line, count) in args.member.iter().zip(1..) {
        all.push(member_of(line).map_err(|reason| wrong(format!("--member number {count}"), reason))?);
    }
    for path in &args.members {
        for (line, count) in text(path)?.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let place = || format!("{}: line {count}", path.display());
            all.push(member_of(line).map_err(|reason| wrong(place(), reason))?);
        }
    }
    if all.len() < 2 {
        return Err(CliError::Usage(format!(
            "there are {} members, but an agreement has 2 or more: give the public line of each with --member LINE or --members FILE",
            all.len()
        )));
    }
    Ok(all)
}

/// The text of a list of members. Another file is refused by what it is, without a word of it.
fn text(path: &Path) -> Result<String> {
    let refused = |reason: String| Err(CliError::NotOfFormat { path: path.into(), what: WHAT, reason });
    let bytes = read_bounded(path, WHAT, MOST_BYTES)?;
    if let Some(kind) = kind_of(&bytes) {
        return refused(format!("it is {kind}; give the file that 'windlass party identity --public FILE' wrote"));
    }
    if bytes.starts_with(b"windlass identity ") {
        return refused("it is a secret identity; give its public line".into());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => refused("it is not a text in UTF-8".into()),
    }
}

fn write<F: Side>(
    context: &Context<F>,
    members: Vec<Member>,
    args: &AgreeArgs,
    quiet: bool,
    stages: &mut Stages,
) -> Result<Report> {
    let (name, bits) = F::name_and_security(context);
    vouch(&name, bits, args.preset.as_deref().unwrap_or_default(), args.insecure, quiet)?;
    let requests = F::requests(context, args)?;
    let needs: Vec<&dyn NeedsKeys> = requests.iter().map(|request| request as &dyn NeedsKeys).collect();
    let threshold = args.threshold.unwrap_or(members.len());
    let threshold = u32::try_from(threshold).unwrap_or(u32::MAX);
    let publication = Publication { security_bits: args.security, decryptions: args.decryptions };
    let agreement = Agreement::for_publication(context, members, threshold, &needs, publication)?;
    let depth = args.depth.or(args.ckks.then_some(1)).filter(|depth| args.products && *depth > 0);
    let deepest = depth.map(|depth| {
        let plan = stages.run("depth", "planning a decryption after products", || agreement.decryption_after(depth));
        Ok::<_, CliError>((depth, F::noise(&plan?)))
    });
    let deepest = deepest.transpose()?;
    let (costs, noise) = stages.run("costs", "making a share of each kind", || costs::of(&agreement))?;
    write_new(&args.out, format!("{}\n", agreement.to_json()).as_bytes(), Access::Public)
        .map_err(CliError::at(&args.out))?;
    let mut report = Report::default();
    describe(&mut report, &agreement, (&name, bits));
    report.line("each party sends (bytes and seconds of one message; the seconds were measured here):");
    let mut all = Map::new();
    for cost in &costs {
        let count = match (cost.messages, cost.count) {
            (1, 1) => String::new(),
            (1, count) => format!("  x {count}"),
            (messages, _) => format!("  in {messages} messages"),
        };
        report.line(format!("  {:<12}{:>12} bytes {:>9.3} s{count}", cost.name, cost.bytes, cost.seconds));
        all.insert(
            cost.name.into(),
            json!({ "bytes": cost.bytes, "seconds": cost.seconds, "count": cost.count, "messages": cost.messages }),
        );
    }
    report.line(format!("a decryption of a fresh ciphertext has {noise}"));
    if let Some((depth, noise)) = deepest {
        report.line(format!("a decryption after {depth} products in a row has {noise}"));
    }
    report.field("messages", all);
    if let Some(bits) = F::precision_bits(agreement.fresh_decryption()) {
        report.field("precision_bits", bits);
    }
    report.field("security_bits", bits);
    report.line(format!("{} is written; every member compares this digest before it joins", args.out.display()));
    Ok(report)
}

/// What an agreement says.
fn describe<F: Side>(report: &mut Report, agreement: &Agreement<F>, (name, bits): (&str, f64)) {
    let names: Vec<&str> = agreement.members().iter().map(|member| member.name.as_str()).collect();
    let Publication { security_bits, decryptions } = agreement.publication();
    report.line(format!("digest  {}", digest(agreement)));
    report.line(format!("{} of {} members decrypt: {}", agreement.threshold(), names.len(), names.join(", ")));
    report.line(format!("parameters '{name}' ({bits:.1} bits of security), {} keys", agreement.keys().len()));
    report.line(format!("{decryptions} decryptions with {security_bits} bits of statistical security together"));
    report.field("digest", digest(agreement));
    report.field("members", names);
    report.field("threshold", agreement.threshold());
    report.field("keys", agreement.keys().len());
    report.field("decryptions", decryptions);
}
