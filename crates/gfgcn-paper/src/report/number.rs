//! Numbers as people read them: as many digits as mean something.

use super::{Cell, Unit};

/// The minus sign: a hyphen is too short beside digits, and lines may break after it.
const MINUS: char = '−';

/// The exponent in small raised digits, as `⁻³`.
pub(super) fn raised(exponent: i32) -> String {
    let raise = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4'..='9' => char::from_u32('⁴' as u32 + (digit as u32 - '4' as u32)).unwrap_or(digit),
        _ => '⁰',
    };
    exponent.to_string().chars().map(raise).collect()
}

/// A number with a fixed number of decimals; never `-0.0`.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    if value < 0.0 && !is_zero(&text) { format!("{MINUS}{text}") } else { text }
}

/// A number with three significant digits.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        return scientific(value);
    }
    fixed(value, (2 - exponent).max(0) as usize)
}

/// Two digits and a power of ten. Rust writes them, because powers of ten can underflow.
fn scientific(value: f64) -> String {
    let text = format!("{:.1e}", value.abs());
    let sign = if value < 0.0 { "−" } else { "" };
    match text.split_once('e').and_then(|(digits, e)| Some((digits, e.parse().ok()?))) {
        Some((digits, exponent)) => format!("{sign}{digits}×10{}", raised(exponent)),
        None => text,
    }
}

/// A measured number of a table.
fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Percent | Unit::Points => fixed(value, 1),
        Unit::Seconds => significant(value),
    }
}

/// A published number: seconds with the digits that were printed.
pub(super) fn published(unit: Unit, published: f64) -> String {
    match unit {
        Unit::Percent | Unit::Points => fixed(published, 1),
        Unit::Seconds => published.to_string(),
    }
}

/// A difference with its sign, and the sign as it is shown: what rounds to zero has none.
pub(super) fn difference(unit: Unit, difference: f64) -> (String, i8) {
    let shown = value(unit, difference.abs());
    if is_zero(&shown) {
        (format!("±{shown}"), 0)
    } else if difference < 0.0 {
        (format!("{MINUS}{shown}"), -1)
    } else {
        (format!("+{shown}"), 1)
    }
}

/// The mean and, where there are several runs, its standard error; empty if nothing was measured.
pub(super) fn measured(unit: Unit, cell: &Cell) -> String {
    let Some(ours) = cell.ours else { return String::new() };
    let mean = value(unit, ours.mean);
    let Some(error) = ours.std_error else { return mean };
    let error = match unit {
        Unit::Percent | Unit::Points => fixed(error, 1),
        // With the decimals of the mean, so that they can be read together.
        Unit::Seconds if mean.contains('×') => significant(error),
        Unit::Seconds => fixed(error, mean.split_once('.').map_or(0, |(_, digits)| digits.len())),
    };
    format!("{mean} ± {error}")
}

/// The unit in words, with what is better.
pub(super) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Percent => "Test accuracy in percent; more is better",
        Unit::Seconds => "Seconds; less is better",
        Unit::Points => "Expected calibration error in percentage points; less is better",
    }
}

fn is_zero(digits: &str) -> bool {
    digits.chars().all(|c| matches!(c, '0' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfgcn::metrics::Summary;

    #[test]
    fn digits_follow_the_size() {
        let cases = [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1.00"),
            (12.345, "12.3"),
            (1234.5, "1234"),
            (-0.5, "−0.500"),
            (2.5e-7, "2.5×10⁻⁷"),
            (4e12, "4.0×10¹²"),
            (-5e-324, "−4.9×10⁻³²⁴"),
        ];
        for (value, expected) in cases {
            assert_eq!(significant(value), expected);
        }
    }

    #[test]
    fn differences_carry_the_sign_that_is_shown() {
        assert_eq!(difference(Unit::Percent, 1.26), ("+1.3".into(), 1));
        assert_eq!(difference(Unit::Percent, -1.26), ("−1.3".into(), -1));
        assert_eq!(difference(Unit::Percent, -0.04), ("±0.0".into(), 0));
        assert_eq!(difference(Unit::Seconds, -0.158), ("−0.158".into(), -1));
    }

    #[test]
    fn a_single_run_has_no_error() {
        let cell = |mean, std_error| Cell {
            ours: Some(Summary { mean, std: None, std_error }),
            ..Cell::default()
        };
        assert_eq!(measured(Unit::Percent, &cell(84.96, Some(0.31))), "85.0 ± 0.3");
        assert_eq!(measured(Unit::Percent, &cell(84.96, None)), "85.0");
        assert_eq!(measured(Unit::Seconds, &cell(0.012_34, Some(0.000_32))), "0.0123 ± 0.0003");
        assert_eq!(measured(Unit::Seconds, &Cell::default()), "");
    }
}
