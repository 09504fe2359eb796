//! Building a [`Graph`] from whatever edges a file holds.

use super::canonical::{is_canonical, is_upper, mirrored_rows};
use super::csr::Csr;
use super::rows::Rows;
use super::{Graph, check_node_count};
use crate::buffer::Buffer;
use crate::context::Memory;
use crate::error::{Error, Result};
use crate::matrix::check_offsets;
use rayon::prelude::*;

/// What had to be repaired while building a graph. Nothing here is an error; all of it is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Entries that named an edge in a direction that was already there; merged, the largest
    /// weight kept.
    pub duplicates: usize,
    /// Edges from a node to itself; dropped, because the propagation adds one to every node.
    pub self_loops: usize,
    /// Edges of weight 0; dropped.
    pub zero_weights: usize,
    /// Edges that were given in one direction only and were added in the other.
    pub symmetrized: usize,
    /// Edges whose two directions had different weights; the larger was kept.
    pub uneven: usize,
}

impl Repairs {
    /// One sentence for each kind of repair that was made.
    pub fn sentences(&self) -> Vec<String> {
        [
            (self.duplicates, "duplicate edge entries merged"),
            (self.self_loops, "self-loops dropped (the propagation adds its own)"),
            (self.zero_weights, "edges of weight 0 dropped"),
            (self.symmetrized, "edges stored in one direction only; the other was added"),
            (self.uneven, "edges with another weight in each direction; the larger was kept"),
        ]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
    }
}

impl Graph {
    /// Builds a graph from pairs of node numbers, in any order and direction.
    ///
    /// Repeated edges are merged (the largest weight wins), self-loops and edges of weight 0 are
    /// dropped. An edge list says each edge once, so the missing other direction is added without
    /// being counted as a repair.
    ///
    /// # Errors
    /// No nodes, a node number ≥ `nodes`, a weight that is negative, infinite or NaN, or less memory than
    /// [`build_memory`] where that is much.
    pub fn from_edges(
        nodes: usize,
        edges: &[(u32, u32)],
        weights: Option<&[f32]>,
    ) -> Result<(Graph, Repairs)> {
        let arcs = check_arcs(nodes, edges, weights, 1)?;
        let (graph, mut repairs) = build(nodes, arcs);
        repairs.symmetrized = 0;
        Ok((graph, repairs))
    }

    /// Builds a graph from a square adjacency matrix in compressed rows. Columns may be unsorted.
    ///
    /// Besides the repairs of [`Graph::from_edges`], edges stored in one direction only are added
    /// in the other and counted. Rows that need no repair are copied as they are.
    ///
    /// # Errors
    /// Offsets that do not start at 0, decrease or do not end at the number of entries; a column
    /// index past the last node; a weight that is negative, infinite or NaN.
    pub fn from_csr(
        offsets: &[usize],
        columns: &[u32],
        weights: Option<&[f32]>,
    ) -> Result<(Graph, Repairs)> {
        check_offsets(offsets, columns.len())?;
        let offsets: Vec<u64> = offsets.iter().map(|&offset| offset as u64).collect();
        let rows = Rows { offsets: &offsets, neighbours: columns, weights };
        check_sizes(rows)?;
        if !is_canonical(rows) {
            return repaired(rows);
        }
        let (neighbours, weights) = (columns.to_vec().into(), needed(weights));
        let weights = weights.map(|weights| weights.to_vec().into());
        let both = Csr { offsets: offsets.into(), neighbours, weights };
        Ok((both.into(), Repairs::default()))
    }

