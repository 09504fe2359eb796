//! What stands for Parquet in a build without it: errors that say so.

use crate::reading::Reading;
use crate::table::{Cell, Column};
use gfgcn::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// A table that this build cannot open; there is none.
pub(in crate::table) enum ParquetReader {}

impl ParquetReader {
    pub(in crate::table) fn open(path: &Path, _: &Reading) -> Result<Self> {
        Err(Error::Data(
            "this build cannot read Parquet files; use a build with the feature parquet, or save \
             the table as CSV"
                .into(),
        )
        .in_file(path))
    }

    pub(in crate::table) fn names(&self) -> Vec<String> {
        match *self {}
    }

    pub(in crate::table) fn columns(&self) -> usize {
        match *self {}
    }

    pub(in crate::table) fn row(&self) -> u64 {
        match *self {}
    }

    pub(in crate::table) fn cell(&self, _: usize) -> Result<Cell<'_>, String> {
        match *self {}
    }

    pub(in crate::table) fn advance(&mut self) -> Result<bool> {
        match *self {}
    }
}

/// Says that this build cannot write Parquet files.
pub(in crate::table) fn check_writable() -> Result<()> {
    Err(Error::Data(
        "this build cannot write Parquet files; use a build with the feature parquet, or write CSV"
            .into(),
    ))
}

pub(in crate::table) fn write(_: &mut impl Write, _: usize, _: &[Column]) -> io::Result<()> {
    check_writable().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use crate::{Column, OutputFormat, TableFiles, TableFormat, check_table_name, write_table};
    use gfgcn::context::Context;
    use std::fs;

    #[test]
    fn reading_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("edges.parquet"), "PAR1").unwrap();
        fs::write(path("features.csv"), "id,x\na,1\n").unwrap();
        let tables = TableFiles::in_folder(folder.path()).unwrap().unwrap();
        let message = tables.read("test", &Context::default()).unwrap_err().to_string();
        for fragment in ["edges.parquet", "this build cannot read Parquet files", "as CSV"] {
            assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
        }
    }

    #[test]
    fn writing_says_what_to_do_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.parquet");
        let columns = [Column::text("id", ["a"])];
        let messages = [
            write_table(&path, false, &columns).unwrap_err().to_string(),
            check_table_name(&path).unwrap_err().to_string(),
            OutputFormat::of(&path).unwrap_err().to_string(),
            TableFormat::Parquet.check_writable().unwrap_err().to_string(),
        ];
        for message in messages {
            assert!(message.contains("this build cannot write Parquet files"), "{message}");
            assert!(message.contains("the feature parquet"), "{message}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
