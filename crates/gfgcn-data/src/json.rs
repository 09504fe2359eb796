//! JSON documents, parsed as they are read: what every format that is written in JSON shares.
//!
//! The parser (`serde_json`) ends at a depth of 128 and keeps one value at a time; what a single text may take is
//! [watched](crate::watched) on its way in.

use crate::lines::{open_bytes, read_error};
use crate::reading::Reading;
pub(crate) use crate::watched::Stop;
use crate::watched::Watched;
use gfgcn::{Error, Result};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Visitor};
use std::fmt;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

impl Stop {
    /// Ends the parsing with an error of ours.
    pub(crate) fn because<E: serde::de::Error>(&self, error: Error) -> E {
        self.keep(error);
        E::custom("stopped")
    }
}

/// Parses a file, plain or gzipped, into whatever takes it in; that may end it by [`Stop`].
pub(crate) fn parse<D>(path: &Path, reading: &Reading, stop: &Stop, document: D) -> Result<()>
where
    D: for<'de> DeserializeSeed<'de, Value = ()>,
{
    let mut state = State::Outside;
    let is_text = |byte| {
        state = state.after(byte);
        state != State::Outside
    };
    let text = without_mark(open_bytes(path)?).map_err(|e| read_error(e).in_file(path))?;
    let watched = Watched::new(text, is_text, reading, stop);
    let mut parser =
        serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, watched));
    let parsed = document.deserialize(&mut parser).and_then(|()| parser.end());
    let Err(error) = parsed else { return Ok(()) };
    if let Some(error) = stop.take() {
        return Err(error.in_file(path));
    }
    let place = format!("line {}", error.line());
    if error.is_io() {
        return Err(read_error(error.into()).at(path, place));
    }
    let problem = error.to_string();
    let problem = problem.rsplit_once(" at line ").map_or(&*problem, |(problem, _)| problem);
    Err(Error::Format(format!("{problem} (column {})", error.column())).at(path, place))
}

/// Passes over the byte order mark that some editors put before a text.
fn without_mark(mut text: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut first = Vec::with_capacity(3);
    text.by_ref().take(3).read_to_end(&mut first)?;
    if first == b"\xef\xbb\xbf" {
        first.clear();
    }
    Ok(Box::new(Cursor::new(first).chain(text)))
}

/// Where a byte stands.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Outside,
    Text,
    Escaped,
}

impl State {
    fn after(self, byte: u8) -> State {
        match (self, byte) {
            (State::Outside, b'"') => State::Text,
            (State::Outside, _) => State::Outside,
            (State::Text, b'\\') => State::Escaped,
            (State::Text, b'"') => State::Outside,
            (State::Text | State::Escaped, _) => State::Text,
        }
    }
}

/// A value that is no list and no object; those are skipped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// A list or an object, of which nothing is kept.
    Nested,
}

impl Scalar {
    /// The value as a name or an id.
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Scalar::Text(text) => Some(text),
            Scalar::Integer(value) => Some(value.to_string()),
            Scalar::Float(value) => Some(value.to_string()),
            Scalar::Bool(value) => Some(value.to_string()),
            Scalar::Null | Scalar::Nested => None,
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value.into()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Scalar, E> {
        Ok(Scalar::Text(value))
    }
    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
        while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nested)
    }
    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nested)
    }
}
