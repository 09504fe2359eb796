//! Graphs in MATLAB files, in the layouts in which they are published.
//!
//! | arrays | collection | read as |
//! |---|---|---|
//! | `A`, `local_info` | facebook100 | codes of seven columns as categories, 0 for missing; labels: `gender`, or what is asked for |
//! | `network`, `group` | BlogCatalog, Flickr, PPI | no features; a set of labels for each node |
//! | `Network`, `Attributes`, `Label` (or `Class`) | attributed networks | features as they are, one class for each node |
//!
//! Nodes are called by their row, from 0. Case does not matter in names.

mod format;

use crate::classes;
use crate::columns::{self, Columns};
use crate::density;
use crate::directions::{Directions, note_repairs};
use crate::edges::EdgeList;
use crate::limits::justify_nodes;
use crate::reading::Reading;
use crate::triplets::{self, Entry};
use format::{Values, Variable};
use gfgcn::data::{Dataset, LabelSets, Labels, Targets};
use gfgcn::features::Features;
use gfgcn::graph::MAX_NODES;
use gfgcn::matrix::SparseMatrix;
use gfgcn::{Error, Result};
use std::path::Path;

const GRAPHS: [&str; 3] = ["network", "a", "adj"];
const GROUPS: [&str; 1] = ["group"];
const FEATURES: [&str; 3] = ["attributes", "attrb", "features"];
const LABELS: [&str; 4] = ["label", "labels", "class", "gnd"];
const INFO: &str = "local_info";

/// What the columns of `local_info` are.
const PEOPLE: [&str; 7] =
    ["status", "gender", "major", "second_major", "dorm", "year", "high_school"];

/// Reads a graph.
pub(crate) fn read(
    path: &Path,
    name: &str,
    directions: Directions,
    columns: &Columns,
    reading: &Reading,
) -> Result<Dataset> {
    let bytes = reading.read_file(path)?;
    let length = bytes.len() as u64;
    let read = || {
        let known = [&GRAPHS[..], &GROUPS, &FEATURES, &LABELS, &[INFO]].concat();
        let is_wanted = |name: &str| known.contains(&name.to_lowercase().as_str());
        let variables = format::read(&bytes, is_wanted, reading)?;
        drop(bytes);
        reading.release(length);
        Found::among(variables)?.dataset(name, length, directions, columns, reading)
    };
    read().map_err(|e| e.in_file(path))
}

/// The arrays that play a part.
struct Found {
    graph: Variable,
    group: Option<Variable>,
    features: Option<Variable>,
    labels: Option<Variable>,
    people: Option<Variable>,
    others: Vec<String>,
}

impl Found {
    fn among(variables: Vec<Variable>) -> Result<Found> {
        let mut rest: Vec<Variable> = variables;
        let mut take = |names: &[&str]| {
            let fits = |v: &Variable| names.contains(&v.name.to_lowercase().as_str());
            rest.iter().position(fits).map(|place| rest.remove(place))
        };
        let graph = take(&GRAPHS);
        let (group, features, labels, people) =
            (take(&GROUPS), take(&FEATURES), take(&LABELS), take(&[INFO]));
        let others: Vec<String> = rest.into_iter().map(|variable| variable.name).collect();
        match graph {
            Some(graph) => Ok(Found { graph, group, features, labels, people, others }),
            None => Err(Error::Data(format!(
                "has no graph in an array network or A; its arrays are {}",
                if others.is_empty() { "none".into() } else { format!("{others:?}") }
            ))),
        }
    }

