//! Synthetic graphs of any size, to see how things scale.
//!
//! A graph is written as it is drawn: the neighbours and the features of a node come from random
//! streams of its own, so that neither the edges nor the features are ever held in memory, and
//! blocks of nodes are drawn in parallel. Every number comes from a stream of bits by additions,
//! multiplications, divisions and square roots, which IEEE 754 defines to the bit; logarithms and
//! cosines, which every platform rounds its own way, are not used.

mod population;
mod steps;

use crate::archive::Writer;
use crate::store::StoreWriter;
use gfgcn::buffer::little_endian;
use gfgcn::context::Context;
use gfgcn::data::{Labels, Targets};
use gfgcn::files::{check_absent, write_atomically};
use gfgcn::split::{Ratio, Split};
use gfgcn::{Error, Result};
use population::{Allotment, Population};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::Path;

/// The default share of edges within a class.
pub const DEFAULT_HOMOPHILY: f64 = 0.8;
/// Column indices are written as `int32`, which every program takes.
const MAX_NODES: usize = i32::MAX as usize;
const MAX_FEATURES: usize = 1 << 20;
/// Edges and their nodes, or feature values, that are drawn before they are written.
const BLOCK: usize = 1 << 20;

/// The size of a synthetic dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// N.
    pub nodes: usize,
    /// M, the number of undirected edges.
    pub edges: usize,
    /// C.
    pub classes: usize,
    /// d.
    pub features: usize,
}

/// A degree-corrected stochastic block model with power-law degrees and noisy class means.
///
/// ```text
/// class      c_u uniform on 0 … C−1; the first C nodes have one class each, so that none is empty
/// degree     θ_u Pareto, P(θ > t) = t^-1.5 for t ≥ 1 (a density of exponent 2.5), at most 3 √N
/// edges      P(u ~ v) ∝ B(c_u, c_v) θ_u θ_v, B one value within classes and another between them,
///            such that round(H M) edges join nodes of one class and the other ones do not
/// features   x_u = m(c_u)/√d + ε_u, the entries of m and ε independent, normal, of variance 1
/// ```
///
/// | parameter | | range |
/// |---|---|---|
/// | `nodes` | N | 2 to 2³¹ − 1 |
/// | `edges` | M, exact: no edge twice, none from a node to itself | 0 to N(N−1)/8, a quarter of all pairs |
/// | `classes` | C | 2 to N |
/// | `features` | d | 1 to 2²⁰ |
/// | `homophily` | H, the share of edges within a class, default 0.8 | 0 to 1 |
/// | `seed` | | any |
///
/// A pair of nodes belongs to the smaller one. Node u gets its share of the edges,
/// θ_u Σ_{v>u} B θ_v of the sum over all nodes, rounded so that the errors never add up to an edge;
/// what a hub cannot take, because it has too few larger nodes, goes to the nodes after it. The
/// larger ends are drawn in proportion to θ_v, those that are neighbours already are drawn again;
/// after 32 draws the first free node from a random place on is taken, so that dense rows end.
/// "Normal" is the number of ones among 48 bits and a uniform rest, whose distribution function is
/// within 0.002 of the normal one.
///
/// The same parameters give the same bytes, on every machine and with any number of threads, as
/// long as [`Synthetic`] and its random generator (ChaCha8) stay the same. Drawing takes
/// O(M log N + N d) time and O(N) memory.
///
/// ```
/// use gfgcn_data::{Synthetic, SyntheticShape, npz};
/// use gfgcn::context::Context;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("graph.npz");
///
/// let shape = SyntheticShape { nodes: 1000, edges: 5000, classes: 4, features: 16 };
/// let synthetic = Synthetic::new(shape, 0.8, 7)?;
/// synthetic.write(&path, false, &Context::default())?;
/// assert_eq!(npz::read(&path, "graph", &Context::default())?.graph().edges(), 5000);
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthetic {
    shape: Shape,
    homophily: f64,
    seed: u64,
    split: Option<Ratio>,
}

/// What a random stream is for; streams of different purposes have nothing in common.
#[derive(Clone, Copy)]
enum Purpose {
    Nodes,
    Edges,
    Means,
    Noise,
}

