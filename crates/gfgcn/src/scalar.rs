//! The two precisions of propagation: `f32` for features, `f64` for scores.

use std::fmt::Debug;
use std::ops::{Add, Mul, Sub};

/// A floating-point number that can be propagated.
pub trait Scalar:
    Copy
    + Default
    + Debug
    + Send
    + Sync
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + 'static
{
    /// Rounds from double precision.
    fn from_f64(value: f64) -> Self;
    /// Converts from single precision, exactly.
    fn from_f32(value: f32) -> Self;
    /// Converts to double precision, exactly.
    fn to_f64(self) -> f64;
}

impl Scalar for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn from_f32(value: f32) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Scalar for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn from_f32(value: f32) -> Self {
        f64::from(value)
    }
    fn to_f64(self) -> f64 {
        self
    }
}
