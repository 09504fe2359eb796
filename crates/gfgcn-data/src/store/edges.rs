//! A graph from edges in any order, in memory that does not grow with them.
//!
//! Every edge goes, in both directions, to one of some files by the node it starts at. A file at a time is then sorted in
//! memory and appended to the graph.

use super::arrays::ArrayWriter;
use gfgcn::context::Context;
use gfgcn::graph::MAX_NODES;
use gfgcn::{Error, Result};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Bytes of one file, about.
const PART: usize = 64 << 20;
/// Files at most.
const MOST: usize = 512;
/// Bytes that are gathered for each file.
const BUFFER: usize = 128 << 10;

/// Takes the edges of a store, in any order.
#[derive(Debug)]
pub struct EdgeWriter {
    folder: PathBuf,
    nodes: usize,
    weighted: bool,
    context: Context,
    both: Sorted,
    /// By where arcs start and by where they end, where directions are kept.
    arcs: Option<[Sorted; 2]>,
    self_loops: usize,
}

/// Arcs by the node they start at, in files of some nodes each.
#[derive(Debug)]
struct Sorted {
    files: Vec<BufWriter<File>>,
    /// Nodes of one file.
    width: usize,
}

impl EdgeWriter {
    pub(super) fn new(
        folder: &Path,
        nodes: usize,
        edges: usize,
        weighted: bool,
        directed: bool,
        context: &Context,
    ) -> Result<Self> {
        if nodes == 0 || nodes > MAX_NODES {
            return Err(Error::Data(format!("a graph has 1 to {MAX_NODES} nodes, not {nodes}")));
        }
        /// Bytes of an arc in memory.
        const ARC: usize = size_of::<(u64, f32)>();
        let arc = if weighted { 12 } else { 8 };
        let parts = |arcs: usize| (arcs * arc).div_ceil(PART).clamp(1, MOST).min(nodes);
        let sorted = |arcs: usize| Sorted::new(folder, nodes, parts(arcs));
        // The largest part is sorted in memory; parts of a random graph are nearly alike.
        let largest = 2 * (2 * edges).div_ceil(parts(2 * edges)) * ARC;
        let buffers = (1 + 2 * usize::from(directed)) * MOST * BUFFER;
        let needed = (largest.max(PART) + buffers + 8 * nodes) as u64;
        context.memory().check("sorting the edges", needed, "ask for fewer edges")?;
        let both = sorted(2 * edges)?;
        let arcs = match directed {
            true => Some([sorted(edges)?, sorted(edges)?]),
            false => None,
        };
        let (folder, context) = (folder.to_owned(), context.clone());
        Ok(EdgeWriter { folder, nodes, weighted, context, both, arcs, self_loops: 0 })
    }

    /// Adds an edge; of a directed graph, from the first node to the second. Edges that are there twice count once, with the
    /// larger weight; self-loops and edges of weight 0 are left out.
    ///
    /// # Errors
    /// A node that is not there, a weight that is negative or not finite, or a full disk.
    pub fn add(&mut self, from: u32, to: u32, weight: f32) -> Result<()> {
        for node in [from, to] {
            if node as usize >= self.nodes {
                let problem = format!("an edge names node {node}, but there are {}", self.nodes);
                return Err(Error::Data(problem));
            }
        }
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::Data(format!(
                "the edge from node {from} to node {to} has the weight {weight}; weights are finite and not negative"
            )));
        }
        if from == to || weight == 0.0 {
            self.self_loops += usize::from(from == to);
            return Ok(());
        }
        let weight = self.weighted.then_some(weight);
        let failed = |source| Error::Write { path: self.folder.clone(), source };
        self.both.add(from, to, weight).map_err(failed)?;
        self.both.add(to, from, weight).map_err(failed)?;
        if let Some([out, into]) = &mut self.arcs {
            out.add(from, to, weight).map_err(failed)?;
            into.add(to, from, weight).map_err(failed)?;
        }
        Ok(())
    }

    pub(super) fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Edges from a node to itself, which were left out.
    pub fn self_loops(&self) -> usize {
        self.self_loops
    }

    pub(super) fn into_parts(self) -> (SortedRows, Option<[SortedRows; 2]>) {
        let EdgeWriter { folder, nodes, weighted, context, both, arcs, .. } = self;
        let rows = |sorted| SortedRows {
            sorted,
            nodes,
            weighted,
            folder: folder.clone(),
            context: context.clone(),
        };
        (rows(both), arcs.map(|arcs| arcs.map(rows)))
    }
}

