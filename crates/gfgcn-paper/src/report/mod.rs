//! The report: tables and figures as data, and the forms in which people read them.

mod axis;
pub mod html;
mod markup;
mod number;
mod palette;
mod panel;
pub mod svg;
pub mod text;
pub mod write;

use gfgcn::metrics::Summary;
use serde::Serialize;

/// Everything that was found, in the order in which it is shown.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What was run, on what machine, with which versions, and when: one sentence each.
    pub about: Vec<String>,
    /// What a reader should know first, such as a dataset that was not found.
    pub remarks: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A table of measurements beside the published ones.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// For file names and links, such as `depth-cora`.
    pub id: String,
    /// The heading.
    pub title: String,
    /// What was run.
    pub text: String,
    /// What the rows are, such as `model`.
    pub rows_are: String,
    /// The headings of the columns.
    pub columns: Vec<String>,
    /// What the numbers are.
    pub unit: Unit,
    /// The rows.
    pub rows: Vec<Row>,
}

/// What the numbers of a table are, and whether more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Test accuracy; more is better.
    Percent,
    /// Time; less is better.
    Seconds,
    /// Calibration errors in percentage points; less is better.
    Points,
}

/// A row of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The heading.
    pub name: String,
    /// One per column; empty where neither was measured nor published.
    pub cells: Vec<Cell>,
}

/// A number of ours and the published one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// Measured, if it was.
    pub ours: Option<Summary>,
    /// How many runs that was over.
    pub runs: usize,
    /// Published, if it was.
    pub published: Option<f64>,
    /// 1 for the best of its column, 2 for the second best.
    pub rank: Option<u8>,
}

impl Cell {
    /// Ours less the published number, where both are there.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours?.mean - self.published?)
    }
}

/// A figure of one panel or several, side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// For file names and links, such as `gradients`.
    pub id: String,
    /// The heading.
    pub title: String,
    /// What was run, and what is seen.
    pub text: String,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// A chart: lines over two axes.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// The heading.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// What is on it.
    pub label: String,
    /// How values are spaced.
    pub scale: Scale,
}

/// How values are spaced on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm to base 2, with ticks at the powers of 2: depths.
    Powers,
    /// By their logarithm to base 10.
    Logarithmic,
}

/// A line.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// From left to right; no value is NaN or infinite.
    pub points: Vec<Point>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// With a dot at every point.
    Dots,
    /// Without.
    Line,
    /// Dashed: a limit, or a number of others.
    Dashed,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Half the height of its error bar, if it has one.
    pub error: Option<f64>,
}
