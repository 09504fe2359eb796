//! Which columns of tables say what, where their names do not, and how other tables were read before.

use gfgcn::data::Encoding;
use gfgcn::{Error, Result};
use std::str::FromStr;

/// What is said about the columns of tables. A column is named as in the header, or by its number from 1.
///
/// Without any of it, ids come first, and edges, weights, types and labels are recognised by their usual names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The ids of nodes, in tables of features, nodes and labels.
    pub id: Option<String>,
    /// The labels: in the table of labels, or among the features where there is none; there a column that is called `label`
    /// or `class` is taken for them even if nothing is said.
    pub label: Option<String>,
    /// The columns that are features; all that are left where none is named.
    pub features: Vec<String>,
    /// Columns to ignore.
    pub dropped: Vec<String>,
    /// Where edges start.
    pub source: Option<String>,
    /// Where edges end.
    pub target: Option<String>,
    /// The weights of edges.
    pub weight: Option<String>,
    /// The types of edges.
    pub kind: Option<String>,
    /// What stands between the cells of text tables.
    pub separator: Option<Separator>,
    /// How a table became features when a model was trained, to be done again. Where there is a model, nothing is guessed.
    pub encoding: Option<Encoding>,
}

/// What stands between the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// One character.
    Character(u8),
    /// Any number of spaces and tabs.
    Blanks,
}

impl FromStr for Separator {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "tab" | "\\t" | "\t" => Ok(Separator::Character(b'\t')),
            "space" | " " => Ok(Separator::Blanks),
            "comma" => Ok(Separator::Character(b',')),
            "semicolon" => Ok(Separator::Character(b';')),
            _ => match text.as_bytes() {
                [byte] if byte.is_ascii_punctuation() && *byte != b'"' => {
                    Ok(Separator::Character(*byte))
                }
                _ => Err(Error::parameter(
                    "separator",
                    text,
                    "tab, space, comma, semicolon, or a punctuation character other than \"",
                )),
            },
        }
    }
}

/// The place of a column among some names: as it is written, in any case, or by its number from 1.
pub(crate) fn find<S: AsRef<str>>(names: &[S], wanted: &str) -> Option<usize> {
    let same = |name: &S| name.as_ref() == wanted;
    let alike = |name: &S| name.as_ref().eq_ignore_ascii_case(wanted);
    let number = || wanted.parse::<usize>().ok()?.checked_sub(1).filter(|&k| k < names.len());
    names.iter().position(same).or_else(|| names.iter().position(alike)).or_else(number)
}

impl Columns {
    /// Whether a row has the names that are given for edges: it is a header then.
    pub(crate) fn head_edges(&self, row: &[String]) -> bool {
        let names = [&self.source, &self.target, &self.weight, &self.kind];
        heads(row, names.into_iter().flatten())
    }

    /// Whether a row has one of the names that are given for columns of nodes.
    pub(crate) fn head_nodes(&self, row: &[String]) -> bool {
        let single = [&self.id, &self.label];
        heads(row, single.into_iter().flatten().chain(&self.features).chain(&self.dropped))
    }
}

fn heads<'a>(row: &[String], mut names: impl Iterator<Item = &'a String>) -> bool {
    names.any(|name| row.iter().any(|cell| cell.eq_ignore_ascii_case(name)))
}
