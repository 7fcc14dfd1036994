//! `windlass params`.

use windlass::schemes::Scheme;
use windlass::{ParamSpec, Params};

use crate::args::{ParamsCommand, PlanArgs};
use crate::error::Result;
use crate::find;
use crate::plaintext_modulus::prime_power;
use crate::progress::Stages;
use crate::report::{Report, rounded_down};

/// Lists, shows or plans parameter sets.
pub fn run(command: &ParamsCommand, quiet: bool) -> Result<Report> {
    match command {
        ParamsCommand::List => Stages::new(quiet).run("list", "building parameter sets", list),
        ParamsCommand::Show { name } => Ok(describe(&Params::preset(name, Scheme::Bgv)?)),
        ParamsCommand::Plan(args) => {
            let spec = specification(args)?;
            Ok(describe(&Stages::new(quiet).run("plan", "choosing parameters", || Params::plan(&spec))?))
        }
        ParamsCommand::Search(args) => find::run(args, quiet),
    }
}

fn list() -> Result<Report> {
    let mut report = Report::default();
    let mut names = Vec::new();
    for name in windlass::params::preset_names() {
        let params = Params::preset(name, Scheme::Bgv)?;
        let (rlwe, bits) = (params.rlwe(), rounded_down(params.rlwe().security().bits));
        report.line(format!(
            "{name:<26} m = {:<6} p^r = {:<6} slots = {:<6} log2 QP = {:<6.0} security {bits:.1} bits",
            rlwe.m(),
            params.plaintext_modulus(),
            params.slot_count(),
            rlwe.log2_qp(),
        ));
        names.push(name);
    }
    report.field("presets", names);
    Ok(report)
}

fn describe(params: &Params) -> Report {
    let mut report = Report::default();
    params.explain().lines().for_each(|line| report.line(line));
    let (rlwe, sizes) = (params.rlwe(), params.rlwe().key_sizes());
    report.field("name", params.name());
    report.field("scheme", params.scheme().to_string());
    report.field("m", rlwe.m());
    report.field("n", rlwe.n());
    report.field("p", params.p());
    report.field("r", params.r());
    report.field("slots", params.slot_count());
    report.field("slot_degree", params.slot_degree());
    report.field("security_bits", rounded_down(rlwe.security().bits));
    report.field("log2_q", rlwe.log2_q(rlwe.top_level()));
    report.field("log2_p", rlwe.log2_p());
    report.field("digits", rlwe.digits());
    report.field("depth", params.depth());
    report.field("fresh_capacity_bits", params.fresh_capacity());
    report.field("public_key_bytes", sizes.public_key_disk);
    report.field("switching_key_bytes", sizes.switching_key_disk);
    report
}

/// Fills a specification.
fn specification(args: &PlanArgs) -> Result<ParamSpec> {
    let (p, r) = prime_power(args.modulus)?;
    let security = f64::from(args.security);
    Ok(ParamSpec { p, r, slots: args.slots, depth: args.depth, security, ..ParamSpec::default() })
}
