//! The graph and the features as matrices, in compressed rows or dense.

use super::{Members, named};
use crate::edges::build_rows;
use crate::limits::justify_nodes;
use crate::npy::Natural;
use crate::reading::Reading;
use gfgcn::buffer::Buffer;
use gfgcn::features::Features;
use gfgcn::graph::{Graph, MAX_NODES, Repairs};
use gfgcn::matrix::{Matrix, SparseMatrix, check_offsets, repeated_entries};
use gfgcn::{Error, Result};
use rayon::prelude::*;

/// A matrix as it stands in the archive.
pub(super) enum RawMatrix {
    Sparse { shape: [usize; 2], offsets: Buffer<u64>, indices: Buffer<u32>, values: Buffer<f32> },
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
                    return build_rows(
                        &places(&offsets),
                        &indices,
                        weights.as_deref(),
                        true,
                        reading,
                    );
                }
                // Arrays that need no repair are the graph's from here on.
                let (nodes, entries) = (shape[0], indices.len());
                reading.building(entries, nodes, || Graph::from_buffers(offsets, indices, weights))
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
                reading.hold(8 * (indices.len() + 2 * offsets.len()) as u64)?;
                let offsets = places(&offsets);
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

/// Offsets of rows as places in memory.
fn places(offsets: &[u64]) -> Vec<usize> {
    offsets.iter().map(|&offset| offset as usize).collect()
}

fn check_square(rows: usize, cols: usize) -> Result<()> {
    if rows == cols {
        Ok(())
    } else {
        Err(Error::Format(format!("the adjacency is {rows} × {cols}, but must be square")))
    }
}

impl Members<'_> {
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
        match self.buffer(&format!("{prefix}_matrix"), 2, |array| array.float_buffer())? {
            Some((shape, values)) => {
                Matrix::from_buffer(shape[0], shape[1], values).map(RawMatrix::Dense)
            }
            None => Err(Error::Format(format!(
                "{what} cannot be found: neither {prefix}_data, {prefix}_indices, {prefix}_indptr, \
                 {prefix}_shape nor {prefix}_matrix (nor edges, node_features, node_labels); members are {}. A matrix \
                 alone is read as MatrixMarket (scipy.io.mmwrite), edges alone as .npy",
                self.archive.names().join(", ")
            ))),
        }
    }

    /// Whether any member is a part of the features.
    pub(super) fn has_features(&self) -> bool {
        let names = self.archive.names().iter();
        let mut rest = names.filter_map(|name| name.strip_prefix("attr"));
        rest.any(|rest| rest.starts_with(['_', '.']) && rest != "_names")
    }

    fn sparse(&mut self, stem: &str) -> Result<RawMatrix> {
        let missing = |part: &str| Error::Format(format!("member {stem}{part} is missing"));
        let member = |part: &str| format!("{stem}{part}");
        let shape = self.naturals(&member("shape"), u64::MAX)?.ok_or_else(|| missing("shape"))?;
        let [rows, cols] = shape[..] else {
            return Err(Error::Format(format!("member {stem}shape has {} entries", shape.len())));
        };
        let offsets =
            self.naturals(&member("indptr"), u64::MAX)?.ok_or_else(|| missing("indptr"))?;
        let rows_found = offsets.len().saturating_sub(1);
        let what = format!("rows by {stem}indptr (its length − 1)");
        Error::check_size(what, rows as usize, rows_found)?;
        let length = self.archive.length();
        if !justify_nodes(length, rows) {
            return Err(Error::Format(format!(
                "member {stem}shape: {rows} rows are far more than the {length} bytes of the \
                 archive are about; if they are meant, save it uncompressed"
            )));
        }
        let largest = MAX_NODES as u32 - 1;
        let indices =
            self.naturals(&member("indices"), largest)?.ok_or_else(|| missing("indices"))?;
        let values = self.buffer(&member("data"), 1, |array| array.float_buffer())?;
        let (_, values) = values.ok_or_else(|| missing("data"))?;
        check_offsets(&offsets, indices.len())
            .map_err(|error| Error::Format(format!("member {stem}indptr: {error}")))?;
        let what = format!("entries of {stem}data (one per entry of {stem}indices)");
        Error::check_size(what, indices.len(), values.len())?;
        Ok(RawMatrix::Sparse { shape: [rows as usize, cols as usize], offsets, indices, values })
    }

    /// Integers from 0 to `largest`, if the member is there.
    fn naturals<T: Natural>(&mut self, name: &str, largest: T) -> Result<Option<Buffer<T>>> {
        let reading = self.reading.clone();
        let found = self.buffer(name, 1, |array| match array.naturals(largest)? {
            Some(naturals) => Ok(naturals),
            None => reading.holding((size_of::<i64>() * array.len()) as u64, || {
                checked(&array.integers(None)?, largest.into())
            }),
        });
        Ok(found?.map(|(_, naturals)| naturals))
    }
}

/// Integers from 0 to `largest`; errors name the first other one.
fn checked<T: Natural>(values: &[i64], largest: u64) -> Result<Buffer<T>> {
    let natural = |(k, &value): (usize, &i64)| match u64::try_from(value) {
        Ok(natural) if natural <= largest => Ok(T::truncated(natural)),
        Ok(_) => Err(Error::Format(format!("entry {k} is {value}, which does not fit 32 bits"))),
        Err(_) => Err(Error::Format(format!("entry {k} is {value}, below 0"))),
    };
    values.iter().enumerate().map(natural).collect()
}
