//! Colours, in light and dark, and which line gets which.
//!
//! Colours are those of Okabe and Ito, darkened or lightened until they stand out from the paper.
//! Eleven colours cannot all be told apart by everyone, so every model also has a mark of its own,
//! and a gradient-free model shares its hue with the model that it solves.

use super::{Figure, Style};
use std::fmt::Write;

/// A colour with its CSS variable, in light and in dark.
struct Colour(&'static str, &'static str, &'static str);

/// Everything on the page and in the figures that has a colour, but for the lines.
const SURFACES: [Colour; 11] = [
    Colour("paper", "#ffffff", "#14171c"),
    Colour("raised", "#f5f6f8", "#1d2128"),
    Colour("ink", "#1b1f24", "#e6e8eb"),
    Colour("muted", "#59626e", "#a3acb8"),
    Colour("rule", "#d5d9df", "#3a414c"),
    Colour("grid", "#e8eaee", "#2a3039"),
    Colour("link", "#0b57a4", "#7cb8f5"),
    Colour("better", "#0a5fa3", "#72b7f2"),
    Colour("worse", "#a63f00", "#ff9d5c"),
    Colour("notice", "#fff6dc", "#332a12"),
    Colour("notice-rule", "#c99700", "#b98f1d"),
];

/// The lines: eight hues, and three paler ones.
const HUES: [Colour; 11] = [
    Colour("blue", "#0068a8", "#4aa8f0"),
    Colour("vermilion", "#c44900", "#ff8a47"),
    Colour("green", "#00805e", "#2fcf9f"),
    Colour("purple", "#b5428a", "#ea8fc6"),
    Colour("gold", "#9a7d00", "#ead54a"),
    Colour("black", "#2b2f36", "#f0f2f5"),
    Colour("violet", "#6547b5", "#a891f5"),
    Colour("brown", "#86614a", "#c6a48d"),
    Colour("pale-blue", "#4590c8", "#3a7db3"),
    Colour("pale-vermilion", "#d67a30", "#b9642f"),
    Colour("pale-green", "#2f9f7d", "#1f8f6d"),
];

/// How many of [`HUES`] are given to lines without a colour of their own.
const FREE_HUES: usize = 8;

/// For lines that follow each other, as depths do: from dark to bright, or bright on dark.
const STEPS: [Colour; 8] = [
    Colour("step-0", "#440154", "#c0a4fa"),
    Colour("step-1", "#54309c", "#8fa8f8"),
    Colour("step-2", "#2f5fb3", "#5fb3f0"),
    Colour("step-3", "#1c84b0", "#3cc0d8"),
    Colour("step-4", "#12928a", "#35ccb0"),
    Colour("step-5", "#3a963f", "#63d77f"),
    Colour("step-6", "#7f9200", "#a6dc4f"),
    Colour("step-7", "#b58100", "#f0e442"),
];

/// The mark at every point of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Disc,
    Ring,
    Square,
    Triangle,
    Diamond,
    Wedge,
    Cross,
}

const MARKS: [Mark; 7] =
    [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Ring, Mark::Wedge, Mark::Cross];

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// The CSS class that gives the colour.
    pub(super) class: &'static str,
    /// The mark at its points.
    pub(super) mark: Mark,
    /// Drawn thicker than the others.
    pub(super) strong: bool,
}

impl Look {
    const fn of(colour: &Colour, mark: Mark, strong: bool) -> Self {
        Look { class: colour.0, mark, strong }
    }
}

/// The models of the paper, which look the same in every figure.
const MODELS: [(&str, Look); 11] = [
    ("GCN", Look::of(&HUES[5], Mark::Square, false)),
    ("GAT", Look::of(&HUES[3], Mark::Triangle, false)),
    ("JKNet", Look::of(&HUES[4], Mark::Diamond, false)),
    ("APPNP", Look::of(&HUES[6], Mark::Wedge, false)),
    ("GCNII", Look::of(&HUES[7], Mark::Cross, false)),
    ("SGC", Look::of(&HUES[8], Mark::Ring, false)),
    ("SSGC", Look::of(&HUES[9], Mark::Ring, false)),
    ("DGC", Look::of(&HUES[10], Mark::Ring, false)),
    ("gfSGC", Look::of(&HUES[0], Mark::Disc, true)),
    ("gfSSGC", Look::of(&HUES[1], Mark::Disc, true)),
    ("gfDGC", Look::of(&HUES[2], Mark::Disc, true)),
];

/// A line of the legend.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The name of the series.
    pub(super) name: String,
    /// How it looks in every panel.
    pub(super) look: Look,
    /// How it is drawn where it comes first.
    pub(super) style: Style,
}

/// The series of a figure, each name once, in order of appearance, with their looks.
pub(super) fn legend(figure: &Figure) -> Vec<Entry> {
    let mut named: Vec<(&str, Style)> = Vec::new();
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        if named.iter().all(|(name, _)| *name != series.name) {
            named.push((&series.name, series.style));
        }
    }
    let steps: Vec<&str> =
        named.iter().map(|(name, _)| *name).filter(|name| ends_in_number(name)).collect();
    let mut entries: Vec<Entry> = Vec::new();
    for (name, style) in named {
        let step = steps.iter().position(|step| *step == name).filter(|_| steps.len() > 2);
        let look = model(name)
            .or_else(|| step.map(|index| step_look(index, steps.len())))
            .or_else(|| relative(name, style, &entries))
            .unwrap_or_else(|| free_look(&entries));
        entries.push(Entry { name: name.to_owned(), look, style });
    }
    entries
}

