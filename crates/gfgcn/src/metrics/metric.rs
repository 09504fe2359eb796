//! By what predictions are judged, and λ is chosen.

use crate::data::TargetKind;
use crate::error::{Error, Result};
use crate::text::serde_as_text;
use std::fmt;
use std::str::FromStr;

/// A number that says how good predictions are.
///
/// | metric | what it is | fits |
/// |---|---|---|
/// | `accuracy` | share of nodes whose class was predicted | classes |
/// | `balanced-accuracy` | mean over the classes of the share of their nodes that were predicted | classes |
/// | `macro-f1` | mean F1 over the classes or labels; those that are neither there nor predicted do not count | classes, label sets |
/// | `micro-f1` | F1 of all pairs of node and label together | label sets |
/// | `auc` | probability that a node of the class scores higher than another, ties counting half (area under the ROC curve) | classes, label sets |
/// | `average-precision` | Σ (R_n − R_{n−1}) P_n over the distinct scores, in decreasing order | classes, label sets |
/// | `r2` | 1 − Σ (y − f)² / Σ (y − mean)², mean over the columns | values |
/// | `mae` | mean of \|y − f\|, mean over the columns | values |
///
/// `auc` and `average-precision` of two classes are those of the second; of more, or of labels, the mean over those that have
/// a node and lack one. Label sets are judged with as many labels predicted as the node has, the usual protocol.
/// All but `mae` are better the larger they are. Written and parsed as in the first column.
///
/// ```
/// use gfgcn::{data::TargetKind, metrics::Metric};
/// let metric: Metric = "average-precision".parse()?;
/// assert!(metric.fits(TargetKind::Classes) && !metric.fits(TargetKind::Values));
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// `accuracy`.
    Accuracy,
    /// `balanced-accuracy`.
    BalancedAccuracy,
    /// `macro-f1`.
    MacroF1,
    /// `micro-f1`.
    MicroF1,
    /// `auc`.
    Auc,
    /// `average-precision`.
    AveragePrecision,
    /// `r2`.
    R2,
    /// `mae`.
    Mae,
}

serde_as_text!(Metric);

impl Metric {
    /// Every metric.
    pub const ALL: [Metric; 8] = [
        Metric::Accuracy,
        Metric::BalancedAccuracy,
        Metric::MacroF1,
        Metric::MicroF1,
        Metric::Auc,
        Metric::AveragePrecision,
        Metric::R2,
        Metric::Mae,
    ];

    /// What is used unless another one is asked for: `accuracy`, `micro-f1` or `r2`.
    pub fn default_of(kind: TargetKind) -> Self {
        match kind {
            TargetKind::Classes => Metric::Accuracy,
            TargetKind::Sets => Metric::MicroF1,
            TargetKind::Values => Metric::R2,
        }
    }

    /// Whether predictions of that kind can be judged by it.
    pub fn fits(self, kind: TargetKind) -> bool {
        match self {
            Metric::Accuracy | Metric::BalancedAccuracy => kind == TargetKind::Classes,
            Metric::MacroF1 | Metric::Auc | Metric::AveragePrecision => kind != TargetKind::Values,
            Metric::MicroF1 => kind == TargetKind::Sets,
            Metric::R2 | Metric::Mae => kind == TargetKind::Values,
        }
    }

    /// Refuses a metric that does not fit.
    ///
    /// # Errors
    /// Names those that do.
    pub fn check(self, kind: TargetKind) -> Result<()> {
        if self.fits(kind) {
            return Ok(());
        }
        let fitting: Vec<Metric> = Metric::ALL.into_iter().filter(|m| m.fits(kind)).collect();
        Err(Error::Data(format!(
            "{self} does not fit {kind}, which are what is known of the nodes; the metric must be {}",
            list(&fitting)
        )))
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        self != Metric::Mae
    }

    /// Whether it is a share, from 0 to 1, which reports give in percent.
    pub fn is_share(self) -> bool {
        !matches!(self, Metric::R2 | Metric::Mae)
    }

    /// For people: `accuracy`, `ROC AUC`, `R²`.
    pub fn description(self) -> &'static str {
        match self {
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced accuracy",
            Metric::MacroF1 => "macro-F1",
            Metric::MicroF1 => "micro-F1",
            Metric::Auc => "ROC AUC",
            Metric::AveragePrecision => "average precision",
            Metric::R2 => "R²",
            Metric::Mae => "mean absolute error",
        }
    }

    /// Whether it is computed from the order of the scores, which therefore have to be kept.
    pub(crate) fn is_ranking(self) -> bool {
        matches!(self, Metric::Auc | Metric::AveragePrecision)
    }
}

fn list(metrics: &[Metric]) -> String {
    let names: Vec<String> = metrics.iter().map(Metric::to_string).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced-accuracy",
            Metric::MacroF1 => "macro-f1",
            Metric::MicroF1 => "micro-f1",
            Metric::Auc => "auc",
            Metric::AveragePrecision => "average-precision",
            Metric::R2 => "r2",
            Metric::Mae => "mae",
        })
    }
}

impl FromStr for Metric {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let named = Metric::ALL.into_iter().find(|metric| metric.to_string() == text);
        named.ok_or_else(|| Error::parameter("metric", text, list(&Metric::ALL)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_written_and_read() {
        for metric in Metric::ALL {
            assert_eq!(metric.to_string().parse::<Metric>().unwrap(), metric);
        }
        for text in ["", "AUC", "f1", "accuracy "] {
            let message = text.parse::<Metric>().unwrap_err().to_string();
            assert!(message.contains("balanced-accuracy") && message.contains("mae"), "{message}");
        }
    }

    #[test]
    fn one_that_does_not_fit_is_told_which_do() {
        let kinds = [TargetKind::Classes, TargetKind::Sets, TargetKind::Values];
        for kind in kinds {
            Metric::default_of(kind).check(kind).unwrap();
        }
        let message = Metric::Auc.check(TargetKind::Values).unwrap_err().to_string();
        assert!(message.contains("auc") && message.contains("values"), "{message}");
        assert!(message.ends_with("r2 or mae"), "{message}");
        let message = Metric::R2.check(TargetKind::Classes).unwrap_err().to_string();
        assert!(message.contains("accuracy") && !message.contains("micro"), "{message}");
    }
}
