//! Writing a dataset as a folder of tables that reads back as the same dataset.

use super::edges::says_directed;
use super::parts::is_unlabelled;
use super::{Role, check_relation_count, splits};
use crate::density::is_sparse;
use crate::store::written_parts;
use crate::table::{Cell, Column, ColumnData, TableFormat, names, write_table};
use gfgcn::data::{Dataset, LabelSets, Labels, Targets, Values};
use gfgcn::features::Features;
use gfgcn::files::{NewFolder, check_absent};
use gfgcn::graph::Graph;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Writes the tables of a dataset into a folder, which is made if it is not there, with a manifest that proves that they
/// belong together. At every moment the folder is the old or the new one as a whole; other files in it stay.
///
/// The features are written long if they are sparse, wide otherwise, and in their place a list of nodes where there are
/// none; labels and splits only where there are any. Directed edges have a column that says so, relations one of types. Nodes without ids and features without names are called `0`, `1`, …. What is
/// written reads back with the same graph, values, labels, ids and splits.
///
/// # Errors
/// Tables that are there already (unless `overwrite`), or that gfgcn did not write and that would be mixed with the new
/// ones when read back (always); an empty id or name, a class whose name means "unlabelled", or a graph with other edges
/// than its relations have together. All of this is found before anything is written.
pub fn write_folder(
    dataset: &Dataset,
    folder: &Path,
    format: TableFormat,
    overwrite: bool,
) -> Result<()> {
    let ids: Vec<Cow<str>> = (0..dataset.nodes()).map(|node| dataset.node_id(node)).collect();
    let features: Vec<Cow<str>> = match dataset.feature_names() {
        Some(names) => names.iter().map(|name| Cow::Borrowed(name.as_str())).collect(),
        None => (0..dataset.features().cols()).map(|k| Cow::Owned(k.to_string())).collect(),
    };
    format.check_writable()?;
    if format == TableFormat::Json {
        return Err(Error::parameter("table format", format, "csv, tsv or parquet for a dataset"));
    }
    check_names("node", &ids)?;
    check_names("feature", &features)?;
    check_targets(dataset, &ids)?;
    dataset.splits().iter().try_for_each(Split::check_train)?;
    check_relations(dataset.graph())?;
    let mut tables = vec![(Role::Edges, edge_columns(dataset.graph(), &ids))];
    if dataset.features().is_empty() {
        tables.push((Role::Nodes, vec![Column::text("id", ids.iter().map(|id| &**id))]));
    } else {
        tables.push((Role::Features, feature_columns(dataset.features(), &ids, &features)));
    }
    match dataset.targets() {
        Targets::Classes(labels) if labels.classes().is_empty() => {}
        Targets::Classes(labels) => tables.push((Role::Labels, label_columns(labels, &ids))),
        Targets::Sets(sets) => tables.push((Role::Labels, set_columns(sets, &ids))),
        Targets::Values(values) => tables.push((Role::Values, value_columns(values, &ids))),
    }
    if !dataset.splits().is_empty() {
        tables.push((Role::Split, splits::columns(dataset.splits(), &ids)));
    }
    let file = |role: Role| format!("{}.{format}", role.stem());
    let ours: Vec<PathBuf> = written_parts(folder).iter().map(|part| folder.join(part)).collect();
    for role in Role::ALL {
        let written = tables.iter().any(|&(table, _)| table == role);
        for path in role.candidates(folder)? {
            if !overwrite {
                check_absent(&path, false)?;
            } else if !ours.contains(&path) && (!written || path != folder.join(file(role))) {
                return Err(Error::Data(
                    "belongs to another dataset and would be mixed with this one; remove it or \
                     choose another folder"
                        .into(),
                )
                .in_file(&path));
            }
        }
    }
    let mut new = NewFolder::new(folder)?;
    for (role, columns) in &tables {
        new.put(&file(*role), |path| write_table(path, false, columns))?;
    }
    new.finish_replacing(&written_parts)
}

/// Bytes that [`write_folder`] takes at most besides the dataset.
pub fn write_folder_memory(dataset: &Dataset) -> u64 {
    let (nodes, features) = (dataset.nodes() as u64, dataset.features());
    let (columns, entries) = (features.cols() as u64, features.nonzeros() as u64);
    let text = size_of::<Cow<str>>() as u64;
    // A table is columns of texts and numbers. Features are long, with a row for each feature and node at least, or wide.
    let long = (entries + columns + nodes) * (2 * 16 + 2 * text + 4);
    let graph = dataset.graph();
    let arcs = |graph: &Graph| (1 + u64::from(graph.is_directed())) * graph.edges() as u64;
    let relations = graph.relations().iter().map(|relation| arcs(relation.graph()));
    // With type and flag. Relations are put together once more, to compare.
    let edges = match graph.relations() {
        [] => arcs(graph) * (3 * text + 4),
        _ => 2 * relations.sum::<u64>() * (4 * text + 4 + 12) + graph.memory(),
    };
    let wide = nodes * columns * 4 + nodes * text;
    // The names of nodes and features, and those of the tables' rows again.
    let names = (nodes + columns) * (text + 24) + 4 * nodes * text;
    // Parts, as names and as cells.
    let splits = dataset.splits().len() as u64 * nodes * (16 + text);
    edges + names + splits + if is_written_long(features) { long } else { wide }
}

