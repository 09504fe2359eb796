//! What is known of the nodes, from arrays.

use gfgcn::data::{LabelSets, Labels, Targets, Values};
use gfgcn::matrix::Matrix;
use gfgcn::{Error, Result};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Targets, which the type of their array tells apart, and the names of classes, labels or columns.
#[derive(FromPyObject)]
pub(crate) enum GivenTargets<'py> {
    /// The class of each node, a position among the names, or -1.
    Classes((PyReadonlyArray1<'py, i64>, Vec<String>)),
    /// Nodes × labels: 1 for those that a node has, 0 for the others, a row with -1 in it for what is not known.
    Sets((PyReadonlyArray2<'py, i8>, Vec<String>)),
    /// Nodes × columns: values, a row of NaN for what is not known.
    Values((PyReadonlyArray2<'py, f64>, Vec<String>)),
}

impl GivenTargets<'_> {
    pub(crate) fn targets(&self) -> Result<Targets> {
        match self {
            GivenTargets::Classes((codes, names)) => {
                Ok(Labels::from_ids(&codes.as_array().to_vec(), Some(names))?.into())
            }
            GivenTargets::Sets((matrix, names)) => {
                let matrix = matrix.as_array();
                Error::check_size("names of labels", matrix.ncols(), names.len())?;
                let sets: Vec<Option<Vec<&str>>> = (0..matrix.nrows())
                    .map(|node| {
                        let row = matrix.row(node);
                        let known = row.iter().all(|&entry| entry >= 0);
                        let own = row.iter().zip(names).filter(|(entry, _)| **entry == 1);
                        known.then(|| own.map(|(_, name)| name.as_str()).collect())
                    })
                    .collect();
                Ok(LabelSets::from_names(&sets).into())
            }
            GivenTargets::Values((matrix, names)) => {
                let matrix = matrix.as_array();
                let values = matrix.iter().copied().collect();
                let matrix = Matrix::from_rows(matrix.nrows(), matrix.ncols(), values)?;
                Ok(Values::new(names.clone(), matrix)?.into())
            }
        }
    }
}