impl Synthetic {
    /// Checks the parameters; nothing is drawn yet.
    ///
    /// # Errors
    /// A parameter out of its range.
    pub fn new(shape: Shape, homophily: f64, seed: u64) -> Result<Self> {
        let Shape { nodes, edges, classes, features } = shape;
        let check = |name, value: usize, range: Range<usize>, what: &str| {
            if range.contains(&value) {
                return Ok(());
            }
            let (least, most) = (range.start, range.end - 1);
            let expected = format!("a whole number from {least} to {most}{what}");
            Err(Error::parameter(name, value, expected))
        };
        check("nodes", nodes, 2..MAX_NODES + 1, "")?;
        let quarter = pairs(nodes as u64) as usize / 4;
        check("edges", edges, 0..quarter + 1, ", a quarter of all pairs of nodes")?;
        check("classes", classes, 2..nodes + 1, ", the number of nodes")?;
        check("features", features, 1..MAX_FEATURES + 1, "")?;
        if !(0.0..=1.0).contains(&homophily) {
            return Err(Error::parameter("homophily", homophily, "a number from 0 to 1"));
        }
        Ok(Synthetic { shape, homophily, seed, split: None })
    }

    /// With a [random split](Split::random) of the nodes into parts of these sizes, drawn by the same seed.
    #[must_use]
    pub fn with_split(self, ratio: Ratio) -> Self {
        Synthetic { split: Some(ratio), ..self }
    }

    /// The split of the nodes, where one was asked for.
    fn split_of(&self, classes: &[u32]) -> Result<Option<Split>> {
        let draw = |ratio| Split::random(&self.targets(classes)?, ratio, self.seed);
        self.split.map(draw).transpose()
    }

    fn targets(&self, classes: &[u32]) -> Result<Targets> {
        let names = (0..self.shape.classes).map(|class| class.to_string()).collect();
        let of_node = classes.iter().copied().map(Some).collect();
        Ok(Labels::from_classes(of_node, names)?.into())
    }

    /// Draws the dataset into a [store](crate::store): the same one as in the archive of [`Synthetic::write`], in memory that
    /// grows with the nodes only. What is in the folder is only replaced with `overwrite`.
    ///
    /// The context's observer is told as by [`Synthetic::write`].
    ///
    /// # Errors
    /// As [`Synthetic::write`].
    pub fn write_store(&self, path: &Path, overwrite: bool, context: &Context) -> Result<()> {
        let Shape { nodes, edges, classes, features } = self.shape;
        let needed = self.write_memory();
        let lease = context.memory().reserve("drawing the graph", needed, "ask for fewer nodes")?;
        let mut store = StoreWriter::new(path, nodes, overwrite, context)?;
        let population = Population::draw(nodes, classes, &mut self.random(Purpose::Nodes, 0));
        let allotments = population.allot(edges, self.homophily)?;
        let total = 8 * edges + 12 * nodes + 4 * nodes * features;
        context.progress().begin("writing", total as u64);
        let mut sorter = store.edges(edges, false, false)?;
        self.draw_edges(&population, allotments, |first, rows| {
            context.check()?;
            rows.iter().enumerate().try_for_each(|(k, row)| {
                row.iter().try_for_each(|&larger| sorter.add((first + k) as u32, larger, 1.0))
            })
        })?;
        let class: Vec<u32> = population.into_classes();
        drop(lease);
        store.sorted(sorter)?;
        let mut rows = store.dense(features)?;
        self.draw_features(&class, |values| rows.add(values))?;
        store.dense_rows(rows)?;
        store.targets(&self.targets(&class)?)?;
        store.splits(self.split_of(&class)?.as_slice())?;
        drop(class);
        store.finish()
    }

    /// Bytes that [`Synthetic::write`] takes at most.
    fn write_memory(&self) -> u64 {
        let Shape { nodes, classes, features, .. } = self.shape;
        let population = 30 * nodes + 16 * classes;
        let offsets_and_longest_row = 12 * nodes;
        let bits = nodes / 8 * rayon::current_num_threads();
        (population + offsets_and_longest_row + bits + 64 * BLOCK + 8 * features) as u64
    }

