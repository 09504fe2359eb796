//! Where nodes are drawn: a map that is the same every time.
//!
//! It begins with the spectrum: features, a few sums of them, are averaged over neighbours and made orthogonal again and again, which leaves
//! what varies slowly over the graph and knows about the features. From there edges pull, and nodes push all others away, the more the more
//! neighbours they have: the edge-repulsion LinLog model (Noack 2007), in which groups come apart, by a tree of squares (Barnes and Hut 1986).
//! Every node moves by where all were before, so threads change nothing.

use super::squares::Squares;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::graph::{Graph, Operator};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use rayon::prelude::*;

/// Vectors of the spectrum that are looked for, the constant one among them.
const VECTORS: usize = 4;
/// Products with the graph between two times that vectors are made orthogonal, and how often that is done.
const PRODUCTS: usize = 3;
const ROUNDS: usize = 12;
/// How strongly everything is drawn to the middle, and how strongly nodes push each other away; an edge pulls with up to 1.
const GRAVITY: f32 = 0.3;
const PUSH: f32 = 0.3;

/// The place of every node, within the unit circle but for a few.
pub(super) fn places(dataset: &Dataset, context: &Context) -> Result<Vec<[f32; 2]>> {
    let graph = dataset.graph();
    let mut places = beginning(dataset)?;
    let nodes = graph.nodes();
    // Large graphs are fluid when they are drawn, and should be soon.
    let steps = (2_500_000 / nodes.max(1)).clamp(40, 300);
    let mass: Vec<f32> = (0..nodes).map(|node| (graph.degree(node) + 1) as f32).collect();
    let size = (nodes as f32).sqrt();
    let push = PUSH * size / mass.iter().sum::<f32>();
    places.iter_mut().flatten().for_each(|x| *x *= size);
    for step in 0..steps {
        context.check()?;
        let left = 1.0 - step as f32 / steps as f32;
        let length = (0.06 * left * left + 0.001) * size;
        places = moved(graph, &places, &mass, push, length);
    }
    Ok(scaled(places))
}

/// One step, of a length that is that of a force of 1.
fn moved(
    graph: &Graph,
    places: &[[f32; 2]],
    mass: &[f32],
    push: f32,
    length: f32,
) -> Vec<[f32; 2]> {
    let squares = Squares::new(places, mass);
    let of_node = |node: usize| {
        let [x, y] = places[node];
        let mut force = squares.repulsion([x, y], mass[node]).map(|pushed| push * pushed);
        for &other in graph.neighbours(node) {
            let (dx, dy) = (places[other as usize][0] - x, places[other as usize][1] - y);
            // As strong near as far, but for the last bit.
            let distance = (dx * dx + dy * dy).sqrt() + 0.5;
            force[0] += dx / distance;
            force[1] += dy / distance;
        }
        let distance = (x * x + y * y).sqrt() + 1.0;
        force[0] -= GRAVITY * mass[node] * x / distance;
        force[1] -= GRAVITY * mass[node] * y / distance;
        // Nodes with many neighbours are heavy.
        let step = force.map(|force| force / mass[node]);
        let size = (step[0] * step[0] + step[1] * step[1]).sqrt();
        let scale = length / size.max(1.0);
        [x + scale * step[0], y + scale * step[1]]
    };
    (0..places.len()).into_par_iter().map(of_node).collect()
}

/// The second and third vector of the spectrum, as far as a few rounds find them.
fn beginning(dataset: &Dataset) -> Result<Vec<[f32; 2]>> {
    let (graph, features) = (dataset.graph(), dataset.features());
    let nodes = graph.nodes();
    let mut vectors = Matrix::zeros(nodes, VECTORS);
    for node in 0..nodes {
        let row = vectors.row_mut(node);
        let mut size = 0.0f32;
        features.for_each_in_row(node, |column, value| {
            row.iter_mut().enumerate().for_each(|(k, sum)| *sum += value * sign(column, k));
            size += value * value;
        });
        let size = size.sqrt().max(1e-12);
        row.iter_mut().enumerate().for_each(|(k, sum)| {
            // So that nodes without features, or all with the same, begin in places of their own.
            *sum = *sum / size + 0.3 * unit(node, k);
        });
        row[0] = 1.0;
    }
    let undirected = graph.clone().undirected();
    let operator = undirected.adjacency(&Operator::default())?;
    let mut next = Matrix::zeros(nodes, VECTORS);
    for _ in 0..ROUNDS {
        for _ in 0..PRODUCTS {
            operator.multiply(&vectors, &mut next);
            std::mem::swap(&mut vectors, &mut next);
        }
        orthogonalise(&mut vectors);
    }
    // Vectors have a length of 1, so this is their mean size.
    let usual = (nodes as f32).sqrt().recip();
    let place = |node: usize| {
        // Eigenvectors have a few large entries and many small ones.
        let spread = |k: usize| (vectors[(node, k)] / usual).tanh() + 0.05 * unit(node, k + 5);
        [spread(1), spread(2)]
    };
    let places: Vec<[f32; 2]> = (0..nodes).map(place).collect();
    match places.iter().flatten().all(|x| x.is_finite()) {
        true => Ok(places),
        false => Err(Error::Data("the graph cannot be drawn: its features are too large".into())),
    }
}

