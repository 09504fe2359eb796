//! Graphs from rows, with and without flaws, against a build from maps.

use super::Random;
use crate::buffer::Buffer;
use crate::graph::{Graph, Repairs};
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compressed rows, as they are given.
#[derive(Clone, Debug)]
struct Rows {
    nodes: usize,
    /// Rows of neighbours with weights.
    rows: Vec<Vec<(u32, f32)>>,
    weighted: bool,
}

impl Rows {
    /// A canonical graph.
    fn random(random: &mut Random, weighted: bool) -> Self {
        let nodes = 1 + random.below(40);
        let mut edges = BTreeMap::new();
        for _ in 0..random.below(4 * nodes) {
            let (i, j) = (random.below(nodes) as u32, random.below(nodes) as u32);
            let weight = if weighted { [0.5, 1.0, 3.0][random.below(3)] } else { 1.0 };
            if i != j {
                edges.insert((i, j), weight);
                edges.insert((j, i), weight);
            }
        }
        let mut rows = vec![Vec::new(); nodes];
        edges.iter().for_each(|(&(i, j), &weight)| rows[i as usize].push((j, weight)));
        Rows { nodes, rows, weighted }
    }

    fn arrays(&self) -> (Vec<usize>, Vec<u32>, Option<Vec<f32>>) {
        let mut offsets = vec![0];
        for row in &self.rows {
            offsets.push(offsets.last().unwrap() + row.len());
        }
        let all = || self.rows.iter().flatten();
        let weights = self.weighted.then(|| all().map(|&(_, weight)| weight).collect());
        (offsets, all().map(|&(neighbour, _)| neighbour).collect(), weights)
    }

    /// Both ways in.
    fn build(&self) -> [(Graph, Repairs); 2] {
        let (offsets, neighbours, weights) = self.arrays();
        let copied = Graph::from_csr(&offsets, &neighbours, weights.as_deref()).unwrap();
        let offsets: Buffer<u64> = offsets.iter().map(|&offset| offset as u64).collect();
        let given =
            Graph::from_buffers(offsets, neighbours.into(), weights.map(Into::into)).unwrap();
        [copied, given]
    }

    /// The rows and repairs that the documentation promises.
    fn expected(&self) -> (Vec<Vec<(u32, f32)>>, Repairs) {
        let mut repairs = Repairs::default();
        let mut arcs: BTreeMap<(u32, u32), f32> = BTreeMap::new();
        for (i, row) in self.rows.iter().enumerate() {
            for &(j, weight) in row {
                if i as u32 == j {
                    repairs.self_loops += 1;
                } else if weight == 0.0 {
                    repairs.zero_weights += 1;
                } else if let Some(largest) = arcs.get_mut(&(i as u32, j)) {
                    repairs.duplicates += 1;
                    *largest = largest.max(weight);
                } else {
                    arcs.insert((i as u32, j), weight);
                }
            }
        }
        let mut rows = vec![BTreeMap::new(); self.nodes];
        for (&(i, j), &weight) in &arcs {
            let back = arcs.get(&(j, i)).copied();
            repairs.symmetrized += usize::from(back.is_none());
            repairs.uneven += usize::from(i < j && back.is_some_and(|back| back != weight));
            let weight = weight.max(back.unwrap_or(0.0));
            rows[i as usize].insert(j, weight);
            rows[j as usize].insert(i, weight);
        }
        (rows.into_iter().map(|row| row.into_iter().collect()).collect(), repairs)
    }

    fn check(&self) {
        let (expected, repairs) = self.expected();
        let weighted = expected.iter().flatten().any(|&(_, weight)| weight != 1.0);
        for (graph, found) in self.build() {
            assert_eq!(found, repairs, "{self:?}");
            assert_eq!((graph.nodes(), graph.is_weighted()), (self.nodes, weighted), "{self:?}");
            assert_eq!(graph.nonzeros(), expected.iter().map(|row| row.len() + 1).sum::<usize>());
            for (node, expected) in expected.iter().enumerate() {
                let neighbours = graph.neighbours(node).iter().copied();
                let weights =
                    graph.weights(node).map_or(vec![1.0; graph.degree(node)], <[_]>::to_vec);
                assert_eq!(&neighbours.zip(weights).collect::<Vec<_>>(), expected, "{self:?}");
            }
        }
    }

    /// A row with an entry, and the entry's place.
    fn entry(&self, random: &mut Random) -> Option<(usize, usize)> {
        let row = random.below(self.nodes);
        (!self.rows[row].is_empty()).then(|| (row, random.below(self.rows[row].len())))
    }
}

#[test]
fn graphs_without_a_flaw_are_as_the_maps_say() {
    let mut random = Random(1);
    for round in 0..400 {
        let rows = Rows::random(&mut random, round % 2 == 0);
        assert_eq!(rows.expected().1, Repairs::default());
        rows.check();
    }
    // Weights that say nothing.
    let mut ones = Rows::random(&mut random, false);
    ones.weighted = true;
    ones.check();
}

