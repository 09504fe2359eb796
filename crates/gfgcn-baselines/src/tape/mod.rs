//! A tape of operations on matrices, and the way back along it.
//!
//! Networks call the operations in order; each computes its value and notes what the way back needs.
//! [`Tape::backward`] then walks the notes in reverse. The parameters lie at the start of the tape and
//! stay there; [`Tape::rewind`] forgets the rest and keeps its memory for the next epoch.
//!
//! A [`Var`] is a place on the tape. Operations that take it by value may write over it: ownership
//! says that nobody reads it afterwards. Only where the way back needs the old value is it copied.

mod attention;
mod backward;
mod buffers;
mod dense;
mod elementwise;
mod features;
mod parallel;

pub(crate) use attention::{Edges, Shape};

use crate::random::{Dropout, Key};
use attention::{Attention, Saved};
use buffers::Buffers;
use gfgcn::features::Features;
use gfgcn::graph::{Adjacency, Graph, Propagator};
use gfgcn::matrix::Matrix;
use std::sync::OnceLock;

/// A value on the tape.
#[derive(Debug)]
pub(crate) struct Var(usize);

/// What every network reads: the features and the graph.
pub(crate) struct Inputs<'a> {
    pub(crate) features: &'a Features,
    graph: &'a Graph,
    adjacency: Adjacency<'a>,
    transposed: Adjacency<'a>,
    /// Made when the first attention asks for them.
    edges: OnceLock<Edges>,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(
        features: &'a Features,
        graph: &'a Graph,
        propagator: &'a Propagator<'a>,
    ) -> Self {
        Inputs {
            features,
            graph,
            adjacency: propagator.adjacency(),
            transposed: propagator.transposed_adjacency(),
            edges: OnceLock::new(),
        }
    }

    fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| Edges::new(self.graph))
    }
}

/// How a value came about; numbers are places on the tape.
#[derive(Debug)]
enum Op {
    /// A parameter or a constant.
    Given,
    /// X·W with dropout on X.
    Features {
        w: usize,
        dropped: Option<Matrix<f32>>,
    },
    /// A·B.
    Multiply {
        a: usize,
        b: usize,
    },
    /// a·Â·x + c·z.
    Propagate {
        a: f32,
        x: usize,
        c: f32,
        z: Option<usize>,
    },
    /// x + 1·b.
    AddBias {
        x: usize,
        bias: usize,
    },
    /// a·x + b·y.
    Combine {
        a: f32,
        x: usize,
        b: f32,
        y: usize,
    },
    /// max(x, 0).
    Relu {
        x: usize,
    },
    /// x above zero, eˣ − 1 below.
    Elu {
        x: usize,
    },
    Dropout {
        x: usize,
        dropout: Dropout,
    },
    /// Side by side; every part with its number of columns.
    Concatenate {
        parts: Vec<(usize, usize)>,
    },
    /// The largest at every place.
    Maximum {
        parts: Vec<usize>,
    },
    /// Of h, a_source and a_target.
    Attention {
        places: [usize; 3],
        shape: Shape,
        saved: Saved,
    },
    /// Mean of −log softmax(x_row)_class; the softmax of those rows.
    CrossEntropy {
        x: usize,
        rows: Vec<u32>,
        classes: Vec<u32>,
        softmax: Matrix<f32>,
    },
    /// ½ tr ΛᵀΛ + ½ λ tr ΛᵀMΛ − tr ΛᵀY; its gradient.
    Dual {
        multipliers: usize,
        gradient: Matrix<f32>,
    },
}

#[derive(Debug)]
struct Node {
    value: Matrix<f32>,
    gradient: Option<Matrix<f32>>,
    op: Op,
    /// Whether a parameter is behind it.
    depends: bool,
    /// Whether the way back reads its value, so that it must stay as it is.
    kept: bool,
}

/// The tape of one run.
pub(crate) struct Tape<'a> {
    inputs: &'a Inputs<'a>,
    nodes: Vec<Node>,
    parameters: usize,
    /// Parameters and constants.
    given: usize,
    buffers: Buffers,
    /// Where dropouts come from; without, nothing is dropped.
    key: Option<Key>,
    /// Dropouts since the last rewind.
    dropouts: u64,
}

