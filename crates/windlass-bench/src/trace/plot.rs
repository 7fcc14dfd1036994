//! Line plots as SVG.

use std::fmt::Write as _;

/// Points joined by a line, with a name in the legend.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// A plot with one or two logarithmic axes.
pub struct Plot {
    pub title: String,
    pub x: &'static str,
    pub y: &'static str,
    pub log_x: bool,
    pub log_y: bool,
    pub series: Vec<Series>,
}

const COLOURS: [&str; 9] =
    ["#1b6ca8", "#c8553d", "#4b8f5b", "#8a5ca8", "#b8860b", "#3a8f8f", "#a83a6c", "#5c5c5c", "#7a9f1b"];
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// One axis: from values to pixels.
struct Axis {
    low: f64,
    high: f64,
    log: bool,
    start: f64,
    length: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>, log: bool, start: f64, length: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        if log {
            (low, high) = (low.log10().floor(), high.log10().ceil());
        } else {
            low = low.min(0.0);
            high *= 1.05;
        }
        if high <= low {
            high = low + 1.0;
        }
        Self { low, high, log, start, length }
    }

    fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.start + (value - self.low) / (self.high - self.low) * self.length
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            return (self.low as i32..=self.high as i32).map(|e| 10f64.powi(e)).collect();
        }
        let raw = (self.high - self.low) / 6.0;
        let size = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|x| x * size).into_iter().find(|&s| s >= raw).unwrap_or(raw);
        (0..).map(|i| (self.low / step).ceil() * step + i as f64 * step).take_while(|&x| x <= self.high).collect()
    }
}

impl Plot {
    /// The drawing.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::of(points().map(|p| p.0), self.log_x, LEFT, WIDTH - LEFT - RIGHT);
        let y = Axis::of(points().map(|p| p.1), self.log_y, HEIGHT - BOTTOM, -(HEIGHT - TOP - BOTTOM));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"14\">{}</text>\n",
            self.title
        );
        self.axes(&mut out, &x, &y);
        for (i, series) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let path: Vec<String> =
                series.points.iter().map(|&(a, b)| format!("{:.1},{:.1}", x.at(a), y.at(b))).collect();
            let (lx, ly) = (WIDTH - RIGHT + 15.0, TOP + 18.0 * i as f64 + 10.0);
            let _ = writeln!(
                out,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" points=\"{}\"/>\n\
                 <line x1=\"{lx}\" y1=\"{ly}\" x2=\"{}\" y2=\"{ly}\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
                 <text x=\"{}\" y=\"{}\">{}</text>",
                path.join(" "),
                lx + 20.0,
                lx + 26.0,
                ly + 4.0,
                series.name
            );
        }
        out + "</svg>\n"
    }

    fn axes(&self, out: &mut String, x: &Axis, y: &Axis) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in x.ticks() {
            let at = x.at(tick);
            let _ = writeln!(
                out,
                "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\n\
                 <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                number(tick)
            );
        }
        for tick in y.ticks() {
            let at = y.at(tick);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                at + 4.0,
                number(tick)
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"16\" y=\"{}\" transform=\"rotate(-90 16 {})\" text-anchor=\"middle\">{}</text>",
            (LEFT + right) / 2.0,
            HEIGHT - 12.0,
            self.x,
            (TOP + bottom) / 2.0,
            (TOP + bottom) / 2.0,
            self.y
        );
    }
}

fn number(x: f64) -> String {
    match x {
        0.0 => "0".into(),
        x if x.abs() >= 1e5 || x.abs() < 1e-2 => format!("1e{}", x.abs().log10().round()),
        x if x.fract() == 0.0 => format!("{x}"),
        x => format!("{x:.2}").trim_end_matches('0').to_owned(),
    }
}