fn model(name: &str) -> Option<Look> {
    MODELS.iter().find(|(model, _)| *model == name).map(|(_, look)| *look)
}

/// A dashed line that is named after a model, as `SGC, limit`, has the model's colour, unless another
/// dashed line has it already.
fn relative(name: &str, style: Style, entries: &[Entry]) -> Option<Look> {
    let word = name.split(|c: char| !c.is_alphanumeric()).next()?;
    let look = model(word).filter(|_| style == Style::Dashed)?;
    let taken = entries.iter().any(|e| e.style == Style::Dashed && e.look.class == look.class);
    (!taken).then_some(look)
}

/// The first hue that no other line of the figure has, or, when all are taken, another mark.
fn free_look(entries: &[Entry]) -> Look {
    let free = &HUES[..FREE_HUES];
    let untaken = |hue: &&Colour| entries.iter().all(|entry| entry.look.class != hue.0);
    let hue = free.iter().find(untaken).unwrap_or(&free[entries.len() % FREE_HUES]);
    Look::of(hue, MARKS[entries.len() % MARKS.len()], false)
}

fn step_look(index: usize, count: usize) -> Look {
    let step = index * (STEPS.len() - 1) / (count - 1);
    Look::of(&STEPS[step], MARKS[index % MARKS.len()], false)
}

/// Names such as `K = 8` say that the lines follow each other.
fn ends_in_number(name: &str) -> bool {
    name.ends_with(|c: char| c.is_ascii_digit())
}

/// The colours as CSS variables and the classes of the lines.
///
/// A page that lets its reader choose sets `data-theme` at its root; without, the system decides.
/// Programs that draw SVG but do not know variables find the light colour before each.
pub(super) fn css() -> String {
    let all = || SURFACES.iter().chain(&HUES).chain(&STEPS);
    let light: String = all().map(|Colour(name, light, _)| format!("--{name}:{light};")).collect();
    let dark: String = all().map(|Colour(name, _, dark)| format!("--{name}:{dark};")).collect();
    let mut css = format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
    );
    for Colour(name, light, _) in HUES.iter().chain(&STEPS) {
        let _ = writeln!(css, ".{name}{{color:{light};color:var(--{name})}}");
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Axis, Panel, Scale, Series};

    fn figure(names: &[(&str, Style)]) -> Figure {
        let axis = || Axis { label: String::new(), scale: Scale::Linear };
        let series =
            |&(name, style): &(&str, Style)| Series { name: name.into(), style, points: vec![] };
        let series = names.iter().map(series).collect();
        let panel = Panel { title: String::new(), x: axis(), y: axis(), series };
        let (id, title, text) = ("f".into(), String::new(), String::new());
        Figure { id, title, text, panels: vec![panel.clone(), panel] }
    }

    fn classes(names: &[(&str, Style)]) -> Vec<&'static str> {
        legend(&figure(names)).iter().map(|entry| entry.look.class).collect()
    }

    #[test]
    fn models_look_the_same_everywhere_and_differ() {
        let all = MODELS.map(|(name, _)| (name, Style::Dots));
        let mut together = classes(&all);
        assert_eq!(classes(&all[8..]), together[8..]);
        together.sort_unstable();
        together.dedup();
        assert_eq!(together.len(), MODELS.len());
    }

    #[test]
    fn a_limit_has_the_colour_of_its_model_and_others_a_free_one() {
        let found = classes(&[
            ("gfSGC", Style::Dots),
            ("gfSGC, limit", Style::Dashed),
            ("gfSGC, other limit", Style::Dashed),
            ("descent", Style::Dots),
        ]);
        assert_eq!(found, ["blue", "blue", "vermilion", "green"]);
    }

    #[test]
    fn depths_are_steps() {
        let names = ["K = 2", "K = 4", "K = 8"].map(|name| (name, Style::Line));
        assert_eq!(classes(&names), ["step-0", "step-3", "step-7"]);
    }

    #[test]
    fn more_lines_than_colours_differ_by_their_marks() {
        let names: Vec<String> = (b'a'..=b'p').map(|c| char::from(c).to_string()).collect();
        let names: Vec<_> = names.iter().map(|name| (name.as_str(), Style::Dots)).collect();
        let looks: Vec<Look> = legend(&figure(&names)).iter().map(|entry| entry.look).collect();
        for (i, look) in looks.iter().enumerate() {
            assert!(!looks[..i].contains(look), "{i}: {look:?}");
        }
    }

    /// WCAG 2: text needs 4.5, lines need 3 against the paper.
    #[test]
    fn colours_stand_out_from_the_paper() {
        let text = ["ink", "muted", "link", "better", "worse"];
        for colour in SURFACES.iter().chain(&HUES).chain(&STEPS) {
            let needed = match colour.0 {
                name if text.contains(&name) => 4.5,
                "paper" | "raised" | "rule" | "grid" | "notice" | "notice-rule" => continue,
                _ => 3.0,
            };
            let (light, dark) =
                (contrast(colour.1, SURFACES[0].1), contrast(colour.2, SURFACES[0].2));
            assert!(light >= needed && dark >= needed, "{}: {light} {dark}", colour.0);
        }
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }
}
