//! The eight files put together.

mod parts;
mod pickle;

use super::{Files, VALIDATION_NODES};
use crate::directions::{Directions, note_repairs};
use crate::reading::Reading;
use gfgcn::context::Context;
use gfgcn::data::{Dataset, Labels, UNLABELLED};
use gfgcn::features::Features;
use gfgcn::graph::MAX_NODES;
use gfgcn::matrix::SparseMatrix;
use gfgcn::split::Split;
use gfgcn::{Error, Result};
use parts::OneHot;
use std::path::{Path, PathBuf};

/// Reads the files of a folder.
pub(super) fn read(
    folder: &Path,
    name: &str,
    directions: Directions,
    context: &Context,
) -> Result<Dataset> {
    let reading = Reading::under(context)?;
    let bytes = |part: &str| reading.read_file(&path_of(folder, name, part));
    let files = Files {
        x: &bytes("x")?,
        y: &bytes("y")?,
        tx: &bytes("tx")?,
        ty: &bytes("ty")?,
        allx: &bytes("allx")?,
        ally: &bytes("ally")?,
        graph: &bytes("graph")?,
        test_index: &bytes("test.index")?,
    };
    assemble_under(&reading, folder, name, &files, directions)
}

fn path_of(folder: &Path, name: &str, part: &str) -> PathBuf {
    folder.join(format!("ind.{name}.{part}"))
}

/// Joins the files; errors name the one they are in.
pub(super) fn assemble(
    folder: &Path,
    name: &str,
    files: &Files<'_>,
    context: &Context,
) -> Result<Dataset> {
    assemble_under(&Reading::under(context)?, folder, name, files, Directions::AsSaid)
}

fn assemble_under(
    reading: &Reading,
    folder: &Path,
    name: &str,
    files: &Files<'_>,
    directions: Directions,
) -> Result<Dataset> {
    let inside =
        |part: &'static str| move |error: Error| error.in_file(path_of(folder, name, part));
    let (allx, known_repeats) = parts::features(files.allx, reading).map_err(inside("allx"))?;
    let ally = parts::one_hot(files.ally, reading).map_err(inside("ally"))?;
    let (tx, test_repeats) = parts::features(files.tx, reading).map_err(inside("tx"))?;
    let ty = parts::one_hot(files.ty, reading).map_err(inside("ty"))?;
    // Its rows are those of allx once more, and so are their repeats.
    let (x, _) = parts::features(files.x, reading).map_err(inside("x"))?;
    let y = parts::one_hot(files.y, reading).map_err(inside("y"))?;
    let test = parts::test_index(files.test_index).map_err(inside("test.index"))?;

    for (part, what, expected, found) in [
        ("x", "feature columns (as many as in allx)", allx.cols(), x.cols()),
        ("tx", "feature columns (as many as in allx)", allx.cols(), tx.cols()),
        ("y", "classes (as many as in ally)", ally.classes, y.classes),
        ("ty", "classes (as many as in ally)", ally.classes, ty.classes),
        ("ally", "rows (as many as in allx)", allx.rows(), ally.ids.len()),
        ("y", "rows (as many as in x)", x.rows(), y.ids.len()),
        ("ty", "rows (as many as in tx)", tx.rows(), ty.ids.len()),
        ("test.index", "node numbers (one for each row of tx)", tx.rows(), test.len()),
    ] {
        Error::check_size(what, expected, found).map_err(inside(part))?;
    }
    check_starts_with(&allx, &x).map_err(inside("x"))?;
    if let Some(row) = (0..y.ids.len()).find(|&row| ally.ids.get(row) != Some(&y.ids[row])) {
        return Err(inside("y")(not_a_prefix(row, "ally")));
    }

    let places = Places::new(allx.rows(), &test).map_err(inside("test.index"))?;
    let directed = directions.resolve(None)?.directed;
    let graph = parts::graph(files.graph, places.nodes, places.phantoms, directed, reading)
        .map_err(inside("graph"))?;
    // Features and labels of all nodes: as they are collected, in arrays that double, and as they stay.
    let entries = allx.nonzeros() + tx.nonzeros();
    reading.hold(24 * (entries + places.nodes) as u64)?;
    let labels = places.labels(&ally, &ty)?;
    let (split, unlabelled) = public_split(&labels, y.ids.len(), allx.rows(), &test)?;
    let dataset = Dataset::new(name, graph.graph, places.features(&allx, &tx)?, labels)?;
    let mut dataset = note_repairs(dataset, &graph.repairs)
        .with_split(split)?
        .with_added_up(known_repeats + test_repeats);
    for (count, what) in [
        (places.phantoms, "nodes are in the graph only; kept with zero features and no label"),
        (graph.absent, "nodes are not in the graph file; kept without neighbours"),
        (unlabelled, "nodes of the public split have no label; left out of it"),
    ] {
        if count > 0 {
            dataset = dataset.with_note(format!("{count} {what}"));
        }
    }
    Ok(dataset)
}

