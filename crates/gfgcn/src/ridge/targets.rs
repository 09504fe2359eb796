//! Classes as regression targets, and scores as classes.

use crate::matrix::Matrix;

/// The target matrix Y of some training nodes.
///
/// Three classes or more: one column each, 1 for the node's class and 0 elsewhere. Two classes: one
/// column, −1 and +1. One class: one column of ones.
#[derive(Clone, Debug)]
pub struct Targets {
    matrix: Matrix<f64>,
    of_node: Vec<u32>,
}

impl Targets {
    /// Encodes the classes of some nodes; one that is not below `classes` has no column.
    pub fn encode(of_node: Vec<u32>, classes: usize) -> Self {
        let matrix = Matrix::from_fn(of_node.len(), columns(classes), |i, j| match classes {
            1 => 1.0,
            2 => {
                if of_node[i] == 1 {
                    1.0
                } else {
                    -1.0
                }
            }
            _ => f64::from(of_node[i] as usize == j),
        });
        Targets { matrix, of_node }
    }

    /// Y.
    pub fn matrix(&self) -> &Matrix<f64> {
        &self.matrix
    }

    /// The classes of the training nodes.
    pub fn classes(&self) -> &[u32] {
        &self.of_node
    }
}

/// The number of target columns.
pub(crate) fn columns(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

/// The class that scores stand for: with one column for two classes, as in [`Targets`], its sign; with one
/// per class the largest, the first of equals.
pub fn decode(values: &[f64], classes: usize) -> u32 {
    if classes == 2 && values.len() == 1 {
        return u32::from(values[0] > 0.0);
    }
    let mut best = 0;
    for (class, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = class;
        }
    }
    best as u32
}
