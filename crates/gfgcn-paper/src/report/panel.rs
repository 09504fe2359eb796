//! One panel of a figure: axes, grid and lines, as SVG elements.

use super::axis::{Range, Tick};
use super::markup::escape;
use super::number::significant;
use super::palette::{Entry, Look, Mark};
use super::{Panel, Point, Series, Style};
use std::fmt::Write;

/// The size of a panel in SVG units, which are pixels where nothing is scaled.
pub(super) const WIDTH: f64 = 420.0;
/// See [`WIDTH`].
pub(super) const HEIGHT: f64 = 300.0;

/// About the width of a character at 12 units, for text that no program has measured yet.
pub(super) const CHARACTER: f64 = 6.7;

/// Room for the title above, for ticks and label below, and at the right.
const TOP: f64 = 30.0;
const BOTTOM: f64 = HEIGHT - 46.0;
const RIGHT: f64 = WIDTH - 12.0;

/// The two ranges of a panel and its left edge, which leaves room for the longest tick.
struct Frame {
    x: Range,
    y: Range,
    left: f64,
}

/// A point on the paper.
type Place = (f64, f64);

/// The elements of a panel. The lines look as the legend says.
pub(super) fn draw(panel: &Panel, legend: &[Entry]) -> String {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let x = Range::around(panel.x.scale, points().map(|point| point.x));
    let y = Range::around(panel.y.scale, points().flat_map(extent));
    let y_ticks = y.ticks();
    let longest = y_ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let frame = Frame { x, y, left: 32.0 + CHARACTER * longest as f64 };

    let mut svg = String::new();
    frame.axes(&mut svg, panel, &y_ticks);
    for series in &panel.series {
        if let Some(entry) = legend.iter().find(|entry| entry.name == series.name) {
            frame.series(&mut svg, series, entry.look);
        }
    }
    svg
}

/// What the upward axis must have room for. Where an error bar reaches far below its point the point
/// matters: on a logarithmic axis it would take all the room.
fn extent(point: &Point) -> [f64; 3] {
    let error = error(point).unwrap_or(0.0);
    let low = point.y - error;
    [point.y, point.y + error, if low > point.y / 10.0 { low } else { point.y }]
}

fn error(point: &Point) -> Option<f64> {
    point.error.filter(|error| error.is_finite() && *error > 0.0)
}

impl Frame {
    fn across(&self, place: f64) -> f64 {
        self.left + place * (RIGHT - self.left)
    }

    fn up(&self, place: f64) -> f64 {
        BOTTOM - place * (BOTTOM - TOP)
    }

    fn place(&self, x: f64, y: f64) -> Option<Place> {
        Some((self.across(self.x.place(x)?), self.up(self.y.place(y)?)))
    }