/// Gram–Schmidt, column by column, in double precision.
fn orthogonalise(vectors: &mut Matrix<f32>) {
    let nodes = vectors.rows();
    let dot = |vectors: &Matrix<f32>, a: usize, b: usize| -> f64 {
        (0..nodes).map(|i| f64::from(vectors[(i, a)]) * f64::from(vectors[(i, b)])).sum()
    };
    for k in 0..VECTORS {
        for j in 0..k {
            let share = dot(vectors, j, k) as f32;
            for i in 0..nodes {
                let part = share * vectors[(i, j)];
                vectors[(i, k)] -= part;
            }
        }
        let length = dot(vectors, k, k).sqrt().max(1e-30) as f32;
        (0..nodes).for_each(|i| vectors[(i, k)] /= length);
    }
}

/// Around the middle, nearly all within the unit circle.
fn scaled(mut places: Vec<[f32; 2]>) -> Vec<[f32; 2]> {
    let count = places.len().max(1) as f64;
    for axis in 0..2 {
        let mean = places.iter().map(|place| f64::from(place[axis])).sum::<f64>() / count;
        places.iter_mut().for_each(|place| place[axis] -= mean as f32);
    }
    let mut radii: Vec<f32> = places.iter().map(|[x, y]| (x * x + y * y).sqrt()).collect();
    radii.sort_unstable_by(f32::total_cmp);
    let most = radii.get(radii.len() * 99 / 100).copied().unwrap_or(1.0).max(1e-9);
    places.iter_mut().flatten().for_each(|x| *x /= most);
    places
}

/// A number from −1 to 1 that only depends on where it is for.
fn unit(node: usize, k: usize) -> f32 {
    (hash(node as u64 ^ ((k as u64 + 1) << 40)) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn sign(column: usize, k: usize) -> f32 {
    if hash(column as u64 ^ ((k as u64 + 9) << 48)) & 1 == 0 { 1.0 } else { -1.0 }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(super) fn hash(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfgcn::data::Labels;
    use gfgcn::features::Features;

    /// Two dense groups with one edge between them are two places on the map, whatever threads draw it.
    #[test]
    fn groups_are_apart_and_every_time_the_same() {
        let group = 30u32;
        let mut edges = vec![(0, group)];
        for start in [0, group] {
            for i in 0..group {
                (1..5).for_each(|k| edges.push((start + i, start + (i + k) % group)));
            }
        }
        let (graph, _) = Graph::from_edges(2 * group as usize, &edges, None).unwrap();
        let nodes = graph.nodes();
        let data = Dataset::new("two", graph, Features::none(nodes), Labels::none(nodes)).unwrap();
        let map = places(&data, &Context::default()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(map, pool.install(|| places(&data, &Context::default()).unwrap()));
        let middle = |range: std::ops::Range<usize>| {
            let sum = map[range.clone()].iter().fold([0.0; 2], |s, p| [s[0] + p[0], s[1] + p[1]]);
            sum.map(|x| x / range.len() as f32)
        };
        let distance = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let (one, two) = (middle(0..30), middle(30..60));
        let nearer = (0..60).filter(|&node| {
            let own = if node < 30 { one } else { two };
            let other = if node < 30 { two } else { one };
            distance(map[node], own) < distance(map[node], other)
        });
        assert_eq!(nearer.count(), 60);
    }

    #[test]
    fn one_node_has_a_place() {
        let (graph, _) = Graph::from_edges(1, &[], None).unwrap();
        let data = Dataset::new("one", graph, Features::none(1), Labels::none(1)).unwrap();
        assert!(places(&data, &Context::default()).unwrap()[0].iter().all(|x| x.is_finite()));
    }
}
