//! Several filters as combinations of the vectors of one recurrence.
//!
//! Whatever the filters, F = p(Â) X is a combination of vectors v_0 = X, v_1, v_2, … that follow from
//! each other by one product each. Three recurrences are known:
//!
//! | basis | v_{k+1} | good for |
//! |---|---|---|
//! | powers | Â v_k | shallow filters: SGC is a single vector |
//! | diffusion, step s | s Â v_k + (1−s) v_k | one DGC: a single vector |
//! | Chebyshev | 2 Â v_k − v_{k−1} | deep filters, and any mixture |
//!
//! In the Chebyshev basis the coefficients of a deep filter decay fast: Â^128 is given to single
//! precision by some 60 terms. It is also the safe basis: a DGC with T > K has huge
//! alternating coefficients in powers of Â.

use super::Filter;
use crate::error::{Error, Result};
use crate::graph::Step;
use crate::scalar::Scalar;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::fmt;

/// What lowering a filter may change of it, relative to max |p| on [−1, 1]; 1e-12 to 1e-2.
///
/// The default, 1e-7, is about what single-precision propagation resolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
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

impl TryFrom<f64> for Tolerance {
    type Error = Error;
    fn try_from(relative: f64) -> Result<Self> {
        Tolerance::new(relative)
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

/// The recurrence that a bank's vectors follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Basis {
    /// v_{k+1} = Â v_k.
    Powers,
    /// v_{k+1} = s Â v_k + (1−s) v_k.
    Diffusion {
        /// s = T / K.
        step: f64,
    },
    /// v_{k+1} = 2 Â v_k − v_{k−1}, and v_1 = Â v_0.
    Chebyshev,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basis::Powers => f.write_str("powers"),
            Basis::Diffusion { step } => write!(f, "diffusion steps of {step:.3}"),
            Basis::Chebyshev => f.write_str("Chebyshev"),
        }
    }
}

/// Filters lowered to coefficients in a common basis.
///
/// ```
/// use gfgcn::filter::{Basis, Filter, FilterBank, Tolerance};
/// let tolerance = Tolerance::default();
/// let shallow = FilterBank::new(&[Filter::sgc(2)?, Filter::ssgc(8, 0.05)?], tolerance);
/// assert_eq!((shallow.basis(), shallow.products()), (Basis::Powers, 8));
/// let deep = FilterBank::new(&[Filter::sgc(128)?], tolerance);
/// assert_eq!(deep.basis(), Basis::Chebyshev);
/// assert!(deep.products() < 65);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FilterBank {
    basis: Basis,
    /// Per filter, one per vector v_0, v_1, …
    coefficients: Vec<Vec<f64>>,
}

impl FilterBank {
    /// Lowers filters, picking the basis that takes the fewest products, and of those the one with
    /// the fewest terms.
    ///
    /// The tolerance is for cutting Chebyshev series off; the other two bases are exact.
    pub fn new(filters: &[Filter], tolerance: Tolerance) -> Self {
        let chebyshev: Vec<Vec<f64>> = filters.iter().map(|f| chebyshev(f, tolerance.0)).collect();
        let products = degree(&chebyshev);
        let depth = filters.iter().map(Filter::depth).max().unwrap_or(0);
        let exact =
            (depth <= products).then(|| diffusion(filters).or_else(|| powers(filters))).flatten();
        exact.unwrap_or(FilterBank { basis: Basis::Chebyshev, coefficients: chebyshev })
    }

    /// One of the filters by itself: the very same polynomial.
    #[must_use]
    pub fn only(&self, filter: usize) -> Self {
        FilterBank { basis: self.basis, coefficients: vec![self.coefficients[filter].clone()] }
    }

    /// The recurrence.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The number of filters.
    pub fn len(&self) -> usize {
        self.coefficients.len()
    }

    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Products with Â that serve all filters together.
    pub fn products(&self) -> usize {
        degree(&self.coefficients)
    }

    /// Multiples of vectors that are added up.
    pub fn terms(&self) -> usize {
        self.coefficients.iter().flatten().filter(|c| **c != 0.0).count()
    }

    /// The coefficients of one filter, of v_0, v_1, …
    pub fn coefficients(&self, filter: usize) -> &[f64] {
        &self.coefficients[filter]
    }

    /// The value of one filter's polynomial, as it was lowered, at x in [−1, 1].
    pub fn evaluate(&self, filter: usize, x: f64) -> f64 {
        let (mut sum, mut previous, mut current) = (0.0, 0.0, 1.0);
        for (k, c) in self.coefficients[filter].iter().enumerate() {
            sum += c * current;
            let Step { a, b, c } = self.step::<f64>(k + 1);
            (current, previous) = (a * x * current + b * current + c * previous, current);
        }
        sum
    }

    /// How v_k follows from v_{k−1} and v_{k−2}.
    pub(crate) fn step<T: Scalar>(&self, k: usize) -> Step<T> {
        let (a, b, c) = match self.basis {
            Basis::Chebyshev if k > 1 => (2.0, 0.0, -1.0),
            Basis::Chebyshev | Basis::Powers => (1.0, 0.0, 0.0),
            Basis::Diffusion { step } => (step, 1.0 - step, 0.0),
        };
        Step { a: T::from_f64(a), b: T::from_f64(b), c: T::from_f64(c) }
    }
}

fn degree(coefficients: &[Vec<f64>]) -> usize {
    coefficients.iter().map(|c| c.len() - 1).max().unwrap_or(0)
}