fn check_starts_with(allx: &Features, x: &Features) -> Result<()> {
    let row = |features: &Features, i| {
        let mut row = Vec::new();
        features.for_each_in_row(i, |column, value| row.push((column, value)));
        row
    };
    match (0..x.rows()).find(|&i| i >= allx.rows() || row(x, i) != row(allx, i)) {
        Some(i) => Err(not_a_prefix(i, "allx")),
        None => Ok(()),
    }
}

fn not_a_prefix(row: usize, whole: &str) -> Error {
    Error::Data(format!(
        "row {row} is not row {row} of {whole}, which must start with the training rows; \
         do the files belong together?"
    ))
}

/// Where each node's features and label come from.
struct Places {
    nodes: usize,
    /// Nodes that are neither in `allx` nor in `tx`.
    phantoms: usize,
    /// Rows of `allx`, which are the first nodes.
    known: usize,
    /// Nodes and rows of `tx`, by node.
    tested: Vec<(usize, usize)>,
}

impl Places {
    fn new(known: usize, test: &[usize]) -> Result<Self> {
        let mut tested: Vec<(usize, usize)> =
            test.iter().enumerate().map(|(row, &node)| (node, row)).collect();
        tested.sort_unstable();
        if let Some(twice) = tested.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::Data(format!("node {} is there twice", twice[0].0)));
        }
        match tested.first() {
            Some(&(node, _)) if node < known => {
                return Err(Error::Data(format!(
                    "node {node} is a test node, but the nodes 0 to {} are in allx",
                    known - 1
                )));
            }
            _ => {}
        }
        let nodes = tested.last().map_or(known, |&(node, _)| node.saturating_add(1));
        if nodes > MAX_NODES {
            return Err(Error::Data(format!("node {} needs more than 32 bits", nodes - 1)));
        }
        Ok(Places { nodes, phantoms: nodes - known - tested.len(), known, tested })
    }

    /// Calls `f(node, in allx, row)` for every node that is not a phantom, in order.
    fn for_each(&self, mut f: impl FnMut(usize, bool, usize)) {
        (0..self.known).for_each(|node| f(node, true, node));
        self.tested.iter().for_each(|&(node, row)| f(node, false, row));
    }

    fn features(&self, allx: &Features, tx: &Features) -> Result<Features> {
        let mut lengths = vec![0; self.nodes];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        self.for_each(|node, known, row| {
            let from = if known { allx } else { tx };
            from.for_each_in_row(row, |column, value| {
                lengths[node] += 1;
                indices.push(column as u32);
                values.push(value);
            });
        });
        let mut offsets = Vec::with_capacity(self.nodes + 1);
        offsets.push(0);
        offsets.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        Features::sparse(SparseMatrix::from_csr(allx.cols(), &offsets, &indices, &values)?)
    }

    fn labels(&self, ally: &OneHot, ty: &OneHot) -> Result<Labels> {
        let mut ids = vec![UNLABELLED; self.nodes];
        self.for_each(|node, known, row| ids[node] = if known { ally } else { ty }.ids[row]);
        Labels::from_ids(&ids, None)
    }
}

/// The public split and how many nodes are left out of it for want of a label.
fn public_split(
    labels: &Labels,
    training: usize,
    known: usize,
    test: &[usize],
) -> Result<(Split, usize)> {
    let mut unlabelled = 0;
    let mut labelled = |nodes: &mut dyn Iterator<Item = usize>| {
        let (with, without): (Vec<_>, Vec<_>) = nodes.partition(|&n| labels.get(n).is_some());
        unlabelled += without.len();
        with
    };
    let train = labelled(&mut (0..training));
    let validation = labelled(&mut (training..known).take(VALIDATION_NODES));
    let mut test = labelled(&mut test.iter().copied());
    test.sort_unstable();
    Ok((Split::new(labels.len(), train, validation, test)?, unlabelled))
}
