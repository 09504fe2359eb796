//! JSON documents, parsed as they are read: what every format that is written in JSON shares.
//!
//! The parser (`serde_json`) ends at a depth of 128 and keeps one value at a time; what a single text may take is watched
//! here, on its way in.

use crate::lines::{LONGEST, open_bytes, read_error};
use crate::reading::Reading;
use gfgcn::{Error, Result};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Visitor};
use std::cell::RefCell;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// Why a parsing was ended that was not for the JSON.
#[derive(Clone, Default)]
pub(crate) struct Stop(Rc<RefCell<Option<Error>>>);

impl Stop {
    /// Ends the parsing with an error of ours.
    pub(crate) fn because<E: serde::de::Error>(&self, error: Error) -> E {
        *self.0.borrow_mut() = Some(error);
        E::custom("stopped")
    }
}

/// Parses a file, plain or gzipped, into whatever takes it in; that may end it by [`Stop`].
pub(crate) fn parse<D>(path: &Path, reading: &Reading, stop: &Stop, document: D) -> Result<()>
where
    D: for<'de> DeserializeSeed<'de, Value = ()>,
{
    let input = BufReader::with_capacity(1 << 16, open_bytes(path)?);
    let watched = Watched { input, state: State::Outside, length: 0, held: 0, reading, stop };
    let mut parser = serde_json::Deserializer::from_reader(BufReader::new(watched));
    let parsed = document.deserialize(&mut parser).and_then(|()| parser.end());
    let Err(error) = parsed else { return Ok(()) };
    if let Some(error) = stop.0.borrow_mut().take() {
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

/// Bytes on their way to the parser: looks how long a text becomes, and whether the work is still wanted.
struct Watched<'r, R> {
    input: R,
    state: State,
    length: usize,
    held: u64,
    reading: &'r Reading,
    stop: &'r Stop,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Outside,
    Text,
    Escaped,
}

/// Texts up to this length need not be asked for.
const SHORT: usize = 1 << 20;

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let mut longest = 0;
        for &byte in &buffer[..read] {
            self.state = match (self.state, byte) {
                (State::Outside, b'"') => State::Text,
                (State::Outside, _) => State::Outside,
                (State::Text, b'\\') => State::Escaped,
                (State::Text, b'"') => State::Outside,
                (State::Text | State::Escaped, _) => State::Text,
            };
            self.length = if self.state == State::Outside { 0 } else { self.length + 1 };
            longest = longest.max(self.length);
        }
        if longest > LONGEST {
            let problem = format!("a text is longer than {} MiB", LONGEST >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let needed = if longest > SHORT { 4 * longest as u64 } else { 0 };
        let asked = self.reading.hold(needed.saturating_sub(self.held));
        self.held = self.held.max(needed);
        asked.map_err(|error| {
            *self.stop.0.borrow_mut() = Some(error);
            io::Error::other("stopped")
        })?;
        Ok(read)
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
