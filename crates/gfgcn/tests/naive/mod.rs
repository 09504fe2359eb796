//! The whole mathematics, dense, in double precision, with no regard for speed: the oracle that
//! every fast path is compared with. Shares no code with the library.

#![allow(dead_code)] // each test binary uses its part

use gfgcn::data::Dataset;
use gfgcn::filter::Filter;
use gfgcn::graph::{Direction, Normalization, Operator};
use gfgcn::kernel::Kernel;
use gfgcn::{Channel, Design, Input, RowScaling};

pub(crate) type Dense = Vec<Vec<f64>>;

pub(crate) fn zeros(rows: usize, cols: usize) -> Dense {
    vec![vec![0.0; cols]; rows]
}

pub(crate) fn identity(n: usize) -> Dense {
    (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect()
}

pub(crate) fn transpose(a: &Dense) -> Dense {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

pub(crate) fn multiply(a: &Dense, b: &Dense) -> Dense {
    let columns = transpose(b);
    a.iter().map(|row| columns.iter().map(|column| dot(row, column)).collect()).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn add(a: &Dense, factor: f64, b: &Dense) -> Dense {
    let rows = a.iter().zip(b);
    rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + factor * b).collect()).collect()
}

/// A⁻¹ B by Gaussian elimination with pivoting.
pub(crate) fn solve(a: &Dense, b: &Dense) -> Dense {
    let n = a.len();
    let mut m: Dense = a.iter().zip(b).map(|(a, b)| [&a[..], &b[..]].concat()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
        m.swap(k, pivot);
        let row = m[k].clone();
        for (i, other) in m.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = other[k] / row[k];
            debug_assert!(factor.is_finite(), "singular at {k} ({i})");
            other.iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
        }
    }
    (0..n).map(|i| m[i][n..].iter().map(|x| x / m[i][i]).collect()).collect()
}

/// Â, entry by entry.
pub(crate) fn operator(dataset: &Dataset, operator: &Operator) -> Dense {
    let graph = match operator.relation() {
        Some(name) => dataset.graph().relation(name).unwrap(),
        None => dataset.graph(),
    };
    let n = graph.nodes();
    let loops = f64::from(operator.loops());
    let mut arcs = zeros(n, n);
    graph.arc_list().for_each(|(i, j, weight)| arcs[i][j] = f64::from(weight));
    let back = transpose(&arcs);
    let either = |i: usize, j: usize| arcs[i][j].max(back[i][j]);
    let either: Dense = (0..n).map(|i| (0..n).map(|j| either(i, j)).collect()).collect();
    let normalised = |a: &Dense| {
        let a = add(a, loops, &identity(n));
        let size = |row: &Vec<f64>| match operator.normalization {
            Normalization::Unit => dot(row, row).sqrt(),
            _ => row.iter().sum(),
        };
        let sizes = |a: &Dense| -> Vec<f64> {
            a.iter().map(size).map(|size| if size > 0.0 { size } else { 1.0 }).collect()
        };
        let (of_rows, of_columns) = (sizes(&a), sizes(&transpose(&a)));
        let entry = |i: usize, j: usize| match operator.normalization {
            Normalization::Symmetric => a[i][j] / (of_rows[i] * of_columns[j]).sqrt(),
            Normalization::Row | Normalization::Unit => a[i][j] / of_rows[i],
        };
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect::<Dense>()
    };
    match operator.direction {
        Direction::Both => normalised(&either),
        Direction::Out => normalised(&arcs),
        Direction::In => normalised(&back),
        Direction::OutIn => multiply(&normalised(&arcs), &normalised(&back)),
        Direction::InOut => multiply(&normalised(&back), &normalised(&arcs)),
    }
}

/// What a channel filters.
pub(crate) fn input(dataset: &Dataset, channel: &Channel) -> Dense {
    let n = dataset.nodes();
    match channel.input {
        Input::Features => features(dataset, channel.rows),
        Input::Structure => identity(n),
        Input::Degrees => {
            let mut counts = zeros(n, 2);
            for (from, to, _) in dataset.graph().arc_list() {
                counts[from][0] += 1.0;
                counts[to][1] += 1.0;
            }
            let columns = if dataset.graph().is_directed() { 2 } else { 1 };
            let row = |row: Vec<f64>| row[..columns].iter().map(|c| (1.0 + c).ln()).collect();
            counts.into_iter().map(row).collect()
        }
    }
}

