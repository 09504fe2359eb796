//! Kernels: the similarity of two nodes' filtered features.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::multiply_by_transposed;
use crate::matrix::Matrix;
use crate::text::{self, serde_as_text};
use rayon::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt;
use std::str::FromStr;

/// The largest degree of a polynomial kernel.
pub const MAX_DEGREE: u32 = 20;

/// A kernel function m(f, g).
///
/// | kernel | m(f, g) | parameters (default) |
/// |---|---|---|
/// | linear | f·g | |
/// | polynomial | (γ f·g + c)^p | degree p 1 to 20 (3), c ≥ 0 (1), γ > 0 (1 / mean ‖f‖²) |
/// | rbf | exp(−γ ‖f − g‖²) | γ > 0 (1 / mean squared distance) |
/// | laplacian | exp(−γ ‖f − g‖₁) | γ > 0 (1 / mean distance) |
/// | cosine | f·g / (‖f‖ ‖g‖), 0 for a zero vector | |
/// | arccosine | ‖f‖ⁿ ‖g‖ⁿ J_n(θ) / π, θ the angle | order n 0, 1 or 2 (1) |
///
/// The default widths γ are means over pairs of training nodes, so that scaling all features
/// changes nothing; [`Kernel::resolve`] fills them in. They are computed once from all training nodes: left-out
/// predictions are exact for the width that is used, which the left-out node's features (not its label) had a part
/// in. Written and parsed as `rbf`, `rbf:gamma=0.5`,
/// `polynomial:degree=2,coefficient=0`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Kernel {
    /// The inner product; the paper's choice.
    #[default]
    Linear,
    /// A power of the shifted inner product.
    #[non_exhaustive]
    Polynomial {
        /// p.
        degree: u32,
        /// c.
        coefficient: f64,
        /// γ, or `None` for the data-driven default.
        gamma: Option<f64>,
    },
    /// The Gaussian.
    #[non_exhaustive]
    Rbf {
        /// γ, or `None` for the data-driven default.
        gamma: Option<f64>,
    },
    /// The exponential of the Manhattan distance.
    #[non_exhaustive]
    Laplacian {
        /// γ, or `None` for the data-driven default.
        gamma: Option<f64>,
    },
    /// The cosine of the angle.
    Cosine,
    /// The kernel of an infinitely wide random layer.
    #[non_exhaustive]
    ArcCosine {
        /// n: 0 step, 1 rectified linear, 2 rectified quadratic.
        order: u32,
    },
}

serde_as_text!(Kernel);

impl Kernel {
    /// Whether scores are linear in the filtered features, so that the primal form applies.
    pub fn is_linear(&self) -> bool {
        matches!(self, Kernel::Linear)
    }

    /// Whether no width is left to the data.
    pub fn is_resolved(&self) -> bool {
        match self {
            Kernel::Polynomial { gamma, .. }
            | Kernel::Rbf { gamma }
            | Kernel::Laplacian { gamma } => gamma.is_some(),
            Kernel::Linear | Kernel::Cosine | Kernel::ArcCosine { .. } => true,
        }
    }

    /// How often the rows that are compared are copied while a [matrix](Kernel::matrix) is computed.
    pub(crate) fn copies(&self) -> u64 {
        u64::from(matches!(self, Kernel::Rbf { .. }))
    }

    /// Fills in a width that was left to the data, from the training nodes' features.
    #[must_use]
    pub fn resolve(self, train: &Matrix<f64>) -> Self {
        let width = |mean: f64| Some(if mean > 0.0 { mean.recip() } else { 1.0 });
        match self {
            Kernel::Polynomial { degree, coefficient, gamma: None } => {
                let gamma = width(mean(&squared_norms(train)));
                Kernel::Polynomial { degree, coefficient, gamma }
            }
            Kernel::Rbf { gamma: None } => {
                Kernel::Rbf { gamma: width(mean_squared_distance(train)) }
            }
            Kernel::Laplacian { gamma: None } => {
                Kernel::Laplacian { gamma: width(mean_manhattan_distance(train)) }
            }
            resolved => resolved,
        }
    }