/// The k-th vector alone.
fn unit(k: usize) -> Vec<f64> {
    (0..=k).map(|j| f64::from(j == k)).collect()
}

/// Diffusions that all take the same step.
fn diffusion(filters: &[Filter]) -> Option<FilterBank> {
    let step_of = |filter: &Filter| match *filter {
        Filter::Dgc { depth, time } => Some(time / depth as f64),
        _ => None,
    };
    let step = step_of(filters.first()?)?;
    let same = filters.iter().all(|filter| step_of(filter) == Some(step));
    same.then(|| FilterBank {
        basis: Basis::Diffusion { step },
        coefficients: filters.iter().map(|filter| unit(filter.depth())).collect(),
    })
}

/// Filters that are sums of powers without cancellation.
fn powers(filters: &[Filter]) -> Option<FilterBank> {
    let coefficients = filters
        .iter()
        .map(|filter| match *filter {
            Filter::Sgc { depth } => Some(unit(depth)),
            Filter::Ssgc { depth, tau } => {
                let rest = (1.0 - tau) / depth as f64;
                Some((0..=depth).map(|k| if k == 0 { tau } else { rest }).collect())
            }
            Filter::Dgc { depth, time } => {
                let step = time / depth as f64;
                (step <= 1.0).then(|| binomial(depth, step))
            }
        })
        .collect::<Option<_>>()?;
    Some(FilterBank { basis: Basis::Powers, coefficients })
}

/// The coefficients of ((1−s) + s x)^n.
fn binomial(n: usize, s: f64) -> Vec<f64> {
    let mut row = vec![1.0];
    for _ in 0..n {
        let above = |k: usize| row.get(k).copied().unwrap_or(0.0);
        row = (0..=row.len())
            .map(|k| (1.0 - s) * above(k) + if k > 0 { s * above(k - 1) } else { 0.0 })
            .collect();
    }
    row
}

/// The Chebyshev series of a filter, from its values at the Chebyshev nodes, cut off where the
/// dropped terms sum to less than the tolerance.
fn chebyshev(filter: &Filter, tolerance: f64) -> Vec<f64> {
    let count = filter.depth() + 1;
    // cos(π m / 2·count) for m = 0 .. 4·count: every cosine that occurs below.
    let cosines: Vec<f64> =
        (0..4 * count).map(|m| (PI * m as f64 / (2 * count) as f64).cos()).collect();
    let values: Vec<f64> = (0..count).map(|j| filter.evaluate(cosines[2 * j + 1])).collect();
    let coefficient = |k: usize| {
        let terms = values.iter().enumerate();
        let sum: f64 = terms.map(|(j, v)| v * cosines[k * (2 * j + 1) % (4 * count)]).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / count as f64
    };
    let mut coefficients: Vec<f64> = (0..count).map(coefficient).collect();
    let ends = [filter.evaluate(1.0), filter.evaluate(-1.0)];
    let largest = values.iter().chain(&ends).fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut dropped = 0.0;
    while let Some(last) = coefficients.last() {
        dropped += last.abs();
        if dropped > tolerance * largest || coefficients.len() == 1 {
            break;
        }
        coefficients.pop();
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(depth: usize) -> [Filter; 4] {
        [
            Filter::sgc(depth).unwrap(),
            Filter::ssgc(depth, 0.05).unwrap(),
            Filter::dgc(depth, 5.27).unwrap(),
            Filter::dgc(depth, 0.5).unwrap(),
        ]
    }

    fn check(bank: &FilterBank, filters: &[Filter], tolerance: f64) {
        for (k, filter) in filters.iter().enumerate() {
            let largest = filter.evaluate(1.0).abs().max(filter.evaluate(-1.0).abs());
            for i in 0..=400 {
                let x = f64::from(i) / 200.0 - 1.0;
                let error = (bank.evaluate(k, x) - filter.evaluate(x)).abs();
                assert!(
                    error <= 1.001 * (tolerance + 1e-13) * largest,
                    "{filter} in {} at {x}: {error:e}",
                    bank.basis()
                );
            }
        }
    }

    #[test]
    fn a_bank_equals_its_filters_within_the_tolerance() {
        for depth in [1, 2, 3, 8, 64, 128, 1000] {
            for tolerance in [1e-4, 1e-7, 1e-10] {
                let all = filters(depth);
                let checked = Tolerance::new(tolerance).unwrap();
                check(&FilterBank::new(&all, checked), &all, tolerance);
                for filter in all {
                    check(&FilterBank::new(&[filter], checked), &[filter], tolerance);
                }
            }
        }
    }

    #[test]
    fn shallow_filters_are_exact_and_deep_ones_take_few_products() {
        let one = |filter: Filter| FilterBank::new(&[filter], Tolerance::default());
        assert_eq!(one(Filter::sgc(2).unwrap()).basis(), Basis::Powers);
        assert_eq!(one(Filter::sgc(2).unwrap()).terms(), 1);
        let dgc = one(Filter::dgc(4, 5.27).unwrap());
        assert!(matches!(dgc.basis(), Basis::Diffusion { .. }) && dgc.terms() == 1);
        // Steps past 1 have alternating powers: together with others they need Chebyshev.
        let mixed = [Filter::sgc(4).unwrap(), Filter::dgc(4, 5.27).unwrap()];
        assert_eq!(FilterBank::new(&mixed, Tolerance::default()).basis(), Basis::Chebyshev);
        assert!(one(Filter::sgc(128).unwrap()).products() <= 62);
        assert!(one(Filter::dgc(128, 5.27).unwrap()).products() <= 18);
    }
}