fn check_names(what: &str, names: &[Cow<str>]) -> Result<()> {
    match names.iter().position(|name| name.is_empty() || name.contains('\0')) {
        Some(k) => Err(Error::Data(format!(
            "{what} {k} is called {:?}, which a table cannot hold; give it another name",
            names[k]
        ))),
        None => Ok(()),
    }
}

fn check_targets(dataset: &Dataset, ids: &[Cow<str>]) -> Result<()> {
    match dataset.targets() {
        Targets::Classes(labels) => check_labels(labels.classes()),
        Targets::Sets(sets) => {
            let is_empty = |node: &usize| sets.get(*node).is_some_and(<[u32]>::is_empty);
            if let Some(node) = (0..sets.len()).find(is_empty) {
                return Err(Error::Data(format!(
                    "the node {:?} has a set of no labels, which a table cannot tell from an unknown one",
                    ids[node]
                )));
            }
            check_labels(sets.names())
        }
        Targets::Values(values) => {
            let names: Vec<Cow<str>> =
                values.names().iter().map(|name| Cow::Borrowed(name.as_str())).collect();
            check_names("column of values", &names)
        }
    }
}

fn check_labels(names: &[String]) -> Result<()> {
    let unfit = |class: &&String| is_unlabelled(&Cell::Text(class)) || class.contains('\0');
    match names.iter().find(unfit) {
        Some(class) => Err(Error::Data(format!(
            "a class is called {class:?}, which means \"unlabelled\" in a table or cannot be \
             written; give it another name"
        ))),
        None => Ok(()),
    }
}

/// Edges of a graph as they are written: each once, or, where any are directed, every arc.
fn listed<'g>(
    graph: &'g Graph,
    directed: bool,
) -> Box<dyn Iterator<Item = (usize, usize, f32)> + 'g> {
    if directed { Box::new(graph.arc_list()) } else { Box::new(graph.edge_list()) }
}

/// A table has the edges of each type, and all of them are the graph.
fn check_relations(graph: &Graph) -> Result<()> {
    if graph.relations().is_empty() {
        return Ok(());
    }
    check_relation_count(graph.relations().len())?;
    let names: Vec<Cow<str>> = graph.relations().iter().map(|r| Cow::Borrowed(r.name())).collect();
    check_names("relation", &names)?;
    if names.iter().all(|name| says_directed(name).is_some()) {
        return Err(Error::Data(format!(
            "a relation is called {:?}, which means something else in a table; give it another name",
            names[0]
        )));
    }
    let (mut ends, mut weights) = (Vec::new(), Vec::new());
    for relation in graph.relations() {
        for (from, to, weight) in relation.graph().arc_list() {
            ends.push((from as u32, to as u32));
            weights.push(weight);
        }
    }
    let (all, _) = Graph::from_arcs(graph.nodes(), &ends, Some(&weights))?;
    if all.arc_count() == graph.arc_count() && all.arc_list().eq(graph.arc_list()) {
        return Ok(());
    }
    Err(Error::Data(
        "the graph has other edges than its relations together, which tables cannot hold; write an .npz \
         archive instead"
            .into(),
    ))
}

fn edge_columns<'a>(graph: &'a Graph, ids: &'a [Cow<str>]) -> Vec<Column<'a>> {
    let directed = graph.has_directions();
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    let (mut weights, mut types) = (Vec::new(), Vec::new());
    let mut push = |from: &'a str, to: &'a str, weight: f32, of: &'a str| {
        sources.push(from);
        targets.push(to);
        weights.push(weight);
        types.push(of);
    };
    if graph.relations().is_empty() {
        let edges = listed(graph, directed);
        edges.for_each(|(from, to, weight)| push(&ids[from], &ids[to], weight, ""));
    }
    for relation in graph.relations() {
        let edges = listed(relation.graph(), directed);
        edges.for_each(|(from, to, weight)| push(&ids[from], &ids[to], weight, relation.name()));
        if relation.graph().edges() == 0 {
            // A row without ends only declares its type.
            push("", "", 1.0, relation.name());
        }
    }
    let weighted = weights.iter().any(|&weight| weight != 1.0);
    let flags = directed.then(|| vec!["true"; sources.len()]);
    let mut columns = vec![Column::text("source", sources), Column::text("target", targets)];
    if weighted {
        columns.push(Column::new("weight", ColumnData::Float(weights)));
    }
    if !graph.relations().is_empty() {
        columns.push(Column::text("type", types));
    }
    columns.extend(flags.map(|flags| Column::text("directed", flags)));
    columns
}

