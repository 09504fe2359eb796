//! The features: which nodes there are, and what is known of each.
//!
//! A table has one of two layouts. *Wide*: `id` and a column per feature, a row per node. *Long*:
//! the header `id,feature,value` and a row per value other than zero, for features of which most
//! are zero; a row with neither feature nor value, or with the value 0, only declares its node, and
//! values for the same feature of a node are added up.
//! A matrix has no ids: its nodes are called by their row. A wide table may have columns of other things: the labels, what
//! is to be left out, and what is no number ([`encode`]).

use super::nodes::NodeIds;
use super::parts::{self, Missing};
use super::{arrays, encode, file_name, lists};
use crate::columns::Columns;
use crate::density::FeatureRows;
use crate::matrix_market;
use crate::reading::Reading;
use crate::table::{FileFormat, Place, RowKind, Table, TableSource, is_number, names};
use crate::triplets::{self, Entry};
use gfgcn::data::{Encoding, Labels};
use gfgcn::features::Features;
use gfgcn::files::MANIFEST;
use gfgcn::matrix::SparseMatrix;
use gfgcn::{Error, Result};
use std::collections::HashMap;

/// What a table of features says.
pub(super) struct Nodes {
    pub(super) ids: NodeIds,
    pub(super) features: Features,
    pub(super) feature_names: Option<Vec<String>>,
    /// Entries that were there before and were added up.
    pub(super) repeats: usize,
    /// Whether features stand in the order in which they first came.
    pub(super) as_they_came: bool,
    /// How columns became features, where they are not just numbers.
    pub(super) encoding: Option<Encoding>,
    /// Where they stand beside the features.
    pub(super) labels: Option<Labels>,
}

impl Nodes {
    /// Nodes with features that have names.
    fn named(ids: NodeIds, features: Features, feature_names: Option<Vec<String>>) -> Nodes {
        let (repeats, as_they_came) = (0, false);
        Nodes { ids, features, feature_names, repeats, as_they_came, encoding: None, labels: None }
    }

    /// Nodes without features.
    pub(super) fn without_features(ids: NodeIds) -> Nodes {
        // As many as there are when all are known.
        Nodes::named(ids, Features::none(0), None)
    }

    /// The rows of a matrix, which has neither ids nor names.
    fn numbered(source: String, features: Features, repeats: usize) -> Nodes {
        let ids = NodeIds::rows(source, features.rows());
        Nodes { repeats, ..Nodes::named(ids, features, None) }
    }
}

/// What is to be found in a table of features.
pub(super) struct Wanted<'w> {
    pub(super) columns: &'w Columns,
    /// Whether labels may stand beside the features: there is no other table of them.
    pub(super) labels: bool,
    /// All nodes, where another table says which there are.
    pub(super) ids: Option<NodeIds>,
}

