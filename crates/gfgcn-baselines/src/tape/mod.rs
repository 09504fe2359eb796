//! A tape of operations on matrices, and the backward pass along it.
//!
//! Networks call the operations in order; each computes its value and notes what the backward pass needs.
//! [`Tape::backward`] then walks the notes in reverse. The parameters lie at the start of the tape and
//! stay there; [`Tape::rewind`] forgets the rest and keeps its memory for the next epoch.
//!
//! A [`Var`] is a place on the tape. Operations that take it by value may write over it: ownership
//! says that nobody reads it afterwards. Only where the backward pass needs the old value is it copied.

mod attention;
mod backward;
mod buffers;
mod dense;
mod edges;
mod elementwise;
mod features;
mod operations;
mod parallel;

pub(crate) use attention::Shape;
pub(crate) use edges::Edges;

use crate::random::{Dropout, Key};
use crate::reach::Reach;
use attention::Saved;
use buffers::Buffers;
use gfgcn::graph::{Adjacency, Operator};
use gfgcn::matrix::Matrix;

/// A value on the tape.
#[derive(Debug)]
pub(crate) struct Var(usize);

/// What every network reads: the features and the graph.
pub(crate) struct Inputs<'a> {
    reach: &'a Reach<'a>,
    adjacency: Adjacency<'a>,
    transposed: Adjacency<'a>,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(reach: &'a Reach<'a>, operator: &Operator) -> gfgcn::Result<Self> {
        let adjacency = reach.graph().adjacency(operator)?;
        let transposed = reach.graph().transposed_adjacency(operator)?;
        Ok(Inputs { reach, adjacency, transposed })
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
    /// Of the value, which may be gone.
    rows: usize,
    gradient: Option<Matrix<f32>>,
    op: Op,
    /// Whether a parameter is behind it.
    depends: bool,
    /// Whether the backward pass reads its value, so that it must stay as it is.
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
    /// Steps over the graph that follow, where only what the loss depends on is computed.
    steps: Option<usize>,
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
            rows: value.rows(),
            value,
            gradient: None,
            op: Op::Given,
            depends: k < count,
            kept: true,
        });
        let nodes: Vec<Node> = nodes.collect();
        let given = nodes.len();
        let buffers = Buffers::default();
        Tape {
            inputs,
            nodes,
            parameters: count,
            given,
            buffers,
            key: None,
            dropouts: 0,
            steps: None,
        }
    }

    /// Forgets everything but parameters and constants. With a key, dropouts drop. With a number of steps over the
    /// graph that are about to be taken, only rows that matter for those of the loss are computed.
    pub(crate) fn rewind(&mut self, key: Option<Key>, steps: Option<usize>) {
        (self.key, self.dropouts, self.steps) = (key, 0, steps);
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

    fn next_dropout(&mut self, rate: f64) -> Option<Dropout> {
        let key = self.key.filter(|_| rate > 0.0)?.part(self.dropouts);
        self.dropouts += 1;
        Some(Dropout::new(rate, key))
    }

    /// How many rows of what comes next are needed.
    fn rows(&self) -> usize {
        let reach = self.inputs.reach;
        self.steps.map_or(reach.graph().nodes(), |steps| reach.rows(steps))
    }

    /// As [`Tape::rows`], after one more step over the graph.
    fn rows_after_a_step(&mut self) -> usize {
        if let Some(steps) = &mut self.steps {
            *steps = steps.checked_sub(1).expect("no more steps than were announced");
        }
        self.rows()
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
        let rows = value.rows();
        self.nodes.push(Node { value, rows, gradient: None, op, depends, kept: false });
        Var(self.nodes.len() - 1)
    }

    /// As [`Tape::push`], for an operation whose backward pass reads its own result.
    fn push_kept(&mut self, value: Matrix<f32>, op: Op, from: &[usize]) -> Var {
        let var = self.push(value, op, from);
        self.keep(&[var.0]);
        var
    }
}

#[cfg(test)]
pub(crate) mod tests;