impl<'a> Tape<'a> {
    /// A tape that begins with parameters, which are trained, and constants.
    pub(crate) fn new(
        inputs: &'a Inputs<'a>,
        parameters: Vec<Matrix<f32>>,
        constants: Vec<Matrix<f32>>,
    ) -> Self {
        let count = parameters.len();
        let nodes = parameters.into_iter().chain(constants).enumerate().map(|(k, value)| Node {
            value,
            gradient: None,
            op: Op::Given,
            depends: k < count,
            kept: true,
        });
        let nodes: Vec<Node> = nodes.collect();
        let given = nodes.len();
        let buffers = Buffers::default();
        Tape { inputs, nodes, parameters: count, given, buffers, key: None, dropouts: 0 }
    }

    /// Forgets everything but parameters and constants. With a key, dropouts drop.
    pub(crate) fn rewind(&mut self, key: Option<Key>) {
        (self.key, self.dropouts) = (key, 0);
        for node in self.nodes.split_off(self.given) {
            self.forget(node);
        }
        for node in &mut self.nodes {
            if let Some(gradient) = node.gradient.take() {
                self.buffers.give(gradient);
            }
        }
    }

    fn forget(&mut self, node: Node) {
        let buffers = &mut self.buffers;
        buffers.give(node.value);
        node.gradient.into_iter().for_each(|m| buffers.give(m));
        match node.op {
            Op::Features { dropped: Some(m), .. }
            | Op::CrossEntropy { softmax: m, .. }
            | Op::Dual { gradient: m, .. } => buffers.give(m),
            Op::Attention { saved, .. } => saved.give_back(buffers),
            _ => {}
        }
    }

    pub(crate) fn value(&self, var: &Var) -> &Matrix<f32> {
        &self.nodes[var.0].value
    }

    /// The `k`-th parameter.
    pub(crate) fn parameter(&self, k: usize) -> Var {
        assert!(k < self.parameters, "parameter {k} of {}", self.parameters);
        Var(k)
    }

    /// Calls `f(k, parameter, gradient)` for every parameter that has a gradient.
    pub(crate) fn update(&mut self, mut f: impl FnMut(usize, &mut Matrix<f32>, &Matrix<f32>)) {
        for (k, node) in self.nodes[..self.parameters].iter_mut().enumerate() {
            if let Some(gradient) = &node.gradient {
                f(k, &mut node.value, gradient);
            }
        }
    }

    /// The gradients with respect to the parameters; zeros where nothing depends on one.
    pub(crate) fn gradients(&self) -> Vec<Matrix<f32>> {
        let parameters = self.nodes[..self.parameters].iter();
        parameters
            .map(|node| {
                let zeros = || Matrix::zeros(node.value.rows(), node.value.cols());
                node.gradient.clone().unwrap_or_else(zeros)
            })
            .collect()
    }

    /// The parameters as they are.
    pub(crate) fn parameters(&self) -> Vec<Matrix<f32>> {
        self.nodes[..self.parameters].iter().map(|node| node.value.clone()).collect()
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[Matrix<f32>]) {
        for (node, value) in self.nodes.iter_mut().zip(parameters) {
            node.value.as_mut_slice().copy_from_slice(value.as_slice());
        }
    }

    /// The `k`-th constant.
    pub(crate) fn constant(&self, k: usize) -> Var {
        assert!(self.parameters + k < self.given, "there is no constant {k}");
        Var(self.parameters + k)
    }

    /// The same value once more, for an operation that takes it by value.
    pub(crate) fn again(&mut self, var: &Var) -> Var {
        self.keep(&[var.0]);
        Var(var.0)
    }

    /// X·W for the features X (nodes × features), dropping entries of X.
    pub(crate) fn features_times(&mut self, w: &Var, rate: f64) -> Var {
        let features = self.inputs.features;
        let dropout = self.next_dropout(rate);
        let dropped = dropout.map(|d| features::drop_entries(features, d, &mut self.buffers));
        let weights = &self.nodes[w.0].value;
        let mut out = self.buffers.take(features.rows(), weights.cols());
        features::multiply(features, dropped.as_ref(), weights, &mut out);
        self.push(out, Op::Features { w: w.0, dropped }, &[w.0])
    }

    /// A·B.
    pub(crate) fn multiply(&mut self, a: &Var, b: &Var) -> Var {
        self.keep(&[a.0, b.0]);
        let (rows, cols) = (self.nodes[a.0].value.rows(), self.nodes[b.0].value.cols());
        let mut out = self.buffers.take(rows, cols);
        dense::multiply(&self.nodes[a.0].value, &self.nodes[b.0].value, &mut out);
        self.push(out, Op::Multiply { a: a.0, b: b.0 }, &[a.0, b.0])
    }

