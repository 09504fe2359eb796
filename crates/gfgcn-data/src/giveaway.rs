//! A feature that alone gives the label: as a rule one that was made from it.
//!
//! Whoever leaves the column of labels among the features gets a model that is always right and of no use. A column gives
//! the label away if the values of every class are an interval of their own, or, of categories, if every category has one
//! class: then each labelled node is predicted without error by the others. A few labels may be so by chance, which is
//! reckoned with.

use gfgcn::data::{ColumnKind, Dataset, Targets};
use std::collections::HashMap;

/// How unlikely chance must be.
const CHANCE: f64 = 1e-3;
/// Labelled nodes that are looked at first.
const SAMPLE: usize = 1 << 14;
/// Counters by column and class: beyond that, nobody looks.
const MOST_COUNTERS: usize = 1 << 25;

/// The column of features that gives every known class away, if there is one.
///
/// ```
/// use gfgcn::data::{Dataset, Labels};
/// use gfgcn::features::Features;
/// use gfgcn::graph::Graph;
/// use gfgcn::matrix::Matrix;
/// let graph = Graph::from_edges(20, &[(0, 1)], None)?.0;
/// let classes: Vec<i64> = (0..20).map(|node| node % 2).collect();
/// let values: Vec<f32> = (0..20).flat_map(|node| [node as f32, 5.0 + (node % 2) as f32]).collect();
/// let features = Features::dense(Matrix::from_rows(20, 2, values)?)?;
/// let data = Dataset::new("leaky", graph, features, Labels::from_ids(&classes, None)?)?;
/// assert_eq!(gfgcn_data::giveaway(&data).as_deref(), Some("1"));
/// # Ok::<(), gfgcn::Error>(())
/// ```
pub fn giveaway(dataset: &Dataset) -> Option<String> {
    let Targets::Classes(labels) = dataset.targets() else { return None };
    let counts = labels.counts();
    let groups = Groups::of(dataset);
    let unlikely = chance(&counts) + (groups.names.len() as f64).ln() < CHANCE.ln();
    if counts.len() < 2 || counts.contains(&1) || !unlikely {
        return None;
    }
    let classes = labels.classes().len();
    if groups.names.len().saturating_mul(classes) > MOST_COUNTERS {
        return None;
    }
    let among = |nodes: &[(usize, u32)]| {
        let candidates = groups.candidates(dataset, nodes, classes).into_iter();
        candidates.filter(|&group| groups.gives_away(group, dataset, nodes)).collect::<Vec<_>>()
    };
    // What gives all labels away gives some away, and hardly anything does.
    let labelled = (0..dataset.nodes()).filter_map(|node| Some((node, labels.get(node)?)));
    let some: Vec<(usize, u32)> = labelled.clone().take(SAMPLE).collect();
    let found = match among(&some) {
        few if few.is_empty() || some.len() < SAMPLE => few,
        _ => among(&labelled.collect::<Vec<_>>()),
    };
    found.first().map(|&group| groups.names[group].clone())
}

/// The logarithm of the probability that classes of these sizes are intervals of numbers in random order.
fn chance(counts: &[usize]) -> f64 {
    let ln_factorial = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let sizes: f64 = counts.iter().map(|&count| ln_factorial(count)).sum();
    ln_factorial(counts.len()) + sizes - ln_factorial(counts.iter().sum())
}

/// The columns of the table that features were made of.
struct Groups {
    names: Vec<String>,
    /// The group of each feature, and its level, from 1, where it is a category.
    of_feature: Vec<(usize, Option<u32>)>,
}

impl Groups {
    fn of(dataset: &Dataset) -> Groups {
        let width = dataset.features().cols();
        let Some(features) = dataset.feature_names() else {
            let names = (0..width).map(|column| column.to_string()).collect();
            return Groups { names, of_feature: (0..width).map(|column| (column, None)).collect() };
        };
        let mut levels: HashMap<String, (&str, u32)> = HashMap::new();
        for column in dataset.encoding().iter().flat_map(|encoding| &encoding.columns) {
            if let ColumnKind::Category { levels: words } = &column.kind {
                let own = words.iter().zip(1..);
                levels.extend(own.map(|(word, level)| {
                    (format!("{}={word}", column.name), (&*column.name, level))
                }));
            }
        }
        let (mut names, mut places) = (Vec::new(), HashMap::new());
        let mut of_feature = Vec::with_capacity(width);
        for feature in features {
            let (name, level) = match levels.get(feature) {
                Some((name, level)) => ((*name).to_owned(), Some(*level)),
                None => (feature.clone(), None),
            };
            let place = *places.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
            of_feature.push((place, level));
        }
        Groups { names, of_feature }
    }

