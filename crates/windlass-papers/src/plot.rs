//! Drawings as SVG: lines that are named where they end, and pairs of points to compare.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A drawing, or why there is none.
pub type Drawn = Result<String, Box<dyn Error>>;

/// Ours.
pub const BLUE: RGBColor = RGBColor(27, 108, 168);
/// The first peer.
pub const RED: RGBColor = RGBColor(200, 85, 61);
/// The second peer.
pub const GREEN: RGBColor = RGBColor(75, 143, 91);
/// The third.
pub const OCHRE: RGBColor = RGBColor(176, 128, 20);
const GREY: RGBColor = RGBColor(221, 221, 221);
const INK: RGBColor = RGBColor(60, 60, 60);

const WIDTH: u32 = 800;
const HEIGHT: u32 = 460;
/// Pixels from one line of text to the next.
const TEXT: i32 = 15;

/// Points joined by a line, with its name behind the last.
pub struct Line {
    pub name: String,
    pub colour: RGBColor,
    pub dashed: bool,
    pub points: Vec<(f64, f64)>,
}

/// One axis.
pub struct Axis {
    name: String,
    log: bool,
    ticks: Vec<f64>,
}

impl Axis {
    /// A logarithmic axis.
    pub fn logarithmic(name: &str) -> Self {
        Self { name: name.into(), log: true, ticks: Vec::new() }
    }

    /// A linear axis that begins at zero.
    pub fn linear(name: &str) -> Self {
        Self { name: name.into(), log: false, ticks: Vec::new() }
    }

    /// Ticks at these values alone.
    pub fn ticks(self, ticks: &[f64]) -> Self {
        Self { ticks: ticks.to_vec(), ..self }
    }

    /// The scale that holds these values with some room.
    fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high), x| (f64::min(low, x), f64::max(high, x)));
        let range = if self.log { low / 1.25..high * 1.25 } else { 0.0..high * 1.05 };
        let ticks = if self.ticks.is_empty() { ticks(&range, self.log) } else { self.ticks.clone() };
        Scale { range, log: self.log, ticks }
    }
}

/// Ticks where one looks for them: at 1, 2 and 5 times powers of ten, or six or so at even
/// distances.
fn ticks(range: &Range<f64>, log: bool) -> Vec<f64> {
    if !log {
        let step = step(range.end / 6.0);
        return (0..).map(|i| i as f64 * step).take_while(|&x| x <= range.end).collect();
    }
    let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
    // Over more than three decades their beginnings are enough.
    let factors: &[f64] = if (range.end / range.start).log10() > 3.3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all = decades.flat_map(|e| factors.iter().map(move |x| x * 10f64.powi(e)));
    all.filter(|x| range.contains(x)).collect()
}

/// Where values lie on an axis.
#[derive(Clone)]
struct Scale {
    range: Range<f64>,
    log: bool,
    ticks: Vec<f64>,
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let Range { start: low, end: high } = self.range;
        let share = if self.log { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) };
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below it.
fn step(least: f64) -> f64 {
    let size = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|x| x * size).find(|&x| x >= least).unwrap_or(10.0 * size)
}

/// A number on an axis.
fn number(x: f64) -> String {
    match x {
        0.0 => "0".into(),
        x if x.abs() >= 1e6 => format!("{}·10^{}", x / 10f64.powf(x.log10().floor()), x.log10().floor()),
        // Products like 3·0.1 have a tail of zeros and a digit.
        x => format!("{}", (x * 1e6).round() / 1e6),
    }
}

/// Lines over two axes.
pub struct LinePlot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
}

impl LinePlot {
    /// The drawing.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn svg(&self) -> Drawn {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        if points().next().is_none() {
            return Err(format!("nothing to draw: {}", self.title).into());
        }
        let (x, y) = (self.x.scale(points().map(|p| p.0)), self.y.scale(points().map(|p| p.1)));
        canvas(HEIGHT, &self.title, |root| {
            // Only names of lines that go all the way stand beyond the axes.
            let end = x.range.end / if x.log { 1.25 } else { 1.05 };
            let goes_all_the_way = |line: &&Line| line.points.iter().any(|(x, _)| *x >= 0.99 * end);
            let names = self.lines.iter().filter(goes_all_the_way).map(|line| line.name.chars().count());
            let longest = names.max().unwrap_or(0);
            let mut chart = ChartBuilder::on(root)
                .margin(10)
                .margin_top(40)
                .margin_right(30 + 7 * longest as i32)
                .x_label_area_size(45)
                .y_label_area_size(65)
                .build_cartesian_2d(x, y)?;
            chart
                .configure_mesh()
                .axis_style(GREY)
                .label_style(("sans-serif", 13).into_font().color(&INK))
                .bold_line_style(GREY)
                .light_line_style(TRANSPARENT)
                .x_desc(&*self.x.name)
                .y_desc(&*self.y.name)
                .x_label_formatter(&|x| number(*x))
                .y_label_formatter(&|y| number(*y))
                .draw()?;
            for line in &self.lines {
                let style = line.colour.stroke_width(2);
                let points = line.points.iter().copied();
                if line.dashed {
                    chart.draw_series(DashedLineSeries::new(points, 7, 4, style))?;
                } else {
                    chart.draw_series(LineSeries::new(points, style))?;
                }
                if line.points.len() <= 12 {
                    let dot = |&point| Circle::new(point, 3, line.colour.filled());
                    chart.draw_series(line.points.iter().map(dot))?;
                }
            }
            let right = |line: &&Line| line.points.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
            let end = |line| Some((chart.backend_coord(&right(&line)?), line));
            let ends: Vec<((i32, i32), &Line)> = self.lines.iter().filter_map(end).collect();
            name_lines(root, ends)
        })
    }
}

