//! The range of an axis, where a value lies on it, and its ticks.

use super::Scale;
use super::number::{fixed, raised};

/// At most about so many ticks: more crowd a small panel.
const TICKS: f64 = 6.0;

/// Values beyond are not shown: their differences would overflow.
const LARGEST: f64 = 1e300;

/// A linear axis takes smaller values for zero: their steps would underflow.
const SMALLEST: f64 = 1e-290;

/// The part of an axis that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    scale: Scale,
    /// The ends: values on a linear axis, logarithms on the others.
    low: f64,
    high: f64,
}

/// A marked value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Its place, from 0 to 1.
    pub(super) place: f64,
    /// What is written there.
    pub(super) label: String,
}

/// The coordinate that is evenly spaced; `None` for values that the axis cannot show.
fn coordinate(scale: Scale, value: f64) -> Option<f64> {
    let shown = value.is_finite() && value.abs() <= LARGEST;
    match scale {
        Scale::Linear => shown.then_some(value),
        Scale::Powers => (shown && value > 0.0).then(|| value.log2()),
        Scale::Logarithmic => (shown && value > 0.0).then(|| value.log10()),
    }
}

impl Range {
    /// A range with all these values and a little room; values that cannot be shown are ignored.
    pub(super) fn around(scale: Scale, values: impl IntoIterator<Item = f64>) -> Self {
        let coordinates = values.into_iter().filter_map(|value| coordinate(scale, value));
        let (low, high) =
            coordinates.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), c| (l.min(c), h.max(c)));
        let (low, high) = match scale {
            _ if low > high => (0.0, 1.0),
            Scale::Linear => widened(low, high),
            Scale::Powers | Scale::Logarithmic => with_two_powers(low, high),
        };
        let room = 0.04 * (high - low);
        Range { scale, low: low - room, high: high + room }
    }

    /// Where a value lies, from 0 at the low end to 1 at the high end.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        coordinate(self.scale, value).map(|c| self.share(c).clamp(0.0, 1.0))
    }

    /// The ticks, from low to high.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Powers => self.multiples(power_step(self.high - self.low), power_of_two),
            Scale::Logarithmic => {
                self.multiples(power_step(self.high - self.low), |k| format!("10{}", raised(k)))
            }
        }
    }

    fn share(&self, coordinate: f64) -> f64 {
        (coordinate - self.low) / (self.high - self.low)
    }

    fn linear_ticks(&self) -> Vec<Tick> {
        let (digit, exponent) = nice_step((self.high - self.low) / TICKS);
        let label = |multiple: i64| linear_label(multiple * digit, exponent);
        let step = digit as f64 * 10f64.powi(exponent);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        let tick = |k| Tick { place: self.share(k as f64 * step), label: label(k) };
        (first..=last).map(tick).collect()
    }

    /// Ticks at the multiples of a whole number of coordinates.
    fn multiples(&self, step: i32, label: impl Fn(i32) -> String) -> Vec<Tick> {
        let first = (self.low / f64::from(step)).ceil() as i32;
        let last = (self.high / f64::from(step)).floor() as i32;
        let powers = (first..=last).map(|k| k * step);
        powers.map(|k| Tick { place: self.share(f64::from(k)), label: label(k) }).collect()
    }
}

/// The range itself, or one around a single value: a tenth of it to each side.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    // Ticks count in multiples of their step, so it must not vanish beside the values.
    if size < SMALLEST {
        (-1.0, 1.0)
    } else if high - low > 1e-9 * size {
        (low, high)
    } else {
        let middle = low / 2.0 + high / 2.0;
        (middle - 0.1 * size, middle + 0.1 * size)
    }
}

/// Widens a range of logarithms until it has two whole ones: with fewer ticks nothing could be read.
fn with_two_powers(low: f64, high: f64) -> (f64, f64) {
    if high.floor() - low.ceil() >= 1.0 {
        return (low, high);
    }
    let (low, high) = (low.floor(), high.ceil());
    if low < high { (low, high) } else { (low - 1.0, high + 1.0) }
}

/// The smallest 1, 2 or 5 times a power of ten that is not below, as digit and exponent.
fn nice_step(least: f64) -> (i64, i32) {
    let exponent = least.log10().floor() as i32;
    let mantissa = least / 10f64.powi(exponent);
    // A little below counts as reached: 0.2 / 0.1 must not become 5.
    let reaches = |digit: f64| mantissa <= digit * (1.0 + 1e-9);
    match () {
        () if reaches(1.0) => (1, exponent),
        () if reaches(2.0) => (2, exponent),
        () if reaches(5.0) => (5, exponent),
        () => (1, exponent + 1),
    }
}

/// The step between marked powers over so many of them.
fn power_step(span: f64) -> i32 {
    // Seven depths, 2 to 128, all get their tick.
    let least = span / 8.0;
    [1, 2, 5, 10, 20, 50].into_iter().find(|&step| f64::from(step) >= least).unwrap_or(100)
}

