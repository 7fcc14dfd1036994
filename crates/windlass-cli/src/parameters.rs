//! `windlass params`.

use std::sync::Arc;

use windlass::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefreshRequirements};
use windlass::bootstrap::approximate::{RefreshPlan, RefreshRequirements};
use windlass::bootstrap::exact_through_ckks::{Comparison, ExactRefreshPlan, ExactRefreshRequirements, Way, compare};
use windlass::schemes::Scheme;
use windlass::{Context, ParamSpec, Params};

use crate::args::{ParamsCommand, PlanArgs};
use crate::error::{CliError, Result};
use crate::files::{claim_parameters, save_json, save_parameters};
use crate::find;
use crate::plaintext_modulus::prime_power;
use crate::progress::Stages;
use crate::refresh::{exact_set, explain_exact, explain_passes, explain_plan};
use crate::report::{Report, rounded_down};
use crate::values::refused_parameters;

/// Lists, shows or plans parameter sets.
pub fn run(command: &ParamsCommand, quiet: bool) -> Result<Report> {
    match command {
        ParamsCommand::List => Stages::new(quiet).run("list", "building parameter sets", list),
        ParamsCommand::Show { name } => {
            if let Some(plan) = exact_set(Some(name))? {
                let context = Context::of_exact_refresh(Arc::clone(&plan), Scheme::Bgv);
                let mut report = describe(context.params());
                plan.explain().lines().for_each(|line| report.line(line));
                report.field("depth_between_refreshes", plan.depth_between());
                return Ok(report);
            }
            let params = Params::named_or_file(name, Scheme::Bgv).map_err(|error| refused_parameters(name, error))?;
            Ok(describe(&params))
        }
        ParamsCommand::Plan(args) => match (args.modulus, args.precision) {
            (Some(modulus), _) if args.through_ckks => plan_through_ckks(args, modulus, quiet),
            (Some(modulus), _) => plan(args, modulus, quiet),
            (None, Some(precision)) => plan_reals(args, precision, quiet),
            (None, None) => Err(CliError::Usage("params plan: give --modulus or --precision".into())),
        },
        ParamsCommand::Search(args) => find::run(args, quiet),
    }
}

/// Chooses parameters, for a depth or for any.
fn plan(args: &PlanArgs, modulus: u64, quiet: bool) -> Result<Report> {
    let spec = specification(args, modulus)?;
    let _claimed = args.out.as_deref().map(claim_parameters).transpose()?;
    let mut stages = Stages::new(quiet);
    let (params, mut report) = if args.bootstrap {
        let choose =
            |tell: &(dyn Fn(&str, usize, usize) + Sync)| Context::plan_any_depth_observed(&spec, &find::told(tell));
        let context = stages.watch("plan", "choosing parameters", choose)?;
        let bootstrapping = stages.run("bootstrapping", "planning", || context.bootstrapping())?;
        let mut report = describe(context.params());
        bootstrapping.explain().lines().for_each(|line| report.line(line));
        few_slots(context.params(), (args, modulus), &mut report);
        let (bits, depth) =
            (bootstrapping.output_bits() - bootstrapping.least_input_bits(), bootstrapping.depth_between());
        report.line(format!("between two refreshes: {bits:.1} bits, {depth} multiplications in sequence"));
        report.field("bits_between_refreshes", bits);
        report.field("depth_between_refreshes", depth);
        (context.params().clone(), report)
    } else {
        let params = stages.run("plan", "choosing parameters", || Params::plan(&spec))?;
        let mut report = describe(&params);
        report.line(
            "these parameters are for this depth; --bootstrap plans for circuits of any depth, with automatic refreshes",
        );
        (params, report)
    };
    if let Some(path) = &args.out {
        save_parameters(&params, path)?;
        report.line(format!("saved to {}", path.display()));
    }
    Ok(report)
}

/// Chooses parameters whose refreshes go through CKKS, beside those of digit removal.
fn plan_through_ckks(args: &PlanArgs, modulus: u64, quiet: bool) -> Result<Report> {
    let spec = specification(args, modulus)?;
    // An odd m is refused as a dimension that no refresh has.
    let n = args.m.map(|m| if m.is_multiple_of(2) { m / 2 } else { m } as usize);
    let requirements = ExactRefreshRequirements { prime: spec.p, exponent: spec.r, products: args.depth, n };
    let _claimed = args.out.as_deref().map(claim_parameters).transpose()?;
    let mut stages = Stages::new(quiet);
    let plan = stages.run("plan", "choosing parameters", || ExactRefreshPlan::choose(&requirements))?;
    let ring = plan.slot_ring();
    let slots = if ring.has_slots() { ring.slots() } else { 1 };
    if slots < args.slots {
        let reason = format!(
            "a refresh through CKKS modulo {modulus}: n = {} has {slots} slots, fewer than {}; ask for fewer, or for --bootstrap",
            ring.n(),
            args.slots
        );
        return Err(windlass::Error::NoParameters { reason }.into());
    }
    let mut report = explain_exact(&plan);
    report.field("security_bits", rounded_down(plan.context().params().security().bits));
    report.field("n", ring.n());
    let choose = |tell: &(dyn Fn(&str, usize, usize) + Sync)| {
        Context::plan_any_depth_observed(&spec, &find::told(tell))?.bootstrapping()
    };
    match stages.watch("compare", "planning digit removal", choose) {
        Ok(digits) => describe_ways(&compare(&digits, &plan), &mut report),
        Err(error) => report.line(format!("no digit removal to compare with: {error}")),
    }
    if let Some(path) = &args.out {
        save_json(plan.spec().to_json(Scheme::Bgv), path)?;
        report.line(format!("saved to {}", path.display()));
    }
    Ok(report)
}

