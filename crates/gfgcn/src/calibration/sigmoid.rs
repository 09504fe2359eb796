//! The probability of a label by its score (Platt 1999).

use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};

/// Labels that fewer nodes than this have, or do not have, share one sigmoid.
const FEW: usize = 10;
/// Newton steps, at most.
const STEPS: usize = 100;
/// Halvings of a step that goes too far.
const HALVINGS: i32 = 40;
/// The fall of the mean loss that is not worth another step.
const SETTLED: f64 = 1e-12;

/// p = 1 / (1 + exp(−(slope · score + offset))).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sigmoid {
    /// By which odds grow with the score; not negative.
    pub slope: f64,
    /// The log-odds of a score of 0.
    pub offset: f64,
}

impl Sigmoid {
    /// The probability of a label with this score.
    pub fn at(&self, score: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * score + self.offset)).exp())
    }

    /// The most likely one of some scores and whether their nodes have the label. Platt's targets stand a little inside of 0
    /// and 1, so that labels which scores separate have a solution.
    fn most_likely(pairs: &[(f64, bool)]) -> Self {
        let positives = pairs.iter().filter(|(_, positive)| *positive).count() as f64;
        let negatives = pairs.len() as f64 - positives;
        let (yes, no) = ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0));
        let target = |positive: bool| if positive { yes } else { no };
        let offset = ((positives + 1.0) / (negatives + 1.0)).ln();
        // Scores are measured by their spread, so that steps are of the size of 1.
        let mean = pairs.iter().map(|(s, _)| s).sum::<f64>() / pairs.len() as f64;
        let spread = pairs.iter().map(|(s, _)| (s - mean).powi(2)).sum::<f64>();
        let spread = (spread / pairs.len() as f64).sqrt();
        if spread.is_nan() || spread <= 0.0 {
            return Sigmoid { slope: 0.0, offset };
        }
        let measured = |score: f64| (score - mean) / spread;
        let loss = |s: &Sigmoid| {
            let of_pair = |&(score, positive): &(f64, bool)| {
                let logit = s.slope * measured(score) + s.offset;
                // log(1 + e^z) − t z, without overflow.
                logit.max(0.0) + (-logit.abs()).exp().ln_1p() - target(positive) * logit
            };
            pairs.iter().map(of_pair).sum::<f64>() / pairs.len() as f64
        };
        let mut now = Sigmoid { slope: 0.0, offset };
        let mut least = loss(&now);
        for _ in 0..STEPS {
            let [mut g, mut h, mut gg, mut gh, mut hh] = [0.0; 5];
            for &(score, positive) in pairs {
                let x = measured(score);
                let p = now.at(x);
                let (residual, weight) = (p - target(positive), p * (1.0 - p));
                g += residual * x;
                h += residual;
                gg += weight * x * x;
                gh += weight * x;
                hh += weight;
            }
            let (gg, hh) = (gg + 1e-12, hh + 1e-12);
            let determinant = gg * hh - gh * gh;
            let step = [(hh * g - gh * h) / determinant, (gg * h - gh * g) / determinant];
            let trial = |halvings: i32| {
                let length = 0.5f64.powi(halvings);
                let slope = now.slope - length * step[0];
                let next = Sigmoid { slope, offset: now.offset - length * step[1] };
                (loss(&next), next)
            };
            let Some((loss, next)) = (0..HALVINGS).map(trial).find(|(loss, _)| *loss < least)
            else {
                break;
            };
            let fall = least - loss;
            (least, now) = (loss, next);
            if fall < SETTLED {
                break;
            }
        }
        // A larger score never makes a label less probable.
        if now.slope <= 0.0 {
            return Sigmoid { slope: 0.0, offset };
        }
        let slope = now.slope / spread;
        Sigmoid { slope, offset: now.offset - slope * mean }
    }
}

/// A sigmoid for every label; those that too few nodes have, or too few have not, share one.
pub(super) fn per_label(
    labels: usize,
    scores: &Matrix<f64>,
    positive: impl Fn(usize, usize) -> bool,
    context: &Context,
) -> Result<Vec<Sigmoid>> {
    let pairs = |label: usize| -> Vec<(f64, bool)> {
        (0..scores.rows()).map(|node| (scores[(node, label)], positive(node, label))).collect()
    };
    let is_rare = |label: &usize| {
        let positives = (0..scores.rows()).filter(|&node| positive(node, *label)).count();
        positives < FEW || scores.rows() - positives < FEW
    };
    let rare: Vec<usize> = (0..labels).filter(is_rare).collect();
    let shared = (!rare.is_empty()).then(|| {
        let all: Vec<(f64, bool)> = rare.iter().flat_map(|&label| pairs(label)).collect();
        Sigmoid::most_likely(&all)
    });
    let of_label = |label: usize| {
        context.check()?;
        Ok(match shared {
            Some(shared) if rare.contains(&label) => shared,
            _ => Sigmoid::most_likely(&pairs(label)),
        })
    };
    (0..labels).map(of_label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn chance(seed: usize) -> f64 {
        (mix(seed as u64) % 10_000) as f64 / 10_000.0
    }

    #[test]
    fn what_scores_were_drawn_with_is_found() {
        let drawn = Sigmoid { slope: 30.0, offset: -4.0 };
        let pairs: Vec<(f64, bool)> = (0..50_000)
            .map(|i| 0.3 * chance(i))
            .enumerate()
            .map(|(i, score)| (score, chance(i + 1_000_000) < drawn.at(score)))
            .collect();
        let found = Sigmoid::most_likely(&pairs);
        assert!((found.slope - 30.0).abs() < 1.0 && (found.offset + 4.0).abs() < 0.15, "{found:?}");
    }

    #[test]
    fn scores_that_separate_or_say_nothing_have_a_solution() {
        let separated: Vec<(f64, bool)> = (0..40).map(|i| (f64::from(i), i >= 20)).collect();
        let sigmoid = Sigmoid::most_likely(&separated);
        assert!(sigmoid.at(39.0) > 0.9 && sigmoid.at(0.0) < 0.1 && sigmoid.slope.is_finite());
        let equal: Vec<(f64, bool)> = (0..38).map(|i| (1.0, i < 9)).collect();
        let sigmoid = Sigmoid::most_likely(&equal);
        assert_eq!(sigmoid.slope, 0.0);
        assert!((sigmoid.at(5.0) - 10.0 / 40.0).abs() < 1e-12);
        let reversed: Vec<(f64, bool)> = (0..40).map(|i| (-f64::from(i), i >= 20)).collect();
        assert_eq!(Sigmoid::most_likely(&reversed).slope, 0.0);
    }

    #[test]
    fn rare_labels_share_what_they_have() {
        let scores = Matrix::from_fn(60, 3, |i, j| chance(i + 100 * j));
        let has = |node: usize, label: usize| match label {
            0 => scores[(node, 0)] > 0.5,
            _ => node == label,
        };
        let sigmoids = per_label(3, &scores, has, &Context::default()).unwrap();
        assert_eq!(sigmoids[1], sigmoids[2]);
        assert_ne!(sigmoids[0], sigmoids[1]);
    }
}