/// F of a whole design: its channels side by side.
pub(crate) fn design(dataset: &Dataset, design: &Design) -> Dense {
    let mut f: Dense = vec![Vec::new(); dataset.nodes()];
    for channel in design.channels() {
        let dense = operator(dataset, &channel.operator);
        let filtered = filter(&dense, &input(dataset, channel), channel.filter);
        let scale = channel.weight.sqrt();
        let rows = f.iter_mut().zip(filtered);
        rows.for_each(|(all, own)| all.extend(own.iter().map(|value| scale * value)));
    }
    f
}

pub(crate) fn features(dataset: &Dataset, scaling: RowScaling) -> Dense {
    let features = dataset.features();
    let mut x = zeros(features.rows(), features.cols());
    for (i, row) in x.iter_mut().enumerate() {
        features.for_each_in_row(i, |j, value| row[j] = f64::from(value));
        let sum: f64 = row.iter().map(|v| v.abs()).sum();
        let divisor = match scaling {
            RowScaling::Plain => 1.0,
            RowScaling::Sum => sum,
            RowScaling::Unit => dot(row, row).sqrt(),
        };
        if divisor > 0.0 {
            row.iter_mut().for_each(|v| *v /= divisor);
        }
    }
    x
}

/// F by the formula of each filter, one product at a time.
pub(crate) fn filter(operator: &Dense, x: &Dense, filter: Filter) -> Dense {
    let depth = filter.depth();
    match filter {
        Filter::Identity => x.clone(),
        Filter::HighPass { .. } => {
            (0..depth).fold(x.clone(), |f, _| add(&f, -1.0, &multiply(operator, &f)))
        }
        Filter::Ppr { alpha, .. } => {
            let system = add(&identity(x.len()), alpha - 1.0, operator);
            let scaled = add(&zeros(x.len(), x[0].len()), alpha, x);
            solve(&system, &scaled)
        }
        Filter::Heat { time, .. } => {
            // exp(−tL) = (exp(−tL/2^s))^(2^s), the inner one by Taylor's series.
            let (n, squarings) = (x.len(), 10);
            let step = time / f64::from(1 << squarings);
            let l = add(&identity(n), -1.0, operator);
            let (mut term, mut sum) = (identity(n), identity(n));
            for k in 1..12 {
                term = multiply(&term, &l);
                let factor = -step / f64::from(k);
                term.iter_mut().flatten().for_each(|v| *v *= factor);
                sum = add(&sum, 1.0, &term);
            }
            let power = (0..squarings).fold(sum, |power, _| multiply(&power, &power));
            multiply(&power, x)
        }
        Filter::Sgc { .. } => (0..depth).fold(x.clone(), |f, _| multiply(operator, &f)),
        Filter::Ssgc { tau, .. } => {
            let mut power = x.clone();
            let mut sum = zeros(x.len(), x[0].len());
            for _ in 0..depth {
                power = multiply(operator, &power);
                sum = add(&add(&sum, 1.0 - tau, &power), tau, x);
            }
            add(&zeros(x.len(), x[0].len()), 1.0 / depth as f64, &sum)
        }
        Filter::Dgc { time, .. } => {
            let step = time / depth as f64;
            (0..depth).fold(x.clone(), |f, _| {
                let product = multiply(operator, &f);
                add(&add(&zeros(f.len(), f[0].len()), 1.0 - step, &f), step, &product)
            })
        }
    }
}