impl Sorted {
    fn new(folder: &Path, nodes: usize, parts: usize) -> Result<Self> {
        let failed = |source| Error::Write { path: folder.to_owned(), source };
        let make = |_| tempfile::tempfile_in(folder).map(|f| BufWriter::with_capacity(BUFFER, f));
        let files = (0..parts).map(make).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        Ok(Sorted { files, width: nodes.div_ceil(parts) })
    }

    fn add(&mut self, from: u32, to: u32, weight: Option<f32>) -> std::io::Result<()> {
        let file = &mut self.files[from as usize / self.width];
        let key = u64::from(from) << 32 | u64::from(to);
        file.write_all(&key.to_le_bytes())?;
        match weight {
            Some(weight) => file.write_all(&weight.to_le_bytes()),
            None => Ok(()),
        }
    }
}

/// Arcs that are all there, to be written as compressed rows.
pub(super) struct SortedRows {
    sorted: Sorted,
    nodes: usize,
    weighted: bool,
    folder: PathBuf,
    context: Context,
}

impl SortedRows {
    /// Writes the rows; how many arcs there are, and whether all weights are 1.
    pub(super) fn write(
        self,
        offsets: &mut ArrayWriter,
        neighbours: &mut ArrayWriter,
        mut weights: Option<&mut ArrayWriter>,
    ) -> Result<(u64, bool)> {
        let Sorted { files, width } = self.sorted;
        let failed = |source| Error::Write { path: self.folder.clone(), source };
        let (mut total, mut plain) = (0u64, true);
        offsets.put(&[0u64])?;
        for (part, file) in files.into_iter().enumerate() {
            self.context.check()?;
            // Gone from the disk when it is dropped.
            let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
            let arcs = read_arcs(&mut file, self.weighted).map_err(failed)?;
            drop(file);
            let first = (part * width).min(self.nodes);
            let mut counts = vec![0u64; ((part + 1) * width).min(self.nodes) - first];
            arcs.iter().for_each(|&(key, _)| counts[(key >> 32) as usize - first] += 1);
            for count in &mut counts {
                total += *count;
                *count = total;
            }
            offsets.put(&counts)?;
            for some in arcs.chunks(1 << 16) {
                neighbours.put(&some.iter().map(|&(key, _)| key as u32).collect::<Vec<_>>())?;
                if let Some(weights) = &mut weights {
                    plain &= some.iter().all(|&(_, weight)| weight == 1.0);
                    weights.put(&some.iter().map(|&(_, weight)| weight).collect::<Vec<_>>())?;
                }
            }
        }
        Ok((total, plain))
    }
}

/// The arcs of a file, sorted, each once with its largest weight.
fn read_arcs(file: &mut File, weighted: bool) -> std::io::Result<Vec<(u64, f32)>> {
    let item = if weighted { 12 } else { 8 };
    file.rewind()?;
    let count = file.metadata()?.len() as usize / item;
    let mut arcs: Vec<(u64, f32)> = Vec::with_capacity(count);
    let mut bytes = vec![0; item << 16];
    while arcs.len() < count {
        let piece = &mut bytes[..item * (count - arcs.len()).min(1 << 16)];
        file.read_exact(piece)?;
        arcs.extend(piece.chunks_exact(item).map(|arc| {
            let key = u64::from_le_bytes(arc[..8].try_into().expect("eight bytes"));
            let weight = arc.get(8..12).map(|w| w.try_into().expect("four bytes"));
            (key, weight.map_or(1.0, f32::from_le_bytes))
        }));
    }
    arcs.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    arcs.dedup_by_key(|arc| arc.0);
    Ok(arcs)
}
