//! How exactly filters are lowered.

use crate::error::{Error, Result};
use crate::text::serde_as_text;
use std::fmt;
use std::str::FromStr;

/// What lowering a filter may change of it, relative to max |p| on [−1, 1]; 1e-12 to 1e-2.
///
/// The default, 1e-7, is about what single-precision propagation resolves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(f64);

impl Tolerance {
    /// A tolerance from 1e-12 to 1e-2.
    pub fn new(relative: f64) -> Result<Self> {
        if (1e-12..=1e-2).contains(&relative) {
            Ok(Tolerance(relative))
        } else {
            Err(Error::parameter("tolerance", relative, "a number from 1e-12 to 1e-2"))
        }
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance(1e-7)
    }
}

serde_as_text!(Tolerance);

impl FromStr for Tolerance {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let refused = |_| Error::parameter("tolerance", text, "a number from 1e-12 to 1e-2");
        Tolerance::new(text.parse().map_err(refused)?)
    }
}

impl From<Tolerance> for f64 {
    fn from(tolerance: Tolerance) -> f64 {
        tolerance.0
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:e}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_written_and_read() {
        let tolerance = Tolerance::new(2.5e-9).unwrap();
        assert_eq!(tolerance.to_string().parse::<Tolerance>().unwrap(), tolerance);
        for text in ["0", "1", "1e-13", "nan", "x"] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
    }
}
