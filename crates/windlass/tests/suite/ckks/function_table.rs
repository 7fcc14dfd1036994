//! The table of the guide to functions: what plans say, line by line.

use windlass::circuits::{Function, FunctionPlan, Softmax, Sorting};
use windlass::schemes::ckks::CkksContext;

use crate::ckks::common::spec;

const PAGE: &str = include_str!("../../../../../docs/how-to/functions.md");
const MARKS: [&str; 2] = ["<!-- functions: begin -->", "<!-- functions: end -->"];

fn number(x: f64) -> String {
    if x.fract() == 0.0 || x.abs() > 0.01 { format!("{x}") } else { format!("2^{}", x.log2()) }
}

fn row(name: &str, plan: &FunctionPlan) -> String {
    let (low, high) = plan.interval();
    let interval = format!("{} to {}", number(low), number(high));
    let interval = plan.gap().map_or(interval.clone(), |gap| format!("{interval}, gap {}", number(gap)));
    let context = CkksContext::new(&spec(1 << 13, 45, plan.depth())).unwrap();
    let degrees: Vec<String> = plan.degrees().iter().map(usize::to_string).collect();
    let stated = plan.fresh_error(&context).unwrap();
    format!(
        "| {name} | {interval} | {} | {} | {} | 2^{:.1} | 2^{:.1} |",
        degrees.join(", "),
        plan.depth(),
        plan.products(),
        plan.approximation_error().log2(),
        stated.total().log2()
    )
}

fn of_row(name: &str, (low, high): (f64, f64), degrees: &[usize], depth: usize, products: usize, error: f64) -> String {
    let degrees: Vec<String> = degrees.iter().map(usize::to_string).collect();
    let error = error.log2();
    format!("| {name} | {low} to {high} | {} | {depth} | {products} | 2^{error:.1} | – |", degrees.join(", "))
}

fn table() -> String {
    let mut lines = vec![
        "| Function | Interval | Degrees | Depth | Products | Error | On a ciphertext |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    for (function, interval, bits) in [
        (Function::Exponential, (-4.0, 4.0), 20.0),
        (Function::Logarithm, (0.125, 8.0), 20.0),
        (Function::Inverse, (0.125, 8.0), 20.0),
        (Function::Inverse, (2f64.powi(-11), 1.0), 12.0),
        (Function::SquareRoot, (0.125, 8.0), 20.0),
        (Function::InverseSquareRoot, (0.125, 8.0), 20.0),
        (Function::Sigmoid, (-8.0, 8.0), 12.0),
        (Function::Sigmoid, (-8.0, 8.0), 20.0),
        (Function::Tanh, (-8.0, 8.0), 20.0),
        (Function::Gelu, (-8.0, 8.0), 20.0),
    ] {
        lines.push(row(function.name(), &FunctionPlan::named(function, interval, bits).unwrap()));
    }
    for (log_gap, bits) in [(4, 10.0), (7, 20.0), (10, 20.0), (16, 20.0)] {
        lines.push(row("sign", &FunctionPlan::sign(1.0, 2f64.powi(-log_gap), bits).unwrap()));
    }
    for bits in [4.0, 8.0, 12.0] {
        lines.push(row("absolute value", &FunctionPlan::absolute(1.0, bits).unwrap()));
    }
    let context = CkksContext::new(&spec(1 << 13, 45, 1)).unwrap();
    let softmax = Softmax::new(&context, 8, (-2.0, 2.0), 10.0).unwrap();
    lines.push(of_row(
        "softmax of 8",
        softmax.interval(),
        &softmax.degrees(),
        softmax.depth(),
        softmax.products(),
        softmax.approximation_error(),
    ));
    for (largest, count) in [(1, 8), (4, 4), (8, 8)] {
        let own = Sorting::largest(&context, largest, count, (0.0, 1.0), 4.0).unwrap();
        let name = format!("{largest} largest of {count}");
        lines.push(of_row(
            &name,
            own.interval(),
            &own.degrees(),
            own.depth(),
            own.products(),
            own.approximation_error(),
        ));
    }
    lines.join("\n")
}

#[test]
fn the_guide_shows_what_plans_say() {
    let own = PAGE.split(MARKS[0]).nth(1).and_then(|rest| rest.split(MARKS[1]).next()).unwrap();
    let table = table();
    assert_eq!(own.trim(), table, "put this table into docs/how-to/functions.md:\n{table}");
}