    /// Â·x.
    pub(crate) fn propagate(&mut self, x: Var) -> Var {
        let mut out = self.like(x.0);
        self.inputs.adjacency.multiply(&self.nodes[x.0].value, &mut out);
        self.release(x.0);
        self.push(out, Op::Propagate { a: 1.0, x: x.0, c: 0.0, z: None }, &[x.0])
    }

    /// a·Â·x + c·z.
    pub(crate) fn propagate_add(&mut self, a: f32, x: Var, c: f32, z: &Var) -> Var {
        let mut out = self.like(x.0);
        let (of_x, of_z) = (&self.nodes[x.0].value, &self.nodes[z.0].value);
        self.inputs.adjacency.multiply_add(a, of_x, c, of_z, &mut out);
        self.release(x.0);
        self.push(out, Op::Propagate { a, x: x.0, c, z: Some(z.0) }, &[x.0, z.0])
    }

    /// x with a row vector added to every row.
    pub(crate) fn add_bias(&mut self, x: Var, bias: &Var) -> Var {
        let mut out = self.own(x.0);
        elementwise::add_to_rows(&mut out, self.nodes[bias.0].value.as_slice());
        self.push(out, Op::AddBias { x: x.0, bias: bias.0 }, &[x.0, bias.0])
    }

    /// a·x + b·y.
    pub(crate) fn combine(&mut self, a: f32, x: Var, b: f32, y: &Var) -> Var {
        let mut out = self.own(x.0);
        elementwise::combine(a, &mut out, b, &self.nodes[y.0].value);
        self.push(out, Op::Combine { a, x: x.0, b, y: y.0 }, &[x.0, y.0])
    }

    /// max(x, 0).
    pub(crate) fn relu(&mut self, x: Var) -> Var {
        let mut out = self.own(x.0);
        elementwise::relu(&mut out);
        self.push_kept(out, Op::Relu { x: x.0 }, &[x.0])
    }

    /// x above zero, eˣ − 1 below.
    pub(crate) fn elu(&mut self, x: Var) -> Var {
        let mut out = self.own(x.0);
        elementwise::elu(&mut out);
        self.push_kept(out, Op::Elu { x: x.0 }, &[x.0])
    }

    /// Drops entries while training.
    pub(crate) fn dropout(&mut self, x: Var, rate: f64) -> Var {
        let Some(dropout) = self.next_dropout(rate) else { return x };
        let mut out = self.own(x.0);
        elementwise::drop(&mut out, dropout);
        self.push(out, Op::Dropout { x: x.0, dropout }, &[x.0])
    }

    /// Matrices side by side.
    pub(crate) fn concatenate(&mut self, parts: &[Var]) -> Var {
        let places: Vec<usize> = parts.iter().map(|part| part.0).collect();
        let widths: Vec<usize> = parts.iter().map(|part| self.value(part).cols()).collect();
        let rows = self.value(&parts[0]).rows();
        let mut out = self.buffers.take(rows, widths.iter().sum());
        let values: Vec<&Matrix<f32>> = parts.iter().map(|part| self.value(part)).collect();
        elementwise::concatenate(&values, &mut out);
        let parts = places.iter().copied().zip(widths).collect();
        self.push(out, Op::Concatenate { parts }, &places)
    }

    /// The largest of several matrices at every place.
    pub(crate) fn maximum(&mut self, parts: &[Var]) -> Var {
        let places: Vec<usize> = parts.iter().map(|part| part.0).collect();
        let mut out = self.buffers.copy(&self.nodes[places[0]].value);
        for &part in &places[1..] {
            elementwise::maximum(&mut out, &self.nodes[part].value);
        }
        self.keep(&places);
        self.push_kept(out, Op::Maximum { parts: places.clone() }, &places)
    }

    /// Attention over the edges; h is nodes × (heads · width), the vectors 1 × (heads · width).
    pub(crate) fn attention(
        &mut self,
        h: &Var,
        source: &Var,
        target: &Var,
        shape: Shape,
        rate: f64,
    ) -> Var {
        let places = [h.0, source.0, target.0];
        self.keep(&places);
        let dropout = self.next_dropout(rate);
        let (out, saved) = attention_at(&self.nodes, self.inputs, places, shape)
            .forward(dropout, &mut self.buffers);
        self.push(out, Op::Attention { places, shape, saved }, &places)
    }