    /// As [`Graph::from_csr`], of arrays that need not be owned.
    ///
    /// Rows that are canonical already — sorted and unique neighbours, no self-loops, every edge in
    /// both directions with the same positive weight — are taken as they are and read where they
    /// are, after one pass over them; weights that are all 1 are dropped. Others are repaired in a
    /// copy.
    ///
    /// ```
    /// use gfgcn::graph::{Graph, Repairs};
    /// // A path of three nodes.
    /// let offsets = vec![0, 1, 3, 4];
    /// let neighbours = vec![1, 0, 2, 1];
    /// let (graph, repairs) = Graph::from_buffers(offsets.into(), neighbours.into(), None)?;
    /// assert_eq!((graph.neighbours(1), repairs), (&[0, 2][..], Repairs::default()));
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::from_csr`].
    pub fn from_buffers(
        offsets: Buffer<u64>,
        neighbours: Buffer<u32>,
        weights: Option<Buffer<f32>>,
    ) -> Result<(Graph, Repairs)> {
        check_offsets(&offsets, neighbours.len())?;
        let rows = Rows { offsets: &offsets, neighbours: &neighbours, weights: weights.as_deref() };
        check_sizes(rows)?;
        if !is_canonical(rows) {
            return repaired(rows);
        }
        let weights = if needed(rows.weights).is_some() { weights } else { None };
        Ok((Csr { offsets, neighbours, weights }.into(), Repairs::default()))
    }
}

/// An upper bound of the bytes that building a graph takes besides its input, the graph included: from so
/// many edges, or entries of an adjacency matrix that needs repair.
///
/// It is reached where every entry is an edge of its own and has a weight. A matrix that names edges in both
/// directions takes half of it, and one that needs no repair only the graph itself, or nothing at all.
pub fn build_memory(entries: usize, nodes: usize) -> u64 {
    let (entries, nodes) = (entries as u64, nodes as u64);
    let arcs = size_of::<Arc>() as u64 * entries;
    // Each edge twice, with neighbour and weight.
    let rows = 8 * (nodes + 1) + 2 * (4 + 4) * entries;
    let next = 8 * nodes;
    arcs + rows + next
}

/// Refuses a graph that cannot be built in the memory that is free.
fn check_memory(entries: usize, nodes: usize) -> Result<()> {
    let remedy = "use a smaller graph, or a machine with more memory";
    Memory::of_machine().check("building the graph", build_memory(entries, nodes), remedy)
}

fn check_sizes(rows: Rows<'_>) -> Result<()> {
    check_node_count(rows.nodes())?;
    match rows.weights {
        Some(weights) => Error::check_size("edge weights", rows.neighbours.len(), weights.len()),
        None => Ok(()),
    }
}

/// Weights unless all are 1.
fn needed(weights: Option<&[f32]>) -> Option<&[f32]> {
    weights.filter(|weights| weights.par_iter().with_min_len(1 << 14).any(|&weight| weight != 1.0))
}

/// The graph of rows with valid offsets that are not canonical.
fn repaired(rows: Rows<'_>) -> Result<(Graph, Repairs)> {
    if is_upper(rows) {
        check_memory(rows.neighbours.len(), rows.nodes())?;
        let symmetrized = rows.neighbours.len();
        return Ok((mirrored_rows(rows).into(), Repairs { symmetrized, ..Repairs::default() }));
    }
    let arcs = check_csr(rows, 1)?;
    Ok(build(rows.nodes(), arcs))
}

/// The edges of a list as arcs, if all of them are valid and there is memory for so many copies.
pub(super) fn check_arcs(
    nodes: usize,
    edges: &[(u32, u32)],
    weights: Option<&[f32]>,
    copies: usize,
) -> Result<Vec<Arc>> {
    check_node_count(nodes)?;
    if let Some(w) = weights {
        Error::check_size("edge weights", edges.len(), w.len())?;
    }
    check_memory(copies * edges.len(), nodes)?;
    let mut arcs = Vec::with_capacity(edges.len());
    for (k, &(from, to)) in edges.iter().enumerate() {
        for node in [from, to] {
            if node as usize >= nodes {
                return Err(Error::Data(format!(
                    "edge {k} names node {node}, but the nodes are 0 to {}",
                    nodes - 1
                )));
            }
        }
        let weight = weights.map_or(1.0, |w| w[k]);
        check_weight(weight)
            .map_err(|problem| Error::Data(format!("edge {k} from {from} to {to} {problem}")))?;
        arcs.push(Arc { from, to, weight });
    }
    Ok(arcs)
}

/// The entries of rows with valid offsets as arcs, if all of them are valid and there is memory for so many copies.
pub(super) fn check_csr(rows: Rows<'_>, copies: usize) -> Result<Vec<Arc>> {
    check_sizes(rows)?;
    let nodes = rows.nodes();
    check_memory(copies * rows.neighbours.len(), nodes)?;
    let mut arcs = Vec::with_capacity(rows.neighbours.len());
    for from in 0..nodes {
        for k in rows.range(from) {
            let to = rows.neighbours[k];
            if to as usize >= nodes {
                return Err(Error::Data(format!(
                    "row {from} has column index {to}, but there are {nodes} nodes"
                )));
            }
            let weight = rows.weights.map_or(1.0, |w| w[k]);
            check_weight(weight).map_err(|problem| {
                Error::Data(format!("the edge from node {from} to node {to} {problem}"))
            })?;
            arcs.push(Arc { from: from as u32, to, weight });
        }
    }
    Ok(arcs)
}

/// An edge in one direction.
#[derive(Clone, Copy)]
pub(super) struct Arc {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) weight: f32,
}

impl Arc {
    /// The smaller and the larger end.
    fn ends(self) -> (u32, u32) {
        (self.from.min(self.to), self.from.max(self.to))
    }
}

fn check_weight(weight: f32) -> Result<(), String> {
    if weight.is_finite() && weight >= 0.0 {
        Ok(())
    } else {
        Err(format!("has weight {weight}; weights must be finite and not negative"))
    }
}

/// Merges checked arcs into a simple undirected graph.
pub(super) fn build(nodes: usize, mut arcs: Vec<Arc>) -> (Graph, Repairs) {
    let mut repairs = Repairs::default();
    arcs.retain(|arc| {
        if arc.from == arc.to {
            repairs.self_loops += 1;
        } else if arc.weight == 0.0 {
            repairs.zero_weights += 1;
        }
        arc.from != arc.to && arc.weight != 0.0
    });
    // Both directions of an edge side by side, the forward ones first.
    arcs.par_sort_unstable_by_key(|arc| (arc.ends(), arc.from));
    // Merged in place: an edge is written where arcs were read before.
    let (mut read, mut edges) = (0, 0);
    while read < arcs.len() {
        let (from, to) = arcs[read].ends();
        let count = arcs[read..].iter().take_while(|arc| arc.ends() == (from, to)).count();
        let same = &arcs[read..read + count];
        read += count;
        let forward = same.partition_point(|arc| arc.from == from);
        let directions = usize::from(forward > 0) + usize::from(forward < count);
        repairs.duplicates += count - directions;
        repairs.symmetrized += 2 - directions;
        let largest = |arcs: &[Arc]| arcs.iter().fold(0.0, |w: f32, arc| w.max(arc.weight));
        let (there, back) = (largest(&same[..forward]), largest(&same[forward..]));
        repairs.uneven += usize::from(directions == 2 && there != back);
        arcs[edges] = Arc { from, to, weight: there.max(back) };
        edges += 1;
    }
    arcs.truncate(edges);
    arcs.shrink_to_fit();
    (compress(nodes, &arcs), repairs)
}

/// Counting sort of unique edges (smaller end first, sorted) into compressed rows.
fn compress(nodes: usize, edges: &[Arc]) -> Graph {
    let mut offsets = vec![0u64; nodes + 1];
    for edge in edges {
        offsets[edge.from as usize + 1] += 1;
        offsets[edge.to as usize + 1] += 1;
    }
    for i in 0..nodes {
        offsets[i + 1] += offsets[i];
    }
    let mut next: Vec<u64> = offsets[..nodes].to_vec();
    let mut neighbours = vec![0u32; 2 * edges.len()];
    let weighted = edges.iter().any(|edge| edge.weight != 1.0);
    let mut weights = weighted.then(|| vec![1.0f32; 2 * edges.len()]);
    let mut place = |row: u32, neighbour: u32, weight: f32| {
        let slot = &mut next[row as usize];
        neighbours[*slot as usize] = neighbour;
        if let Some(weights) = &mut weights {
            weights[*slot as usize] = weight;
        }
        *slot += 1;
    };
    // Smaller neighbours first, then larger ones: each row comes out sorted.
    for edge in edges {
        place(edge.to, edge.from, edge.weight);
    }
    for edge in edges {
        place(edge.from, edge.to, edge.weight);
    }
    let both = Csr {
        offsets: offsets.into(),
        neighbours: neighbours.into(),
        weights: weights.map(Into::into),
    };
    both.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_weight_of_two_directions_counts_and_is_said() {
        let weights = [1.0, 5.0, 2.0, 2.0];
        let (graph, repairs) =
            Graph::from_csr(&[0, 2, 3, 4], &[1, 2, 0, 0], Some(&weights)).unwrap();
        assert_eq!(graph.weights(0), Some(&[2.0, 5.0][..]));
        assert_eq!(repairs, Repairs { uneven: 2, ..Repairs::default() });
    }

    #[test]
    fn merges_duplicates_and_drops_self_loops_without_counting_the_other_direction() {
        let edges = [(2, 0), (0, 2), (0, 2), (1, 1), (1, 2)];
        let (graph, repairs) = Graph::from_edges(3, &edges, None).unwrap();
        assert_eq!(graph.neighbours(2), &[0, 1]);
        assert_eq!(graph.edges(), 2);
        assert_eq!(repairs, Repairs { duplicates: 1, self_loops: 1, ..Repairs::default() });
    }

    #[test]
    fn half_of_a_matrix_becomes_the_graph_of_its_edges() {
        let edges: Vec<(u32, u32)> = (0..900).map(|k| (k * 7 % 300, k * k % 300)).collect();
        let weights: Vec<f32> = (0..900).map(|k| 1.0 + (k % 3) as f32).collect();
        for weights in [None, Some(&weights[..])] {
            let graph = Graph::from_edges(310, &edges, weights).unwrap().0;
            let (mut offsets, mut columns, mut upper) = (vec![0], Vec::new(), Vec::new());
            for node in 0..310 {
                let all = graph.edge_list().filter(|&(from, _, _)| from == node);
                all.for_each(|(_, to, weight)| {
                    columns.push(to as u32);
                    upper.push(weight);
                });
                offsets.push(columns.len());
            }
            let (found, repairs) = Graph::from_csr(&offsets, &columns, Some(&upper)).unwrap();
            assert_eq!(found, graph);
            let symmetrized = graph.edges();
            assert_eq!(repairs, Repairs { symmetrized, ..Repairs::default() });
        }
    }

    #[test]
    fn counts_the_directions_it_had_to_add_to_an_adjacency() {
        let (graph, repairs) = Graph::from_csr(&[0, 2, 2, 3], &[2, 1, 0], None).unwrap();
        assert_eq!(graph.neighbours(0), &[1, 2]);
        assert_eq!(graph.neighbours(1), &[0]);
        assert_eq!(repairs.symmetrized, 1);
        assert_eq!(repairs.duplicates, 0);
    }

    #[test]
    fn the_largest_weight_of_an_edge_wins_and_zero_is_no_edge() {
        let edges = [(0, 1), (1, 0), (1, 2)];
        let (graph, repairs) = Graph::from_edges(3, &edges, Some(&[2.0, 3.0, 0.0])).unwrap();
        assert_eq!(graph.weights(0), Some(&[3.0f32][..]));
        assert_eq!(graph.degree(2), 0);
        assert_eq!(repairs.zero_weights, 1);
    }
}
