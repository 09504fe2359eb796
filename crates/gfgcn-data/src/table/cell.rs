//! One cell of a table, with as much of its type as the format knows.

use std::borrow::Cow;

/// A value in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Nothing there: a null.
    Empty,
    /// Text, which may be empty or spell a number.
    Text(&'a str),
    /// A typed integer, wide enough for signed and unsigned 64 bits.
    Integer(i128),
    /// A typed float.
    Float(f64),
    /// A typed truth value.
    Bool(bool),
}

impl<'a> Cell<'a> {
    /// Text from its bytes, or what is wrong with them.
    pub(super) fn of_utf8(bytes: &'a [u8]) -> Result<Cell<'a>, String> {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.contains('\0') => Err("has a NUL in its text".into()),
            Ok(text) => Ok(Cell::Text(text)),
            Err(_) => Err("is not UTF-8 text".into()),
        }
    }

    /// Whether the cell holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Cell::Empty | Cell::Text(""))
    }

    /// The cell as an id or name. A float that is a whole number is written as one (`1`, not
    /// `1.0`), because integers with a gap are stored as floats by several programs.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        match *self {
            Cell::Empty => Cow::Borrowed(""),
            Cell::Text(text) => Cow::Borrowed(text),
            Cell::Integer(value) => Cow::Owned(value.to_string()),
            Cell::Float(value) => Cow::Owned(value.to_string()),
            Cell::Bool(value) => Cow::Borrowed(if value { "true" } else { "false" }),
        }
    }

    /// The cell as a finite 32-bit float, or what is wrong with it.
    pub(crate) fn number(&self) -> Result<f32, String> {
        let value = match *self {
            _ if self.is_empty() => return Err("is empty, but must be a number".into()),
            Cell::Empty => 0.0,
            Cell::Text(text) => return parse_number(text),
            Cell::Integer(value) => value as f32,
            Cell::Float(value) => value as f32,
            Cell::Bool(value) => f32::from(value),
        };
        match *self {
            _ if value.is_finite() => Ok(value),
            Cell::Float(given) if given.is_finite() => Err(too_large(&given.to_string())),
            _ => Err(not_finite(&self.text())),
        }
    }

    /// The cell as a finite 64-bit float, or what is wrong with it.
    pub(crate) fn double(&self) -> Result<f64, String> {
        let value = match *self {
            _ if self.is_empty() => return Err("is empty, but must be a number".into()),
            Cell::Text(text) => match text.parse::<f64>() {
                Ok(value) => value,
                Err(_) => return Err(format!("is {text:?}, which is not a number")),
            },
            Cell::Integer(value) => value as f64,
            Cell::Float(value) => value,
            Cell::Bool(value) => f64::from(value),
            Cell::Empty => 0.0,
        };
        if value.is_finite() { Ok(value) } else { Err(not_finite(&self.text())) }
    }
}

/// Reads a finite 32-bit float. Parsed directly at that width: going through 64 bits would round
/// twice and could change the last bit of a written float.
pub(crate) fn parse_number(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if text.bytes().any(|byte| byte.is_ascii_digit()) => Err(too_large(text)),
        Ok(_) => Err(not_finite(text)),
        Err(_) => Err(format!("is {text:?}, which is not a number")),
    }
}

/// Says that no cell has this type. A table may have such columns, as long as nothing is asked of them.
pub(super) fn unread(kind: &str) -> String {
    format!(
        "holds values of the type {kind}; convert it to text or numbers first, or leave it out with --drop-columns"
    )
}

/// Whether the text spells a number, finite or not.
pub(crate) fn is_number(text: &str) -> bool {
    text.parse::<f32>().is_ok()
}

fn too_large(text: &str) -> String {
    format!("is {text}, which is too large for a 32-bit float (3.4e38)")
}

fn not_finite(text: &str) -> String {
    format!("is {text}, but must be a finite number")
}
