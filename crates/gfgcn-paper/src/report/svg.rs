//! Figures as SVG: as one file, and as the panels of a page.
//!
//! In a file the panels stand in rows of fixed length. On a page every panel is an image of its own,
//! so that they flow: three side by side would be unreadable on a phone.

use super::Figure;
use super::markup::escape;
use super::palette::{self, Entry};
use super::panel::{self, CHARACTER, HEIGHT, WIDTH};
use std::fmt::Write;

const LINE: f64 = 22.0;
const MARGIN: f64 = 12.0;
/// Between panels.
const GAP: f64 = 16.0;

/// The rules of the figures, beside the colours of the palette.
const RULES: &str = include_str!("figure.css");

/// The style of the figures: colours in light and dark, and rules.
pub(super) fn style() -> String {
    palette::css() + RULES
}

/// A figure as an SVG file that needs nothing else: all panels, a legend, and a style that follows
/// the reader's choice of light or dark.
pub fn figure(figure: &Figure) -> String {
    let columns = columns(figure.panels.len());
    let width = columns as f64 * (WIDTH + GAP) - GAP + 2.0 * MARGIN;
    let title = wrapped(&figure.title, width - 2.0 * MARGIN, 1.3 * CHARACTER);
    let top = MARGIN + LINE * title.len() as f64;
    let rows = figure.panels.len().div_ceil(columns) as f64;
    let entries = palette::legend(figure);
    let places = legend_places(&entries, width - 2.0 * MARGIN);
    let legend_top = top + rows * (HEIGHT + GAP) + GAP / 2.0;
    let lines = places.last().map_or(0.0, |(_, line)| line / LINE + 1.0);
    let height = legend_top + lines * LINE;

    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<title>{}</title><desc>{}</desc>
<style>{}</style>
<rect class="paper" width="100%" height="100%"/>
"#,
        escape(&figure.title),
        escape(&figure.text),
        style(),
    );
    for (i, line) in title.iter().enumerate() {
        let y = MARGIN + LINE * i as f64 + 12.0;
        let _ = writeln!(
            svg,
            r#"<text class="heading" x="{:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#,
            width / 2.0,
            escape(line)
        );
    }
    for (i, panel) in figure.panels.iter().enumerate() {
        let x = (i % columns) as f64 * (WIDTH + GAP) + MARGIN;
        let y = (i / columns) as f64 * (HEIGHT + GAP) + top;
        let drawn = panel::draw(panel, &entries);
        let _ = writeln!(svg, r#"<g transform="translate({x:.1} {y:.1})">{drawn}</g>"#);
    }
    for (entry, (x, y)) in entries.iter().zip(places) {
        let (x, y) = (x + MARGIN, y + legend_top);
        let _ = writeln!(
            svg,
            r#"{}<text x="{:.1}" y="{:.1}">{}</text>"#,
            panel::swatch(entry, (x, y - 4.0)),
            x + 34.0,
            y,
            escape(&entry.name)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A figure as a piece of HTML: an image per panel, and a legend. The page brings the style.
pub(super) fn panels(figure: &Figure) -> String {
    let entries = palette::legend(figure);
    let mut html = format!(r#"<div class="panels of-{}">"#, figure.panels.len());
    for panel in &figure.panels {
        let title = if panel.title.is_empty() { &figure.title } else { &panel.title };
        let _ = writeln!(
            html,
            r#"<svg class="chart" role="img" viewBox="0 0 {WIDTH} {HEIGHT}"><title>{}: {} by {}</title>{}</svg>"#,
            escape(title),
            escape(&panel.y.label),
            escape(&panel.x.label),
            panel::draw(panel, &entries)
        );
    }
    html.push_str("</div>\n<ul class=\"legend\">");
    for entry in &entries {
        let _ = write!(
            html,
            r#"<li><svg class="chart" aria-hidden="true" width="28" height="14" viewBox="0 0 28 14">{}</svg>{}</li>"#,
            panel::swatch(entry, (0.0, 7.0)),
            escape(&entry.name)
        );
    }
    html.push_str("</ul>\n");
    html
}

/// How many panels stand side by side.
fn columns(panels: usize) -> usize {
    match panels {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Where the entries of a legend begin, broken into lines, from the first one's baseline.
fn legend_places(entries: &[Entry], width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        let needed = 34.0 + CHARACTER * entry.name.chars().count() as f64 + 16.0;
        if x > 0.0 && x + needed > width {
            (x, y) = (0.0, y + LINE);
        }
        places.push((x, y));
        x += needed;
    }
    places
}

/// Words in lines of at most a width.
fn wrapped(text: &str, width: f64, character: f64) -> Vec<String> {
    let room = (width / character) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Axis, Panel, Point, Scale, Series, Style};

    fn with(scale: Scale, points: &[(f64, f64, Option<f64>)]) -> Figure {
        let axis = |label: &str| Axis { label: label.into(), scale };
        let points: Vec<Point> =
            points.iter().map(|&(x, y, error)| Point { x, y, error }).collect();
        let series = [Style::Dots, Style::Line, Style::Dashed].map(|style| Series {
            name: format!("{style:?}"),
            style,
            points: points.clone(),
        });
        let panel =
            Panel { title: "p".into(), x: axis("x"), y: axis("y"), series: series.to_vec() };
        Figure { id: "f".into(), title: "t".into(), text: "w".into(), panels: vec![panel; 5] }
    }

    #[test]
    fn degenerate_figures_are_drawn_without_nonsense() {
        let cases: [&[(f64, f64, Option<f64>)]; 8] = [
            &[],
            &[(1.0, 1.0, None)],
            &[(2.0, 5.0, Some(0.0)), (2.0, 5.0, Some(9.0))],
            &[(0.0, 0.0, None), (0.0, 0.0, None)],
            &[(-1.0, -2.0, None), (1.0, 1e-9, Some(3.0)), (4.0, 0.0, None), (8.0, 1e9, None)],
            &[(f64::NAN, 1.0, None), (1.0, f64::INFINITY, Some(f64::NAN))],
            &[(f64::MAX, f64::MIN, Some(f64::MAX)), (1.0, 1.0, Some(f64::INFINITY))],
            &[(5e-324, 5e-324, Some(5e-324))],
        ];
        for points in cases {
            for scale in [Scale::Linear, Scale::Powers, Scale::Logarithmic] {
                let figure = with(scale, points);
                for drawn in [super::figure(&figure), panels(&figure)] {
                    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
                }
            }
        }
    }

    #[test]
    fn a_figure_without_panels_or_series_is_a_figure() {
        let mut empty = with(Scale::Linear, &[]);
        empty.panels[0].series.clear();
        assert!(super::figure(&empty).ends_with("</svg>\n"));
        empty.panels.clear();
        assert!(super::figure(&empty).ends_with("</svg>\n"));
    }

    #[test]
    fn points_that_a_logarithmic_axis_cannot_show_leave_a_gap() {
        let mut figure = with(
            Scale::Logarithmic,
            &[(1.0, 1.0, None), (10.0, 10.0, None), (20.0, 0.0, None), (100.0, 3.0, None)],
        );
        figure.panels.truncate(1);
        figure.panels[0].series.remove(0);
        figure.panels[0].series.pop();
        let drawn = panels(&figure);
        let (_, path) = drawn.split_once(r#"<g class="series blue"><path d=""#).unwrap();
        let (path, _) = path.split_once('"').unwrap();
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 3), "{path}");
    }

    #[test]
    fn text_is_text_and_cannot_be_markup() {
        let mut figure = with(Scale::Linear, &[(0.0, 1.0, None)]);
        let evil = "</svg><script>alert(\"1\")</script>&";
        figure.title = evil.into();
        figure.text = evil.into();
        figure.panels[0].title = evil.into();
        figure.panels[0].x.label = evil.into();
        figure.panels[0].y.label = evil.into();
        figure.panels[0].series[0].name = evil.into();
        for drawn in [super::figure(&figure), panels(&figure)] {
            assert!(!drawn.contains("<script") && drawn.contains("&lt;script&gt;"), "{drawn}");
        }
    }

    #[test]
    fn long_titles_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 8.0, 1.0), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 3.0, 1.0), ["unbreakable"]);
        assert!(wrapped("", 3.0, 1.0).is_empty());
    }
}