    /// The mean over some rows of −log softmax(x_row)_class, as a 1 × 1 matrix.
    pub(crate) fn cross_entropy(&mut self, x: &Var, rows: &[u32], classes: &[u32]) -> Var {
        let scores = &self.nodes[x.0].value;
        let mut softmax = self.buffers.take(rows.len(), scores.cols());
        let mut loss = 0.0;
        for (k, (&row, &class)) in rows.iter().zip(classes).enumerate() {
            loss += elementwise::softmax_row(scores.row(row as usize), class, softmax.row_mut(k));
        }
        let mut out = self.buffers.take(1, 1);
        out[(0, 0)] = (loss / rows.len() as f64) as f32;
        let (rows, classes) = (rows.to_vec(), classes.to_vec());
        self.push(out, Op::CrossEntropy { x: x.0, rows, classes, softmax }, &[x.0])
    }

    /// The dual objective ½ tr ΛᵀΛ + ½ λ tr ΛᵀMΛ − tr ΛᵀY, as a 1 × 1 matrix.
    pub(crate) fn dual_objective(
        &mut self,
        multipliers: &Var,
        kernel: &Var,
        lambda: f32,
        targets: &Var,
    ) -> Var {
        let mut gradient = self.like(multipliers.0);
        let value = &self.nodes[multipliers.0].value;
        let targets = &self.nodes[targets.0].value;
        dense::multiply(&self.nodes[kernel.0].value, value, &mut gradient);
        // With the gradient Λ + λMΛ − Y the objective is ½ ⟨Λ, gradient − Y⟩.
        let mut objective = 0.0;
        let entries = gradient.as_mut_slice().iter_mut();
        for ((g, &x), &y) in entries.zip(value.as_slice()).zip(targets.as_slice()) {
            *g = x + lambda * *g - y;
            objective += 0.5 * f64::from(x) * f64::from(*g - y);
        }
        let mut out = self.buffers.take(1, 1);
        out[(0, 0)] = objective as f32;
        let multipliers = multipliers.0;
        self.push(out, Op::Dual { multipliers, gradient }, &[multipliers])
    }

    fn next_dropout(&mut self, rate: f64) -> Option<Dropout> {
        let key = self.key.filter(|_| rate > 0.0)?.part(self.dropouts);
        self.dropouts += 1;
        Some(Dropout::new(rate, key))
    }

    fn like(&mut self, place: usize) -> Matrix<f32> {
        let value = &self.nodes[place].value;
        self.buffers.take(value.rows(), value.cols())
    }

    /// The value at a place, to be written over: its own memory, or a copy where it is kept.
    fn own(&mut self, place: usize) -> Matrix<f32> {
        let node = &mut self.nodes[place];
        if node.kept { self.buffers.copy(&node.value) } else { std::mem::take(&mut node.value) }
    }

    /// Gives the memory of a value back that nobody reads any more.
    fn release(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        if !node.kept {
            self.buffers.give(std::mem::take(&mut node.value));
        }
    }

    fn keep(&mut self, places: &[usize]) {
        places.iter().for_each(|&place| self.nodes[place].kept = true);
    }

    fn push(&mut self, value: Matrix<f32>, op: Op, from: &[usize]) -> Var {
        let depends = from.iter().any(|&place| self.nodes[place].depends);
        self.nodes.push(Node { value, gradient: None, op, depends, kept: false });
        Var(self.nodes.len() - 1)
    }

    /// As [`Tape::push`], for an operation whose way back reads its own result.
    fn push_kept(&mut self, value: Matrix<f32>, op: Op, from: &[usize]) -> Var {
        let var = self.push(value, op, from);
        self.keep(&[var.0]);
        var
    }
}

fn attention_at<'n>(
    nodes: &'n [Node],
    inputs: &'n Inputs<'_>,
    [h, source, target]: [usize; 3],
    shape: Shape,
) -> Attention<'n> {
    let [h, a_source, a_target] = [h, source, target].map(|place| &nodes[place].value);
    Attention { edges: inputs.edges(), shape, h, a_source, a_target }
}

#[cfg(test)]
pub(crate) mod tests;
