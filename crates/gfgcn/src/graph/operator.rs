//! Which matrix of the graph a filter is a polynomial of.

use crate::error::{Error, Result};
use crate::text::serde_as_text;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// How Ã = A + s·I is normalised. D has the sums of Ã's rows, or 1 for rows of zeros. Written as `sym`, `row` or `unit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalization {
    /// D^-½ Ã D^-½, the paper's choice; of a directed graph, the rows are those of Ã on the left and those of Ãᵀ on the
    /// right.
    #[default]
    Symmetric,
    /// D⁻¹ Ã: rows add up to 1.
    Row,
    /// Rows of Ã divided by their length: what a node is linked to, however many they are.
    Unit,
}

impl Normalization {
    const ALL: [(&'static str, Normalization); 3] = [
        ("sym", Normalization::Symmetric),
        ("row", Normalization::Row),
        ("unit", Normalization::Unit),
    ];
}

serde_as_text!(Normalization);

impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&Normalization::ALL, self))
    }
}

impl FromStr for Normalization {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = Normalization::ALL.into_iter().find(|(name, _)| *name == text);
        found
            .map(|(_, normalization)| normalization)
            .ok_or_else(|| Error::parameter("normalization", text, "sym, row or unit"))
    }
}

/// Which way edges are followed. Of an undirected graph `out` and `in` are `both`, and `out-in` and `in-out` two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Either way: A has an entry where there is an arc in one direction or in both.
    #[default]
    Both,
    /// To where arcs end: row i of A has the nodes that node i points to.
    Out,
    /// To where arcs start: row i has the nodes that point to node i.
    In,
    /// Out and then in: to the nodes that point to the same ones. The product of both, normalised each by itself.
    OutIn,
    /// In and then out: to the nodes that the same ones point to.
    InOut,
}

