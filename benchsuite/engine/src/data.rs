//! The graphs and splits that all contestants share.

use anyhow::{Context, Result};
use gfgcn::data::Dataset;
use gfgcn::features::Features;
use gfgcn::matrix::Matrix;
use gfgcn::split::{Ratio, Split};
use gfgcn_data::npz;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// As many as in the paper.
const SPLITS: u64 = 20;

/// A split in the file that peers read as well.
#[derive(Serialize, Deserialize)]
struct Parts {
    train: Vec<usize>,
    validation: Vec<usize>,
    test: Vec<usize>,
}

/// Writes a dataset as the contestants are to see it.
pub(crate) fn export(
    input: &Path,
    output: &Path,
    largest_component: bool,
    columns: Option<usize>,
    splits: Option<&Path>,
) -> Result<()> {
    let mut data = read(input)?;
    if largest_component {
        data = data.largest_component();
    }
    if let Some(columns) = columns {
        data = first_columns(&data, columns)?;
    }
    npz::write(&data, output, true)?;
    let Some(path) = splits else { return Ok(()) };
    let parts = (0..SPLITS)
        .map(|seed| {
            let split = Split::stratified(data.labels(), Ratio::PAPER, seed)?;
            Ok(Parts {
                train: split.train().to_vec(),
                validation: split.validation().to_vec(),
                test: split.test().to_vec(),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    fs::write(path, serde_json::to_vec(&parts)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

fn first_columns(data: &Dataset, columns: usize) -> Result<Dataset> {
    let kept: Vec<Option<u32>> =
        (0..data.features().cols()).map(|j| (j < columns).then_some(j as u32)).collect();
    let features = data.features().map_columns(&kept, columns.min(kept.len()));
    Ok(Dataset::new(data.name(), data.graph().clone(), features, data.labels().clone())?)
}

/// Reads an archive.
pub(crate) fn read(path: &Path) -> Result<Dataset> {
    Ok(npz::read(path, &path.display().to_string(), &gfgcn::context::Context::default())?)
}

/// Reads the splits that [`export`] wrote.
pub(crate) fn read_splits(path: &Path, data: &Dataset) -> Result<Vec<Split>> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parts: Vec<Parts> = serde_json::from_slice(&text)?;
    let split = |p: Parts| Ok(Split::new(data.nodes(), p.train, p.validation, p.test)?);
    parts.into_iter().map(split).collect()
}

/// The features with every zero written out.
pub(crate) fn dense(features: &Features) -> Matrix<f32> {
    let mut out = Matrix::zeros(features.rows(), features.cols());
    for node in 0..features.rows() {
        let row = out.row_mut(node);
        features.for_each_in_row(node, |column, value| row[column] = value);
    }
    out
}

/// A number that equal matrices share, whatever program computed them: the Frobenius norm, with
/// weights 1, 2, 3 in turn so that exchanged rows or columns are noticed.
pub(crate) fn norm<T: Copy + Into<f64>>(matrix: &[T], cols: usize) -> f64 {
    let rows = matrix.chunks(cols.max(1)).enumerate();
    let squares = rows.map(|(i, row)| {
        let weighted = row.iter().enumerate().map(|(j, &value)| {
            let value: f64 = value.into();
            ((i + j) % 3 + 1) as f64 * value * value
        });
        weighted.sum::<f64>()
    });
    squares.sum::<f64>().sqrt()
}
