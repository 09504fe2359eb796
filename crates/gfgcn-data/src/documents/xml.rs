//! XML as GraphML and GEXF need it: elements with attributes and texts, one event at a time.
//!
//! Nothing is expanded but the five entities of XML and numbered characters, nothing outside the file is looked at, and
//! neither depth nor the length of a tag or text is left to the file.

use crate::lines::{open_bytes, read_error};
use crate::reading::Reading;
use crate::watched::{Stop, Watched};
use gfgcn::{Error, Result};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Elements inside each other, at most.
const DEEPEST: usize = 64;

/// What stands next in a document.
pub(super) enum Node<'e> {
    /// An element begins.
    Begin(Element<'e>),
    /// The element of this name ends; all that was text in it, without what its children had.
    End { name: String, text: String },
}

/// An element's name, without its namespace, and its attributes.
pub(super) struct Element<'e> {
    start: &'e BytesStart<'static>,
    pub(super) name: String,
}

impl Element<'_> {
    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Result<Option<String>> {
        for attribute in self.start.attributes() {
            let attribute =
                attribute.map_err(|e| Error::Format(format!("<{}>: {e}", self.name)))?;
            if attribute.key.local_name().as_ref() == name {
                let value = attribute.normalized_value(XmlVersion::Explicit1_0);
                let value = value.map_err(|e| Error::Format(format!("<{}>: {e}", self.name)))?;
                return Ok(Some(value.into_owned()));
            }
        }
        Ok(None)
    }

    /// The value of an attribute that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<String> {
        let missing = || Error::Format(format!("<{}> has no attribute {name}", self.name));
        self.attribute(name)?.ok_or_else(missing)
    }
}

/// Bytes of which tags and texts are kept.
type Input<'r> = Watched<'r, fn(u8) -> bool>;

/// A document being read.
pub(super) struct Document<'r> {
    reader: quick_xml::Reader<BufReader<Input<'r>>>,
    stop: Stop,
    buffer: Vec<u8>,
    start: Option<BytesStart<'static>>,
    /// The open elements and what was text in each.
    open: Vec<(String, String)>,
    path: &'r Path,
}

impl<'r> Document<'r> {
    pub(super) fn open(path: &'r Path, reading: &'r Reading) -> Result<Self> {
        let stop = Stop::default();
        let is_inside: fn(u8) -> bool = |byte| byte != b'<' && byte != b'>';
        let watched = Watched::new(open_bytes(path)?, is_inside, reading, &stop);
        let mut input = BufReader::with_capacity(1 << 16, watched);
        let begin = input.fill_buf().map_err(|e| read_error(e).in_file(path))?;
        if begin.starts_with(b"\xef\xbb\xbf") {
            input.consume(3);
        }
        let mut reader = quick_xml::Reader::from_reader(input);
        reader.config_mut().expand_empty_elements = true;
        Ok(Document { reader, stop, buffer: Vec::new(), start: None, open: Vec::new(), path })
    }

    /// Names the place that is being read in an error.
    pub(super) fn place(&self, error: Error) -> Error {
        error.at(self.path, format_args!("byte {}", self.reader.buffer_position()))
    }

    /// What stands next, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Node<'_>>> {
        loop {
            self.buffer.clear();
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(error) => return Err(self.failed(error)),
            };
            match event {
                Event::Start(start) => {
                    let name = start.local_name().as_ref().to_owned();
                    if self.open.len() == DEEPEST {
                        let problem = format!("<{name}> is more than {DEEPEST} elements deep");
                        return Err(self.place(Error::Format(problem)));
                    }
                    self.start = Some(start.into_owned());
                    self.open.push((name.clone(), String::new()));
                    let start = self.start.as_ref().expect("it was just put there");
                    return Ok(Some(Node::Begin(Element { start, name })));
                }
                Event::End(_) => {
                    let (name, text) = self.open.pop().expect("the parser matches ends");
                    return Ok(Some(Node::End { name, text }));
                }
                Event::Text(text) => {
                    if let Some((_, all)) = self.open.last_mut() {
                        all.push_str(&text.xml10_content());
                    } else if !text.trim().is_empty() {
                        return Err(self
                            .place(Error::Format("there is text outside of all elements".into())));
                    }
                }
                Event::CData(text) => {
                    if let Some((_, all)) = self.open.last_mut() {
                        all.push_str(&text.xml10_content());
                    }
                }
                Event::GeneralRef(entity) => {
                    let character = entity.resolve_char_ref().ok().flatten().map(String::from);
                    let named = resolve_predefined_entity(&entity).map(str::to_owned);
                    match (character.or(named), self.open.last_mut()) {
                        (Some(text), Some((_, all))) => all.push_str(&text),
                        _ => {
                            let problem = format!("the entity &{}; is none of XML's own", &*entity);
                            return Err(self.place(Error::Format(problem)));
                        }
                    }
                }
                Event::Decl(declaration) => {
                    if let Some(Ok(encoding)) = declaration.encoding()
                        && !encoding.eq_ignore_ascii_case("utf-8")
                        && !encoding.eq_ignore_ascii_case("us-ascii")
                    {
                        let problem = format!("is in {encoding}; save it as UTF-8");
                        return Err(Error::Format(problem).in_file(self.path));
                    }
                }
                // Empty elements come as a start and an end.
                Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Eof => {
                    return match self.open.last() {
                        None => Ok(None),
                        Some((name, _)) => {
                            let problem = format!("ends inside <{name}>; is it cut off?");
                            Err(self.place(Error::Format(problem)))
                        }
                    };
                }
            }
        }
    }

    fn failed(&mut self, error: quick_xml::Error) -> Error {
        if let Some(refused) = self.stop.take() {
            return refused.in_file(self.path);
        }
        let error = match error {
            quick_xml::Error::Io(error) => {
                read_error(io::Error::new(error.kind(), error.to_string()))
            }
            other => Error::Format(format!("is not well-formed XML: {other}")),
        };
        self.place(error)
    }
}