/// Reads features in any format.
pub(super) fn read(
    source: &TableSource,
    mut wanted: Wanted,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Nodes> {
    let (path, name) = (source.path(), file_name(source.path()));
    let format = source.format()?;
    if let (Some(FileFormat::MatrixMarket | FileFormat::Npy | FileFormat::Json), Some(column)) =
        (format, wanted.columns.label.as_ref().filter(|_| wanted.labels))
    {
        let problem =
            format!("has no columns with names, so there are no labels in column {column:?}");
        return Err(Error::Data(problem).in_file(path));
    }
    match format {
        Some(FileFormat::MatrixMarket) => {
            let (features, repeats) = matrix_market::read_features(path, reading)?;
            Ok(Nodes::numbered(name, features, repeats))
        }
        Some(FileFormat::Npy) => {
            Ok(Nodes::numbered(name, arrays::read_features(path, reading)?, 0))
        }
        Some(FileFormat::Json) => {
            let ids = wanted.ids.take().unwrap_or_else(|| NodeIds::new(name, None));
            let listed = lists::read(path, ids, notes, reading)?;
            Ok(Nodes {
                as_they_came: true,
                ..Nodes::named(listed.ids, listed.features, Some(listed.names))
            })
        }
        Some(FileFormat::Text { .. } | FileFormat::Parquet | FileFormat::Arrow) | None => {
            read_table(source, wanted, notes, reading)
        }
    }
}

fn read_table(
    source: &TableSource,
    mut wanted: Wanted,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Nodes> {
    let name = file_name(source.path());
    let columns = wanted.columns;
    let ids = wanted.ids.take();
    // Documents have chosen before, a data frame in memory is nothing but features, what gfgcn writes has labels in a table of
    // their own, and a model says what it was before.
    let is_own = || source.path().with_file_name(MANIFEST).exists();
    let may_guess = matches!(source, TableSource::File { .. } if !is_own())
        && wanted.labels
        && columns.label.is_none()
        && columns.encoding.is_none();
    let open = || {
        let is_header = |first: &[String]| is_header(first) || columns.head_nodes(first);
        let mut table =
            Table::open_with(source, RowKind::Several, names::is_id, is_header, reading)?;
        if columns.id.is_none() {
            let remedy = "the column id first, or call that column id";
            table.check_key_is_named("--id-column", remedy)?;
        }
        let shape = Shape::arrange(&mut table, &wanted, may_guess)?;
        Ok::<_, Error>((table, shape))
    };
    let (mut table, shape) = open()?;
    notes.extend(table.note_of_index());
    if shape.guessed
        && let [_, Some(label)] = &shape.named
    {
        notes.push(format!(
            "column {label:?} of {name} is what is learnt (--label-column names another)"
        ));
    }
    if shape.drops_index {
        notes.push(format!("{name}: the first column has no name and is left out"));
    }
    let all_names = table.names().map(<[String]>::to_vec);
    let column = all_names.as_ref().map(|names| names[0].clone());
    let is_long = all_names.as_deref().is_some_and(names::are_long_features);
    let new_ids = || NodeIds::new(name.clone(), column.clone());
    let nodes = if is_long {
        read_long(&mut table, ids.unwrap_or_else(new_ids))?
    } else if ids.is_some() {
        return Err(table.header_error(
            "says which nodes there are, so there can be no other list of them, unless its columns are \
             id,feature,value",
        ));
    } else if let Some(encoding) = shape.known(&table, columns) {
        read_encoded(&mut table, new_ids(), encoding, &shape, notes, reading)?
    } else if shape.width == 0 && (source.is_document() || shape.label.is_some()) {
        read_ids(&mut table, new_ids(), &shape, notes)?
    } else {
        match read_wide(&mut table, new_ids(), &shape, notes, reading)? {
            Some(nodes) => nodes,
            None => {
                let (mut table, shape) = open()?;
                let encoding = encode::survey(&mut table, shape.width, notes)?;
                let (mut table, _) = open()?;
                if encoding.columns.is_empty() {
                    read_ids(&mut table, new_ids(), &shape, notes)?
                } else {
                    read_encoded(&mut table, new_ids(), encoding, &shape, notes, reading)?
                }
            }
        }
    };
    if nodes.ids.len() == 0 {
        let problem = "there are no rows, so there are no nodes";
        return Err(Error::Data(problem.into()).in_file(source.path()));
    }
    let encoding = shape.remember(nodes.encoding, columns);
    // What a document says of its nodes is in no order.
    let as_they_came = nodes.as_they_came || source.is_document();
    Ok(Nodes { encoding, as_they_came, ..nodes })
}

/// How the columns are arranged: the id, the features, and perhaps the label.
struct Shape {
    width: usize,
    label: Option<usize>,
    /// The name of the id's column, where a person gave it, and that of the label's.
    named: [Option<String>; 2],
    /// Whether nothing but its name says that a column is the label.
    guessed: bool,
    /// Whether the index of a data frame stands before the ids.
    drops_index: bool,
}

impl Shape {
    fn arrange(table: &mut Table, wanted: &Wanted, may_guess: bool) -> Result<Shape> {
        let columns = wanted.columns;
        if table.names().is_some_and(names::are_long_features) {
            let named = [None, None];
            return Ok(Shape { width: 2, label: None, named, guessed: false, drops_index: false });
        }
        let before = columns.encoding.as_ref();
        let remembered = |name: Option<&String>| name.and_then(|name| table.find_if_there(name));
        let id = match &columns.id {
            Some(name) => table.find(name)?,
            None => remembered(before.and_then(|e| e.id_column.as_ref())).unwrap_or(0),
        };
        let label = match &columns.label {
            Some(name) if wanted.labels => Some(table.find(name)?),
            _ => remembered(before.and_then(|e| e.label_column.as_ref())),
        };
        let guess = || names::certain_label(table.names()?).filter(|&column| column != id);
        let guessed = if may_guess { guess() } else { None };
        if label == Some(id) {
            return Err(table.header_error("the ids and the labels would be in the same column"));
        }
        let find = |names: &[String]| -> Result<Vec<usize>> {
            names.iter().map(|name| table.find(name)).collect()
        };
        let (chosen, dropped) = (find(&columns.features)?, find(&columns.dropped)?);
        let guessed = guessed.filter(|k| !chosen.contains(k) && !dropped.contains(k));
        let label = label.or(guessed);
        let drops_index =
            id != 0 && table.names().is_some_and(|names| names::is_unnamed(&names[0]));
        let is_feature = |column: &usize| {
            *column != id
                && Some(*column) != label
                && !(drops_index && *column == 0)
                && !dropped.contains(column)
                && (chosen.is_empty() || chosen.contains(column))
        };
        let features: Vec<usize> = (0..table.columns()).filter(is_feature).collect();
        let width = features.len();
        if width == 0 && (!chosen.is_empty() || !dropped.is_empty()) && label.is_none() {
            return Err(table.header_error("no column is left that could be a feature"));
        }
        let mut kept = vec![id];
        kept.extend(features);
        kept.extend(label);
        let name = |column: usize| table.names().map(|names| names[column].clone());
        let named = [columns.id.is_some().then(|| name(id)).flatten(), label.and_then(name)];
        table.keep(&kept);
        let (guessed, label) = (guessed.is_some(), label.map(|_| width + 1));
        Ok(Shape { width, label, named, guessed, drops_index })
    }

    /// How the columns that are there became features before, where they did.
    fn known(&self, table: &Table, columns: &Columns) -> Option<Encoding> {
        let encoding = columns.encoding.as_ref().filter(|e| !e.columns.is_empty())?;
        let names = &table.names()?[1..=self.width];
        let known = encoding.columns.iter().filter(|column| names.contains(&column.name));
        Some(Encoding { columns: known.cloned().collect(), ..encoding.clone() })
            .filter(|encoding| !encoding.columns.is_empty())
    }

    /// What a model has to know, where there is something.
    fn remember(self, encoding: Option<Encoding>, columns: &Columns) -> Option<Encoding> {
        let [id_column, label_column] = self.named;
        let says_something = id_column.is_some() || label_column.is_some();
        match encoding {
            Some(encoding) => Some(Encoding { id_column, label_column, ..encoding }),
            None if says_something => {
                Some(Encoding { id_column, label_column, columns: Vec::new() })
            }
            None => columns.encoding.clone().filter(|known| *known != Encoding::default()),
        }
    }
}

/// Without a known name for the ids, a row is a header when a feature in it is no number. An empty
/// cell among them proves nothing: it is an error in a row of values. But every row begins with an id.
fn is_header(first: &[String]) -> bool {
    let named = first.iter().skip(1).any(|cell| !cell.is_empty() && !is_number(cell));
    named || names::is_id(&first[0]) || names::is_unnamed(&first[0])
}

/// The rows of a table, each of a node that was not there before, and their labels.
struct NodeRows<'t> {
    table: &'t mut Table,
    ids: NodeIds,
    places: Vec<Place>,
    label: Option<usize>,
    labels: Vec<Option<String>>,
    missing: Missing,
}

impl<'t> NodeRows<'t> {
    fn new(table: &'t mut Table, ids: NodeIds, shape: &Shape) -> Self {
        let (places, labels, missing) = (Vec::new(), Vec::new(), Missing::default());
        NodeRows { table, ids, places, label: shape.label, labels, missing }
    }

    /// Moves to the next row and reads its id and label; `false` at the end.
    fn advance(&mut self) -> Result<bool> {
        if !self.table.advance()? {
            return Ok(false);
        }
        let (node, new) = insert(self.table, &mut self.ids)?;
        if !new {
            return Err(self.table.error(format!(
                "the node {:?} was already on {}; every node has one row",
                self.table.cell(0)?.text(),
                self.places[node as usize]
            )));
        }
        self.table.grow(size_of::<Place>())?;
        self.places.push(self.table.place());
        if let Some(column) = self.label {
            let label =
                self.missing.label(&self.table.cell(column)?).map(|label| label.into_owned());
            self.table.grow(size_of::<Option<String>>() + label.as_ref().map_or(0, String::len))?;
            self.labels.push(label);
        }
        Ok(true)
    }

    /// The nodes with their features.
    fn finish(
        self,
        features: Features,
        names: Option<Vec<String>>,
        notes: &mut Vec<String>,
    ) -> Result<Nodes> {
        notes.extend(self.missing.notes());
        let labels = match self.label {
            None => None,
            Some(_) => {
                self.table.hold(size_of::<Option<u32>>() * self.ids.len())?;
                let labels = Labels::from_names(&self.labels);
                parts::ask(&labels, notes).map_err(|e| e.in_file(self.table.path()))?;
                Some(labels)
            }
        };
        Ok(Nodes { labels, ..Nodes::named(self.ids, features, names) })
    }
}

/// Reads rows without features.
fn read_ids(
    table: &mut Table,
    ids: NodeIds,
    shape: &Shape,
    notes: &mut Vec<String>,
) -> Result<Nodes> {
    let mut rows = NodeRows::new(table, ids, shape);
    while rows.advance()? {}
    rows.finish(Features::none(0), None, notes)
}

/// Reads rows of numbers; `None` where a column is of something else, or has gaps.
fn read_wide(
    table: &mut Table,
    ids: NodeIds,
    shape: &Shape,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Option<Nodes>> {
    let width = shape.width;
    if width == 0 {
        return Err(table.header_error(
            "there is 1 column, but an id and at least one feature are needed".to_owned()
                + parts::SEPARATED,
        ));
    }
    let feature_names = match table.names() {
        Some(names) => Some(check_names(table, &names[1..=width])?),
        None => None,
    };
    let path = table.path().to_owned();
    let mut features = FeatureRows::new(width, reading);
    let mut row = vec![0.0; width];
    let mut rows = NodeRows::new(table, ids, shape);
    while rows.advance()? {
        for (k, value) in row.iter_mut().enumerate() {
            let cell = rows.table.cell(k + 1)?;
            match cell.number() {
                Ok(number) => *value = number,
                // In a column with a name that may be meant.
                Err(_) if feature_names.is_some() && parts::is_no_number(&cell) => return Ok(None),
                Err(problem) => return Err(rows.table.cell_error(k + 1, problem)),
            }
        }
        features.push(&row).map_err(|e| e.in_file(&path))?;
    }
    let features = features.finish().map_err(|e| e.in_file(&path))?;
    rows.finish(features, feature_names, notes).map(Some)
}

/// Reads rows whose columns become features in a known way.
fn read_encoded(
    table: &mut Table,
    ids: NodeIds,
    encoding: Encoding,
    shape: &Shape,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Nodes> {
    let names = table.names().unwrap_or_default();
    check_names(table, &names[1..=shape.width])?;
    let place = |name: &String| names.iter().skip(1).position(|other| other == name);
    let places = encoding.columns.iter().filter_map(|column| place(&column.name));
    let places: Vec<usize> = places.map(|place| place + 1).collect();
    let path = table.path().to_owned();
    let mut encoder = encode::Encoder::new(&encoding, places);
    let mut features = FeatureRows::new(encoding.width(), reading);
    let mut row = vec![0.0; encoding.width()];
    let mut rows = NodeRows::new(table, ids, shape);
    while rows.advance()? {
        encoder.fill(rows.table, &mut row)?;
        features.push(&row).map_err(|e| e.in_file(&path))?;
    }
    notes.extend(encoder.notes());
    let features = features.finish().map_err(|e| e.in_file(&path))?;
    let nodes = rows.finish(features, Some(encoding.feature_names()), notes)?;
    Ok(Nodes { encoding: Some(encoding), ..nodes })
}

fn check_names(table: &Table, names: &[String]) -> Result<Vec<String>> {
    let mut columns = HashMap::with_capacity(names.len());
    for (k, name) in names.iter().enumerate() {
        if name.is_empty() {
            let position = table.position(k + 1);
            return Err(table.header_error(format!("column {position} has no name")));
        }
        if let Some(other) = columns.insert(name, k) {
            return Err(table.header_error(format!(
                "columns {} and {} are both called {name:?}",
                table.position(other + 1),
                table.position(k + 1)
            )));
        }
    }
    Ok(names.to_vec())
}

fn read_long(table: &mut Table, mut ids: NodeIds) -> Result<Nodes> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut columns: HashMap<String, u32> = HashMap::new();
    let mut column_names: Vec<String> = Vec::new();
    while table.advance()? {
        let (row, _) = insert(table, &mut ids)?;
        let (feature, value) = (table.cell(1)?, table.cell(2)?);
        if feature.is_empty() && value.is_empty() {
            continue;
        }
        if feature.is_empty() {
            return Err(table.cell_error(1, "is empty beside a value"));
        }
        let value = value.number().map_err(|problem| table.cell_error(2, problem))?;
        let name = feature.text();
        let column = match columns.get(&*name) {
            Some(&column) => column,
            None => {
                let column = u32::try_from(column_names.len())
                    .map_err(|_| table.error("there are more features than 32 bits can number"))?;
                table.grow(2 * name.len() + NodeIds::ENTRY as usize)?;
                column_names.push(name.to_string());
                columns.insert(name.into_owned(), column);
                column
            }
        };
        let at = match table.place() {
            Place::Line(number) | Place::Row(number) | Place::Item(_, number) => number,
        };
        table.grow(size_of::<Entry>())?;
        entries.push(Entry { row, column, value, at });
    }
    drop(columns);
    let position = order_columns(&mut column_names);
    entries.iter_mut().for_each(|entry| entry.column = position[entry.column as usize]);
    triplets::sort(&mut entries);
    let repeats = triplets::repeats(&entries);
    table.hold(triplets::memory(ids.len(), entries.len()))?;
    let matrix = triplets::compress(ids.len(), &entries);
    drop(entries);
    let features = SparseMatrix::from_csr(
        column_names.len(),
        &matrix.offsets,
        &matrix.columns,
        &matrix.values,
    )
    .and_then(Features::sparse)
    .map_err(|e| e.in_file(table.path()))?;
    Ok(Nodes { repeats, as_they_came: true, ..Nodes::named(ids, features, Some(column_names)) })
}

/// Brings features that are all integers into their order; others keep that of appearance. Returns
/// the new position of each column.
fn order_columns(names: &mut Vec<String>) -> Vec<u32> {
    let integers: Option<Vec<i64>> = names.iter().map(|name| name.parse().ok()).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    if let Some(integers) = integers {
        order.sort_by_key(|&column| integers[column]);
    }
    let mut position = vec![0; names.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old] = new as u32;
    }
    *names = order.iter().map(|&old| std::mem::take(&mut names[old])).collect();
    position
}

/// The row of the node that the current row of the table is about.
fn insert(table: &Table, ids: &mut NodeIds) -> Result<(u32, bool)> {
    let id = table.cell(0)?;
    if id.is_empty() {
        return Err(table.cell_error(0, "is empty, but every node needs an id"));
    }
    let (node, new) = ids.insert_row(&id.text()).map_err(|problem| table.cell_error(0, problem))?;
    if new {
        table.grow(2 * id.text().len() + NodeIds::ENTRY as usize)?;
    }
    Ok((node, new))
}
