//! The column names that are understood, whatever their case and punctuation.

use gfgcn::{Error, Result};

const IDS: [&str; 7] = ["id", "ids", "node", "name", "nodename", "vertex", "index"];
const SOURCES: [&str; 10] =
    ["source", "src", "from", "u", "node1", "id1", "n1", "head", "start", "citing"];
const TARGETS: [&str; 12] =
    ["target", "tgt", "dst", "dest", "to", "v", "node2", "id2", "n2", "tail", "end", "cited"];
const WEIGHTS: [&str; 4] = ["weight", "weights", "edgeweight", "w"];
const TYPES: [&str; 4] = ["type", "edgetype", "relation", "relationtype"];
const DIRECTED: [&str; 2] = ["directed", "isdirected"];
const LABELS: [&str; 9] =
    ["label", "labels", "class", "target", "category", "subject", "topic", "community", "y"];
const FEATURES: [&str; 2] = ["feature", "featurename"];
const SPLITS: [&str; 6] = ["split", "part", "partition", "set", "subset", "fold"];

/// `Node_ID` and `node` are the same name, as are `FromNodeId`, `from-id` and `from`.
fn plain(name: &str) -> String {
    let letters: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let mut rest = letters.as_str();
    for ending in ["id", "node"] {
        match rest.strip_suffix(ending) {
            Some(shorter) if !shorter.is_empty() => rest = shorter,
            _ => {}
        }
    }
    rest.to_owned()
}

/// Where the columns of edges stand in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeColumns {
    /// Where edges begin, and where they end.
    pub ends: (usize, usize),
    /// Their weights.
    pub weight: Option<usize>,
    /// Their types.
    pub kind: Option<usize>,
}

/// Which columns of a table of edges say what, by their names, whatever their case and punctuation; `None` if they name no ends.
///
/// ```
/// let found = gfgcn_data::edge_columns(&["year", "Source_ID", "target", "weight"]).unwrap();
/// assert_eq!((found.ends, found.weight, found.kind), ((1, 2), Some(3), None));
/// ```
pub fn edge_columns<S: AsRef<str>>(names: &[S]) -> Option<EdgeColumns> {
    let find = |is: fn(&str) -> bool| names.iter().position(|name| is(name.as_ref()));
    Some(EdgeColumns { ends: ends(names)?, weight: find(is_weight), kind: find(is_type) })
}

/// Whether a column of this name holds node ids.
pub fn is_id(name: &str) -> bool {
    IDS.contains(&plain(name).as_str())
}

/// Whether a column has no name: an empty one, or what pandas makes of that when it reads it.
pub(crate) fn is_unnamed(name: &str) -> bool {
    let number = name.strip_prefix("Unnamed: ");
    name.is_empty() || number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a column of this name holds the first ends of edges.
pub(crate) fn is_source(name: &str) -> bool {
    SOURCES.contains(&plain(name).as_str())
}

/// Which columns hold the ends of edges by their names.
pub(crate) fn ends<S: AsRef<str>>(names: &[S]) -> Option<(usize, usize)> {
    let source = names.iter().position(|name| is_source(name.as_ref()))?;
    let is_target = |name: &S| TARGETS.contains(&plain(name.as_ref()).as_str());
    let target = (0..names.len()).find(|&k| k != source && is_target(&names[k]))?;
    Some((source, target))
}

/// Whether a column of this name holds edge weights.
pub(crate) fn is_weight(name: &str) -> bool {
    WEIGHTS.contains(&plain(name).as_str())
}

/// Whether a column of this name holds the types of edges.
pub(crate) fn is_type(name: &str) -> bool {
    TYPES.contains(&plain(name).as_str())
}

/// Whether a column of this name says whether edges are directed.
pub(crate) fn is_directed(name: &str) -> bool {
    DIRECTED.contains(&plain(name).as_str())
}

/// Whether a column of this name holds labels.
pub(crate) fn is_label(name: &str) -> bool {
    LABELS.contains(&plain(name).as_str())
}

/// How much a name says that a column holds labels: the smaller, the more. `y` says least.
pub(crate) fn label_rank(name: &str) -> Option<usize> {
    LABELS.iter().position(|label| plain(name) == *label)
}

/// The column that is called like nothing but labels, the surest of several: a feature may well be a topic or a `y`.
pub(crate) fn certain_label<S: AsRef<str>>(names: &[S]) -> Option<usize> {
    const CERTAIN: [&str; 3] = ["label", "labels", "class"];
    let find = |wanted: &&str| names.iter().position(|name| plain(name.as_ref()) == **wanted);
    CERTAIN.iter().find_map(find)
}

/// Whether a column of this name says which part of a split a node is in; of several splits, each may have its number.
pub(crate) fn is_split(name: &str) -> bool {
    SPLITS.contains(&plain(name).trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Whether these names are those of the long layout of features.
pub(crate) fn are_long_features<S: AsRef<str>>(names: &[S]) -> bool {
    match names {
        [id, feature, value] => {
            is_id(id.as_ref())
                && FEATURES.contains(&plain(feature.as_ref()).as_str())
                && value.as_ref().eq_ignore_ascii_case("value")
        }
        _ => false,
    }
}

/// Whether a first column of this name says which row is whose.
fn is_key_name(name: &str) -> bool {
    is_id(name) || is_source(name)
}

/// The names of the columns of a typed table, which may be anything but what text cannot hold.
pub(super) fn checked(names: Vec<String>) -> Result<Vec<String>> {
    match names.iter().find(|name| name.contains('\0')) {
        Some(name) => Err(Error::Format(format!("a column is called {name:?}, with a NUL in it"))),
        None => Ok(names),
    }
}

/// How pandas calls an index that has no name.
const UNNAMED_INDEX: &str = "__index_level_0__";

/// The columns in the order they are meant, by what pandas wrote beside them: it stores the index last, but that is what
/// names the rows. An index without a name that stands beside a proper key column is left-over row numbers.
pub(super) fn in_order_of_pandas(names: &[&str], pandas: Option<&str>) -> Vec<usize> {
    let pandas = pandas.and_then(|json| serde_json::from_str::<serde_json::Value>(json).ok());
    let index: Vec<&str> = pandas
        .as_ref()
        .and_then(|pandas| pandas.get("index_columns")?.as_array())
        .map(|columns| columns.iter().filter_map(|column| column.as_str()).collect())
        .unwrap_or_default();
    let named_first = names.first().is_some_and(|first| is_key_name(first));
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.retain(|&column| !(named_first && names[column] == UNNAMED_INDEX));
    order.sort_by_key(|&column| {
        index.iter().position(|&name| name == names[column]).unwrap_or(index.len())
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_punctuation_do_not_matter() {
        assert!(is_id("Node_ID") && is_id("nodeId") && is_id("node") && is_id("ID"));
        let found = |names: &[&str]| ends(names);
        for pair in [["FromNodeId", "ToNodeId"], ["source_id", "target id"], ["id_1", "id_2"]] {
            assert_eq!(found(&pair), Some((0, 1)), "{pair:?}");
        }
        assert_eq!(found(&["year", "target", "source"]), Some((2, 1)));
        assert_eq!(found(&["U", "v"]), Some((0, 1)));
        assert!(found(&["paper", "source"]).is_none() && !is_id("paper") && !is_id(""));
    }
}
