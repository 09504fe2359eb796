//! What is known of the nodes: one class each, sets of labels, or values.

use super::{Members, integers, named};
use crate::classes;
use crate::npy::{self, Array};
use crate::reading::Reading;
use gfgcn::data::{Dataset, LabelSets, Labels, Targets, UNLABELLED, Values};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::collections::HashSet;

/// What an array of labels holds.
enum Found {
    /// The class of each node.
    Classes(Vec<i64>),
    /// The columns in which each node has a 1, of so many; `None` where they are not known.
    Sets(Vec<Option<Vec<u32>>>, usize),
}

impl Members<'_> {
    /// Classes, one integer per node, or sets of labels, a row of zeros and ones per node.
    pub(super) fn labels(
        &mut self,
        name: &str,
        names: Option<&[String]>,
    ) -> Result<Option<Targets>> {
        let reading = self.reading.clone();
        let found = self.with(name, size_of::<i64>(), |array| {
            array.check_plain()?;
            match *array.shape() {
                [_] | [_, 1] => array.integers(Some(UNLABELLED)).map(Found::Classes),
                [_, columns] if columns > 1 => {
                    sets(array, columns, &reading).map(|sets| Found::Sets(sets, columns))
                }
                ref shape => Err(Error::Format(format!(
                    "has shape {shape:?}, but must have an integer for each node, or a row of zeros and ones"
                ))),
            }
        })?;
        let inside = |error| named(&format!("member {name}"), error);
        match found {
            None => Ok(None),
            Some(Found::Classes(ids)) => {
                let labels = Labels::from_ids(&ids, names).map_err(inside)?;
                self.notes.extend(classes::check(&labels).map_err(inside)?);
                Ok(Some(labels.into()))
            }
            Some(Found::Sets(sets, columns)) => {
                let names = label_names(names, columns).map_err(inside)?;
                if sets.iter().flatten().all(|set| set.len() == 1) {
                    self.notes.push(format!(
                        "every row of {name} has a single 1, but a matrix says sets of labels; save one integer per node \
                         to learn classes"
                    ));
                }
                let named = |set: Vec<u32>| -> Vec<&str> {
                    set.into_iter().map(|label| &*names[label as usize]).collect()
                };
                let sets: Vec<Option<Vec<&str>>> =
                    sets.into_iter().map(|set| set.map(named)).collect();
                Ok(Some(LabelSets::from_names(&sets).into()))
            }
        }
    }

    /// Numbers, one or several per node; NaN where they are not known.
    pub(super) fn values(&mut self) -> Result<Option<Targets>> {
        const NAME: &str = "values";
        let found = self.with(NAME, size_of::<f64>(), |array| {
            array.check_plain()?;
            let (nodes, columns) = match *array.shape() {
                [nodes] => (nodes, 1),
                [nodes, columns] => (nodes, columns),
                ref shape => {
                    return Err(Error::Format(format!(
                        "has shape {shape:?}, but must have a number or a row of numbers for each node"
                    )));
                }
            };
            Matrix::from_rows(nodes, columns, array.doubles()?)
        })?;
        let Some(matrix) = found else { return Ok(None) };
        let names = match self.texts("value_names")? {
            Some(names) => names,
            None if matrix.cols() == 1 => vec!["value".to_owned()],
            None => (0..matrix.cols()).map(|column| format!("value_{column}")).collect(),
        };
        let values =
            Values::new(names, matrix).map_err(|error| named(&format!("member {NAME}"), error))?;
        Ok(Some(values.into()))
    }
}

/// The names of the columns, or their numbers.
fn label_names(names: Option<&[String]>, columns: usize) -> Result<Vec<Cow<'_, str>>> {
    let Some(names) = names else {
        return Ok((0..columns).map(|column| Cow::Owned(column.to_string())).collect());
    };
    Error::check_size("columns (one for each of class_names)", names.len(), columns)?;
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(Error::Format(format!("two columns are called {twice:?} by class_names")));
    }
    Ok(names.iter().map(|name| Cow::Borrowed(name.as_str())).collect())
}

/// The columns with a 1 in each row.
fn sets(array: &Array<'_>, columns: usize, reading: &Reading) -> Result<Vec<Option<Vec<u32>>>> {
    let entries = array.integers(Some(UNLABELLED))?;
    let ones = entries.iter().filter(|&&entry| entry == 1).count();
    // A number and a name for each, and the heads of two lists for each node.
    reading.hold(((4 + 16) * ones + 2 * 24 * (entries.len() / columns)) as u64)?;
    let set = |(node, row): (usize, &[i64])| {
        if row.iter().all(|&entry| entry == UNLABELLED) {
            return Ok(None);
        }
        let wrong = row.iter().position(|entry| !matches!(entry, 0 | 1));
        if let Some(column) = wrong {
            return Err(Error::Format(format!(
                "row {node}, column {column} is {}, but a matrix of labels holds 0 and 1, and rows of −1 where they are not \
                 known",
                row[column]
            )));
        }
        let ones = row.iter().zip(0..).filter(|(entry, _)| **entry == 1);
        Ok(Some(ones.map(|(_, column)| column).collect()))
    };
    entries.chunks_exact(columns).enumerate().map(set).collect()
}

/// The arrays of what is known of the nodes.
pub(super) fn members_of(dataset: &Dataset) -> Vec<(&'static str, Vec<u8>)> {
    let mut members = Vec::new();
    match dataset.targets() {
        Targets::Classes(labels) => {
            let ids = labels.as_slice().iter().map(|label| label.map_or(UNLABELLED, i64::from));
            members.push(("labels", integers(ids)));
            if !labels.classes().is_empty() {
                members.push(("class_names", npy::encode_texts(labels.classes())));
            }
        }
        Targets::Sets(sets) => {
            // A single column would say classes; one that no node has is no label when it is read again.
            let mut names = sets.names().to_vec();
            while names.len() < 2 {
                names.push(format!("unused {}", names.join("")));
            }
            let columns = names.len();
            let mut payload = Vec::with_capacity(sets.len() * columns);
            for node in 0..sets.len() {
                let unknown = if sets.get(node).is_none() { u8::MAX } else { 0 };
                let start = payload.len();
                payload.resize(start + columns, unknown);
                let labels = sets.get(node).unwrap_or_default();
                labels.iter().for_each(|&label| payload[start + label as usize] = 1);
            }
            members.push(("labels", npy::encode("|i1", &[sets.len(), columns], &payload)));
            members.push(("class_names", npy::encode_texts(&names)));
        }
        Targets::Values(values) => {
            let columns = values.names().len();
            let row = |node: usize| match values.get(node) {
                Some(row) => row.to_vec(),
                None => vec![f64::NAN; columns],
            };
            let payload = (0..values.len()).flat_map(row).flat_map(f64::to_le_bytes);
            let payload: Vec<u8> = payload.collect();
            members.push(("values", npy::encode("<f8", &[values.len(), columns], &payload)));
            members.push(("value_names", npy::encode_texts(values.names())));
        }
    }
    members
}