    fn dataset(
        self,
        name: &str,
        length: u64,
        directions: Directions,
        columns: &Columns,
        reading: &Reading,
    ) -> Result<Dataset> {
        let graph_name = self.graph.name.clone();
        let nodes = self.graph.rows;
        if nodes != self.graph.columns {
            let problem = format!(
                "array {graph_name:?} is {nodes} × {}, but an adjacency is square",
                self.graph.columns
            );
            return Err(Error::Data(problem));
        }
        if nodes == 0 || nodes > MAX_NODES || !justify_nodes(length, nodes as u64) {
            let problem = format!(
                "array {graph_name:?} is of {nodes} nodes, which {length} bytes are not about"
            );
            return Err(Error::Data(problem));
        }
        for variable in
            [&self.group, &self.features, &self.labels, &self.people].into_iter().flatten()
        {
            let is_list = variable.rows == 1 || variable.columns == 1;
            let cells = variable.rows.max(variable.columns);
            if variable.rows != nodes && !(is_list && cells == nodes) {
                return Err(Error::Data(format!(
                    "array {:?} has {} rows, but {graph_name:?} is of {nodes} nodes",
                    variable.name, variable.rows
                )));
            }
        }
        let directions = directions.resolve([])?;
        let edges = edges(self.graph, reading)?;
        let (graph, repairs) = edges.build(nodes, directions.directed, reading)?;
        let mut notes = Vec::new();
        if !self.others.is_empty() {
            notes.push(format!("arrays that are not read: {}", self.others.join(", ")));
        }
        let (features, names, targets) = match (self.people, self.features, self.group, self.labels)
        {
            (Some(people), ..) => people_of(people, columns, &mut notes, reading)?,
            (None, features, group, labels) => {
                let features = match features {
                    Some(variable) => matrix(variable, reading)?,
                    None => {
                        notes.push(crate::NO_FEATURES.into());
                        Features::none(nodes)
                    }
                };
                let targets = match (group, labels) {
                    (Some(group), _) => sets(group, reading)?.into(),
                    (None, Some(labels)) => classes_of(labels, &mut notes)?,
                    (None, None) => Labels::none(nodes).into(),
                };
                (features, None, targets)
            }
        };
        let dataset = note_repairs(Dataset::new(name, graph, features, targets)?, &repairs);
        let dataset = notes.into_iter().fold(dataset, Dataset::with_note);
        match names {
            Some(names) => dataset.with_feature_names(names),
            None => Ok(dataset),
        }
    }
}

/// The entries of an array, row by column by value.
fn entries(variable: &Variable) -> Result<Box<dyn Iterator<Item = (u32, u32, f64)> + '_>> {
    match &variable.values {
        Values::Dense(values) => {
            let rows = variable.rows.max(1);
            let each = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
            Ok(Box::new(each.map(move |(k, &value)| ((k % rows) as u32, (k / rows) as u32, value))))
        }
        Values::Sparse { rows, begins, values } => {
            let columns = begins.windows(2).enumerate();
            Ok(Box::new(columns.flat_map(move |(column, begin)| {
                (begin[0]..begin[1]).map(move |k| (rows[k], column as u32, values[k]))
            })))
        }
        Values::Other(what) => {
            Err(Error::Data(format!("array {:?} is {what}, but numbers are needed", variable.name)))
        }
    }
}

fn edges(variable: Variable, reading: &Reading) -> Result<EdgeList> {
    let count = match &variable.values {
        Values::Sparse { values, .. } => values.len(),
        Values::Dense(values) => values.iter().filter(|value| **value != 0.0).count(),
        Values::Other(_) => 0,
    };
    reading.hold(((size_of::<(u32, u32)>() + size_of::<f32>()) * count) as u64)?;
    let (mut ends, mut weights) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (row, column, value) in entries(&variable)? {
        let weight = value as f32;
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::Data(format!(
                "array {:?} has the weight {value} in row {row}, column {column}; weights are finite and not negative",
                variable.name
            )));
        }
        ends.push((row, column));
        weights.push(weight);
    }
    let all_one = weights.iter().all(|&weight| weight == 1.0);
    Ok(EdgeList { ends, weights: (!all_one).then_some(weights), is_matrix: true })
}

/// Features as they are.
fn matrix(variable: Variable, reading: &Reading) -> Result<Features> {
    let mut list = Vec::new();
    for (row, column, value) in entries(&variable)? {
        let value = value as f32;
        if !value.is_finite() {
            let problem =
                format!("array {:?} has {value} in row {row}, column {column}", variable.name);
            return Err(Error::Data(problem));
        }
        reading.grow(size_of::<Entry>())?;
        list.push(Entry { row, column, value, at: list.len() as u64 });
    }
    compressed(list, variable.rows, variable.columns, reading)
}

fn compressed(
    mut list: Vec<Entry>,
    rows: usize,
    columns: usize,
    reading: &Reading,
) -> Result<Features> {
    triplets::sort(&mut list);
    reading.hold(triplets::memory(rows, list.len()) as u64)?;
    let matrix = triplets::compress(rows, &list);
    drop(list);
    let matrix = SparseMatrix::from_csr(columns, &matrix.offsets, &matrix.columns, &matrix.values)?;
    density::by_density(matrix, reading)
}

