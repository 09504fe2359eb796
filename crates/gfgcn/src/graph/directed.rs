//! Directions and relations: what a graph knows beyond which nodes are neighbours.
//!
//! A [`Graph`] is undirected; what is directed has the arcs beside it, by where they start and by where they end, so that
//! whatever only needs neighbours need not ask. Relations are graphs of their own on the same nodes.

use super::build::{Arc, build, check_arcs, check_csr};
use super::csr::Csr;
use super::rows::Rows;
use super::{Graph, Repairs};
use crate::error::{Error, Result};
use rayon::prelude::*;

/// The arcs of a directed graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arcs {
    /// Row i: where the arcs that start at node i end.
    pub(super) out: Csr,
    /// Row i: where the arcs that end at node i start.
    pub(super) into: Csr,
}

impl Arcs {
    fn map(&self, change: impl Fn(&Csr) -> Csr) -> Arcs {
        Arcs { out: change(&self.out), into: change(&self.into) }
    }
}

/// The edges of one kind, on the nodes of the whole graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    pub(super) name: String,
    pub(super) graph: Graph,
}

impl Relation {
    /// What the edges are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The edges.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
}

impl Graph {
    /// Builds a directed graph from arcs `(from, to)`.
    ///
    /// Repeated arcs are merged (the largest weight wins), self-loops and arcs of weight 0 are dropped. As an undirected
    /// graph, which it can always be used as, two nodes are neighbours if there is an arc either way, by the larger weight.
    /// Arcs that all have their reverse, with the same weight, are those of an undirected graph.
    ///
    /// ```
    /// use gfgcn::graph::Graph;
    /// let (graph, _) = Graph::from_arcs(3, &[(0, 1), (2, 1)], None)?;
    /// assert!(graph.is_directed());
    /// assert_eq!(graph.neighbours(1), &[0, 2]);
    /// assert_eq!(graph.arc_list().collect::<Vec<_>>(), [(0, 1, 1.0), (2, 1, 1.0)]);
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::from_edges`].
    pub fn from_arcs(
        nodes: usize,
        arcs: &[(u32, u32)],
        weights: Option<&[f32]>,
    ) -> Result<(Graph, Repairs)> {
        Ok(directed(nodes, check_arcs(nodes, arcs, weights, 2)?))
    }

    /// Builds a directed graph from a square adjacency matrix in compressed rows, row i for the arcs that start at node i;
    /// as [`Graph::from_arcs`].
    ///
    /// # Errors
    /// As [`Graph::from_csr`].
    pub fn from_directed_csr(
        offsets: &[usize],
        columns: &[u32],
        weights: Option<&[f32]>,
    ) -> Result<(Graph, Repairs)> {
        crate::matrix::check_offsets(offsets, columns.len())?;
        let offsets: Vec<u64> = offsets.iter().map(|&offset| offset as u64).collect();
        let rows = Rows { offsets: &offsets, neighbours: columns, weights };
        Ok(directed(rows.nodes(), check_csr(rows, 2)?))
    }

    /// Whether the direction of an edge says something.
    pub fn is_directed(&self) -> bool {
        self.arcs.is_some()
    }

    /// Whether the direction of an edge says something here or in a relation: those of two relations may even out.
    pub fn has_directions(&self) -> bool {
        self.is_directed() || self.relations.iter().any(|relation| relation.graph.is_directed())
    }

    /// Each arc once, as `(from, to, weight)`, by where they start; of an undirected graph each edge in both directions.
    pub fn arc_list(&self) -> impl Iterator<Item = (usize, usize, f32)> + '_ {
        let rows = self.outgoing();
        (0..self.nodes()).flat_map(move |node| {
            let weights = rows.weights_of(node);
            let ends = rows.neighbours_of(node).iter().enumerate();
            ends.map(move |(k, &end)| (node, end as usize, weights.map_or(1.0, |w| w[k])))
        })
    }

    /// The number of arcs; of an undirected graph both directions of each edge.
    pub fn arc_count(&self) -> usize {
        self.outgoing().neighbours.len()
    }

    /// The graph with its directions forgotten; relations as well.
    #[must_use]
    pub fn undirected(mut self) -> Graph {
        self.arcs = None;
        self.relations = self
            .relations
            .into_iter()
            .map(|Relation { name, graph }| Relation { name, graph: graph.undirected() })
            .collect();
        self
    }

    /// With every arc turned round.
    #[must_use]
    pub fn transposed(mut self) -> Graph {
        self.arcs = self.arcs.map(|arcs| Box::new(Arcs { out: arcs.into, into: arcs.out }));
        self.relations = self
            .relations
            .into_iter()
            .map(|Relation { name, graph }| Relation { name, graph: graph.transposed() })
            .collect();
        self
    }

    /// With relations: graphs on the same nodes, each with a name of its own.
    ///
    /// # Errors
    /// Another number of nodes, an empty name, or a name that is there twice.
    pub fn with_relations(mut self, relations: Vec<(String, Graph)>) -> Result<Graph> {
        for (k, (name, graph)) in relations.iter().enumerate() {
            Error::check_size("nodes of a relation", self.nodes(), graph.nodes())?;
            if name.is_empty() {
                return Err(Error::Data("a relation has no name".into()));
            }
            if relations[..k].iter().any(|(other, _)| other == name) {
                return Err(Error::Data(format!("the relation {name:?} is there twice")));
            }
        }
        let relation = |(name, graph)| Relation { name, graph };
        self.relations = relations.into_iter().map(relation).collect();
        Ok(self)
    }

    /// The kinds of edges, where there are several.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// The edges of one kind.
    ///
    /// # Errors
    /// A name that no relation has.
    pub fn relation(&self, name: &str) -> Result<&Graph> {
        let found = self.relations.iter().find(|relation| relation.name == name);
        found.map(Relation::graph).ok_or_else(|| {
            let names: Vec<&str> = self.relations.iter().map(Relation::name).collect();
            let expected = match names[..] {
                [] => "none: the edges of this graph are all of one kind".to_owned(),
                _ => format!("one of {}", names.join(", ")),
            };
            Error::parameter("relation", name, expected)
        })
    }

    /// Row i: where the arcs that start at node i end.
    pub(super) fn outgoing(&self) -> Rows<'_> {
        self.arcs.as_ref().map_or_else(|| self.rows(), |arcs| arcs.out.rows())
    }

    /// Row i: where the arcs that end at node i start.
    pub(super) fn incoming(&self) -> Rows<'_> {
        self.arcs.as_ref().map_or_else(|| self.rows(), |arcs| arcs.into.rows())
    }

    /// The edges of a node, with their weights: neighbours, and where directions are known where arcs lead and come from.
    pub(crate) fn edges_of(&self, node: usize) -> Vec<(&[u32], Option<&[f32]>)> {
        let directed = self.arcs.iter().flat_map(|arcs| [arcs.out.rows(), arcs.into.rows()]);
        let all = std::iter::once(self.rows()).chain(directed);
        all.map(|rows| (rows.neighbours_of(node), rows.weights_of(node))).collect()
    }

    /// Everything changed alike.
    pub(super) fn map_rows(&self, change: impl Fn(&Csr) -> Csr + Copy) -> Graph {
        let relation = |relation: &Relation| Relation {
            name: relation.name.clone(),
            graph: relation.graph.map_rows(change),
        };
        Graph {
            both: change(&self.both),
            arcs: self.arcs.as_ref().map(|arcs| Box::new(arcs.map(change))),
            relations: self.relations.iter().map(relation).collect(),
        }
    }
}

/// A directed graph of checked arcs.
fn directed(nodes: usize, mut arcs: Vec<Arc>) -> (Graph, Repairs) {
    let (mut graph, repairs) = build(nodes, arcs.clone());
    arcs.retain(|arc| arc.from != arc.to && arc.weight != 0.0);
    let out = by_start(nodes, &mut arcs);
    arcs.iter_mut().for_each(|arc| std::mem::swap(&mut arc.from, &mut arc.to));
    let into = by_start(nodes, &mut arcs);
    if out != graph.both {
        graph.arcs = Some(Box::new(Arcs { out, into }));
    }
    // An arc is no edge that lacks its other direction, and two may well differ.
    (graph, Repairs { symmetrized: 0, uneven: 0, ..repairs })
}

/// Compressed rows of arcs, duplicates merged.
fn by_start(nodes: usize, arcs: &mut Vec<Arc>) -> Csr {
    arcs.par_sort_unstable_by(|a, b| {
        ((a.from, a.to).cmp(&(b.from, b.to))).then(b.weight.total_cmp(&a.weight))
    });
    // The largest weight comes first.
    arcs.dedup_by_key(|arc| (arc.from, arc.to));
    let mut offsets = vec![0u64; nodes + 1];
    arcs.iter().for_each(|arc| offsets[arc.from as usize + 1] += 1);
    (0..nodes).for_each(|node| offsets[node + 1] += offsets[node]);
    let weighted = arcs.iter().any(|arc| arc.weight != 1.0);
    Csr {
        offsets: offsets.into(),
        neighbours: arcs.iter().map(|arc| arc.to).collect::<Vec<_>>().into(),
        weights: weighted.then(|| arcs.iter().map(|arc| arc.weight).collect::<Vec<_>>().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_are_kept_by_both_ends_and_neighbours_are_those_of_either() {
        let arcs = [(2, 0), (0, 1), (1, 0), (2, 0), (3, 3)];
        let weights = [1.0, 2.0, 3.0, 4.0, 1.0];
        let (graph, repairs) = Graph::from_arcs(4, &arcs, Some(&weights)).unwrap();
        assert_eq!(repairs, Repairs { duplicates: 1, self_loops: 1, ..Repairs::default() });
        let expected = [(0, 1, 2.0), (1, 0, 3.0), (2, 0, 4.0)];
        assert_eq!(graph.arc_list().collect::<Vec<_>>(), expected);
        assert_eq!(graph.weights(0), Some(&[3.0, 4.0][..]), "the larger of two directions");
        let turned = [(0, 1, 3.0), (0, 2, 4.0), (1, 0, 2.0)];
        assert_eq!(graph.clone().transposed().arc_list().collect::<Vec<_>>(), turned);
        let part = graph.subgraph(&[2, 0]);
        assert_eq!(part.arc_list().collect::<Vec<_>>(), [(0, 1, 4.0)]);
        assert!(!graph.undirected().is_directed());
    }

    #[test]
    fn arcs_with_all_their_reverses_are_an_undirected_graph() {
        let arcs = [(0, 1), (1, 0), (2, 1), (1, 2)];
        let (graph, _) = Graph::from_arcs(3, &arcs, None).unwrap();
        assert!(!graph.is_directed());
        assert_eq!(graph, Graph::from_edges(3, &arcs, None).unwrap().0);
        let (graph, _) = Graph::from_directed_csr(&[0, 1, 3, 4], &[1, 0, 2, 1], None).unwrap();
        assert!(!graph.is_directed());
    }

    #[test]
    fn relations_have_names_of_their_own_and_the_same_nodes() {
        let graph = |nodes, edges: &[(u32, u32)]| Graph::from_edges(nodes, edges, None).unwrap().0;
        let whole = graph(3, &[(0, 1), (1, 2)]);
        let named = |a: &str, b: &str, nodes| {
            let parts =
                vec![(a.to_owned(), graph(3, &[(0, 1)])), (b.to_owned(), graph(nodes, &[(1, 2)]))];
            whole.clone().with_relations(parts)
        };
        let typed = named("cites", "likes", 3).unwrap();
        assert_eq!(typed.relation("likes").unwrap().edges(), 1);
        let unknown = typed.relation("hates").unwrap_err().to_string();
        assert!(unknown.contains("one of cites, likes"), "{unknown}");
        assert!(whole.relation("cites").is_err());
        assert_eq!(typed.subgraph(&[1, 2]).relation("cites").unwrap().edges(), 0);
        assert!(named("a", "a", 3).is_err() && named("a", "", 3).is_err());
        assert!(named("a", "b", 4).is_err());
    }
}
