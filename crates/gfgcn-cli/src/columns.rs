//! Options that say which columns of tables mean what.

use clap::Args;
use gfgcn_data::{Columns, Separator};

/// Columns by their name in the header, or by their number from 1.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Columns of tables, by name or by number from 1")]
pub(crate) struct ColumnArguments {
    /// The ids of nodes [default: the first column, or one that is called so]
    #[arg(long, value_name = "COLUMN")]
    id_column: Option<String>,
    /// The labels: in the table of labels, or among the features where there is none; of a document, an attribute
    #[arg(long, value_name = "COLUMN")]
    label_column: Option<String>,
    /// The columns that are features [default: all others]
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    feature_columns: Vec<String>,
    /// Columns to ignore
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    drop_columns: Vec<String>,
    /// Where edges start
    #[arg(long, value_name = "COLUMN")]
    source_column: Option<String>,
    /// Where edges end
    #[arg(long, value_name = "COLUMN")]
    target_column: Option<String>,
    /// The weights of edges
    #[arg(long, value_name = "COLUMN")]
    weight_column: Option<String>,
    /// The types of edges
    #[arg(long, value_name = "COLUMN")]
    type_column: Option<String>,
    /// What stands between cells of text tables: tab, space, comma, semicolon, or a character [default: as the file's
    /// name and first line say]
    #[arg(long, value_name = "CHARACTER")]
    separator: Option<Separator>,
}

impl ColumnArguments {
    pub(crate) fn columns(&self) -> Columns {
        Columns {
            id: self.id_column.clone(),
            label: self.label_column.clone(),
            features: self.feature_columns.clone(),
            dropped: self.drop_columns.clone(),
            source: self.source_column.clone(),
            target: self.target_column.clone(),
            weight: self.weight_column.clone(),
            kind: self.type_column.clone(),
            separator: self.separator,
            encoding: None,
        }
    }
}
