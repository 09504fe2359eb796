//! Labels that are hardly classes: measured values, or ids in their place.
//!
//! Any text can be a class, and so can any number. But whoever takes the wrong column of a table should
//! not have to find out from the accuracy, or from a model with as many targets as there are nodes.

use gfgcn::data::Labels;
use gfgcn::{Error, Result};

/// Up to so many different fractions may be classes: ratings in halves, versions.
const MOST_FRACTIONS: usize = 20;
/// More classes than this are asked about where they are numbers or hardly repeat.
const MANY: usize = 50;
/// From here on even a few labels among many nodes are no excuse: a target for each is too much to learn.
const FAR_TOO_MANY: usize = 1000;

/// Refuses labels that cannot be meant as classes; where they may be, a note asks.
pub(crate) fn check(labels: &Labels) -> Result<Option<String>> {
    let classes = labels.classes();
    let count = classes.len();
    let labelled = labels.as_slice().iter().flatten().count();
    let numbers: Option<Vec<f64>> = (classes.iter())
        .map(|class| class.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    if let Some(numbers) = &numbers
        && count > MOST_FRACTIONS
        && let Some(fraction) = numbers.iter().position(|number| number.fract() != 0.0)
    {
        let name = &classes[fraction];
        return Err(Error::Data(format!(
            "the labels look like measured values: {count} different numbers, such as {name}, for \
             {labelled} nodes. Labels are classes; divide the values into a few, or, if each \
             number is a class, give them names such as c{name}"
        )));
    }
    let hardly_repeat = count > MANY && 2 * count > labelled;
    if hardly_repeat && (2 * labelled > labels.len() || count > FAR_TOO_MANY) {
        return Err(Error::Data(format!(
            "the labels look like ids: {count} different ones, such as {:?} and {:?}, for {labelled} \
             nodes. Use the column with the classes; nothing can be learnt of a class from a \
             single node",
            classes[0], classes[1]
        )));
    }
    if hardly_repeat {
        return Ok(Some(format!(
            "there are {count} classes, but only {labelled} labelled nodes; are the labels ids?"
        )));
    }
    Ok(None)
}

/// Asks about many classes of a table that are all numbers. In an archive of arrays they always are.
pub(crate) fn ask_about_numbers(labels: &Labels) -> Option<String> {
    let classes = labels.classes();
    let is_number = |class: &String| class.parse::<f64>().is_ok_and(f64::is_finite);
    (classes.len() > MANY && classes.iter().all(is_number)).then(|| {
        format!(
            "there are {} classes, all of them numbers ({} to {}); if they are values, divide them \
             into a few classes first",
            classes.len(),
            classes[0],
            classes[classes.len() - 1]
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(count: usize, nodes: usize, class: impl Fn(usize) -> String) -> Result<String> {
        let names: Vec<Option<String>> =
            (0..nodes).map(|node| (node < count).then(|| class(node))).collect();
        let labels = Labels::from_names(&names);
        let question = check(&labels)?.or_else(|| ask_about_numbers(&labels));
        Ok(question.unwrap_or_default())
    }

    #[test]
    fn values_and_ids_are_told_from_classes() {
        let refused = [
            ("measured", checked(60, 60, |k| format!("{}.5", k))),
            ("measured, some twice", checked(900, 900, |k| format!("{}", (k % 21) as f64 / 4.0))),
            ("scientific", checked(30, 30, |k| format!("{k}e-3"))),
            ("ids", checked(60, 60, |k| k.to_string())),
            ("names", checked(60, 60, |k| format!("node {k}"))),
            ("pairs", checked(198, 300, |k| (k % 100).to_string())),
            ("few of many", checked(2000, 90_000, |k| k.to_string())),
        ];
        for (name, outcome) in refused {
            assert!(outcome.is_err(), "{name}: {outcome:?}");
        }
        let asked = [
            ("years", checked(3000, 3000, |k| (1950 + k % 60).to_string()), "1950 to 2009"),
            ("whole floats", checked(3000, 3000, |k| format!("{}.0", k % 60)), "60 classes"),
            ("one of each", checked(60, 9000, |k| format!("species {k}")), "are the labels ids?"),
        ];
        for (name, outcome, question) in asked {
            assert!(outcome.as_ref().unwrap().contains(question), "{name}: {outcome:?}");
        }
        for (name, outcome) in [
            ("ratings", checked(900, 900, |k| format!("{}", (k % 11) as f64 / 2.0))),
            ("all different, but few", checked(50, 50, |k| k.to_string())),
            ("sections", checked(900, 900, |k| format!("{}.{}.1", k % 9, k % 5))),
            ("many classes", checked(900, 900, |k| format!("topic {}", k % 300))),
        ] {
            assert_eq!(outcome.unwrap(), "", "{name}");
        }
    }
}
