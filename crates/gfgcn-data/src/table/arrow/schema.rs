//! What the columns of an Arrow table are.

use super::flatbuffer::Flat;
use crate::table::cell::unread;

/// Deeper than this no table is nested.
const DEEPEST: usize = 64;
/// The first version whose buffers are laid out as they are now; `V4` as the format numbers them.
const FIRST_VERSION: i16 = 3;

/// How the values of an array are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but nulls, and no bytes for them.
    Null,
    /// One bit each.
    Bool,
    Integer {
        bytes: usize,
        signed: bool,
    },
    Half,
    Single,
    Double,
    /// Offsets of so many bytes into text.
    Text {
        offset: usize,
    },
    /// Sixteen bytes, which hold short texts and point to longer ones.
    View,
    /// Values of a type that no cell has.
    Other(&'static str),
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    /// How its values are stored: those of the dictionary, where there is one.
    pub(super) kind: Kind,
    /// The number of its dictionary, and how the positions in it are stored.
    pub(super) dictionary: Option<(i64, Kind)>,
    /// What it takes of a batch, with all that is nested in it.
    pub(super) parts: Parts,
}

/// How many entries of a batch's lists belong to a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) nodes: usize,
    pub(super) buffers: usize,
    /// Counts of buffers that come in any number.
    pub(super) counts: usize,
}

/// The columns, and what pandas wrote beside them.
pub(super) struct Schema {
    pub(super) fields: Vec<Field>,
    pub(super) pandas: Option<String>,
}

impl Schema {
    pub(super) fn read(schema: Flat, version: i16, bytes: usize) -> Result<Schema, String> {
        if version < FIRST_VERSION {
            return Err(
                "is of a version of Arrow before 0.8; write it again with a newer one".into()
            );
        }
        if schema.short(0)? != 0 {
            return Err("has numbers in big-endian order; write it on a usual machine".into());
        }
        // A field takes more than a byte; where there seem to be more, some point to the same.
        let mut budget = bytes;
        let fields = schema.list(1, 4)?.tables();
        let fields = fields.map(|field| Field::read(field?, 0, &mut budget));
        let fields = fields.collect::<Result<Vec<Field>, String>>()?;
        let mut pandas = None;
        for entry in schema.list(2, 4)?.tables() {
            let entry = entry?;
            if entry.text(0)? == "pandas" {
                pandas = Some(entry.text(1)?.to_owned());
            }
        }
        Ok(Schema { fields, pandas })
    }
}

impl Field {
    fn read(field: Flat, depth: usize, budget: &mut usize) -> Result<Field, String> {
        if depth == DEEPEST || *budget == 0 {
            return Err("is damaged: its columns are nested without end".into());
        }
        *budget -= 1;
        let (kind, mut parts) = kind_of(field)?;
        let mut nested = Parts::default();
        for child in field.list(5, 4)?.tables() {
            let Parts { nodes, buffers, counts } = Field::read(child?, depth + 1, budget)?.parts;
            nested.nodes += nodes;
            nested.buffers += buffers;
            nested.counts += counts;
        }
        let dictionary = match field.table(4)? {
            None => {
                parts.nodes += nested.nodes;
                parts.buffers += nested.buffers;
                parts.counts += nested.counts;
                None
            }
            Some(encoding) => {
                parts = Parts { nodes: 1, buffers: 2, counts: 0 };
                let index = encoding.table(1)?.map_or(Ok((4, true)), integer)?;
                let index = Kind::Integer { bytes: index.0, signed: index.1 };
                Some((encoding.long(0)?, index))
            }
        };
        Ok(Field { name: field.text(0)?.to_owned(), kind, dictionary, parts })
    }

    /// Why there are no cells of this column.
    pub(super) fn unread(&self) -> Option<String> {
        match self.kind {
            Kind::Other(name) => Some(unread(name)),
            _ => None,
        }
    }
}

/// Bytes and sign of whole numbers.
fn integer(kind: Flat) -> Result<(usize, bool), String> {
    match kind.int(0)? {
        bits @ (8 | 16 | 32 | 64) => Ok((bits as usize / 8, kind.flag(1)?)),
        bits => Err(format!("is damaged: it has integers of {bits} bits")),
    }
}

/// How a field is stored and what it takes of a batch by itself, by the numbers that the format gives to types.
fn kind_of(field: Flat) -> Result<(Kind, Parts), String> {
    let plain = |kind: Kind| (kind, Parts { nodes: 1, buffers: 2, counts: 0 });
    let other = |name: &'static str, buffers: usize| {
        (Kind::Other(name), Parts { nodes: 1, buffers, counts: 0 })
    };
    let text = |offset: usize| (Kind::Text { offset }, Parts { nodes: 1, buffers: 3, counts: 0 });
    let details = field.table(3)?.ok_or("is damaged: a column has no type");
    Ok(match field.byte(2)? {
        1 => (Kind::Null, Parts { nodes: 1, buffers: 0, counts: 0 }),
        2 => {
            let (bytes, signed) = integer(details?)?;
            plain(Kind::Integer { bytes, signed })
        }
        3 => plain(match details?.short(0)? {
            0 => Kind::Half,
            1 => Kind::Single,
            2 => Kind::Double,
            other => return Err(format!("is damaged: it has floats of precision {other}")),
        }),
        4 | 5 => text(4),
        6 => plain(Kind::Bool),
        7 => other("Decimal", 2),
        8 => other("Date", 2),
        9 => other("Time", 2),
        10 => other("Timestamp", 2),
        11 => other("Interval", 2),
        12 => other("List", 2),
        13 => other("Struct", 1),
        // With positions in the parts it is made of, where it is dense.
        14 => other("Union", if details?.short(0)? == 1 { 2 } else { 1 }),
        15 => other("FixedSizeBinary", 2),
        16 => other("FixedSizeList", 1),
        17 => other("Map", 2),
        18 => other("Duration", 2),
        19 | 20 => text(8),
        21 => other("LargeList", 2),
        22 => other("RunEndEncoded", 0),
        23 | 24 => (Kind::View, Parts { nodes: 1, buffers: 2, counts: 1 }),
        25 => other("ListView", 3),
        26 => other("LargeListView", 3),
        number => {
            return Err(format!(
                "has a column {:?} of a type that is not known here (number {number})",
                field.text(0)?
            ));
        }
    })
}