    fn axes(&self, svg: &mut String, panel: &Panel, y_ticks: &[Tick]) {
        let x_ticks = self.x.ticks();
        let (left, middle) = (self.left, (self.left + RIGHT) / 2.0);
        let mut grid = String::new();
        for tick in &x_ticks {
            let _ = write!(grid, "M{:.1},{BOTTOM}V{TOP}", self.across(tick.place));
        }
        for tick in y_ticks {
            let _ = write!(grid, "M{left:.1},{:.1}H{RIGHT}", self.up(tick.place));
        }
        let _ = write!(svg, r#"<path class="grid" d="{grid}"/>"#);
        let _ = write!(svg, r#"<path class="frame" d="M{left:.1},{TOP}V{BOTTOM}H{RIGHT}"/>"#);
        svg.push_str(r#"<g class="ticks" text-anchor="middle">"#);
        for tick in &x_ticks {
            let (x, y) = (self.across(tick.place), BOTTOM + 16.0);
            let _ = write!(svg, r#"<text x="{x:.1}" y="{y}">{}</text>"#, tick.label);
        }
        svg.push_str(r#"</g><g class="ticks" text-anchor="end">"#);
        for tick in y_ticks {
            let (x, y) = (left - 6.0, self.up(tick.place) + 4.0);
            let _ = write!(svg, r#"<text x="{x:.1}" y="{y:.1}">{}</text>"#, tick.label);
        }
        svg.push_str("</g>");
        let room = RIGHT - left;
        text(svg, "title", (middle, TOP - 12.0), room, "", &panel.title);
        text(svg, "label", (middle, HEIGHT - 8.0), room, "", &panel.x.label);
        let turned = format!(r#" transform="rotate(-90 14 {:.1})""#, (TOP + BOTTOM) / 2.0);
        text(svg, "label", (14.0, (TOP + BOTTOM) / 2.0), BOTTOM - TOP, &turned, &panel.y.label);
    }

    fn series(&self, svg: &mut String, series: &Series, look: Look) {
        let strong = if look.strong { " strong" } else { "" };
        let dashed = if series.style == Style::Dashed { " dashed" } else { "" };
        let path = self.path(series);
        if path.is_empty() {
            return;
        }
        let bars: String = series.points.iter().filter_map(|point| self.error_bar(point)).collect();
        let _ = write!(svg, r#"<g class="series {}{strong}{dashed}">"#, look.class);
        if !bars.is_empty() {
            let _ = write!(svg, r#"<path class="bars" d="{bars}"/>"#);
        }
        let _ = write!(svg, r#"<path d="{path}"/>"#);
        if series.style == Style::Dots {
            for point in &series.points {
                self.dot(svg, &series.name, point, look.mark);
            }
        }
        svg.push_str("</g>");
    }

    /// The line through the points. A point that cannot be shown leaves a gap: a line across it would
    /// claim what is not known.
    fn path(&self, series: &Series) -> String {
        let mut path = String::new();
        let mut drawing = false;
        for point in &series.points {
            let Some((x, y)) = self.place(point.x, point.y) else {
                drawing = false;
                continue;
            };
            // A line of no length makes a point without neighbours visible: its ends are round.
            let start = if drawing { String::new() } else { format!("M{x:.1},{y:.1}") };
            let _ = write!(path, "{start}L{x:.1},{y:.1}");
            drawing = true;
        }
        path
    }

    /// Down to the edge where the bar leaves a logarithmic axis.
    fn error_bar(&self, point: &Point) -> Option<String> {
        let error = error(point)?;
        let (x, high) = self.place(point.x, point.y + error)?;
        self.y.place(point.y)?;
        let low = self.y.place(point.y - error).map_or(BOTTOM, |place| self.up(place));
        let (from, to) = (x - 3.0, x + 3.0);
        Some(format!(
            "M{from:.1},{high:.1}H{to:.1}M{x:.1},{high:.1}V{low:.1}M{from:.1},{low:.1}H{to:.1}"
        ))
    }

    fn dot(&self, svg: &mut String, name: &str, point: &Point, kind: Mark) {
        let Some(place) = self.place(point.x, point.y) else { return };
        let (x, y) = (plain(point.x), significant(point.y));
        let error = error(point).map_or(String::new(), |e| format!(" ± {}", significant(e)));
        let told = escape(&format!("{name} at {x}: {y}{error}"));
        let _ = write!(svg, "<g><title>{told}</title>{}</g>", mark(kind, place));
    }
}

/// Whole numbers, such as depths, as they are.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 { format!("{value}") } else { significant(value) }
}

/// A line of text, squeezed where it would leave its room.
fn text(svg: &mut String, class: &str, (x, y): Place, room: f64, more: &str, content: &str) {
    let squeezed = if CHARACTER * content.chars().count() as f64 > room {
        format!(r#" textLength="{room:.0}" lengthAdjust="spacingAndGlyphs""#)
    } else {
        String::new()
    };
    let content = escape(content);
    let _ = write!(
        svg,
        r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="middle"{squeezed}{more}>{content}</text>"#
    );
}

/// The mark of a point.
pub(super) fn mark(mark: Mark, (x, y): Place) -> String {
    let path = |d: String| format!(r#"<path class="dot" d="{d}"/>"#);
    match mark {
        Mark::Disc => format!(r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="3.2"/>"#),
        Mark::Ring => format!(r#"<circle class="dot open" cx="{x:.1}" cy="{y:.1}" r="2.9"/>"#),
        Mark::Square => path(format!("M{:.1},{:.1}h5.6v5.6h-5.6z", x - 2.8, y - 2.8)),
        Mark::Triangle => path(format!("M{x:.1},{:.1}l3.6,6.2h-7.2z", y - 3.9)),
        Mark::Diamond => path(format!("M{x:.1},{:.1}l3.8,3.8l-3.8,3.8l-3.8,-3.8z", y - 3.8)),
        Mark::Wedge => path(format!("M{x:.1},{:.1}l3.6,-6.2h-7.2z", y + 3.9)),
        Mark::Cross => format!(
            r#"<path class="dot open" d="M{:.1},{:.1}l5.4,5.4m0,-5.4l-5.4,5.4"/>"#,
            x - 2.7,
            y - 2.7
        ),
    }
}

/// A short piece of a line with its mark, 28 units wide, around a height.
pub(super) fn swatch(entry: &Entry, (x, y): Place) -> String {
    let look = entry.look;
    let strong = if look.strong { " strong" } else { "" };
    let (dashed, dot) = match entry.style {
        Style::Dots => ("", mark(look.mark, (x + 14.0, y))),
        Style::Line => ("", String::new()),
        Style::Dashed => (" dashed", String::new()),
    };
    format!(
        r#"<g class="series {}{strong}{dashed}"><path d="M{:.1},{y:.1}h24"/>{dot}</g>"#,
        look.class,
        x + 2.0
    )
}