    /// The kernel matrix between the rows of `a` and the rows of `b` (the training nodes).
    ///
    /// # Panics
    /// If a width was not resolved, or the columns differ.
    ///
    /// # Errors
    /// If the work is cancelled.
    pub fn matrix(
        &self,
        a: &Matrix<f64>,
        b: &Matrix<f64>,
        context: &Context,
    ) -> Result<Matrix<f64>> {
        let map = |m, f: &(dyn Fn(usize, usize, f64) -> f64 + Sync)| map(m, context, f);
        let products = |a, b| multiply_by_transposed(a, b, context);
        let gamma_of = |gamma: Option<f64>| gamma.expect("the kernel's width was resolved");
        match *self {
            Kernel::Linear => products(a, b),
            Kernel::Polynomial { degree, coefficient, gamma } => {
                let gamma = gamma_of(gamma);
                map(products(a, b)?, &|_, _, dot| (gamma * dot + coefficient).powi(degree as i32))
            }
            Kernel::Rbf { gamma } => {
                let gamma = gamma_of(gamma);
                // Distances do not change when both are moved; near the origin ‖a‖² + ‖b‖² − 2a·b
                // loses the least.
                let centre = b.column_means();
                let moved = (!std::ptr::eq(a, b)).then(|| centred(a, &centre));
                let b = &centred(b, &centre);
                let a = moved.as_ref().unwrap_or(b);
                let (na, nb) = (squared_norms(a), squared_norms(b));
                map(products(a, b)?, &|i, j, dot| {
                    (-gamma * (na[i] + nb[j] - 2.0 * dot).max(0.0)).exp()
                })
            }
            Kernel::Laplacian { gamma } => {
                let gamma = gamma_of(gamma);
                map(Matrix::zeros(a.rows(), b.rows()), &|i, j, _| {
                    (-gamma * manhattan(a.row(i), b.row(j))).exp()
                })
            }
            Kernel::Cosine => {
                let (na, nb) = (norms(a), norms(b));
                map(products(a, b)?, &|i, j, dot| cosine(dot, na[i], nb[j]).unwrap_or(0.0))
            }
            Kernel::ArcCosine { order } => {
                let (na, nb) = (norms(a), norms(b));
                map(products(a, b)?, &|i, j, dot| {
                    let angle = cosine(dot, na[i], nb[j]).map_or(FRAC_PI_2, f64::acos);
                    (na[i] * nb[j]).powi(order as i32) * angular(order, angle) / PI
                })
            }
        }
    }
}

/// J_n(θ) of the arc-cosine kernel.
fn angular(order: u32, angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    match order {
        0 => PI - angle,
        1 => sin + (PI - angle) * cos,
        _ => 3.0 * sin * cos + (PI - angle) * (1.0 + 2.0 * cos * cos),
    }
}

fn cosine(dot: f64, norm_a: f64, norm_b: f64) -> Option<f64> {
    let norms = norm_a * norm_b;
    (norms > 0.0).then(|| (dot / norms).clamp(-1.0, 1.0))
}

fn map(
    mut m: Matrix<f64>,
    context: &Context,
    f: &(dyn Fn(usize, usize, f64) -> f64 + Sync),
) -> Result<Matrix<f64>> {
    let cols = m.cols().max(1);
    m.as_mut_slice().par_chunks_mut(cols).enumerate().try_for_each(|(i, row)| {
        context.check()?;
        row.iter_mut().enumerate().for_each(|(j, value)| *value = f(i, j, *value));
        Ok(())
    })?;
    Ok(m)
}

fn squared_norms(m: &Matrix<f64>) -> Vec<f64> {
    (0..m.rows()).map(|i| m.row(i).iter().map(|v| v * v).sum()).collect()
}

