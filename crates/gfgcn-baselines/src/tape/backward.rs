//! The backward pass: from the gradient of a value to those of what it was made of.

use super::buffers::Buffers;
use super::operations::attention_at;
use super::parallel::sum_over_rows;
use super::{Op, Tape, Var, dense, elementwise, features};
use gfgcn::matrix::Matrix;

impl Tape<'_> {
    /// Finds the gradients of a 1 × 1 value with respect to the parameters.
    pub(crate) fn backward(&mut self, of: &Var) {
        let mut one = self.buffers.take(1, 1);
        one[(0, 0)] = 1.0;
        self.add_gradient(of.0, one);
        for place in (self.given..=of.0).rev() {
            if let Some(gradient) = self.nodes[place].gradient.take() {
                self.step_back(place, gradient);
            }
        }
    }

    fn step_back(&mut self, place: usize, mut gradient: Matrix<f32>) {
        // Taken out, so that the rest of the tape can be written to.
        let op = std::mem::replace(&mut self.nodes[place].op, Op::Given);
        match &op {
            Op::Given => self.buffers.give(gradient),
            Op::Features { w, dropped } => {
                let mut of_w = self.like(*w);
                let x = self.inputs.reach.features();
                let buffers = &mut self.buffers;
                features::multiply_transposed(x, dropped.as_ref(), &gradient, &mut of_w, buffers);
                self.buffers.give(gradient);
                self.add_gradient(*w, of_w);
            }
            &Op::Multiply { a, b } => {
                if self.nodes[a].depends {
                    let mut of_a = self.like(a);
                    dense::multiply_by_transposed(&gradient, &self.nodes[b].value, &mut of_a);
                    self.add_gradient(a, of_a);
                }
                if self.nodes[b].depends {
                    let mut of_b = self.like(b);
                    let (value, buffers) = (&self.nodes[a].value, &mut self.buffers);
                    dense::multiply_transposed(value, &gradient, &mut of_b, buffers);
                    self.add_gradient(b, of_b);
                }
                self.buffers.give(gradient);
            }
            &Op::Propagate { a, x, c, z } => {
                let mut of_x = self.buffers.take(self.nodes[x].rows, gradient.cols());
                self.inputs.transposed.multiply_first(&gradient, &mut of_x);
                if a != 1.0 {
                    elementwise::scale(a, &mut of_x);
                }
                self.add_gradient(x, of_x);
                match z.filter(|&z| self.nodes[z].depends) {
                    Some(z) => self.add_scaled_gradient(z, c, gradient),
                    None => self.buffers.give(gradient),
                }
            }
            &Op::AddBias { x, bias } => {
                let mut of_bias = self.buffers.take(1, gradient.cols());
                sum_of_rows(&gradient, &mut of_bias, &mut self.buffers);
                self.add_gradient(bias, of_bias);
                self.add_gradient(x, gradient);
            }
            &Op::Combine { a, x, b, y } => {
                if self.nodes[y].depends {
                    let copy = self.buffers.copy(&gradient);
                    self.add_scaled_gradient(y, b, copy);
                }
                self.add_scaled_gradient(x, a, gradient);
            }
            &Op::Relu { x } => {
                elementwise::relu_back(&mut gradient, &self.nodes[place].value);
                self.add_gradient(x, gradient);
            }
            &Op::Elu { x } => {
                elementwise::elu_back(&mut gradient, &self.nodes[place].value);
                self.add_gradient(x, gradient);
            }
            &Op::Dropout { x, dropout } => {
                elementwise::drop(&mut gradient, dropout);
                self.add_gradient(x, gradient);
            }
            Op::Concatenate { parts } => {
                let mut start = 0;
                for &(part, width) in parts {
                    let mut of_part = self.buffers.take(gradient.rows(), width);
                    elementwise::columns_from(start, &gradient, &mut of_part);
                    self.add_gradient(part, of_part);
                    start += width;
                }
                self.buffers.give(gradient);
            }
            Op::Maximum { parts } => self.maximum_back(place, parts, gradient),
            Op::Attention { places, shape, saved } => {
                let layer = attention_at(&self.nodes, self.inputs, *places, *shape);
                let gradients = layer.backward(saved, &gradient, &mut self.buffers);
                self.buffers.give(gradient);
                let [h, source, target] = *places;
                self.add_gradient(h, gradients.h);
                self.add_gradient(source, gradients.a_source);
                self.add_gradient(target, gradients.a_target);
            }
            Op::CrossEntropy { x, rows, classes, softmax } => {
                let factor = gradient[(0, 0)] / rows.len() as f32;
                self.buffers.give(gradient);
                let mut of_x = self.like(*x);
                of_x.as_mut_slice().fill(0.0);
                for (k, (&row, &class)) in rows.iter().zip(classes).enumerate() {
                    let out = of_x.row_mut(row as usize);
                    for (out, p) in out.iter_mut().zip(softmax.row(k)) {
                        *out += factor * p;
                    }
                    out[class as usize] -= factor;
                }
                self.add_gradient(*x, of_x);
            }
            Op::Dual { multipliers, gradient: of_multipliers } => {
                let copy = self.buffers.copy(of_multipliers);
                self.add_scaled_gradient(*multipliers, gradient[(0, 0)], copy);
                self.buffers.give(gradient);
            }
        }
        self.nodes[place].op = op;
    }

    /// At every place the gradient goes to the first of the largest.
    fn maximum_back(&mut self, place: usize, parts: &[usize], mut gradient: Matrix<f32>) {
        for &part in parts {
            let mut of_part = self.buffers.copy(&gradient);
            let (value, largest) = (&self.nodes[part].value, &self.nodes[place].value);
            let entries = value.as_slice().iter().zip(largest.as_slice());
            let gradients = of_part.as_mut_slice().iter_mut().zip(gradient.as_mut_slice());
            for ((value, largest), (of_part, rest)) in entries.zip(gradients) {
                // What one part took is gone for the others.
                *(if value == largest { rest } else { of_part }) = 0.0;
            }
            self.add_gradient(part, of_part);
        }
        self.buffers.give(gradient);
    }

    /// Adds to the gradient of a value, of whose first rows it may be.
    fn add_gradient(&mut self, place: usize, gradient: Matrix<f32>) {
        let node = &mut self.nodes[place];
        if !node.depends {
            return self.buffers.give(gradient);
        }
        match &mut node.gradient {
            Some(sum) => {
                let sum = &mut sum.as_mut_slice()[..gradient.as_slice().len()];
                elementwise::combine(1.0, sum, 1.0, gradient.as_slice());
                self.buffers.give(gradient);
            }
            None if gradient.rows() < node.rows => {
                let mut padded = self.buffers.take(node.rows, gradient.cols());
                let (first, rest) = padded.as_mut_slice().split_at_mut(gradient.as_slice().len());
                first.copy_from_slice(gradient.as_slice());
                rest.fill(0.0);
                self.buffers.give(gradient);
                node.gradient = Some(padded);
            }
            None => node.gradient = Some(gradient),
        }
    }

    fn add_scaled_gradient(&mut self, place: usize, factor: f32, mut gradient: Matrix<f32>) {
        let node = &mut self.nodes[place];
        match &mut node.gradient {
            Some(sum) if node.depends => {
                let sum = &mut sum.as_mut_slice()[..gradient.as_slice().len()];
                elementwise::combine(1.0, sum, factor, gradient.as_slice());
                self.buffers.give(gradient);
            }
            _ => {
                if factor != 1.0 {
                    elementwise::scale(factor, &mut gradient);
                }
                self.add_gradient(place, gradient);
            }
        }
    }
}

fn sum_of_rows(m: &Matrix<f32>, out: &mut Matrix<f32>, buffers: &mut Buffers) {
    sum_over_rows(
        out,
        m.rows(),
        m.as_slice().len(),
        buffers,
        #[inline(always)]
        |rows, sum| {
            for row in rows {
                sum.iter_mut().zip(m.row(row)).for_each(|(sum, x)| *sum += x);
            }
        },
    );
}
