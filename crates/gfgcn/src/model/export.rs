//! Predictions as a file: a table, or an archive of arrays.

use super::Predictions;
use crate::data::{Column, Dataset, check_table_name, npz, write_table};
use crate::error::{Error, Result};
use std::path::Path;

impl Predictions {
    /// Checks that [`Predictions::write`] would know the format, before anything is computed.
    pub fn check_file_name(path: &Path) -> Result<()> {
        if is_archive(path) || check_table_name(path).is_ok() {
            return Ok(());
        }
        Err(Error::Data(
            "has an ending that says no format; predictions are written as .csv, .tsv (each also \
             .gz), .parquet or .npz"
                .into(),
        )
        .in_file(path))
    }

    /// Writes the given nodes of the dataset that was predicted.
    ///
    /// A table (`.csv`, `.tsv`, `.parquet`) has the columns `id`, `label` and `score_CLASS` for each
    /// class. An archive (`.npz`) has the arrays `id`, `label` (text), `label_id` (positions in
    /// `class_names`), `scores` (nodes × classes) and `class_names`.
    pub fn write(
        &self,
        path: &Path,
        overwrite: bool,
        dataset: &Dataset,
        nodes: &[usize],
    ) -> Result<()> {
        Self::check_file_name(path)?;
        if is_archive(path) {
            return npz::write_predictions(self, path, overwrite, dataset, nodes);
        }
        let scores: Vec<Vec<f64>> = nodes.iter().map(|&node| self.scores(node)).collect();
        let mut columns = vec![
            Column::text("id", nodes.iter().map(|&node| dataset.node_id(node))),
            Column::text("label", nodes.iter().map(|&node| self.name(node))),
        ];
        for (class, name) in self.classes().iter().enumerate() {
            let values = scores.iter().map(|row| row[class]).collect();
            columns.push(Column::numbers(format!("score_{name}"), values));
        }
        write_table(path, overwrite, &columns)
    }
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}