    /// Columns whose zeros, if there are any, are all of one class.
    fn candidates(
        &self,
        dataset: &Dataset,
        labelled: &[(usize, u32)],
        classes: usize,
    ) -> Vec<usize> {
        let mut filled = vec![0usize; self.names.len() * classes];
        let mut all = vec![0usize; classes];
        for &(node, class) in labelled {
            all[class as usize] += 1;
            dataset.features().for_each_in_row(node, |column, value| {
                if value != 0.0 {
                    filled[self.of_feature[column].0 * classes + class as usize] += 1;
                }
            });
        }
        let is_candidate = |group: &usize| {
            let own = &filled[group * classes..(group + 1) * classes];
            all.iter().zip(own).filter(|(all, filled)| filled < all).count() <= 1
        };
        (0..self.names.len()).filter(is_candidate).collect()
    }

    fn gives_away(&self, group: usize, dataset: &Dataset, labelled: &[(usize, u32)]) -> bool {
        let is_category = self.of_feature.iter().any(|(of, level)| *of == group && level.is_some());
        let value = |node: usize| {
            let mut found = 0.0f32;
            dataset.features().for_each_in_row(node, |column, value| {
                let (of, level) = self.of_feature[column];
                if of == group && value != 0.0 {
                    found = level.map_or(value, |level| level as f32);
                }
            });
            found
        };
        // A few nodes end the hopes of almost every column.
        const FIRST: usize = 64;
        let separates = |nodes: &[(usize, u32)]| {
            let mut pairs: Vec<(f32, u32)> =
                nodes.iter().map(|&(node, class)| (value(node), class)).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mixed =
                pairs.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
            let mut runs: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
            runs.dedup();
            let count = runs.len();
            runs.sort_unstable();
            runs.dedup();
            !mixed && (is_category || count == runs.len())
        };
        separates(&labelled[..labelled.len().min(FIRST)]) && separates(labelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfgcn::data::Labels;
    use gfgcn::features::Features;
    use gfgcn::graph::Graph;
    use gfgcn::matrix::Matrix;

    fn data(
        nodes: usize,
        feature: impl Fn(usize) -> [f32; 2],
        class: impl Fn(usize) -> i64,
    ) -> Dataset {
        let values = (0..nodes).flat_map(feature).collect();
        let features = Features::dense(Matrix::from_rows(nodes, 2, values).unwrap()).unwrap();
        let labels: Vec<i64> = (0..nodes).map(class).collect();
        let graph = Graph::from_edges(nodes, &[(0, 1)], None).unwrap().0;
        Dataset::new("test", graph, features, Labels::from_ids(&labels, None).unwrap()).unwrap()
    }

    #[test]
    fn only_what_gives_every_label_beyond_chance_is_named() {
        let noise = |node: usize| (node * 7919 % 101) as f32;
        let three = |node: usize| (node % 3) as i64;
        let named = |data: Dataset| giveaway(&data);
        assert_eq!(named(data(60, |k| [noise(k), three(k) as f32], three)), Some("1".into()));
        assert_eq!(named(data(60, |k| [noise(k), noise(k + 1)], three)), None);
        let almost = |k: usize| [noise(k), if k == 7 { 0.0 } else { three(k) as f32 }];
        assert_eq!(named(data(60, almost, three)), None, "one node is another");
        assert_eq!(
            named(data(6, |k| [noise(k), (k % 2) as f32], |k| (k % 2) as i64)),
            None,
            "chance"
        );
        assert_eq!(named(data(60, |k| [noise(k), 1.0], |_| 0)), None, "one class");
        let unlabelled = |k: usize| if k < 3 { -1 } else { three(k) };
        assert_eq!(named(data(60, |k| [three(k) as f32, 0.0], unlabelled)), Some("0".into()));
    }
}
