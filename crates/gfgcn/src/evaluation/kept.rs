//! Evaluations in shares: some designs on some splits, whose outcomes are files of a work folder.

use super::{Evaluated, Evaluation, Times};
use crate::buffer::little_endian;
use crate::calibration::Calibrated;
use crate::context::{Context, Scratch};
use crate::data::Dataset;
use crate::driver::{Budget, Cut, Piece, Side, strange};
use crate::error::Result;
use crate::hex::hex;
use crate::metrics::Metric;
use crate::split::Split;
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::time::Duration;

/// Numbers of an outcome before its calibration and its predictions.
const FIRST: usize = 7;

impl Evaluation {
    /// Some designs on some splits, to the last bit as they come out among all others: from the sides that are best for all.
    fn run_part(
        &self,
        designs: Range<usize>,
        splits: Range<usize>,
        sides: &[Vec<Side>],
        dataset: &Dataset,
        context: &Context,
    ) -> Result<Vec<Evaluated>> {
        let sides = sides[designs.clone()].to_vec();
        let part = Evaluation {
            designs: self.designs[designs].to_vec(),
            splits: self.splits[splits].to_vec(),
            ..self.clone()
        };
        part.run_from(Some(sides), dataset, context)
    }

    /// Parts that make about as many shares as are asked for: splits apart first, because designs of the same splits have
    /// most in common.
    pub(crate) fn parts(&self, cut: Cut) -> Vec<(Range<usize>, Range<usize>)> {
        let by_splits = self.splits.len().min(cut.shares).max(1);
        let by_designs = self.designs.len().min(cut.shares.div_ceil(by_splits)).max(1);
        let splits = ranges(self.splits.len(), by_splits);
        let both = splits.iter().flat_map(|splits| {
            let designs = ranges(self.designs.len(), by_designs).into_iter();
            designs.map(move |designs| (designs, splits.clone()))
        });
        both.collect()
    }

    /// The files of a part.
    pub(crate) fn names(
        &self,
        designs: Range<usize>,
        splits: &Range<usize>,
        sides: &[Vec<Side>],
        purpose: &str,
    ) -> Vec<String> {
        let pairs = designs.flat_map(|design| splits.clone().map(move |split| (design, split)));
        pairs.map(|(design, split)| self.name(design, split, &sides[design], purpose)).collect()
    }

    /// The outcomes of a part, as files.
    pub(crate) fn pieces(
        &self,
        designs: Range<usize>,
        splits: Range<usize>,
        (dataset, purpose): (&Dataset, &str),
        context: &Context,
    ) -> Result<Vec<Piece>> {
        let within = designs.end <= self.designs.len() && splits.end <= self.splits.len();
        if designs.is_empty() || splits.is_empty() || !within {
            return Err(strange());
        }
        let sides = self.sides(dataset)?;
        // What is known of the calibration on several splits together cannot be taken apart.
        let at_once = if self.calibrates { 1 } else { splits.len() };
        let mut pieces = Vec::new();
        for first in splits.clone().step_by(at_once) {
            let some = first..splits.end.min(first + at_once);
            let names = self.names(designs.clone(), &some, &sides, purpose);
            let found = self.run_part(designs.clone(), some.clone(), &sides, dataset, context)?;
            let outcomes = found.iter().flat_map(|one| (0..some.len()).map(|k| one.numbers(k)));
            pieces.extend(names.into_iter().zip(outcomes).map(|(name, numbers)| Piece {
                name,
                bytes: little_endian(&numbers).into_owned(),
            }));
        }
        Ok(pieces)
    }

    /// As [`Evaluation::run`], with what is in the work folder taken from there, and the rest put there.
    pub(super) fn take_up(
        &self,
        dataset: &Dataset,
        scratch: &Scratch,
        context: &Context,
    ) -> Result<Vec<Evaluated>> {
        let metric = self.objective.metric_for(dataset.targets().kind())?;
        let apart = context.clone().without_scratch();
        let sides = self.sides(dataset)?;
        let mut results = Vec::with_capacity(self.designs.len());
        for (design, sides) in sides.iter().enumerate() {
            let recall = |split: usize| {
                let name = self.name(design, split, sides, scratch.purpose());
                let kept = scratch.read(&name)?;
                Ok(kept.and_then(|bytes| self.outcome(design, split, metric, &bytes)))
            };
            let mut kept = (0..self.splits.len()).map(recall).collect::<Result<Vec<_>>>()?;
            kept.iter().flatten().for_each(|_| context.progress().advance());
            while let Some(first) = kept.iter().position(Option::is_none) {
                let missing = kept[first..].iter().take_while(|kept| kept.is_none()).count();
                let (one, splits) = (design..design + 1, first..first + missing);
                let of = (dataset, scratch.purpose());
                let found = self.pieces(one, splits.clone(), of, &apart)?;
                for (split, piece) in splits.zip(found) {
                    scratch.accept(&piece.name, &piece.bytes)?;
                    let outcome = self.outcome(design, split, metric, &piece.bytes);
                    kept[split] = Some(outcome.expect("as it was written"));
                }
            }
            results.extend(kept.into_iter().flatten().reduce(Evaluated::joined));
        }
        Ok(results)
    }