impl Direction {
    const ALL: [(&'static str, Direction); 5] = [
        ("both", Direction::Both),
        ("out", Direction::Out),
        ("in", Direction::In),
        ("out-in", Direction::OutIn),
        ("in-out", Direction::InOut),
    ];

    /// Whether a step of it is two: first one way, then the other.
    pub(super) fn is_there_and_back(self) -> bool {
        matches!(self, Direction::OutIn | Direction::InOut)
    }
}

fn name_of<T: PartialEq>(all: &[(&'static str, T)], value: &T) -> &'static str {
    all.iter().find(|(_, other)| other == value).map_or("", |(name, _)| name)
}

/// The largest weight of a self-loop.
const MAX_LOOPS: f32 = 1e6;

/// The matrix Â that filters are polynomials of.
///
/// Written as the normalisation and, behind a colon, what is not the default: the direction, the weight s of
/// self-loops, and the relation whose edges are meant. `sym`, `row:out`, `sym:loops=0`,
/// `row:in,loops=0.5,relation=cites`. In names of relations, bytes other than letters, digits, `_`, `-` and `.` are written as
/// `%20`.
///
/// A node without neighbours and without a self-loop has a row of zeros.
///
/// ```
/// use gfgcn::graph::{Direction, Normalization, Operator};
/// let operator: Operator = "row:out,loops=0".parse()?;
/// assert_eq!((operator.normalization, operator.direction), (Normalization::Row, Direction::Out));
/// assert_eq!(operator.loops(), 0.0);
/// assert_eq!(Operator::default().to_string(), "sym");
/// # Ok::<(), gfgcn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// How Ã = A + s·I is normalised.
    pub normalization: Normalization,
    /// Which way edges are followed.
    pub direction: Direction,
    /// s.
    loops: f32,
    /// The relation whose edges are meant, if not all.
    relation: Option<Arc<str>>,
}

serde_as_text!(Operator);

impl Default for Operator {
    fn default() -> Self {
        Operator::from(Normalization::default())
    }
}

impl From<Normalization> for Operator {
    /// Along all edges, either way, with self-loops of weight 1.
    fn from(normalization: Normalization) -> Self {
        Operator::plain(normalization)
    }
}

impl Operator {
    /// The paper's two: normalised symmetrically, and by rows.
    pub const PAPERS: [Operator; 2] =
        [Operator::plain(Normalization::Symmetric), Operator::plain(Normalization::Row)];

    const fn plain(normalization: Normalization) -> Self {
        Operator { normalization, direction: Direction::Both, loops: 1.0, relation: None }
    }

    /// s, the weight of self-loops; 1 unless it is given.
    pub fn loops(&self) -> f32 {
        self.loops
    }

    /// With another weight of self-loops, from 0 to 1 000 000.
    pub fn with_loops(mut self, loops: f32) -> Result<Self> {
        if !(0.0..=MAX_LOOPS).contains(&loops) {
            let range = format!("a number from 0 to {MAX_LOOPS}");
            return Err(Error::parameter("loops", loops, range));
        }
        self.loops = loops;
        Ok(self)
    }

    /// Edges followed another way.
    #[must_use]
    pub fn with_direction(self, direction: Direction) -> Self {
        Operator { direction, ..self }
    }

    /// The relation whose edges are meant, if not all.
    pub fn relation(&self) -> Option<&str> {
        self.relation.as_deref()
    }

    /// Along the edges of one relation.
    #[must_use]
    pub fn with_relation(self, name: &str) -> Self {
        Operator { relation: Some(name.into()), ..self }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.normalization)?;
        let mut separator = ':';
        let mut write = |option: &str| {
            let written = write!(f, "{separator}{option}");
            separator = ',';
            written
        };
        if self.direction != Direction::Both {
            write(name_of(&Direction::ALL, &self.direction))?;
        }
        if self.loops != 1.0 {
            write(&format!("loops={}", self.loops))?;
        }
        match &self.relation {
            Some(name) => write(&format!("relation={}", escaped(name))),
            None => Ok(()),
        }
    }
}

impl FromStr for Operator {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let refused = || {
            Error::parameter(
                "operator",
                text,
                "sym, row or unit, perhaps with a direction (out, in, out-in, in-out), loops and relation: row:out,loops=0",
            )
        };
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let normalization: Result<Normalization> = name.parse();
        let mut operator = Operator::from(normalization.map_err(|_| refused())?);
        let mut seen = Vec::new();
        for option in options.split(',').filter(|_| text.contains(':')) {
            let (key, value) = option.split_once('=').unwrap_or(("direction", option));
            if seen.contains(&key) {
                return Err(refused());
            }
            seen.push(key);
            operator = match key {
                "direction" => {
                    let found = Direction::ALL.into_iter().find(|(other, _)| *other == value);
                    operator.with_direction(found.ok_or_else(refused)?.1)
                }
                "loops" => operator.with_loops(value.parse().map_err(|_| refused())?)?,
                "relation" if !value.is_empty() => {
                    operator.with_relation(&unescaped(value).ok_or_else(refused)?)
                }
                _ => return Err(refused()),
            };
        }
        Ok(operator)
    }
}

/// Bytes that could mean something else in a text form are written as numbers.
fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let byte = |b: u8| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
    name.bytes().map(byte).collect()
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_written_and_read() {
        for text in [
            "sym",
            "row",
            "unit:out",
            "sym:loops=0",
            "row:in,loops=0.5",
            "row:out-in,loops=0",
            "row:in-out,relation=cites",
            "sym:relation=was%20%C3%BCber%2Fon",
        ] {
            let operator: Operator = text.parse().unwrap();
            assert_eq!(operator.to_string(), text);
            let json = serde_json::to_string(&operator).unwrap();
            assert_eq!(serde_json::from_str::<Operator>(&json).unwrap(), operator);
        }
        assert_eq!("sym:both,loops=1".parse::<Operator>().unwrap(), Operator::default());
        let named: Operator = "sym:relation=was%20%C3%BCber%2Fon".parse().unwrap();
        assert_eq!(named.relation(), Some("was über/on"));
        for text in [
            "",
            "left",
            "sym:",
            "sym:left",
            "sym:out,in",
            "row:loops=-1",
            "row:loops=nan",
            "row:loops=1e7",
            "row:loops=x",
            "row:loops=1,loops=2",
            "row:relation=",
            "row:relation=%2",
            "row:relation=%zz",
            "row:depth=2",
        ] {
            assert!(text.parse::<Operator>().is_err(), "{text:?}");
        }
    }
}