/// Each line's name behind its last point, moved apart where two would meet.
fn name_lines(root: &Area<'_>, mut ends: Vec<((i32, i32), &Line)>) -> Result<(), Box<dyn Error>> {
    ends.sort_by_key(|((_, y), _)| *y);
    let mut next = i32::MIN;
    for ((x, y), line) in ends {
        let y = y.max(next);
        next = y + TEXT;
        text(root, &line.name, (x + 8, y), HPos::Left, line.colour)?;
    }
    Ok(())
}

/// One row of a comparison: a name, a mark for each value, and a remark at the right.
pub struct Row {
    pub name: String,
    pub marks: Vec<(f64, RGBColor)>,
    pub remark: String,
}

/// Rows of points on one logarithmic axis.
pub struct PointPlot {
    pub title: String,
    pub x: String,
    /// What each colour is.
    pub legend: Vec<(String, RGBColor)>,
    pub rows: Vec<Row>,
}

impl PointPlot {
    /// The drawing.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn svg(&self) -> Drawn {
        const LEFT: i32 = 270;
        const RIGHT: i32 = WIDTH as i32 - 60;
        const TOP: i32 = 66;
        const ROW: i32 = 19;
        let values = || self.rows.iter().flat_map(|row| row.marks.iter().map(|(value, _)| *value));
        if values().next().is_none() {
            return Err(format!("nothing to draw: {}", self.title).into());
        }
        let scale = Axis::logarithmic("").scale(values());
        let place = |value: f64| scale.map(&value, (LEFT, RIGHT));
        let bottom = TOP + ROW * self.rows.len() as i32;
        canvas(bottom as u32 + 45, &self.title, |root| {
            let mut at = LEFT;
            for (name, colour) in &self.legend {
                root.draw(&Circle::new((at, 48), 4, colour.filled()))?;
                text(root, name, (at + 10, 48), HPos::Left, *colour)?;
                at += 40 + 7 * name.chars().count() as i32;
            }
            for &tick in &scale.ticks {
                root.draw(&PathElement::new([(place(tick), TOP - 4), (place(tick), bottom)], GREY))?;
                text(root, &number(tick), (place(tick), bottom + 12), HPos::Center, INK)?;
            }
            text(root, &self.x, ((LEFT + RIGHT) / 2, bottom + 30), HPos::Center, INK)?;
            for (row, top) in self.rows.iter().zip((TOP..).step_by(ROW as usize)) {
                let y = top + ROW / 2;
                text(root, &row.name, (LEFT - 12, y), HPos::Right, INK)?;
                let places = || row.marks.iter().map(|(value, _)| place(*value));
                if let (Some(from), Some(to)) = (places().min(), places().max()) {
                    root.draw(&PathElement::new([(from, y), (to, y)], GREY.stroke_width(3)))?;
                    text(root, &row.remark, (to + 10, y), HPos::Left, INK)?;
                }
                for (value, colour) in &row.marks {
                    root.draw(&Circle::new((place(*value), y), 4, colour.filled()))?;
                }
            }
            Ok(())
        })
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A white sheet with a title.
fn canvas(height: u32, title: &str, draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>) -> Drawn {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE)?;
        let style = TextStyle::from(("sans-serif", 16).into_font()).color(&INK);
        root.draw(&Text::new(title.to_owned(), (20, 14), style))?;
        draw(&root)?;
        root.present()?;
    }
    Ok(svg)
}

fn text(root: &Area<'_>, text: &str, at: (i32, i32), side: HPos, colour: RGBColor) -> Result<(), Box<dyn Error>> {
    let style = TextStyle::from(("sans-serif", 13).into_font()).color(&colour).pos(Pos::new(side, VPos::Center));
    root.draw(&Text::new(text.to_owned(), at, style))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_where_one_looks_for_them() {
        let ticks = |axis: Axis, values: [f64; 2]| axis.scale(values.into_iter()).ticks;
        assert_eq!(ticks(Axis::logarithmic(""), [0.9, 12.0]), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks(Axis::logarithmic(""), [0.5, 3000.0]), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks(Axis::linear(""), [1.0, 5.5]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!([number(0.1 + 0.2), number(0.0), number(2e6)], ["0.3", "0", "2·10^6"]);
    }

    #[test]
    fn names_of_lines_keep_apart() {
        let line =
            |name: &str, y| Line { name: name.into(), colour: BLUE, dashed: false, points: vec![(1.0, 1.0), (9.0, y)] };
        let lines = vec![line("first", 5.0), line("second", 5.01)];
        let plot = LinePlot { title: "t".into(), x: Axis::linear("x"), y: Axis::linear("y"), lines };
        let svg = plot.svg().unwrap();
        let height = |name: &str| -> i32 {
            let (before, _) = svg.split_once(&format!("\n{name}\n")).unwrap();
            let (_, y) = before.rsplit_once(" y=\"").unwrap();
            y.split('"').next().unwrap().parse().unwrap()
        };
        assert!((height("first") - height("second")).abs() >= TEXT, "{svg}");
    }
}
