//! How the eigenvalues of Â are distributed, about: what a filter's response meets.
//!
//! By the kernel polynomial method: moments v·T_k(Â)v of a few vectors of random signs, with Jackson's factors (Weiße et al. 2006).

use super::layout::hash;
use gfgcn::Result;
use gfgcn::context::Context;
use gfgcn::graph::{Graph, Operator};
use gfgcn::matrix::Matrix;
use std::f64::consts::PI;

const VECTORS: usize = 8;
const MOMENTS: usize = 64;
/// Points of curves over the spectrum.
pub(super) const POINTS: usize = 81;

/// From −1 to 1.
pub(super) fn points() -> impl Iterator<Item = f64> {
    (0..POINTS).map(|k| -1.0 + 2.0 * k as f64 / (POINTS - 1) as f64)
}

/// The density at each of the [`points`]; the largest is 1.
pub(super) fn density(graph: &Graph, context: &Context) -> Result<Vec<f64>> {
    let undirected = graph.clone().undirected();
    let operator = undirected.adjacency(&Operator::default())?;
    let nodes = graph.nodes();
    let sign =
        |i: usize, j: usize| if hash((i * VECTORS + j) as u64) & 1 == 0 { 1.0f32 } else { -1.0 };
    let start = Matrix::from_fn(nodes, VECTORS, sign);
    let dot = |a: &Matrix<f32>| -> f64 {
        let pairs = a.as_slice().iter().zip(start.as_slice());
        pairs.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>() / (nodes * VECTORS) as f64
    };
    let (mut before, mut now) = (start.clone(), Matrix::zeros(nodes, VECTORS));
    operator.multiply(&before, &mut now);
    let mut moments = vec![1.0, dot(&now)];
    let mut next = Matrix::zeros(nodes, VECTORS);
    while moments.len() < MOMENTS {
        context.check()?;
        operator.multiply_add_first(2.0, &now, -1.0, &before, &mut next);
        std::mem::swap(&mut before, &mut now);
        std::mem::swap(&mut now, &mut next);
        moments.push(dot(&now));
    }
    let n = MOMENTS as f64 + 1.0;
    let damped = moments.iter().enumerate().map(|(k, moment)| {
        let k = k as f64;
        let jackson = ((n - k) * (PI * k / n).cos() + (PI * k / n).sin() / (PI / n).tan()) / n;
        moment * jackson
    });
    let damped: Vec<f64> = damped.collect();
    let at = |x: f64| {
        let angle = x.clamp(-0.999, 0.999).acos();
        let sum = damped.iter().enumerate().skip(1);
        let sum: f64 = sum.map(|(k, m)| 2.0 * m * (k as f64 * angle).cos()).sum();
        ((damped[0] + sum) / angle.sin()).max(0.0)
    };
    let density: Vec<f64> = points().map(at).collect();
    let most = density.iter().copied().fold(1e-12, f64::max);
    Ok(density.into_iter().map(|value| value / most).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A complete graph has the eigenvalue 1 once, and 0 for everything else.
    #[test]
    fn the_spectrum_of_a_complete_graph_is_at_zero() {
        let edges: Vec<(u32, u32)> = (0..40).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let (graph, _) = Graph::from_edges(40, &edges, None).unwrap();
        let density = density(&graph, &Context::default()).unwrap();
        let most = density.iter().position(|&value| value == 1.0).unwrap();
        assert!((most as f64 - (POINTS / 2) as f64).abs() <= 1.0, "{density:?}");
        assert!(density[10] < 0.1 && density[60] < 0.1);
    }
}