fn feature_columns<'a>(
    features: &Features,
    ids: &'a [Cow<str>],
    names: &'a [Cow<str>],
) -> Vec<Column<'a>> {
    let sparse = is_written_long(features);
    // Each layout has names that it would not give back: a wide table must not look like a long
    // one, and a long one sorts features that are integers.
    let looks_long = names::are_long_features(&[&[Cow::Borrowed("id")], names].concat());
    let integers: Option<Vec<i64>> = names.iter().map(|name| name.parse().ok()).collect();
    let keeps_order = integers.is_none_or(|integers| integers.is_sorted());
    if (sparse && keeps_order) || looks_long {
        long_columns(features, ids, names)
    } else {
        wide_columns(features, ids, names)
    }
}

/// Whether there are so few entries other than zero that a row for each is shorter.
fn is_written_long(features: &Features) -> bool {
    let cells = features.rows() as u64 * features.cols() as u64;
    matches!(features, Features::Sparse(_)) && is_sparse(features.nonzeros(), cells)
}

fn wide_columns<'a>(
    features: &Features,
    ids: &'a [Cow<str>],
    names: &'a [Cow<str>],
) -> Vec<Column<'a>> {
    let mut values = vec![vec![0.0; features.rows()]; features.cols()];
    for i in 0..features.rows() {
        match features {
            Features::Dense(matrix) => {
                matrix.row(i).iter().zip(&mut values).for_each(|(&value, column)| column[i] = value)
            }
            Features::Sparse(_) | Features::Blocks(_) => {
                features.for_each_in_row(i, |j, value| values[j][i] = value);
            }
        }
    }
    let ids = Column::text("id", ids.iter().map(|id| &**id));
    let columns = names.iter().zip(values);
    let columns = columns.map(|(name, values)| Column::new(&**name, ColumnData::Float(values)));
    std::iter::once(ids).chain(columns).collect()
}

/// The first node has a row for every feature, so that they come back in order, those that are zero
/// everywhere included; a node without any has a row with a zero, so that it is known.
fn long_columns<'a>(
    features: &Features,
    ids: &'a [Cow<str>],
    names: &'a [Cow<str>],
) -> Vec<Column<'a>> {
    let (mut nodes, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |node: usize, column: usize, value: f32| {
        nodes.push(&*ids[node]);
        columns.push(&*names[column]);
        values.push(value);
    };
    let mut first = HashMap::new();
    features.for_each_in_row(0, |column, value| {
        first.insert(column, value);
    });
    (0..features.cols()).for_each(|j| push(0, j, first.get(&j).copied().unwrap_or(0.0)));
    for node in 1..features.rows() {
        let mut featureless = true;
        features.for_each_in_row(node, |column, value| {
            featureless = false;
            push(node, column, value);
        });
        if featureless {
            push(node, 0, 0.0);
        }
    }
    vec![
        Column::text("id", nodes),
        Column::text("feature", columns),
        Column::new("value", ColumnData::Float(values)),
    ]
}

fn label_columns<'a>(labels: &'a Labels, ids: &'a [Cow<str>]) -> Vec<Column<'a>> {
    let labelled = labels.labelled();
    vec![
        Column::text("id", labelled.iter().map(|&node| &*ids[node])),
        Column::text("label", labelled.iter().filter_map(|&node| labels.name(node))),
    ]
}

fn set_columns<'a>(sets: &'a LabelSets, ids: &'a [Cow<str>]) -> Vec<Column<'a>> {
    let rows = || {
        (0..sets.len())
            .filter_map(|node| Some((node, sets.of_node(node)?)))
            .flat_map(|(node, labels)| labels.map(move |label| (node, label)))
    };
    vec![
        Column::text("id", rows().map(|(node, _)| &*ids[node])),
        Column::text("label", rows().map(|(_, label)| label)),
    ]
}

fn value_columns<'a>(values: &'a Values, ids: &'a [Cow<str>]) -> Vec<Column<'a>> {
    let rows = || (0..values.len()).filter_map(|node| Some((node, values.get(node)?)));
    let mut columns = vec![Column::text("id", rows().map(|(node, _)| &*ids[node]))];
    for (k, name) in values.names().iter().enumerate() {
        columns.push(Column::numbers(name.as_str(), rows().map(|(_, row)| row[k]).collect()));
    }
    columns
}