    /// Draws the dataset into an `.npz` archive, each edge once; see [`crate::npz`]. An existing
    /// file is only replaced with `overwrite`.
    ///
    /// The context's observer is told how many bytes there will be, and then of every piece that is written.
    ///
    /// # Errors
    /// More edges within or between classes than the classes have pairs, which depends on the
    /// seed; a file that cannot be written; too little memory; or that the work is cancelled.
    pub fn write(&self, path: &Path, overwrite: bool, context: &Context) -> Result<()> {
        check_absent(path, overwrite)?;
        let needed = self.write_memory();
        let _lease =
            context.memory().reserve("drawing the graph", needed, "ask for fewer nodes")?;
        let Shape { nodes, edges, classes, features } = self.shape;
        let population = Population::draw(nodes, classes, &mut self.random(Purpose::Nodes, 0));
        let allotments = population.allot(edges, self.homophily)?;
        let total = 8 * edges + 16 * nodes + 8 + 4 * nodes * features;
        context.progress().begin("writing", total as u64);
        let written = write_atomically(path, overwrite, |file| {
            let mut out = Stream { archive: Writer::new(file), context };
            self.write_members(&population, allotments, &mut out)?;
            out.archive.finish()
        });
        // Work that was cancelled says so, not that a file could not be written.
        if written.is_err() {
            context.check()?;
        }
        written
    }

    fn write_members<W: Write + Seek>(
        &self,
        population: &Population,
        allotments: [Allotment; 2],
        out: &mut Stream<'_, W>,
    ) -> io::Result<()> {
        let Shape { nodes, edges, features, .. } = self.shape;
        out.archive.start("adj_indices", "<i4", &[edges])?;
        let offsets = self.write_edges(population, allotments, out)?;
        out.archive.start("adj_indptr", "<i8", &[nodes + 1])?;
        out.put_all(offsets.iter().map(|offset| offset.to_le_bytes()))?;
        drop(offsets);
        out.archive.start("adj_data", "<f4", &[edges])?;
        out.put_all(std::iter::repeat_n(1f32.to_le_bytes(), edges))?;
        out.archive.start("adj_shape", "<i8", &[2])?;
        out.archive.write_all(&[(nodes as i64).to_le_bytes(); 2].concat())?;
        out.archive.start("adj_symmetric", "|b1", &[1])?;
        out.archive.write_all(&[1])?;
        out.archive.start("labels", "<i8", &[nodes])?;
        out.put_all(population.classes().iter().map(|&class| i64::from(class).to_le_bytes()))?;
        if let Some(split) = self.split_of(population.classes()).map_err(io::Error::other)? {
            for (name, (_, part)) in ["train", "val", "test"].into_iter().zip(split.parts()) {
                out.archive.start(&format!("{name}_idx"), "<i8", &[part.len()])?;
                out.put_all(part.iter().map(|&node| (node as i64).to_le_bytes()))?;
            }
        }
        out.archive.start("attr_matrix", "<f4", &[nodes, features])?;
        self.draw_features(population.classes(), |values| {
            out.put(&little_endian(values)).map_err(Error::Read)
        })
        .map_err(of_system)
    }

    /// Draws the features of all nodes, some rows at a time.
    fn draw_features(
        &self,
        classes: &[u32],
        mut take: impl FnMut(&[f32]) -> Result<()>,
    ) -> Result<()> {
        let Shape { nodes, features, .. } = self.shape;
        let rows = BLOCK.div_ceil(features);
        let mut values = Vec::new();
        for start in (0..nodes).step_by(rows) {
            values.resize(rows.min(nodes - start) * features, 0.0);
            values.par_chunks_mut(features).enumerate().for_each(|(k, row)| {
                let node = start + k;
                let drawn = self.features(node, classes[node]);
                row.iter_mut().zip(drawn).for_each(|(place, value)| *place = value);
            });
            take(&values)?;
        }
        Ok(())
    }

