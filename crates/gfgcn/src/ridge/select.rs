//! Choosing λ.

use crate::error::{Error, Result};
use crate::metrics::Metric;
use crate::text::serde_as_text;
use std::fmt;
use std::str::FromStr;

/// How λ is chosen. Written and parsed as `loo`, `validation` or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Selection {
    /// By exact leave-one-out on the training labels alone: each training node is predicted by what training without
    /// it gives. Exact for the kernel that is used; where its [width](crate::kernel::Kernel::resolve) is left to the
    /// data, it is computed once, from all training nodes.
    #[default]
    LeaveOneOut,
    /// By the validation part of the split.
    Validation,
    /// This λ.
    #[non_exhaustive]
    Fixed(f64),
}

serde_as_text!(Selection);

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::LeaveOneOut => f.write_str("loo"),
            Selection::Validation => f.write_str("validation"),
            Selection::Fixed(lambda) => write!(f, "{lambda}"),
        }
    }
}

impl FromStr for Selection {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "loo" => Ok(Selection::LeaveOneOut),
            "validation" => Ok(Selection::Validation),
            number => number
                .parse()
                .ok()
                .and_then(|lambda| Selection::fixed(lambda).ok())
                .ok_or_else(|| {
                    Error::parameter("lambda", text, "loo, validation or a positive finite number")
                }),
        }
    }
}

impl Selection {
    /// A given λ: positive and finite.
    pub fn fixed(lambda: f64) -> Result<Self> {
        if lambda > 0.0 && lambda.is_finite() && lambda.recip().is_finite() {
            Ok(Selection::Fixed(lambda))
        } else {
            Err(Error::parameter("lambda", lambda, "a positive finite number"))
        }
    }

    /// λ, where it is not chosen.
    pub fn given(&self) -> Option<f64> {
        match self {
            Selection::Fixed(lambda) => Some(*lambda),
            Selection::LeaveOneOut | Selection::Validation => None,
        }
    }

    /// For people: `λ by exact leave-one-out`.
    pub fn description(&self) -> &'static str {
        match self {
            Selection::LeaveOneOut => "λ by exact leave-one-out",
            Selection::Validation => "λ by the validation part",
            Selection::Fixed(_) => "λ given",
        }
    }
}

/// How many penalties are searched.
pub(crate) const PENALTIES: usize = 25;

/// The penalties ξ = ρ · scale that are searched, ρ from 1e2 down to 1e-10 in half decades.
///
/// Relative to the scale of the kernel matrix, so that deep filters, whose features are tiny, are
/// searched as well as shallow ones.
pub fn penalty_grid(scale: f64) -> Vec<f64> {
    (0..PENALTIES).map(|k| scale * 10f64.powf(2.0 - 0.5 * k as f64)).collect()
}

/// Squared errors that differ by less than this share count as equal: filtered features are in single precision, and
/// the order in which a graph's nodes stand changes their last digits.
const NOISE: f64 = 1e-5;

/// How well one penalty did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// Nodes whose class was predicted; 0 where there are no classes.
    pub correct: usize,
    /// Nodes that were judged.
    pub total: usize,
    /// Sum of squared differences from the targets.
    pub squared_error: f64,
    /// What the metric says of them.
    pub score: f64,
}

impl Candidate {
    /// The share of nodes whose class was predicted, 0 to 1.
    pub fn accuracy(&self) -> f64 {
        self.correct as f64 / self.total.max(1) as f64
    }

    /// A number that is larger for the better of two: for the accuracy how many were right, so that whole numbers are
    /// compared. `None` where it is not finite.
    fn merit(&self, metric: Metric) -> Option<f64> {
        let merit = match metric {
            Metric::Accuracy => self.correct as f64,
            _ if metric.higher_is_better() => self.score,
            _ => -self.score,
        };
        merit.is_finite().then_some(merit)
    }
}

