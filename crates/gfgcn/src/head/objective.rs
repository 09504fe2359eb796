//! What is asked for: by which metric λ is chosen, and how much the classes count.

use crate::data::{Labels, TargetKind, Targets};
use crate::error::{Error, Result};
use crate::metrics::Metric;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What predictions should be good at.
///
/// | field | meaning | default |
/// |---|---|---|
/// | `metric` | what λ is chosen by, on left-out or on validation nodes | `accuracy`, `micro-f1` or `r2`, by the kind of targets |
/// | `class_weights` | how much the squared errors of the classes count | all alike |
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// What λ is chosen by; `None` for the usual one of the targets.
    pub metric: Option<Metric>,
    /// How much the classes count.
    pub class_weights: ClassWeights,
}

impl Objective {
    /// By a metric, all classes counting alike.
    pub fn by(metric: Metric) -> Self {
        Objective { metric: Some(metric), ..Objective::default() }
    }

    /// The metric for targets of a kind.
    ///
    /// # Errors
    /// If the one that was asked for does not fit them.
    pub fn metric_for(&self, kind: TargetKind) -> Result<Metric> {
        let metric = self.metric.unwrap_or(Metric::default_of(kind));
        metric.check(kind)?;
        Ok(metric)
    }
}

/// How much the squared errors of nodes count, by their class: w in min Σ_i w_i ‖y_i − f_i‖² + ξ ‖W‖².
///
/// Parsed from `equal`, `balanced` or `NAME=WEIGHT,NAME=WEIGHT`; the names have no comma in them.
///
/// ```
/// use gfgcn::head::ClassWeights;
/// let weights: ClassWeights = "rare=3,common=0.5".parse()?;
/// assert_eq!(weights, ClassWeights::Given(vec![("rare".into(), 3.0), ("common".into(), 0.5)]));
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeights {
    /// All count alike.
    #[default]
    Equal,
    /// n / (classes · n_c) for the n_c of n training nodes that are of class c: the classes count alike together.
    Balanced,
    /// Weights > 0 by name; classes that are not named have 1.
    Given(Vec<(String, f64)>),
}

impl ClassWeights {
    /// The weight of each training node, whose classes are given as numbers; `None` where all count alike.
    ///
    /// # Errors
    /// Targets that are no classes, a weight that is not positive and finite, a class that is named twice, or one that
    /// the data do not have.
    pub(crate) fn of(&self, targets: &Targets, train: &[usize]) -> Result<Option<Vec<f64>>> {
        if *self == ClassWeights::Equal {
            return Ok(None);
        }
        let Targets::Classes(labels) = targets else {
            return Err(Error::Data(format!(
                "class weights are for classes, but what is known of the nodes are {}",
                targets.kind()
            )));
        };
        let of_class = match self {
            ClassWeights::Equal => return Ok(None),
            ClassWeights::Balanced => balanced(labels, train),
            ClassWeights::Given(given) => by_name(labels, given)?,
        };
        let class = |&node: &usize| labels.get(node).unwrap_or_default() as usize;
        Ok(Some(train.iter().map(|node| of_class[class(node)]).collect()))
    }
}

impl Objective {
    /// The same of data that only have these classes: without the weights of others.
    pub(crate) fn among(&self, classes: &[String]) -> Self {
        let class_weights = match &self.class_weights {
            ClassWeights::Given(given) => {
                let there = given.iter().filter(|(name, _)| classes.contains(name));
                match there.cloned().collect::<Vec<(String, f64)>>() {
                    none if none.is_empty() => ClassWeights::Equal,
                    there => ClassWeights::Given(there),
                }
            }
            other => other.clone(),
        };
        Objective { class_weights, ..self.clone() }
    }
}

fn balanced(labels: &Labels, train: &[usize]) -> Vec<f64> {
    let mut counts = vec![0usize; labels.classes().len()];
    train.iter().filter_map(|&n| labels.get(n)).for_each(|class| counts[class as usize] += 1);
    let classes = counts.iter().filter(|&&count| count > 0).count();
    let weight = |&count: &usize| train.len() as f64 / (classes * count.max(1)) as f64;
    counts.iter().map(weight).collect()
}

