//! The graph and the features as matrices, in compressed rows or dense.

use super::{Members, check_dimensions, named};
use crate::edges::build_rows;
use crate::limits::justify_nodes;
use crate::reading::Reading;
use gfgcn::features::Features;
use gfgcn::graph::{Graph, MAX_NODES, Repairs};
use gfgcn::matrix::{Matrix, SparseMatrix, check_offsets, repeated_entries};
use gfgcn::{Error, Result};
use rayon::prelude::*;
use std::io::{Read, Seek};

/// A matrix as it stands in the archive.
pub(super) enum RawMatrix {
    Sparse { shape: [usize; 2], offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f32> },
    Dense(Matrix<f32>),
}

impl RawMatrix {
    /// The graph; of a directed one, row i is for the edges that start at node i.
    pub(super) fn into_graph(self, directed: bool, reading: &Reading) -> Result<(Graph, Repairs)> {
        match self {
            RawMatrix::Sparse { shape, offsets, indices, values } => {
                check_square(shape[0], shape[1])?;
                let weighted = values.par_iter().with_min_len(1 << 14).any(|&w| w != 1.0);
                let weights = weighted.then_some(values);
                if directed {
                    return build_rows(&offsets, &indices, weights.as_deref(), true, reading);
                }
                // Arrays that need no repair are the graph's from here on.
                let (nodes, entries) = (shape[0], indices.len());
                let offsets: Vec<u64> =
                    offsets.into_par_iter().map(|offset| offset as u64).collect();
                reading.building(entries, nodes, || {
                    let weights = weights.map(Into::into);
                    Graph::from_buffers(offsets.into(), indices.into(), weights)
                })
            }
            RawMatrix::Dense(m) => {
                check_square(m.rows(), m.cols())?;
                let entries = m.as_slice().iter().filter(|&&value| value != 0.0).count();
                reading.hold(2 * (8 * entries as u64 + 8 * m.rows() as u64))?;
                let (mut offsets, mut indices, mut weights) = (vec![0], Vec::new(), Vec::new());
                for i in 0..m.rows() {
                    for (j, &value) in m.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        indices.push(j as u32);
                        weights.push(value);
                    }
                    offsets.push(indices.len());
                }
                build_rows(&offsets, &indices, Some(&weights), directed, reading)
            }
        }
    }

    /// The features, and how many entries were repeated and added up.
    pub(super) fn into_features(self, reading: &Reading) -> Result<(Features, usize)> {
        match self {
            RawMatrix::Sparse { shape, offsets, indices, values } => {
                reading.hold(8 * (indices.len() + offsets.len()) as u64)?;
                let matrix = SparseMatrix::from_csr(shape[1], &offsets, &indices, &values)?;
                let repeats = match indices.len() - matrix.nnz() {
                    0 => 0,
                    _ => repeated_entries(&offsets, &indices),
                };
                Ok((Features::sparse(matrix)?, repeats))
            }
            RawMatrix::Dense(m) => Ok((Features::dense(m)?, 0)),
        }
    }
}

fn check_square(rows: usize, cols: usize) -> Result<()> {
    if rows == cols {
        Ok(())
    } else {
        Err(Error::Format(format!("the adjacency is {rows} × {cols}, but must be square")))
    }
}

impl<R: Read + Seek> Members<R> {
    /// What is built from a matrix; errors name it.
    pub(super) fn matrix<T>(
        &mut self,
        prefix: &str,
        what: &str,
        build: impl FnOnce(RawMatrix, &Reading) -> Result<T>,
    ) -> Result<T> {
        build(self.raw_matrix(prefix, what)?, &self.reading)
            .map_err(|error| named(&format!("{what} (members {prefix}…)"), error))
    }

    /// A matrix under `PREFIX_data`, … , `PREFIX_matrix.data`, … or, dense, `PREFIX_matrix`.
    fn raw_matrix(&mut self, prefix: &str, what: &str) -> Result<RawMatrix> {
        for stem in [format!("{prefix}_"), format!("{prefix}_matrix."), format!("{prefix}.")] {
            if self.archive.names().contains(&format!("{stem}indptr")) {
                return self.sparse(&stem);
            }
        }
        let dense = self.with(&format!("{prefix}_matrix"), size_of::<f32>(), |array| {
            check_dimensions(array, 2)?;
            Matrix::from_rows(array.shape()[0], array.shape()[1], array.floats()?)
        })?;
        dense.map(RawMatrix::Dense).ok_or_else(|| {
            Error::Format(format!(
                "{what} cannot be found: neither {prefix}_data, {prefix}_indices, {prefix}_indptr, \
                 {prefix}_shape nor {prefix}_matrix (nor edges, node_features, node_labels); members are {}. A matrix \
                 alone is read as MatrixMarket (scipy.io.mmwrite), edges alone as .npy",
                self.archive.names().join(", ")
            ))
        })
    }

    /// Whether any member is a part of the features.
    pub(super) fn has_features(&self) -> bool {
        let names = self.archive.names().iter();
        let mut rest = names.filter_map(|name| name.strip_prefix("attr"));
        rest.any(|rest| rest.starts_with(['_', '.']) && rest != "_names")
    }

    fn sparse(&mut self, stem: &str) -> Result<RawMatrix> {
        let missing = |part: &str| Error::Format(format!("member {stem}{part} is missing"));
        let length = self.archive.length();
        let mut index = |part: &str| -> Result<Vec<i64>> {
            self.integers(&format!("{stem}{part}"), None)?.ok_or_else(|| missing(part))
        };
        let shape = index("shape")?;
        let [rows, cols] = shape[..] else {
            return Err(Error::Format(format!("member {stem}shape has {} entries", shape.len())));
        };
        let convert = |part: &str, values: Vec<i64>| -> Result<Vec<usize>> {
            if let Some(k) = values.par_iter().position_first(|&value| value < 0) {
                let value = values[k];
                let problem = format!("member {stem}{part}: entry {k} is {value}, below 0");
                return Err(Error::Format(problem));
            }
            Ok(values.into_par_iter().map(|value| value as usize).collect())
        };
        let shape = convert("shape", vec![rows, cols])?;
        let offsets = convert("indptr", index("indptr")?)?;
        let rows_found = offsets.len().saturating_sub(1);
        Error::check_size(format!("rows by {stem}indptr (its length − 1)"), shape[0], rows_found)?;
        if !justify_nodes(length, shape[0] as u64) {
            return Err(Error::Format(format!(
                "member {stem}shape: {rows} rows are far more than the {length} bytes of the \
                 archive are about; if they are meant, save it uncompressed"
            )));
        }
        let indices = convert("indices", index("indices")?)?;
        if let Some(k) = indices.par_iter().position_first(|&value| value >= MAX_NODES) {
            let value = indices[k];
            return Err(Error::Format(format!(
                "member {stem}indices: entry {k} is {value}, which does not fit 32 bits"
            )));
        }
        let indices: Vec<u32> = indices.into_par_iter().map(|column| column as u32).collect();
        self.reading.release((size_of::<u32>() * indices.len()) as u64);
        let values = self
            .with(&format!("{stem}data"), size_of::<f32>(), |array| {
                check_dimensions(array, 1)?;
                array.floats()
            })?
            .ok_or_else(|| missing("data"))?;
        check_offsets(&offsets, indices.len())
            .map_err(|error| Error::Format(format!("member {stem}indptr: {error}")))?;
        let what = format!("entries of {stem}data (one per entry of {stem}indices)");
        Error::check_size(what, indices.len(), values.len())?;
        Ok(RawMatrix::Sparse { shape: [shape[0], shape[1]], offsets, indices, values })
    }
}
