//! The edges: pairs of node ids, perhaps with a weight, a type and whether they are directed, or a square matrix.

use super::nodes::NodeIds;
use super::relations::MAX_RELATIONS;
use super::{arrays, file_name};
use crate::columns::Columns;
use crate::directions::Said;
use crate::edges::EdgeList;
use crate::matrix_market;
use crate::reading::Reading;
use crate::table::{Cell, FileFormat, Place, RowKind, Table, TableSource, is_number, names};
use gfgcn::Result;

/// What a file of edges says.
pub(super) struct Listed {
    pub(super) edges: EdgeList,
    /// Where edges have types.
    pub(super) kinds: Option<Kinds>,
    /// What it says about directions.
    pub(super) said: Vec<Said>,
}

/// The types of edges.
#[derive(Default)]
pub(super) struct Kinds {
    /// In the order in which they first came.
    pub(super) names: Vec<String>,
    /// Where each first came.
    places: Vec<Place>,
    /// The number of each edge's name.
    pub(super) of_edge: Vec<u8>,
}

/// Reads edges in any format.
pub(super) fn read(
    source: &TableSource,
    ids: &mut NodeIds,
    wanted: &Columns,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Listed> {
    match source.format()? {
        Some(FileFormat::MatrixMarket) => {
            let number = |rows| ids.number(rows);
            let (edges, said) = matrix_market::read_graph(source.path(), number, reading)?;
            Ok(Listed { edges, kinds: None, said: said.into_iter().collect() })
        }
        Some(FileFormat::Npy) => {
            let edges = arrays::read_edges(source.path(), ids, reading)?;
            Ok(Listed { edges, kinds: None, said: Vec::new() })
        }
        _ => read_table(source, ids, wanted, notes, reading),
    }
}

fn read_table(
    source: &TableSource,
    ids: &mut NodeIds,
    wanted: &Columns,
    notes: &mut Vec<String>,
    reading: &Reading,
) -> Result<Listed> {
    let path = source.path();
    let is_header = |first: &[String]| is_header(first) || wanted.head_edges(first);
    let mut table = Table::open_with(source, RowKind::Edges, names::is_source, is_header, reading)?;
    if wanted.source.is_none() {
        let options = "--source-column and --target-column";
        table.check_key_is_named(options, "the columns source and target first")?;
    }
    notes.extend(table.note_of_index());
    let columns = Places::arrange(&mut table, wanted, notes)?;
    let mut edges = EdgeList { weights: columns.weight.map(|_| Vec::new()), ..EdgeList::default() };
    let mut kinds = columns.kind.map(|_| Kinds::default());
    let mut attributes = Attributes::default();
    let mut flag = Flag::default();
    let mut unclear = None;
    while table.advance()? {
        if let (Some(kinds), Some(column)) = (&mut kinds, columns.kind) {
            let kind = kinds.read(&table, column)?;
            // A row without ends only declares its type.
            if table.cell(0)?.is_empty() && table.cell(1)?.is_empty() {
                continue;
            }
            kinds.of_edge.push(kind);
        }
        table.grow(size_of::<(u32, u32)>() + size_of::<f32>() + size_of::<u8>())?;
        let ends = (end(&table, 0, ids)?, end(&table, 1, ids)?);
        if is_unclear(&table, ids)? {
            unclear = Some((ends, table.cell(0)?.text().into_owned()));
        }
        edges.ends.push(ends);
        if let (Some(weights), Some(column)) = (&mut edges.weights, columns.weight) {
            weights.push(attributes.weight(&table, column)?);
        }
        if let Some(column) = columns.directed {
            flag.read(&table, column)?;
        }
    }
    notes.extend(table.note_of_comments());
    if attributes.have_no_weights() {
        edges.weights = None;
    }
    if let Some(((from, to), id)) = unclear
        && !edges
            .ends
            .iter()
            .skip(1)
            .any(|&(a, b)| [a, b].iter().any(|&end| end == from || end == to))
    {
        let problem = format!(
            "{id:?} may be a node or the name of a column; begin the file with a header, source,target"
        );
        return Err(gfgcn::Error::Data(problem).at(path, Place::Line(1)));
    }
    let mut said = Vec::new();
    if let Some((directed, place)) = flag.0 {
        said.push(Said { directed, by: format!("{place} of {}", file_name(path)) });
    }
    let is_flag = |kinds: &Kinds| !kinds.names.is_empty() && kinds.directed().all(|d| d.is_some());
    if let Some(kinds) = kinds.take_if(|kinds| is_flag(kinds)) {
        for (directed, place) in kinds.directed().zip(&kinds.places) {
            let by = format!("the type on {place} of {}", file_name(path));
            said.extend(directed.map(|directed| Said { directed, by }));
        }
    }
    Ok(Listed { edges, kinds, said })
}

impl Kinds {
    /// The number of the type in a cell.
    fn read(&mut self, table: &Table, column: usize) -> Result<u8> {
        let name = table.cell(column)?.text();
        if name.is_empty() {
            return Err(table.cell_error(column, "is empty, but every edge has a type"));
        }
        if let Some(known) = self.names.iter().position(|other| *other == name) {
            return Ok(known as u8);
        }
        if self.names.len() == MAX_RELATIONS {
            return Err(table.cell_error(
                column,
                format!(
                    "has more than {MAX_RELATIONS} different types, {name:?} being one more; is that column \
                     meant as the types of edges? If not, remove it"
                ),
            ));
        }
        self.names.push(name.into_owned());
        self.places.push(table.place());
        Ok((self.names.len() - 1) as u8)
    }

    /// For each type, whether it says that edges are directed or not.
    fn directed(&self) -> impl Iterator<Item = Option<bool>> {
        self.names.iter().map(|name| says_directed(name))
    }
}

/// In some programs the type of an edge is whether it is directed.
pub(super) fn says_directed(kind: &str) -> Option<bool> {
    match kind.to_lowercase().as_str() {
        "directed" => Some(true),
        "undirected" => Some(false),
        _ => None,
    }
}

/// Where things stand after the two ends.
#[derive(Default)]
struct Places {
    weight: Option<usize>,
    kind: Option<usize>,
    directed: Option<usize>,
}

impl Places {
    /// Brings the columns into the order in which they are read: the ends, and what else there is.
    fn arrange(table: &mut Table, wanted: &Columns, notes: &mut Vec<String>) -> Result<Places> {
        let (source, target) = ends(table, wanted)?;
        let mut found = Places { weight: None, kind: None, directed: None };
        for (place, name) in [(&mut found.weight, &wanted.weight), (&mut found.kind, &wanted.kind)]
        {
            *place = name.as_ref().map(|name| table.find(name)).transpose()?;
        }
        let mut unused = Vec::new();
        for column in (0..table.columns()).filter(|&k| k != source && k != target) {
            if [found.weight, found.kind].contains(&Some(column)) {
                continue;
            }
            let Some(name) = table.names().map(|names| names[column].as_str()) else {
                match table.columns() {
                    3 if found.weight.is_none() && found.kind.is_none() => {
                        found.weight = Some(column);
                    }
                    _ => unused.push(table.position(column).to_string()),
                }
                continue;
            };
            let known = [
                (&mut found.weight, &wanted.weight, names::is_weight as fn(&str) -> bool),
                (&mut found.kind, &wanted.kind, names::is_type),
                (&mut found.directed, &None, names::is_directed),
            ];
            match known.into_iter().find(|(_, wanted, is_name)| wanted.is_none() && is_name(name)) {
                None => unused.push(format!("{name:?}")),
                Some((place, ..)) => {
                    if let (Some(other), Some(names)) = (place.replace(column), table.names()) {
                        return Err(table.header_error(format!(
                            "columns {} and {} mean the same, {:?} and {name:?}; remove one, or say which one counts \
                             (--weight-column, --type-column)",
                            table.position(other),
                            table.position(column),
                            names[other]
                        )));
                    }
                }
            }
        }
        if !unused.is_empty() {
            notes.push(format!(
                "{}: not used: column {} (--weight-column and --type-column say otherwise)",
                file_name(table.path()),
                unused.join(", ")
            ));
        }
        let mut kept = vec![source, target];
        for place in [&mut found.weight, &mut found.kind, &mut found.directed].into_iter() {
            if let Some(column) = place {
                kept.push(*column);
                *place = Some(kept.len() - 1);
            }
        }
        table.keep(&kept);
        Ok(found)
    }
}

/// The columns of the two ends: those that are asked for, those whose names say so, or the first two.
fn ends(table: &Table, wanted: &Columns) -> Result<(usize, usize)> {
    let columns = table.columns();
    if let (None, 4..) = (table.names(), columns)
        && (wanted.source.is_none() || wanted.target.is_none())
    {
        return Err(table.header_error(format!(
            "the number of columns is {columns}, but edges have two, source and target, or a third, weight; others \
             need a header that names them, or --source-column 1 --target-column 2"
        )));
    }
    if columns < 2 {
        return Err(table.header_error(format!(
            "the number of columns is {columns}, but edges have source and target; if they are separated by \
             something unusual, say so with --separator"
        )));
    }
    let asked = |name: &Option<String>| name.as_ref().map(|name| table.find(name)).transpose();
    let (source, target) = (asked(&wanted.source)?, asked(&wanted.target)?);
    let named = table.names().and_then(names::ends);
    let source_or = |usual: usize| source.unwrap_or(usual);
    let (source, target) = match (named, source, target) {
        (Some((first, second)), ..) => (source_or(first), target.unwrap_or(second)),
        (None, ..) => (source_or(0), target.unwrap_or(1)),
    };
    if source == target {
        return Err(table.header_error(format!(
            "column {} would be both ends of the edges; say which is the other (--source-column, --target-column)",
            table.position(source)
        )));
    }
    Ok((source, target))
}

/// Whether the edges are directed, and the first row that says so: they are all or none.
#[derive(Default)]
struct Flag(Option<(bool, Place)>);

impl Flag {
    fn read(&mut self, table: &Table, column: usize) -> Result<()> {
        let cell = table.cell(column)?;
        let directed = truth(&cell).ok_or_else(|| {
            let text = cell.text();
            table.cell_error(column, format!("is {text:?}, but must be true or false"))
        })?;
        match self.0.replace(self.0.unwrap_or((directed, table.place()))) {
            Some((before, place)) if before != directed => {
                let word = |directed| if directed { "directed" } else { "undirected" };
                Err(table.error(format!(
                    "mixed directed flags: this edge is {}, but that on {place} is {}; for an undirected edge \
                     among directed ones, write one in each direction",
                    word(directed),
                    word(before)
                )))
            }
            _ => Ok(()),
        }
    }
}

fn truth(cell: &Cell) -> Option<bool> {
    match cell.text().to_lowercase().as_str() {
        "true" | "1" | "yes" | "directed" => Some(true),
        "false" | "0" | "no" | "undirected" => Some(false),
        _ => None,
    }
}

fn is_header(first: &[String]) -> bool {
    match first {
        // An index before names that are not known; a number there could be a weight.
        [index, rest @ ..] if names::is_unnamed(index) && rest.len() > 1 => {
            rest.iter().all(|name| !name.is_empty() && !is_number(name))
        }
        [_, _, ..] => names::ends(first).is_some(),
        _ => false,
    }
}

fn end(table: &Table, column: usize, ids: &mut NodeIds) -> Result<u32> {
    let id = table.cell(column)?;
    if id.is_empty() {
        return Err(table.cell_error(column, "is empty, but an edge has two ends"));
    }
    let id = id.text();
    let first = table.names().is_none() && table.place() == Place::Line(1);
    let (node, new) = ids.find_or_add(&id).map_err(|problem| {
        if first {
            table.error(format!("{problem}; if this is a header, write source,target"))
        } else {
            table.error(problem)
        }
    })?;
    if new {
        table.grow(2 * id.len() + NodeIds::ENTRY as usize)?;
    }
    Ok(node)
}

/// Whether the current row could as well be a header: the first one, in words, of a file that itself says which nodes there
/// are. Where other rows have its nodes, too, it is none.
fn is_unclear(table: &Table, ids: &NodeIds) -> Result<bool> {
    if table.names().is_some() || table.place() != Place::Line(1) || !ids.is_open() {
        return Ok(false);
    }
    let is_word = |column| table.cell(column).map(|cell| cell.text().parse::<i64>().is_err());
    Ok(is_word(0)? || is_word(1)?)
}

/// What networkx writes of each edge, `{'weight': 2.5, 'since': 1999}`, in place of a weight.
#[derive(Default)]
struct Attributes {
    rows: usize,
    weights: usize,
}

impl Attributes {
    /// The weight of the current row: a number, or what the attributes say. Without any it is 1, as in networkx.
    fn weight(&mut self, table: &Table, column: usize) -> Result<f32> {
        let cell = table.cell(column)?;
        let text = cell.text();
        let Some(inside) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
            return weight(table, column, cell);
        };
        self.rows += 1;
        let Some(number) = inside.split(", ").find_map(weight_among) else { return Ok(1.0) };
        self.weights += 1;
        weight(table, column, Cell::Text(number))
    }

    /// Whether there were attributes, and no weight among them.
    fn have_no_weights(&self) -> bool {
        self.rows > 0 && self.weights == 0
    }
}

/// The number in `'weight': 2.5`, which NumPy writes as `np.float64(2.5)`.
fn weight_among(attribute: &str) -> Option<&str> {
    let (name, value) = attribute.split_once(':')?;
    let is_weight = names::is_weight(name.trim_ascii().trim_matches(['\'', '"']));
    let value = value.trim_ascii();
    let of_numpy = value.strip_suffix(')').and_then(|value| value.split_once('('));
    is_weight.then(|| of_numpy.map_or(value, |(_, number)| number))
}

fn weight(table: &Table, column: usize, cell: Cell) -> Result<f32> {
    match cell.number() {
        Ok(weight) if weight < 0.0 => {
            Err(table.cell_error(column, format!("is {weight}, but weights must not be negative")))
        }
        Ok(weight) => Ok(weight),
        Err(problem) => Err(table.cell_error(column, problem)),
    }
}