/// The position of the best candidate on a grid of penalties: by its merit, and by the squared error of those that tie.
///
/// What counts or ranks nodes differs between neighbours on the grid mostly by chance, so each is judged together with
/// its neighbours (weights ¼, ½, ¼); over many splits of the citation graphs the chosen λ is then
/// better on the test nodes by 0.1 to 0.2 points. Errors of values are smooth in λ, and next to a good one there may be one
/// without bounds: these are judged alone. The tie-break is the smallest squared error, which keeps the
/// scores near 0 and 1 where many λ classify alike; of errors that differ by no more than noise, the first.
pub(crate) fn best(candidates: &[Option<Candidate>], metric: Metric) -> Option<usize> {
    let merits: Vec<Option<f64>> =
        candidates.iter().map(|c| c.and_then(|c| c.merit(metric))).collect();
    // Four times the merit.
    let score = |position: usize| {
        let own = merits[position]?;
        let at = |p: Option<usize>| p.and_then(|p| merits.get(p).copied().flatten());
        let neighbour = |p| at(p).filter(|_| metric.is_share()).unwrap_or(own);
        let (before, after) = (neighbour(position.checked_sub(1)), neighbour(Some(position + 1)));
        Some(before + 2.0 * own + after)
    };
    let scores: Vec<Option<f64>> = (0..merits.len()).map(score).collect();
    let highest = scores.iter().copied().flatten().reduce(f64::max)?;
    let least = highest - tolerance(metric, highest);
    let tied = || (0..merits.len()).filter(|&p| scores[p].is_some_and(|score| score >= least));
    let squared_error = |position: usize| candidates[position].map_or(0.0, |c| c.squared_error);
    let bound = tied().map(squared_error).fold(f64::INFINITY, f64::min) * (1.0 + NOISE);
    tied().find(|&position| squared_error(position) <= bound).or_else(|| tied().next())
}

/// What is said where [`best`] finds nothing.
pub(crate) fn no_usable_penalty() -> Error {
    Error::Data("no λ of the grid gives a solvable system; scale the features down".into())
}

/// By how much scores near the highest may differ and still count as equal.
fn tolerance(metric: Metric, highest: f64) -> f64 {
    match metric {
        // Whole numbers.
        Metric::Accuracy => 0.0,
        // In units of its own.
        Metric::Mae => NOISE * highest.abs(),
        _ => NOISE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(correct: &[i32]) -> Vec<Option<Candidate>> {
        let candidate = |(k, &c): (usize, &i32)| {
            let squared_error = (k as f64 - 2.0).abs();
            let correct = usize::try_from(c).ok()?;
            Some(Candidate { correct, total: 99, squared_error, score: 0.0 })
        };
        correct.iter().enumerate().map(candidate).collect()
    }

    #[test]
    fn a_lucky_candidate_loses_to_a_good_neighbourhood() {
        let best = |correct: &[i32]| super::best(&candidates(correct), Metric::Accuracy);
        assert_eq!(best(&[10, 20, 10, 18, 19, 18]), Some(4));
        assert_eq!(best(&[5, 5, 5, 5]), Some(2), "the smallest error of equals");
        assert_eq!(best(&[-1, 3, -1]), Some(1));
        assert_eq!(best(&[-1]), None);
    }

    #[test]
    fn every_metric_is_judged_in_its_own_way() {
        let best = |metric: Metric, scores: &[f64]| {
            let candidate = |(k, &score): (usize, &f64)| {
                Some(Candidate {
                    score,
                    squared_error: (k as f64 - 2.0).abs(),
                    ..Candidate::default()
                })
            };
            super::best(&scores.iter().enumerate().map(candidate).collect::<Vec<_>>(), metric)
        };
        assert_eq!(best(Metric::Auc, &[0.1, 0.2, 0.1, 0.18, 0.19, 0.18]), Some(4));
        assert_eq!(best(Metric::Auc, &[0.5, 0.5 + 1e-9, 0.5, 0.5]), Some(2), "noise");
        // Beside the best there is one that explodes.
        assert_eq!(best(Metric::R2, &[0.1, 0.6, -1e9, f64::NAN]), Some(1));
        assert_eq!(best(Metric::Mae, &[3.0, 2.0, 5.0, f64::INFINITY]), Some(1));
        assert_eq!(best(Metric::R2, &[f64::NAN]), None);
    }

    #[test]
    fn the_grid_reaches_from_1e2_to_1e_minus_10_of_the_scale() {
        let grid = penalty_grid(3.0);
        assert_eq!(grid.len(), 25);
        assert!((grid[0] - 300.0).abs() < 1e-9 && (grid[24] - 3e-10).abs() < 1e-18);
    }

    #[test]
    fn a_given_lambda_is_positive_and_finite() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
            assert!(Selection::fixed(bad).is_err(), "{bad}");
        }
        assert!(Selection::fixed(10.0).is_ok());
    }

    #[test]
    fn selections_are_written_and_read() {
        for text in ["loo", "validation", "0.5", "0.000000000000000000001"] {
            assert_eq!(text.parse::<Selection>().unwrap().to_string(), text);
        }
        for text in ["", "cv", "-1", "nan", "inf", "0"] {
            assert!(text.parse::<Selection>().is_err(), "{text:?}");
        }
    }
}