fn norms(m: &Matrix<f64>) -> Vec<f64> {
    squared_norms(m).into_iter().map(f64::sqrt).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn centred(m: &Matrix<f64>, centre: &[f64]) -> Matrix<f64> {
    let mut out = m.clone();
    out.add_to_rows(-1.0, centre);
    out
}

/// Over all ordered pairs of different rows: 2n/(n−1) times the mean squared distance to the mean.
fn mean_squared_distance(m: &Matrix<f64>) -> f64 {
    let n = m.rows() as f64;
    2.0 * n / (n - 1.0).max(1.0) * mean(&squared_norms(&centred(m, &m.column_means())))
}

/// Over all pairs of different rows. Per column, with values in increasing order, the k-th value
/// is subtracted in n−1−k differences and added in k: O(d n log n), not O(d n²).
fn mean_manhattan_distance(m: &Matrix<f64>) -> f64 {
    let n = m.rows();
    if n < 2 {
        return 0.0;
    }
    let sums: Vec<f64> = (0..m.cols())
        .into_par_iter()
        .map(|j| {
            let mut column: Vec<f64> = (0..n).map(|i| m[(i, j)]).collect();
            column.sort_unstable_by(f64::total_cmp);
            column.iter().enumerate().map(|(k, v)| v * (2.0 * k as f64 - (n - 1) as f64)).sum()
        })
        .collect();
    sums.iter().sum::<f64>() / (n as f64 * (n - 1) as f64 / 2.0)
}

fn manhattan(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (mut a_chunks, mut b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (a, b) in a_chunks.by_ref().zip(b_chunks.by_ref()) {
        for l in 0..LANES {
            lanes[l] += (a[l] - b[l]).abs();
        }
    }
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    lanes.iter().sum::<f64>() + rest.map(|(a, b)| (a - b).abs()).sum::<f64>()
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, mut options, gamma) = match *self {
            Kernel::Linear => ("linear", vec![], None),
            Kernel::Polynomial { degree, coefficient, gamma } => {
                ("polynomial", vec![("degree", degree.into()), ("coefficient", coefficient)], gamma)
            }
            Kernel::Rbf { gamma } => ("rbf", vec![], gamma),
            Kernel::Laplacian { gamma } => ("laplacian", vec![], gamma),
            Kernel::Cosine => ("cosine", vec![], None),
            Kernel::ArcCosine { order } => ("arccosine", vec![("order", order.into())], None),
        };
        options.extend(gamma.map(|gamma| ("gamma", gamma)));
        text::write(f, name, &options)
    }
}

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, mut options) = text::parse("kernel", text)?;
        let gamma = |options: &mut text::Options<'_>| {
            options.number("gamma", "a positive number", |gamma| gamma > 0.0)
        };
        let kernel = match name {
            "linear" => Kernel::Linear,
            "polynomial" | "poly" => Kernel::Polynomial {
                degree: options.whole("degree", 1, MAX_DEGREE)?.unwrap_or(3),
                coefficient: options
                    .number("coefficient", "a number of at least 0", |c| c >= 0.0)?
                    .unwrap_or(1.0),
                gamma: gamma(&mut options)?,
            },
            "rbf" => Kernel::Rbf { gamma: gamma(&mut options)? },
            "laplacian" => Kernel::Laplacian { gamma: gamma(&mut options)? },
            "cosine" => Kernel::Cosine,
            "arccosine" => Kernel::ArcCosine { order: options.whole("order", 0, 2)?.unwrap_or(1) },
            _ => {
                return Err(Error::parameter(
                    "kernel",
                    text,
                    "linear, polynomial, rbf, laplacian, cosine or arccosine, \
                     with options such as rbf:gamma=0.5",
                ));
            }
        };
        options.finish()?;
        Ok(kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_parsed_printed_and_checked() {
        for text in ["linear", "rbf", "rbf:gamma=0.5", "cosine", "arccosine:order=2", "laplacian"] {
            assert_eq!(text.parse::<Kernel>().unwrap().to_string(), text);
        }
        let polynomial: Kernel = "poly:degree=2".parse().unwrap();
        assert_eq!(polynomial.to_string(), "polynomial:degree=2,coefficient=1");
        let bad = [
            "",
            "sigmoid",
            "rbf:gamma=-1",
            "rbf:gamma=nan",
            "rbf:degree=2",
            "poly:degree=0",
            "rbf:x",
        ];
        for text in bad {
            assert!(text.parse::<Kernel>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn mean_distances_equal_brute_force() {
        let m = Matrix::from_fn(9, 4, |i, j| ((i * 7 + j * 5) % 11) as f64 - 3.0);
        let (mut squared, mut absolute, mut pairs) = (0.0, 0.0, 0.0);
        for i in 0..9 {
            for j in 0..i {
                squared += (0..4).map(|c| (m[(i, c)] - m[(j, c)]).powi(2)).sum::<f64>();
                absolute += (0..4).map(|c| (m[(i, c)] - m[(j, c)]).abs()).sum::<f64>();
                pairs += 1.0;
            }
        }
        assert!((mean_squared_distance(&m) - squared / pairs).abs() < 1e-12 * squared);
        assert!((mean_manhattan_distance(&m) - absolute / pairs).abs() < 1e-12 * absolute);
    }
}
