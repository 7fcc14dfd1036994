//! The exchange before a query to a table with hidden keys, through files.

use windlass_retrieval::{BlindRequest, Error, KeyContext, OprfKey, POINT_BYTES, Table, TableContext};

use super::args::{BlindArgs, BlindEvaluateArgs};
use super::asked::of_file;
use super::client::{client_of, open_schema, security_bits};
use crate::error::Result;
use crate::files::claim;
use crate::progress::Stages;
use crate::report::Report;
use crate::security::tell_security;
use crate::values::{read, write};

/// `windlass table blind`.
pub fn blind(args: &BlindArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let (schema, setting) = stages.run("setup", "building rings", || open_schema(&args.schema))?;
    if schema.oprf.is_none() {
        return Err(of_file(&args.schema)(Error::PlainKeys));
    }
    let bits = security_bits(&setting);
    tell_security("parameters of", bits, "", quiet);
    let secret = args.with.open(&KeyContext::new(&setting))?;
    let bytes = stages.run("blind", "blinding keys", || -> Result<u64> {
        let context = TableContext::new(&setting, &schema);
        let client = client_of(schema, &setting, &secret)?;
        write(&args.out, &context, &client.blind(&args.keys)?)
    })?;
    let mut report = Report::default();
    report.line("the keys are blinded: the server learns only how many they are");
    report.field("security_bits", bits);
    report.field("keys", args.keys.len());
    report.made("blind_request", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}

/// `windlass table blind-evaluate`.
pub fn evaluate(args: &BlindEvaluateArgs, quiet: bool) -> Result<Report> {
    let _claimed = claim(&args.out)?;
    let mut stages = Stages::new(quiet);
    let table = stages.run("table", "opening the table", || Table::open(&args.dir, false))?;
    if table.schema().oprf.is_none() {
        return Err(of_file(&args.dir)(Error::PlainKeys));
    }
    let key = OprfKey::load(&args.oprf_key)?;
    table.check_oprf_key(&key).map_err(of_file(&args.oprf_key))?;
    let context = TableContext::new(table.setting(), table.schema());
    let (request, _): (BlindRequest, _) = read(&args.input, &context)?;
    let reply = stages.run("blind_evaluate", "multiplying points", || table.blind_evaluate(&key, &request));
    let bytes = write(&args.out, &context, &reply.map_err(of_file(&args.input))?)?;
    let keys = request.points().len() / POINT_BYTES;
    let mut report = Report::default();
    report.line(format!("helped with {keys} keys: each lets the client test one guess"));
    report.field("keys", keys);
    report.made("blind_reply", &args.out, bytes);
    report.seconds(stages.seconds());
    Ok(report)
}
