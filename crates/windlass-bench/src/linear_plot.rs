//! A plot from the records of linear maps: time against D, both axes logarithmic.

use std::fmt::Write as _;

use crate::linear_record::Record;

const COLOURS: [&str; 12] = [
    "#0b6e4f", "#c1121f", "#1d4e89", "#f79256", "#7b2d8b", "#00a6a6", "#6b705c", "#b5838d", "#3a86ff", "#ffb703",
    "#8d99ae", "#2b2d42",
];

/// `MatMul1D` at 400 bits, one line for each column, as SVG.
pub fn plot(records: &[Record]) -> String {
    let chosen: Vec<&Record> = records.iter().filter(|r| r.map == "1d" && r.chain == "400" && r.threads == 1).collect();
    let scale = Scale::of(chosen.iter().map(|r| r.median_s));
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"490\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"800\" height=\"490\" fill=\"white\"/>\n\
         <text x=\"70\" y=\"22\" font-size=\"15\">MatMul1D: seconds against D, one thread, Q of 400 bits</text>\n",
    );
    scale.axes(&mut svg);
    for (index, (title, points)) in lines(&chosen).iter().enumerate() {
        scale.line(&mut svg, index, title, points);
    }
    svg.push_str("</svg>\n");
    svg
}

/// For each column its points (D, seconds) by D.
fn lines(records: &[&Record]) -> Vec<(String, Vec<(f64, f64)>)> {
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for record in records {
        let title = format!("{}{}", record.column, if record.bad { " (bad)" } else { "" });
        let point = (record.size as f64, record.median_s);
        match lines.iter_mut().find(|(known, _)| *known == title) {
            Some((_, points)) => points.push(point),
            None => lines.push((title, vec![point])),
        }
    }
    lines.iter_mut().for_each(|(_, points)| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    lines
}

/// The decades of the vertical axis.
struct Scale {
    bottom: f64,
    top: f64,
}

impl Scale {
    fn of(times: impl Iterator<Item = f64>) -> Self {
        let (least, most) = times.fold((f64::INFINITY, 1e-3), |(a, b), t| (f64::min(a, t), f64::max(b, t)));
        Self { bottom: least.log10().floor(), top: most.log10().ceil() }
    }

    fn x(&self, size: f64) -> f64 {
        70.0 + (size.log10() - 1.4) / 1.6 * 520.0
    }

    fn y(&self, seconds: f64) -> f64 {
        440.0 - (seconds.log10() - self.bottom) / (self.top - self.bottom).max(1.0) * 400.0
    }

    fn axes(&self, svg: &mut String) {
        for decade in self.bottom as i32..=self.top as i32 {
            let at = self.y(10f64.powi(decade));
            let _ = writeln!(
                svg,
                "<path d=\"M70 {at:.1}H590\" stroke=\"#ddd\"/><text x=\"62\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                at + 4.0,
                10f64.powi(decade)
            );
        }
        for size in [42.0, 120.0, 682.0] {
            let at = self.x(size);
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} 40V440\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"458\" text-anchor=\"middle\">{size}</text>"
            );
        }
        let _ = writeln!(svg, "<text x=\"330\" y=\"480\" text-anchor=\"middle\">D</text>");
    }

    /// A line with its points and its entry in the legend.
    fn line(&self, svg: &mut String, index: usize, title: &str, points: &[(f64, f64)]) {
        let colour = COLOURS[index / 2 % COLOURS.len()];
        let dash = if title.ends_with("(bad)") { " stroke-dasharray=\"5 3\"" } else { "" };
        let path: Vec<String> = points.iter().map(|&(d, t)| format!("{:.1} {:.1}", self.x(d), self.y(t))).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            path.join("L")
        );
        for &(d, t) in points {
            let _ =
                writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>", self.x(d), self.y(t));
        }
        let at = 50.0 + 17.0 * index as f64;
        let _ = writeln!(
            svg,
            "<path d=\"M612 {at}h24\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/><text x=\"642\" y=\"{:.0}\">{title}</text>",
            at + 4.0
        );
    }
}