/// `multiple` times ten to the `exponent`, without rounding.
fn linear_label(multiple: i64, exponent: i32) -> String {
    let value = multiple as f64;
    match exponent {
        _ if multiple == 0 => "0".into(),
        0..=4 => fixed(value * 10f64.powi(exponent), 0),
        -4..0 => fixed(value / 10f64.powi(-exponent), -exponent as usize),
        // A small step far from zero: many digits are needed, and a power of ten would hide them.
        -15..0 if multiple.abs() >= 1000 => {
            fixed(value / 10f64.powi(-exponent), -exponent as usize)
        }
        _ => format!("{}×10{}", fixed(value, 0), raised(exponent)),
    }
}

fn power_of_two(exponent: i32) -> String {
    match exponent {
        0..=16 => (1u32 << exponent).to_string(),
        _ => format!("2{}", raised(exponent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let ticks = Range::around(scale, values.iter().copied()).ticks();
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_step_by_one_two_or_five() {
        // Worked out by hand: the span with its room, divided by six, rounded up.
        let cases: [(&[f64], &[&str]); 9] = [
            (&[0.0, 100.0], &["0", "20", "40", "60", "80", "100"]),
            (&[0.0, 10.0], &["0", "2", "4", "6", "8", "10"]),
            (&[71.3, 88.2], &["75", "80", "85"]),
            (&[-1.0, 1.0], &["−1.0", "−0.5", "0", "0.5", "1.0"]),
            (&[0.1, 0.35], &["0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]),
            (&[0.0, 4e-7], &["0", "1×10⁻⁷", "2×10⁻⁷", "3×10⁻⁷", "4×10⁻⁷"]),
            (&[0.0, 50_000.0], &["0", "10000", "20000", "30000", "40000", "50000"]),
            (
                &[7.0, 7.000_01],
                &["7.000000", "7.000002", "7.000004", "7.000006", "7.000008", "7.000010"],
            ),
            (&[5.0], &["4.6", "4.8", "5.0", "5.2", "5.4"]),
        ];
        for (values, expected) in cases {
            assert_eq!(labels(Scale::Linear, values), expected, "{values:?}");
        }
    }

    #[test]
    fn powers_of_two_are_all_labelled() {
        let depths = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        assert_eq!(labels(Scale::Powers, &depths), ["2", "4", "8", "16", "32", "64", "128"]);
        assert_eq!(labels(Scale::Powers, &[3.0]), ["2", "4"]);
        assert_eq!(labels(Scale::Powers, &[8.0]), ["4", "8", "16"]);
        assert_eq!(labels(Scale::Powers, &[0.25, 2.0]), ["2⁻²", "2⁻¹", "1", "2"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(
            labels(Scale::Logarithmic, &[1e-3, 10.0]),
            ["10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹"]
        );
        assert_eq!(labels(Scale::Logarithmic, &[3.0, 8.0]), ["10⁰", "10¹"]);
        assert_eq!(
            labels(Scale::Logarithmic, &[1e-10, 1.0]),
            ["10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]
        );
    }

    #[test]
    fn places_are_inside_and_in_order() {
        for scale in [Scale::Linear, Scale::Powers, Scale::Logarithmic] {
            let range = Range::around(scale, [1.0, 2.0, 64.0]);
            let places = [1.0, 2.0, 64.0].map(|value| range.place(value).unwrap());
            assert!(places.is_sorted() && places[0] > 0.0 && places[2] < 1.0, "{places:?}");
        }
    }

    #[test]
    fn what_an_axis_cannot_show_has_no_place() {
        let logarithmic = Range::around(Scale::Logarithmic, [0.0, -3.0, 1.0, 100.0]);
        assert_eq!(logarithmic.place(0.0), None);
        assert_eq!(logarithmic.place(-3.0), None);
        assert_eq!(Range::around(Scale::Linear, [0.0]).place(f64::NAN), None);
    }

    #[test]
    fn odd_ranges_have_a_few_finite_ticks() {
        let odd: [&[f64]; 9] = [
            &[],
            &[0.0],
            &[-7.0, -7.0],
            &[f64::NAN, f64::INFINITY],
            &[1e300, -1e300],
            &[f64::MAX, f64::MIN],
            &[f64::MIN_POSITIVE],
            &[1e15, 1e15 + 1.0],
            &[5e-324, 1.0],
        ];
        for values in odd {
            for scale in [Scale::Linear, Scale::Powers, Scale::Logarithmic] {
                let ticks = Range::around(scale, values.iter().copied()).ticks();
                assert!((2..=13).contains(&ticks.len()), "{values:?} {scale:?}: {ticks:?}");
                assert!(ticks.iter().all(|t| (0.0..=1.0).contains(&t.place)), "{ticks:?}");
            }
        }
    }
}