/// A set of labels for each node: the columns with something in them.
fn sets(variable: Variable, reading: &Reading) -> Result<LabelSets> {
    reading.hold((size_of::<Vec<String>>() * variable.rows) as u64)?;
    let mut sets: Vec<Vec<String>> = vec![Vec::new(); variable.rows];
    for (row, column, _) in entries(&variable)? {
        reading.grow(2 * size_of::<String>())?;
        sets[row as usize].push((column + 1).to_string());
    }
    // A node in no group is one of which nothing is known.
    let sets: Vec<_> =
        sets.into_iter().map(|set| Some(set).filter(|set| !set.is_empty())).collect();
    Ok(LabelSets::from_names(&sets))
}

/// One class for each node, from a row or a column of numbers.
fn classes_of(variable: Variable, notes: &mut Vec<String>) -> Result<Targets> {
    let nodes = variable.rows.max(variable.columns);
    let is_row = variable.rows == 1 && nodes > 1;
    let mut labels: Vec<Option<String>> = vec![Some("0".to_owned()); nodes];
    if variable.rows != 1 && variable.columns != 1 {
        return Err(Error::Data(format!(
            "array {:?} is {} × {}, but labels are one number for each node",
            variable.name, variable.rows, variable.columns
        )));
    }
    for (row, column, value) in entries(&variable)? {
        let node = if is_row { column } else { row } as usize;
        labels[node] = (!value.is_nan() && value != -1.0).then(|| value.to_string());
    }
    let labels = Labels::from_names(&labels);
    notes.extend(classes::check(&labels)?);
    Ok(labels.into())
}

type Parts = (Features, Option<Vec<String>>, Targets);

/// What is known of the people of facebook100: codes, each a category, and 0 where nothing is known.
fn people_of(
    variable: Variable,
    columns: &Columns,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Parts> {
    let (rows, width) = (variable.rows, variable.columns);
    if width != PEOPLE.len() {
        let problem =
            format!("array {INFO} has {width} columns, but those of facebook100 are seven");
        return Err(Error::Data(problem));
    }
    let find = |name: &String| {
        columns::find(&PEOPLE, name).ok_or_else(|| {
            Error::Data(format!("there is no column {name:?}; there are {}", PEOPLE.join(", ")))
        })
    };
    let all = |names: &[String]| names.iter().map(find).collect::<Result<Vec<_>>>();
    let label = columns.label.as_ref().map(find).transpose()?.unwrap_or(1);
    let (chosen, dropped) = (all(&columns.features)?, all(&columns.dropped)?);
    notes.push(format!(
        "{} is what is learnt (--label-column names another); 0 means that it is not known",
        PEOPLE[label]
    ));
    reading.hold((size_of::<Vec<i64>>() * width + size_of::<i64>() * rows * width) as u64)?;
    let mut codes = vec![vec![0i64; rows]; width];
    for (row, column, value) in entries(&variable)? {
        if value.fract() != 0.0 || !(0.0..9e15).contains(&value) {
            let problem = format!(
                "array {INFO} has {value} in row {row}, column {column}; codes are whole numbers"
            );
            return Err(Error::Data(problem));
        }
        codes[column as usize][row as usize] = value as i64;
    }
    let (mut list, mut names) = (Vec::new(), Vec::new());
    for (column, codes) in codes.iter().enumerate() {
        let is_chosen = chosen.is_empty() || chosen.contains(&column);
        if column == label || dropped.contains(&column) || !is_chosen {
            continue;
        }
        let mut levels: Vec<i64> = codes.iter().copied().filter(|&code| code != 0).collect();
        levels.sort_unstable();
        levels.dedup();
        let begin = names.len();
        names.extend(levels.iter().map(|level| format!("{}={level}", PEOPLE[column])));
        let missing = codes.contains(&0);
        if missing {
            names.push(format!("{}:missing", PEOPLE[column]));
        }
        reading.grow(48 * (names.len() - begin) + size_of::<Entry>() * rows)?;
        for (row, code) in codes.iter().enumerate() {
            let place = levels.binary_search(code).unwrap_or(levels.len());
            let (row, column) = (row as u32, (begin + place) as u32);
            list.push(Entry { row, column, value: 1.0, at: 0 });
        }
    }
    let labels: Vec<Option<String>> =
        codes[label].iter().map(|&code| (code != 0).then(|| code.to_string())).collect();
    let features = match names.is_empty() {
        true => Features::none(rows),
        false => compressed(list, rows, names.len(), reading)?,
    };
    let names = (!names.is_empty()).then_some(names);
    Ok((features, names, Labels::from_names(&labels).into()))
}