/// Each flaw alone, so that none hides behind another, and all together.
#[test]
fn every_flaw_is_repaired_and_counted() {
    type Flaw = fn(&mut Rows, &mut Random);
    let flaws: [Flaw; 8] = [
        // Another order within a row.
        |rows, random| {
            let row = random.below(rows.nodes);
            rows.rows[row].reverse();
        },
        // A neighbour twice, the same weight or another.
        |rows, random| {
            if let Some((row, k)) = rows.entry(random) {
                let (neighbour, weight) = rows.rows[row][k];
                rows.rows[row].insert(k, (neighbour, weight));
            }
        },
        |rows, random| {
            if let Some((row, k)) = rows.entry(random) {
                let (neighbour, weight) = rows.rows[row][k];
                rows.rows[row].insert(k, (neighbour, 2.0 * weight));
            }
        },
        // A self-loop where it belongs.
        |rows, random| {
            let row = random.below(rows.nodes);
            let k = rows.rows[row].partition_point(|&(j, _)| (j as usize) < row);
            rows.rows[row].insert(k, (row as u32, 1.0));
        },
        // One direction only.
        |rows, random| {
            if let Some((row, k)) = rows.entry(random) {
                rows.rows[row].remove(k);
            }
        },
        // Two edges, each without the direction of the other: above and below are still even.
        |rows, random| {
            let (above, below) = ([true, false], [false, true]);
            for side in [above, below] {
                if let Some((row, k)) = rows.entry(random)
                    && side[usize::from((rows.rows[row][k].0 as usize) < row)]
                {
                    rows.rows[row].remove(k);
                }
            }
        },
        // Another weight in one direction.
        |rows, random| {
            if let Some((row, k)) = rows.entry(random) {
                rows.rows[row][k].1 += 1.0;
            }
        },
        // No weight in one direction, or in both.
        |rows, random| {
            if let Some((row, k)) = rows.entry(random) {
                let neighbour = rows.rows[row][k].0 as usize;
                rows.rows[row][k].1 = 0.0;
                let back = rows.rows[neighbour].iter_mut().find(|entry| entry.0 as usize == row);
                if let Some(back) = back.filter(|_| random.below(2) == 0) {
                    back.1 = 0.0;
                }
            }
        },
    ];
    let mut random = Random(2);
    for round in 0..150 {
        let rows = Rows::random(&mut random, round % 2 == 0);
        let mut all = rows.clone();
        for flaw in flaws {
            let mut one = rows.clone();
            flaw(&mut one, &mut random);
            // Some are flaws of the weights.
            one.weighted = true;
            one.check();
            flaw(&mut all, &mut random);
        }
        all.weighted = round % 4 != 0;
        if !all.weighted {
            all.rows.iter_mut().flatten().for_each(|entry| entry.1 = 1.0);
        }
        all.check();
    }
}

/// Every edge at its smaller end, as programs write half of a symmetric matrix; with more threads than some have nodes.
#[test]
fn half_of_a_matrix_is_mirrored_on_any_number_of_threads() {
    let mut random = Random(3);
    for threads in [1, 2, 3, 7] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for round in 0..100 {
            let mut rows = Rows::random(&mut random, round % 2 == 0);
            for (node, row) in rows.rows.iter_mut().enumerate() {
                row.retain(|&(neighbour, _)| neighbour as usize > node);
            }
            pool.install(|| rows.check());
        }
    }
}

#[test]
fn canonical_rows_stay_where_they_are() {
    let offsets = Arc::new(vec![0u64, 1, 3, 4]);
    let neighbours = Arc::new(vec![1u32, 0, 2, 1]);
    let weights = Arc::new(vec![2.0f32, 2.0, 1.0, 1.0]);
    let build = |weights| {
        let (offsets, neighbours) =
            (Buffer::shared(offsets.clone()), Buffer::shared(neighbours.clone()));
        Graph::from_buffers(offsets, neighbours, weights).unwrap().0
    };
    let graph = build(Some(Buffer::shared(weights.clone())));
    assert_eq!(graph.offsets().as_ptr(), offsets.as_ptr());
    assert_eq!(graph.neighbours(0).as_ptr(), neighbours.as_ptr());
    assert_eq!(graph.weights(0).unwrap().as_ptr(), weights.as_ptr());
    let ones = build(Some(vec![1.0; 4].into()));
    assert!(!ones.is_weighted());
    assert_eq!(ones, build(None));
}

#[test]
fn what_cannot_be_repaired_is_refused() {
    let build = |offsets: &[u64], neighbours: &[u32], weights: Option<&[f32]>| {
        let as_sizes: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
        let copied = Graph::from_csr(&as_sizes, neighbours, weights).unwrap_err().to_string();
        let (offsets, neighbours) = (offsets.to_vec().into(), neighbours.to_vec().into());
        let weights = weights.map(|weights| weights.to_vec().into());
        let given = Graph::from_buffers(offsets, neighbours, weights).unwrap_err().to_string();
        assert_eq!(given, copied);
        given
    };
    assert!(build(&[], &[], None).contains("empty"));
    assert!(build(&[0], &[], None).contains("no nodes"));
    assert!(build(&[1, 2], &[0], None).contains("start at 1"));
    assert!(build(&[0, 2, 1], &[0], None).contains("from 2 to 1"));
    assert!(build(&[0, 1, 2], &[1], None).contains("end at 2"));
    assert!(build(&[0, 1, 2], &[1, 2], None).contains("row 1 has column index 2"));
    assert!(build(&[0, 1, 2], &[1, 0], Some(&[1.0])).contains("expected 2, found 1"));
    for weight in [f32::NAN, f32::INFINITY, -1.0] {
        let error = build(&[0, 1, 2], &[1, 0], Some(&[weight; 2]));
        assert!(error.contains(&format!("has weight {weight}")), "{error}");
    }
}