/// m(f, g) by its formula.
pub(crate) fn kernel(kernel: Kernel, f: &[f64], g: &[f64]) -> f64 {
    use std::f64::consts::PI;
    let difference = || f.iter().zip(g).map(|(f, g)| f - g);
    let (nf, ng) = (dot(f, f).sqrt(), dot(g, g).sqrt());
    let cosine = || if nf * ng > 0.0 { (dot(f, g) / (nf * ng)).clamp(-1.0, 1.0) } else { 0.0 };
    match kernel {
        Kernel::Linear => dot(f, g),
        Kernel::Polynomial { degree, coefficient, gamma, .. } => {
            (gamma.unwrap() * dot(f, g) + coefficient).powi(degree as i32)
        }
        Kernel::Rbf { gamma, .. } => {
            (-gamma.unwrap() * difference().map(|d| d * d).sum::<f64>()).exp()
        }
        Kernel::Laplacian { gamma, .. } => {
            (-gamma.unwrap() * difference().map(f64::abs).sum::<f64>()).exp()
        }
        Kernel::Cosine => cosine(),
        Kernel::ArcCosine { order, .. } => {
            let theta = cosine().acos();
            let j = match order {
                0 => PI - theta,
                1 => theta.sin() + (PI - theta) * theta.cos(),
                _ => {
                    3.0 * theta.sin() * theta.cos()
                        + (PI - theta) * (1.0 + 2.0 * theta.cos().powi(2))
                }
            };
            (nf * ng).powi(order as i32) * j / PI
        }
    }
}

pub(crate) fn gram(k: Kernel, rows: &[Vec<f64>], columns: &[Vec<f64>]) -> Dense {
    rows.iter().map(|f| columns.iter().map(|g| kernel(k, f, g)).collect()).collect()
}

/// α = (M + ξI)⁻¹ Y; with an intercept, the bordered system [M + ξI, 1; 1ᵀ, 0] [α; b] = [Y; 0].
pub(crate) fn ridge(m: &Dense, y: &Dense, xi: f64, intercept: bool) -> (Dense, Vec<f64>) {
    let n = m.len();
    let mut a = add(m, xi, &identity(n));
    let mut b = y.to_vec();
    if intercept {
        a.iter_mut().for_each(|row| row.push(1.0));
        a.push([vec![1.0; n], vec![0.0]].concat());
        b.push(vec![0.0; y[0].len()]);
    }
    let mut solution = solve(&a, &b);
    let constant = if intercept { solution.pop().unwrap() } else { vec![0.0; y[0].len()] };
    (solution, constant)
}

/// Y as the paper has it: one-hot, or one column of ±1 for two classes.
pub(crate) fn targets(classes: &[u32], count: usize) -> Dense {
    classes
        .iter()
        .map(|&class| match count {
            1 => vec![1.0],
            2 => vec![if class == 1 { 1.0 } else { -1.0 }],
            _ => (0..count).map(|c| f64::from(c == class as usize)).collect(),
        })
        .collect()
}

/// Scores of every node: train on the given nodes, from the formulas alone.
#[allow(clippy::too_many_arguments)]
pub(crate) fn scores(
    f: &Dense,
    train: &[usize],
    classes: &[u32],
    count: usize,
    k: Kernel,
    xi: f64,
    intercept: bool,
) -> Dense {
    let ft: Dense = train.iter().map(|&i| f[i].clone()).collect();
    let (alpha, b) = ridge(&gram(k, &ft, &ft), &targets(classes, count), xi, intercept);
    let mut scores = multiply(&gram(k, f, &ft), &alpha);
    scores.iter_mut().for_each(|row| row.iter_mut().zip(&b).for_each(|(s, b)| *s += b));
    scores
}

/// Scores of one vector of features by the primal formula W = (FᵀF + ξI)⁻¹ FᵀY, an intercept as a
/// column of ones without penalty. Accurate for small ξ where FᵀF has full rank and M has not.
pub(crate) fn primal_scores(
    f: &[f64],
    train: &Dense,
    y: &Dense,
    xi: f64,
    intercept: bool,
) -> Vec<f64> {
    let extended = |row: &[f64]| match intercept {
        true => [row, &[1.0]].concat(),
        false => row.to_vec(),
    };
    let inputs: Dense = train.iter().map(|row| extended(row)).collect();
    let transposed = transpose(&inputs);
    let mut normal = multiply(&transposed, &inputs);
    for (k, row) in normal.iter_mut().enumerate().take(f.len()) {
        row[k] += xi;
    }
    let weights = solve(&normal, &multiply(&transposed, y));
    multiply(&vec![extended(f)], &weights).remove(0)
}

/// The largest difference, relative to the largest value.
pub(crate) fn distance(a: &Dense, b: &Dense) -> f64 {
    let largest = a.iter().flatten().fold(0.0, |m: f64, v| m.max(v.abs()));
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / largest.max(f64::MIN_POSITIVE)
}