/// What both ways of refreshing cost, and which one is cheaper.
fn describe_ways(both: &Comparison, report: &mut Report) {
    report.line("estimated prices, in butterflies:");
    for (way, cost) in [(Way::DigitRemoval, &both.digit_removal), (Way::ThroughCkks, &both.through_ckks)] {
        let (integers, price) = (cost.integers, cost.for_a_product());
        let places = if cost.in_slots { "slots" } else { "coefficients" };
        report.line(format!(
            "  {:<14} {:.1e} a refresh, {} products of {integers} {places}: {price:.1e} for a product of one",
            way.to_string(),
            cost.butterflies,
            cost.products
        ));
    }
    report.field("butterflies_of_a_product", [both.digit_removal, both.through_ckks].map(|cost| cost.for_a_product()));
    match both.cheaper() {
        Some(way) => {
            report.line(format!("cheaper: {way}"));
            report.field("cheaper", way.to_string());
        }
        None => report.line("not comparable: one way multiplies slots, the other one polynomials"),
    }
}

/// The most bits that are asked of a refresh in one pass.
const ONE_PASS: f64 = 40.0;

/// Chooses parameters of a refresh of real and complex numbers in several passes.
fn plan_passes(args: &PlanArgs, precision_bits: f64, quiet: bool) -> Result<Report> {
    let requirements = PreciseRefreshRequirements {
        slots: args.slots,
        depth: args.depth as usize,
        precision_bits,
        ..PreciseRefreshRequirements::default()
    };
    let _claimed = args.out.as_deref().map(claim_parameters).transpose()?;
    let plan = Stages::new(quiet).run("plan", "choosing parameters", || PreciseRefreshPlan::choose(&requirements))?;
    let mut report = explain_passes(&plan);
    report.field("security_bits", rounded_down(plan.context().rlwe().params().security().bits));
    report.field("n", plan.spec().refresh.n);
    if let Some(path) = &args.out {
        save_json(plan.spec().to_json(), path)?;
        report.line(format!("saved to {}", path.display()));
    }
    Ok(report)
}

/// Chooses parameters of a refresh of real and complex numbers.
fn plan_reals(args: &PlanArgs, precision_bits: f64, quiet: bool) -> Result<Report> {
    if precision_bits > ONE_PASS {
        return plan_passes(args, precision_bits, quiet);
    }
    let requirements = RefreshRequirements {
        slots: args.slots,
        depth: args.depth as usize,
        precision_bits,
        ..RefreshRequirements::default()
    };
    let _claimed = args.out.as_deref().map(claim_parameters).transpose()?;
    let plan = Stages::new(quiet).run("plan", "choosing parameters", || RefreshPlan::choose(&requirements))?;
    let params = plan.context().rlwe().params();
    let mut report = explain_plan(&plan)?;
    report.field("security_bits", rounded_down(params.security().bits));
    report.field("n", plan.spec().n);
    if let Some(path) = &args.out {
        save_json(plan.spec().to_json(), path)?;
        report.line(format!("saved to {}", path.display()));
    }
    Ok(report)
}

/// Says where more slots are, if this ring has fewer than every ring of a search: those have a slot
/// degree of 100 at most.
fn few_slots(params: &Params, (args, modulus): (&PlanArgs, u64), report: &mut Report) {
    let slots = params.slot_count();
    if args.m.is_none() && params.slot_degree() > 100 && slots < 150 {
        report.line(format!(
            "only {slots} slots: with --slots N, from N = {}, composite rings are searched, which have 150 or more (windlass params search --modulus {modulus} lists them)",
            slots + 1,
        ));
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
    report.field("filling_prime", params.filling_prime());
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
fn specification(args: &PlanArgs, modulus: u64) -> Result<ParamSpec> {
    let (p, r) = prime_power(modulus)?;
    let security = f64::from(args.security);
    Ok(ParamSpec { p, r, slots: args.slots, m: args.m, depth: args.depth, security, ..ParamSpec::default() })
}

#[cfg(test)]
mod tests {
    use windlass::bootstrap::exact_through_ckks::RefreshCost;

    use super::*;

    /// Slots are compared by the price of a product of one; slots and coefficients are not compared.
    #[test]
    fn the_cheaper_way_is_named_if_both_multiply_slots() {
        let cost = |butterflies, in_slots| RefreshCost { butterflies, products: 2, integers: 100, in_slots };
        let told = |digit_removal, through_ckks| {
            let mut report = Report::default();
            describe_ways(&Comparison { digit_removal, through_ckks }, &mut report);
            let json: serde_json::Value = serde_json::from_str(&report.text(true)).unwrap();
            (report.text(false), json)
        };
        let (text, json) = told(cost(1e9, true), cost(2e9, true));
        assert!(text.contains("cheaper: digit removal") && text.contains("5.0e6 for a product of one"), "{text}");
        assert_eq!(json["cheaper"], "digit removal");
        let (_, json) = told(cost(3e9, true), cost(2e9, true));
        assert_eq!(json["cheaper"], "through CKKS");
        let (text, json) = told(cost(1e9, true), cost(2e9, false));
        assert!(text.contains("not comparable") && json["cheaper"].is_null(), "{text}");
    }
}
