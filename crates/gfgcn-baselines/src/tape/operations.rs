//! The operations: each computes its value and notes what the backward pass needs.

use super::attention::{Attention, Shape};
use super::{Inputs, Node, Op, Tape, Var, dense, elementwise, features};
use gfgcn::matrix::Matrix;

impl Tape<'_> {
    /// X·W for the features X (nodes × features), dropping entries of X.
    pub(crate) fn features_times(&mut self, w: &Var, rate: f64) -> Var {
        let (features, rows) = (self.inputs.reach.features(), self.rows());
        let dropout = self.next_dropout(rate);
        let dropped = dropout.map(|d| features::drop_entries(features, rows, d, &mut self.buffers));
        let weights = &self.nodes[w.0].value;
        let mut out = self.buffers.take(rows, weights.cols());
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
        let rows = self.rows_after_a_step();
        let mut out = self.buffers.take(rows, self.value(&x).cols());
        self.inputs.adjacency.multiply_first(&self.nodes[x.0].value, &mut out);
        self.release(x.0);
        self.push(out, Op::Propagate { a: 1.0, x: x.0, c: 0.0, z: None }, &[x.0])
    }

    /// a·Â·x + c·z.
    pub(crate) fn propagate_add(&mut self, a: f32, x: Var, c: f32, z: &Var) -> Var {
        let rows = self.rows_after_a_step();
        let mut out = self.buffers.take(rows, self.value(&x).cols());
        let (of_x, of_z) = (&self.nodes[x.0].value, &self.nodes[z.0].value);
        self.inputs.adjacency.multiply_add_first(a, of_x, c, of_z, &mut out);
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
        elementwise::combine(a, out.as_mut_slice(), b, self.nodes[y.0].value.as_slice());
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

    /// Matrices side by side, as many rows as all of them have.
    pub(crate) fn concatenate(&mut self, parts: &[Var]) -> Var {
        let places: Vec<usize> = parts.iter().map(|part| part.0).collect();
        let widths: Vec<usize> = parts.iter().map(|part| self.value(part).cols()).collect();
        let rows = self.common_rows(&places);
        let mut out = self.buffers.take(rows, widths.iter().sum());
        let values: Vec<&Matrix<f32>> = parts.iter().map(|part| self.value(part)).collect();
        elementwise::concatenate(&values, &mut out);
        let parts = places.iter().copied().zip(widths).collect();
        self.push(out, Op::Concatenate { parts }, &places)
    }

    /// The largest of several matrices at every place, as many rows as all of them have.
    pub(crate) fn maximum(&mut self, parts: &[Var]) -> Var {
        let places: Vec<usize> = parts.iter().map(|part| part.0).collect();
        let rows = self.common_rows(&places);
        let mut out = self.buffers.copy_rows(&self.nodes[places[0]].value, rows);
        for &part in &places[1..] {
            elementwise::maximum(&mut out, &self.nodes[part].value);
        }
        self.keep(&places);
        self.push_kept(out, Op::Maximum { parts: places.clone() }, &places)
    }

    /// Attention over the edges; h is nodes × columns, the vectors are 1 × columns, with `width` groups of one per head.
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
        let rows = self.rows_after_a_step();
        let (out, saved) = attention_at(&self.nodes, self.inputs, places, shape).forward(
            rows,
            dropout,
            &mut self.buffers,
        );
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

    fn common_rows(&self, places: &[usize]) -> usize {
        places.iter().map(|&place| self.nodes[place].rows).min().unwrap_or(0)
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
}

/// The attention of h, a_source and a_target at some places.
pub(super) fn attention_at<'n>(
    nodes: &'n [Node],
    inputs: &'n Inputs<'_>,
    [h, source, target]: [usize; 3],
    shape: Shape,
) -> Attention<'n> {
    let [h, a_source, a_target] = [h, source, target].map(|place| &nodes[place].value);
    Attention { edges: inputs.reach.edges(), shape, h, a_source, a_target }
}