    /// The side of each channel of each design, which follows from the training nodes of all splits.
    pub(crate) fn sides(&self, dataset: &Dataset) -> Result<Vec<Vec<Side>>> {
        Ok(self.driver(dataset, 0, Budget::default())?.sides())
    }

    /// Where the outcome of a design on a split is kept: by whatever it depends on.
    fn name(&self, design: usize, split: usize, sides: &[Side], purpose: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(purpose);
        let (ridge, objective) = (&self.ridge, &self.objective);
        let asked =
            serde_json::json!([self.designs[design], ridge, objective, self.calibrates, sides]);
        hash.update(format!("{} {asked}", env!("CARGO_PKG_VERSION")));
        let split: &Split = &self.splits[split];
        for (name, part) in split.parts() {
            hash.update(name);
            part.iter().for_each(|&node| hash.update((node as u64).to_le_bytes()));
        }
        split.weights().into_iter().flatten().for_each(|w| hash.update(w.to_le_bytes()));
        format!("evaluated-{}", hex(&hash.finalize()[..12]))
    }

    /// An outcome from its file; `None` if it is none.
    fn outcome(
        &self,
        design: usize,
        split: usize,
        metric: Metric,
        bytes: &[u8],
    ) -> Option<Evaluated> {
        let numbers = bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8")));
        let numbers: Vec<f64> = numbers.collect();
        let [score, accuracy, lambda, propagate, fit, predict, calibrated] =
            numbers.first_chunk::<FIRST>()?;
        let (calibrated, predictions) = numbers[FIRST..].split_at_checked(*calibrated as usize)?;
        let has_classes = !accuracy.is_nan();
        if has_classes && predictions.len() != self.splits[split].test().len() {
            return None;
        }
        let seconds = |s: &f64| Duration::try_from_secs_f64(*s).ok();
        Some(Evaluated {
            design: self.designs[design].clone(),
            metric,
            scores: vec![*score],
            accuracies: has_classes.then_some(*accuracy).into_iter().collect(),
            lambdas: vec![*lambda],
            predictions: match has_classes {
                true => vec![predictions.iter().map(|&class| class as u32).collect()],
                false => Vec::new(),
            },
            calibrated: match self.calibrates {
                true => Some(Calibrated::from_numbers(calibrated)?),
                false => None,
            },
            times: Times {
                propagate: seconds(propagate)?,
                fit: seconds(fit)?,
                predict: seconds(predict)?,
            },
        })
    }
}

impl Evaluated {
    /// What was found on one split, as numbers.
    fn numbers(&self, split: usize) -> Vec<f64> {
        let calibrated = self.calibrated.as_ref().map(Calibrated::numbers).unwrap_or_default();
        let Times { propagate, fit, predict } = self.times;
        let share = |time: Duration| time.as_secs_f64() / self.scores.len() as f64;
        let accuracy = self.accuracies.get(split).copied().unwrap_or(f64::NAN);
        let mut numbers = vec![
            self.scores[split],
            accuracy,
            self.lambdas[split],
            share(propagate),
            share(fit),
            share(predict),
            calibrated.len() as f64,
        ];
        numbers.extend(calibrated);
        let predictions = self.predictions.get(split).into_iter().flatten();
        numbers.extend(predictions.map(|&class| f64::from(class)));
        numbers
    }

    /// With what was found on other splits, after these.
    fn joined(mut self, other: Self) -> Self {
        self.scores.extend(other.scores);
        self.accuracies.extend(other.accuracies);
        self.lambdas.extend(other.lambdas);
        self.predictions.extend(other.predictions);
        if let (Some(calibrated), Some(other)) = (&mut self.calibrated, &other.calibrated) {
            calibrated.join(other);
        }
        self.times.propagate += other.times.propagate;
        self.times.fit += other.times.fit;
        self.times.predict += other.times.predict;
        self
    }
}

/// So many things in so many ranges of about the same length.
fn ranges(things: usize, ranges: usize) -> Vec<Range<usize>> {
    (0..ranges).map(|k| k * things / ranges..(k + 1) * things / ranges).collect()
}
