//! What a model file holds of the training.

use super::{Recipe, Training};
use crate::data::{LabelSets, Labels, Targets, Values};
use crate::design::Channel;
use crate::driver::Filtered;
use crate::head::Head;
use crate::matrix::Matrix;
use crate::model::Known;
use crate::model::tensors::{
    Tensor, has, read_digests, read_doubles, read_floats, read_matrix, read_numbers,
};
use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};

/// Everything that is no tensor.
#[derive(Serialize, Deserialize)]
pub(crate) struct TrainingHeader {
    recipe: Recipe,
    fingerprint: String,
    node_ids: Option<Vec<String>>,
    targets: TargetNames,
}

/// Of which kind the targets are, and the names of the classes, labels or columns.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TargetNames {
    Classes(Vec<String>),
    Sets(Vec<String>),
    Values(Vec<String>),
}

impl From<&Training> for TrainingHeader {
    fn from(training: &Training) -> Self {
        let names = training.targets.names().to_vec();
        TrainingHeader {
            recipe: training.recipe.clone(),
            fingerprint: training.fingerprint.clone(),
            node_ids: training.node_ids.clone(),
            targets: match &training.targets {
                Targets::Classes(_) => TargetNames::Classes(names),
                Targets::Sets(_) => TargetNames::Sets(names),
                Targets::Values(_) => TargetNames::Values(names),
            },
        }
    }
}

fn name(of: &str) -> String {
    format!("training.{of}")
}

fn channel(number: usize) -> String {
    format!("training.rows.{number}")
}

fn representers(member: usize) -> String {
    format!("training.representers.{member}")
}

/// The tensors of a training.
pub(crate) fn training_tensors(training: &Training) -> Vec<Tensor> {
    let numbers = |of: &str, numbers: &[usize]| Tensor::numbers(name(of), numbers.iter().copied());
    let mut tensors = vec![
        Tensor::digests(name("digests"), &training.digests),
        numbers("nodes", &training.nodes),
        numbers("validation", &training.validation),
    ];
    if let Some(weights) = &training.weights {
        tensors.push(Tensor::doubles(name("weights"), vec![weights.len()], weights));
    }
    let count = training.targets.len();
    match &training.targets {
        Targets::Classes(labels) => {
            let class = |node: usize| labels.get(node).expect("it is known") as usize;
            tensors.push(Tensor::numbers(name("classes"), (0..count).map(class)));
        }
        Targets::Sets(sets) => {
            let set = |node: usize| sets.get(node).expect("it is known");
            let counts = (0..count).map(|node| set(node).len());
            tensors.push(Tensor::numbers(name("set_sizes"), counts));
            let labels = (0..count).flat_map(|node| set(node).iter().map(|&label| label as usize));
            tensors.push(Tensor::numbers(name("set_labels"), labels));
        }
        Targets::Values(values) => {
            let rows = (0..count).flat_map(|node| values.get(node).expect("they are known"));
            let rows: Vec<f64> = rows.copied().collect();
            tensors.push(Tensor::doubles(name("values"), vec![count, values.names().len()], &rows));
        }
    }
    let rows = training.rows.iter().flat_map(Filtered::channels).enumerate();
    tensors.extend(rows.map(|(k, rows)| Tensor::floats(channel(k), &rows)));
    tensors.extend(training.representers.iter().enumerate().map(|(k, alpha)| {
        Tensor::doubles(representers(k), vec![alpha.rows(), alpha.cols()], alpha.as_slice())
    }));
    tensors
}

