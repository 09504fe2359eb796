//! What each kind of file holds, checked by itself.

use super::pickle::{Id, Pickle};
use crate::edges::build_rows;
use crate::reading::Reading;
use gfgcn::data::UNLABELLED;
use gfgcn::features::Features;
use gfgcn::graph::{Graph, Repairs};
use gfgcn::matrix::{SparseMatrix, repeated_entries};
use gfgcn::{Error, Result};

/// Features: a SciPy CSR matrix, or a NumPy array with one row per node. Also how many entries were
/// repeated and added up.
pub(super) fn features(bytes: &[u8], reading: &Reading) -> Result<(Features, usize)> {
    let pickle = Pickle::parse(bytes, reading)?;
    // The arrays and the matrix that is made of them; those of the file may be narrower.
    reading.hold(6 * bytes.len() as u64)?;
    let root = pickle.root();
    if pickle.is_csr(root) {
        let csr = pickle.csr(root)?;
        let matrix = SparseMatrix::from_csr(csr.shape.1, &csr.offsets, &csr.indices, &csr.values)?;
        let repeats = repeated_entries(&csr.offsets, &csr.indices);
        return Ok((Features::sparse(matrix)?, repeats));
    }
    let array = pickle.array(root)?;
    let (rows, cols) = array.rows_and_columns()?;
    if cols > u32::MAX as usize {
        return Err(Error::Data(format!("{cols} feature columns need more than 32 bits")));
    }
    let values = array.floats();
    let offsets: Vec<usize> = (0..=rows).map(|row| row * cols).collect();
    let indices: Vec<u32> = (0..values.len()).map(|k| (k % cols) as u32).collect();
    Ok((Features::sparse(SparseMatrix::from_csr(cols, &offsets, &indices, &values)?)?, 0))
}

/// One-hot labels as class numbers.
#[derive(Debug)]
pub(super) struct OneHot {
    /// The number of columns.
    pub(super) classes: usize,
    /// The class of each row, −1 where the row is all zeros.
    pub(super) ids: Vec<i64>,
}

/// Labels: a NumPy array whose rows have at most a single 1 and otherwise zeros.
pub(super) fn one_hot(bytes: &[u8], reading: &Reading) -> Result<OneHot> {
    let pickle = Pickle::parse(bytes, reading)?;
    reading.hold(4 * bytes.len() as u64)?;
    let array = pickle.array(pickle.root())?;
    let (_, classes) = array.rows_and_columns()?;
    let id = |(row, entries): (usize, &[f32])| {
        let mut id = UNLABELLED;
        for (class, &entry) in entries.iter().enumerate() {
            if entry == 1.0 && id == UNLABELLED {
                id = class as i64;
            } else if entry == 1.0 {
                return Err(Error::Data(format!(
                    "row {row} has a 1 in columns {id} and {class}, but a node has one class; \
                     nodes with several labels cannot be used"
                )));
            } else if entry != 0.0 {
                return Err(Error::Data(format!(
                    "row {row} has {entry} in column {class}, but one-hot labels are 0 or 1"
                )));
            }
        }
        Ok(id)
    };
    let ids = array.floats().chunks(classes).enumerate().map(id).collect::<Result<_>>()?;
    Ok(OneHot { classes, ids })
}

/// The numbers of the test nodes, one per line; blank lines are passed over.
pub(super) fn test_index(bytes: &[u8]) -> Result<Vec<usize>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::Format(format!("byte {}: not UTF-8 text", e.valid_up_to())))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    numbered
        .map(|(k, line)| {
            line.parse().map_err(|_| {
                let start: String = line.chars().take(40).collect();
                Error::Format(format!("line {}: {start:?} is not a node number", k + 1))
            })
        })
        .collect()
}

/// A graph and what was found on the way.
#[derive(Debug)]
pub(super) struct Adjacency {
    pub(super) graph: Graph,
    pub(super) repairs: Repairs,
    /// Nodes that the dict does not name.
    pub(super) absent: usize,
}

/// The graph: a dict from node to the list of its neighbours.
///
/// `phantoms` of the `nodes` have neither features nor a label. At least the dict has to name
/// them: otherwise one large number in `test.index` could ask for any amount of memory.
pub(super) fn graph(
    bytes: &[u8],
    nodes: usize,
    phantoms: usize,
    directed: bool,
    reading: &Reading,
) -> Result<Adjacency> {
    let pickle = Pickle::parse(bytes, reading)?;
    let pairs = pickle.pairs(pickle.root())?;
    if pairs.len() < phantoms {
        return Err(Error::Data(format!(
            "names {} nodes, but test.index reaches to node {} and leaves out {phantoms}; \
             do the files belong together?",
            pairs.len(),
            nodes - 1
        )));
    }
    reading.hold((size_of::<Option<&[Id]>>() + size_of::<usize>()) as u64 * nodes as u64)?;
    let mut rows: Vec<Option<&[Id]>> = vec![None; nodes];
    let mut entries = 0;
    for &(key, value) in pairs {
        let from = node(&pickle, key, nodes)?;
        let row = pickle
            .items(value)
            .map_err(|error| Error::Format(format!("the neighbours of node {from}: {error}")))?;
        if rows[from].replace(row).is_some() {
            return Err(Error::Data(format!("node {from} is there twice")));
        }
        // One list may serve many nodes; what it unfolds to must still be in proportion.
        entries += row.len();
        if entries > bytes.len() {
            return Err(Error::Format(format!(
                "the neighbour lists unfold to more entries than the file's {} bytes",
                bytes.len()
            )));
        }
    }
    reading.hold(4 * entries as u64)?;
    let mut offsets = Vec::with_capacity(nodes + 1);
    let mut neighbours = Vec::with_capacity(entries);
    offsets.push(0);
    for (from, row) in rows.iter().enumerate() {
        for &id in row.unwrap_or_default() {
            let to = node(&pickle, id, nodes)
                .map_err(|error| Error::Data(format!("the neighbours of node {from}: {error}")))?;
            neighbours.push(to as u32);
        }
        offsets.push(neighbours.len());
    }
    let (graph, repairs) = build_rows(&offsets, &neighbours, None, directed, reading)?;
    Ok(Adjacency { graph, repairs, absent: nodes - pairs.len() })
}

fn node(pickle: &Pickle<'_>, id: Id, nodes: usize) -> Result<usize> {
    let number = pickle.integer(id)?;
    match usize::try_from(number) {
        Ok(node) if node < nodes => Ok(node),
        _ => Err(Error::Data(format!(
            "node {number} is named, but allx and test.index give {nodes} nodes, numbered from 0"
        ))),
    }
}