    /// Writes the larger ends of all edges, row by row, and returns the row offsets.
    fn write_edges<W: Write + Seek>(
        &self,
        population: &Population,
        allotments: [Allotment; 2],
        out: &mut Stream<'_, W>,
    ) -> io::Result<Vec<i64>> {
        let mut offsets = Vec::with_capacity(self.shape.nodes + 1);
        offsets.push(0);
        let mut end = 0;
        let drawn = self.draw_edges(population, allotments, |_, rows| {
            for row in rows {
                end += row.len() as i64;
                offsets.push(end);
            }
            let ends = rows.iter().flatten().map(|neighbour| neighbour.to_le_bytes());
            out.put_all(ends).map_err(Error::Read)
        });
        drawn.map_err(of_system)?;
        Ok(offsets)
    }

    /// Draws the larger ends of all edges: the first of some nodes, and the ends of each.
    fn draw_edges(
        &self,
        population: &Population,
        mut allotments: [Allotment; 2],
        mut take: impl FnMut(usize, &[Vec<u32>]) -> Result<()>,
    ) -> Result<()> {
        let nodes = self.shape.nodes;
        let mut counts = Vec::new();
        let mut in_block = 0;
        for node in 0..nodes {
            let counts_of_node = population.take(node, &mut allotments);
            in_block += counts_of_node[0] + counts_of_node[1];
            counts.push(counts_of_node);
            if in_block < BLOCK && counts.len() < BLOCK && node + 1 < nodes {
                continue;
            }
            let first = node + 1 - counts.len();
            let rows: Vec<Vec<u32>> = counts
                .par_iter()
                .enumerate()
                .with_min_len(64)
                .map_init(
                    || vec![0u64; nodes.div_ceil(64)],
                    |taken, (k, &counts)| {
                        let random = self.random(Purpose::Edges, (first + k) as u64);
                        population.larger_neighbours(first + k, counts, random, taken)
                    },
                )
                .collect();
            take(first, &rows)?;
            counts.clear();
            in_block = 0;
        }
        Ok(())
    }

    /// The features of a node, from streams of its own and of its class.
    fn features(&self, node: usize, class: u32) -> impl Iterator<Item = f32> {
        let scale = 1.0 / (self.shape.features as f64).sqrt();
        let mut mean = self.random(Purpose::Means, class.into());
        let mut noise = self.random(Purpose::Noise, node as u64);
        (0..self.shape.features)
            .map(move |_| (scale * normal(&mut mean) + normal(&mut noise)) as f32)
    }

    fn random(&self, purpose: Purpose, stream: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8] = purpose as u8;
        let mut random = ChaCha8Rng::from_seed(key);
        random.set_stream(stream);
        random
    }
}

/// An archive on its way to the disk, and who wants to know how far it is.
struct Stream<'p, W: Write + Seek> {
    archive: Writer<W>,
    context: &'p Context,
}

impl<W: Write + Seek> Stream<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.archive.write_all(bytes)?;
        self.context.progress().advance_by(bytes.len() as u64);
        self.context.check().map_err(io::Error::other)
    }

    fn put_all<const SIZE: usize>(
        &mut self,
        items: impl Iterator<Item = [u8; SIZE]>,
    ) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(BLOCK);
        for item in items {
            bytes.extend_from_slice(&item);
            if bytes.len() >= BLOCK {
                self.put(&bytes)?;
                bytes.clear();
            }
        }
        self.put(&bytes)
    }
}

/// The system's own error where there is one.
fn of_system(error: Error) -> io::Error {
    match error {
        Error::Read(error) => error,
        other => io::Error::other(other),
    }
}

/// Uniform on 0 ≤ x < 1.
fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Uniform on 0 … n − 1; the bias of n/2⁶⁴ can never be seen.
fn below(random: &mut ChaCha8Rng, n: usize) -> usize {
    ((u128::from(random.next_u64()) * n as u128) >> 64) as usize
}

/// Nearly normal, with mean 0 and variance 1: a binomial of 48 bits, spread evenly between its
/// values.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let bits = random.next_u64();
    let ones = f64::from((bits >> 16).count_ones());
    let rest = ((bits & 0xffff) as f64 + 0.5) / f64::from(1u32 << 16);
    (ones - 24.0 + rest - 0.5) / (48.0 / 4.0 + 1.0 / 12.0_f64).sqrt()
}

/// The number of pairs of n things.
fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}
