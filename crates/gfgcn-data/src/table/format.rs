//! Formats and the extensions that name them.

use super::parquet;
use gfgcn::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The formats tables are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    /// Text, cells separated by commas.
    #[default]
    Csv,
    /// Text, cells separated by tabs.
    Tsv,
    /// Typed columns, compressed with Snappy.
    Parquet,
    /// A list of objects, one for each row. Written, but not read.
    Json,
}

impl TableFormat {
    /// Every format that is read, too: those of datasets.
    pub const ALL: [TableFormat; 3] = [TableFormat::Csv, TableFormat::Tsv, TableFormat::Parquet];

    /// The extension of a file in this format, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            TableFormat::Csv => "csv",
            TableFormat::Tsv => "tsv",
            TableFormat::Parquet => "parquet",
            TableFormat::Json => "json",
        }
    }

    /// Checks that this build can write the format.
    pub(crate) fn check_writable(self) -> Result<()> {
        match self {
            TableFormat::Csv | TableFormat::Tsv | TableFormat::Json => Ok(()),
            TableFormat::Parquet => parquet::check_writable(),
        }
    }
}

impl fmt::Display for TableFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension())
    }
}

impl FromStr for TableFormat {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        TableFormat::ALL
            .into_iter()
            .chain([TableFormat::Json])
            .find(|format| format.extension() == text)
            .ok_or_else(|| Error::parameter("table format", text, "csv, tsv, parquet or json"))
    }
}

/// The formats that results are written in: tables, and archives of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// A table.
    Table {
        /// Its format.
        format: TableFormat,
        /// Whether it is compressed.
        gzipped: bool,
    },
    /// An archive of arrays.
    Npz,
}

impl OutputFormat {
    /// The format of a file by its name, before anything is computed.
    ///
    /// # Errors
    /// A name that says no format, or one that this build cannot write.
    pub fn of(path: &Path) -> Result<OutputFormat> {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) {
            return Ok(OutputFormat::Npz);
        }
        let Ok((format, gzipped)) = of_output(path) else {
            return Err(Error::Data(
                "has an ending that says no format; results are written as .csv, .tsv, .json (each also .gz), \
                 .parquet or .npz, or in what --format says"
                    .into(),
            )
            .in_file(path));
        };
        format.check_writable().map_err(|e| e.in_file(path))?;
        Ok(OutputFormat::Table { format, gzipped })
    }
}

impl FromStr for OutputFormat {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "npz" => Ok(OutputFormat::Npz),
            _ => {
                let expected = "csv, tsv, json, parquet or npz";
                let format: TableFormat =
                    text.parse().map_err(|_| Error::parameter("format", text, expected))?;
                format.check_writable()?;
                Ok(OutputFormat::Table { format, gzipped: false })
            }
        }
    }
}

/// What a file holds, judged by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// A text table, perhaps gzipped; `None` leaves the separator to the first line.
    Text { separator: Option<u8> },
    /// A Parquet table.
    Parquet,
    /// An Arrow table, as a file or a stream.
    Arrow,
    /// A MatrixMarket matrix, perhaps gzipped.
    MatrixMarket,
    /// A NumPy array.
    Npy,
    /// Lists of features by node.
    Json,
}

impl FileFormat {
    /// The extensions of tables, for messages.
    pub(crate) const TABLES: &str = ".csv, .tsv or .txt (each also with .gz), .parquet or .arrow";

    /// The extensions a table may have.
    pub(crate) const TABLE_EXTENSIONS: [&str; 11] = [
        "csv", "tsv", "txt", "csv.gz", "tsv.gz", "txt.gz", "parquet", "arrow", "arrows", "feather",
        "ipc",
    ];

    /// The format of a file by its extension, in upper or lower case.
    pub(crate) fn of(path: &Path) -> Result<FileFormat> {
        let (extension, gzipped) = extension(path);
        match (extension.as_str(), gzipped) {
            ("csv", _) => Ok(FileFormat::Text { separator: Some(b',') }),
            ("tsv", _) => Ok(FileFormat::Text { separator: Some(b'\t') }),
            ("txt", _) => Ok(FileFormat::Text { separator: None }),
            ("parquet", false) => Ok(FileFormat::Parquet),
            ("arrow" | "arrows" | "feather" | "ipc", false) => Ok(FileFormat::Arrow),
            ("mtx", _) => Ok(FileFormat::MatrixMarket),
            ("npy", false) => Ok(FileFormat::Npy),
            ("json", _) => Ok(FileFormat::Json),
            ("edges" | "edgelist" | "el" | "ncol" | "dat", _) => {
                Ok(FileFormat::Text { separator: None })
            }
            _ => Err(Error::Data(format!(
                "the name does not end in a known format: {}; edges are also read from .mtx, .npy, .edges and \
                 .edgelist, features from .mtx, .npy and .json, labels from .npy",
                FileFormat::TABLES
            ))
            .in_file(path)),
        }
    }
}

/// Checks that [`write_table`](super::write_table) would know the format, before any work is done.
pub fn check_table_name(path: &Path) -> Result<()> {
    let (format, _) = of_output(path)?;
    format.check_writable().map_err(|e| e.in_file(path))
}

/// The format of a table to be written and whether to gzip it, by the extension of its name.
pub(crate) fn of_output(path: &Path) -> Result<(TableFormat, bool)> {
    let (extension, gzipped) = extension(path);
    match extension.parse() {
        Ok(TableFormat::Parquet) if gzipped => {}
        Ok(format) => return Ok((format, gzipped)),
        Err(_) => {}
    }
    Err(Error::Data(
        "the name must end in .csv, .tsv, .json (each also with .gz) or .parquet, which chooses the \
         format"
            .into(),
    )
    .in_file(path))
}

/// The extension in lower case, and whether `.gz` follows it.
fn extension(path: &Path) -> (String, bool) {
    let lower = |path: &Path| {
        path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase).unwrap_or_default()
    };
    match lower(path).as_str() {
        "gz" => (lower(&path.with_extension("")), true),
        other => (other.to_owned(), false),
    }
}