fn by_name(labels: &Labels, given: &[(String, f64)]) -> Result<Vec<f64>> {
    let mut weights = vec![None; labels.classes().len()];
    for (name, weight) in given {
        check(name, *weight)?;
        let Some(class) = labels.classes().iter().position(|class| class == name) else {
            let mut known: Vec<String> =
                labels.classes().iter().take(8).map(|class| format!("{class:?}")).collect();
            if labels.classes().len() > known.len() {
                known.push("…".into());
            }
            return Err(Error::Data(format!(
                "there is a weight for class {name:?}, which no node has; the classes are {}",
                known.join(", ")
            )));
        };
        if weights[class].replace(*weight).is_some() {
            return Err(Error::Data(format!("class {name:?} has two weights; give one")));
        }
    }
    Ok(weights.into_iter().map(|weight| weight.unwrap_or(1.0)).collect())
}

fn check(name: &str, weight: f64) -> Result<()> {
    if weight > 0.0 && weight.is_finite() {
        return Ok(());
    }
    let value = format!("{name}={weight}");
    Err(Error::parameter("class weight", value, "a positive finite number"))
}

impl fmt::Display for ClassWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassWeights::Equal => f.write_str("equal"),
            ClassWeights::Balanced => f.write_str("balanced"),
            ClassWeights::Given(given) => {
                for (k, (name, weight)) in given.iter().enumerate() {
                    write!(f, "{}{name}={weight}", if k == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for ClassWeights {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "equal" => return Ok(ClassWeights::Equal),
            "balanced" => return Ok(ClassWeights::Balanced),
            _ => {}
        }
        let given = text.split(',').map(|pair| {
            let (name, weight) = pair.rsplit_once('=').ok_or_else(|| {
                Error::parameter("class weights", text, "balanced, or NAME=WEIGHT,NAME=WEIGHT")
            })?;
            let weight = weight.trim().parse().map_err(|_| {
                Error::parameter("class weight", pair, "NAME=WEIGHT with a positive finite number")
            })?;
            check(name, weight)?;
            Ok((name.to_owned(), weight))
        });
        given.collect::<Result<_>>().map(ClassWeights::Given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets() -> Targets {
        Labels::from_names(&[Some("a"), Some("a"), Some("a"), Some("b"), None, Some("c")]).into()
    }

    #[test]
    fn balanced_weights_make_classes_count_alike() {
        let weights = ClassWeights::Balanced.of(&targets(), &[0, 1, 2, 3]).unwrap().unwrap();
        assert_eq!(weights, [4.0 / 6.0, 4.0 / 6.0, 4.0 / 6.0, 2.0]);
        assert_eq!(ClassWeights::Equal.of(&targets(), &[0, 3]).unwrap(), None);
    }

    #[test]
    fn weights_are_given_by_name() {
        let of = |text: &str| text.parse::<ClassWeights>().unwrap().of(&targets(), &[0, 3, 5]);
        assert_eq!(of("c=3,a=0.5").unwrap().unwrap(), [0.5, 1.0, 3.0]);
        let message = of("d=3").unwrap_err().to_string();
        assert!(message.contains("\"d\"") && message.contains("\"a\", \"b\", \"c\""), "{message}");
        assert!(of("a=1,a=2").unwrap_err().to_string().contains("two weights"));
        let nan = ClassWeights::Given(vec![("a".into(), f64::NAN)]);
        assert!(nan.of(&targets(), &[0]).is_err());
        let sets = crate::data::LabelSets::from_names(&[Some(vec!["a"])]).into();
        assert!(ClassWeights::Balanced.of(&sets, &[0]).unwrap_err().to_string().contains("sets"));
    }

    #[test]
    fn weights_of_classes_that_are_gone_go_with_them() {
        let objective = |text: &str| Objective {
            class_weights: text.parse().unwrap(),
            ..Objective::by(Metric::MacroF1)
        };
        let left = ["a".to_owned(), "c".to_owned()];
        assert_eq!(objective("b=2,c=3").among(&left), objective("c=3"));
        assert_eq!(objective("b=2").among(&left), objective("equal"));
        assert_eq!(objective("balanced").among(&left), objective("balanced"));
    }

    #[test]
    fn weights_are_written_and_read() {
        for text in ["equal", "balanced", "a=2", "x=y=0.5,b=3"] {
            assert_eq!(text.parse::<ClassWeights>().unwrap().to_string(), text);
        }
        for text in ["", "a", "a=", "a=0", "a=-1", "a=nan", "a=inf", "a=1,", "Balanced"] {
            assert!(text.parse::<ClassWeights>().is_err(), "{text:?}");
        }
    }
}