/// The training of a model of so many members that knows this and predicts this.
pub(crate) fn read_training(
    header: TrainingHeader,
    known: &Known,
    head: &Head,
    members: usize,
    tensors: &SafeTensors<'_>,
) -> Result<Training, String> {
    let TrainingHeader { recipe, fingerprint, node_ids, targets } = header;
    if let Some(ids) = node_ids.as_ref().filter(|ids| ids.len() != known.nodes) {
        return Err(format!("{} ids for {} nodes", ids.len(), known.nodes));
    }
    let nodes = read_nodes(tensors, "nodes", known.nodes)?;
    let validation = read_nodes(tensors, "validation", known.nodes)?;
    if let Some(node) = validation.iter().find(|node| nodes.binary_search(node).is_err()) {
        return Err(format!("nothing is known of node {node}, which λ was chosen by"));
    }
    let weights = match has(tensors, &name("weights")) {
        true => Some(read_weights(tensors, nodes.len() - validation.len())?),
        false => None,
    };
    let targets = read_targets(targets, nodes.len(), tensors)?;
    if targets.kind() != head.kind() {
        return Err(format!("{} were learnt and {} are predicted", targets.kind(), head.kind()));
    }
    let rows = match &recipe {
        Recipe::Searched(_) => None,
        Recipe::Described(classifier) => {
            let read = |(k, part): (usize, &Channel)| {
                let columns = known.columns(part.input);
                read_floats(tensors, &channel(k), [Some(known.nodes), Some(columns)])
            };
            let channels = classifier.design.channels().iter().enumerate().map(read);
            let channels = channels.collect::<Result<Vec<_>, String>>()?;
            Some(Filtered::from_channels(&classifier.design, channels))
        }
    };
    let of_members = match recipe {
        Recipe::Described(_) => 0,
        Recipe::Searched(_) => members,
    };
    let shape = [Some(nodes.len() - validation.len()), Some(head.columns())];
    let alphas = (0..of_members).map(|k| read_matrix(tensors, &representers(k), shape));
    Ok(Training {
        representers: alphas.collect::<Result<_, String>>()?,
        recipe,
        fingerprint,
        node_ids,
        digests: read_digests(tensors, &name("digests"), known.nodes)?,
        nodes,
        validation,
        weights,
        targets,
        rows,
    })
}

/// How much each of so many nodes counts.
fn read_weights(tensors: &SafeTensors<'_>, count: usize) -> Result<Vec<f64>, String> {
    let (_, weights) = read_doubles(tensors, &name("weights"), &[Some(count)])?;
    match weights.iter().find(|&&weight| weight <= 0.0) {
        Some(weight) => Err(format!("a training node has the weight {weight}")),
        None => Ok(weights),
    }
}

/// Numbers of nodes in increasing order.
fn read_nodes(tensors: &SafeTensors<'_>, of: &str, count: usize) -> Result<Vec<usize>, String> {
    let nodes = read_numbers(tensors, &name(of))?;
    match nodes.is_sorted_by(|a, b| a < b) && nodes.last().is_none_or(|&last| last < count) {
        true => Ok(nodes),
        false => Err(format!("tensor {} does not name nodes in order", name(of))),
    }
}

fn read_targets(
    names: TargetNames,
    count: usize,
    tensors: &SafeTensors<'_>,
) -> Result<Targets, String> {
    let wrong = |of: &str| format!("tensor {} does not belong to the nodes", name(of));
    Ok(match names {
        TargetNames::Classes(names) => {
            let classes = read_numbers(tensors, &name("classes"))?;
            if classes.len() != count {
                return Err(wrong("classes"));
            }
            let ids: Vec<i64> =
                classes.into_iter().map(|class| i64::try_from(class).unwrap_or(i64::MAX)).collect();
            Targets::Classes(Labels::from_ids(&ids, Some(&names)).map_err(|e| e.to_string())?)
        }
        TargetNames::Sets(names) => {
            let sizes = read_numbers(tensors, &name("set_sizes"))?;
            let labels = read_numbers(tensors, &name("set_labels"))?;
            let total = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
            if sizes.len() != count || total != Some(labels.len()) {
                return Err(wrong("set_sizes"));
            }
            let mut rest = labels.iter();
            let mut sets = Vec::with_capacity(count);
            for size in sizes {
                let set = rest.by_ref().take(size).map(|&label| names.get(label));
                let set = set.collect::<Option<Vec<&String>>>();
                sets.push(Some(set.ok_or_else(|| wrong("set_labels"))?));
            }
            Targets::Sets(LabelSets::from_names(&sets))
        }
        TargetNames::Values(names) => {
            let shape = [Some(count), Some(names.len())];
            let (_, values) = read_doubles(tensors, &name("values"), &shape)?;
            let matrix = Matrix::from_rows(count, names.len(), values);
            let values = matrix.and_then(|matrix| Values::new(names, matrix));
            Targets::Values(values.map_err(|e| e.to_string())?)
        }
    })
}
