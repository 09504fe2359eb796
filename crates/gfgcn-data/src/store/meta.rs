//! What a store says of itself.

use gfgcn::data::{Encoding, Listing};
use gfgcn::files::{MANIFEST, listed_parts, read_file, write_atomically};
use gfgcn::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Component, Path};

/// The file in which a store says what it is.
pub(super) const META: &str = "meta.json";
pub(super) const OFFSETS: &str = "offsets.npy";
pub(super) const NEIGHBOURS: &str = "neighbours.npy";
const FORMAT: &str = "gfgcn store";
/// Stores of any other are refused.
const VERSION: u64 = 1;
/// No store of ours says more.
const LONGEST: u64 = 64 << 20;

/// What is in `meta.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meta {
    format: String,
    version: u64,
    program: String,
    pub(super) nodes: usize,
    pub(super) edges: usize,
    /// Whether `arcs` is there.
    pub(super) directed: bool,
    /// The kinds of edges, `relations/0` first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) relations: Vec<Kind>,
    pub(super) features: Columns,
    pub(super) targets: Targets,
    /// How many splits there are.
    pub(super) splits: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<Encoding>,
    pub(super) listing: Listing,
    /// SHA-256 over graph and features, as `gfgcn::data::Dataset::source_fingerprint` computes it.
    pub(super) source_fingerprint: String,
    /// Every other file, by its path in the folder.
    pub(super) files: BTreeMap<String, FileMeta>,
}

/// A kind of edges.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) directed: bool,
}

/// How features are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stored", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Columns {
    None,
    /// In blocks of columns.
    Dense {
        columns: usize,
    },
    /// In compressed rows.
    Sparse {
        columns: usize,
    },
}

/// What is known of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Targets {
    Classes,
    Sets,
    Values,
}

/// A file of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileMeta {
    pub(super) bytes: u64,
    /// CRC-32 of all of it, in hexadecimal.
    pub(super) crc32: String,
}

impl Meta {
    /// That of a store of so many nodes with nothing in it yet.
    pub(super) fn new(nodes: usize) -> Self {
        Meta {
            format: FORMAT.into(),
            version: VERSION,
            program: concat!("gfgcn ", env!("CARGO_PKG_VERSION")).into(),
            nodes,
            edges: 0,
            directed: false,
            relations: Vec::new(),
            features: Columns::None,
            targets: Targets::Classes,
            splits: 0,
            encoding: None,
            listing: Listing::default(),
            source_fingerprint: String::new(),
            files: BTreeMap::new(),
        }
    }

    /// Reads and checks what a store says of itself.
    pub(super) fn read(folder: &Path) -> Result<Meta> {
        let path = folder.join(META);
        let damaged = |why: String| Error::Format(why).in_file(&path);
        match path.metadata() {
            Ok(metadata) if metadata.len() > LONGEST => {
                return Err(damaged("is too long to be that of a store".into()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Data(format!(
                    "has the arrays of a store, but no {META}, so nothing says what they are; make the store again \
                     (gfgcn data convert)"
                ))
                .in_file(folder));
            }
            _ => {}
        }
        let bytes = read_file(&path)?;
        let value: serde_json::Value = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(format!("is not readable as JSON ({error})")))?;
        if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
            return Err(damaged(format!("does not say that it is a {FORMAT}")));
        }
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(VERSION) => {}
            version => {
                let found = version.map_or("none".into(), |version| version.to_string());
                return Err(damaged(format!(
                    "says that the store is of version {found}, but this program reads version {VERSION}; make the store \
                     again from its source (gfgcn data convert), or use the program that made it"
                )));
            }
        }
        let meta: Meta = serde_json::from_value(value)
            .map_err(|error| damaged(format!("does not describe a store ({error})")))?;
        let is_plain = |name: &&String| {
            let mut components = Path::new(name).components();
            !name.is_empty() && components.all(|part| matches!(part, Component::Normal(_)))
        };
        match meta.files.keys().find(|name| !is_plain(name)) {
            Some(name) => Err(damaged(format!("lists {name:?}, which is not in the folder"))),
            None => Ok(meta),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("plain text and numbers");
        write_atomically(path, true, |file| writeln!(file, "{text}"))
    }

    /// The files with blocks of dense features, from left to right.
    pub(super) fn feature_blocks(&self) -> impl Iterator<Item = &String> {
        let dense = matches!(self.features, Columns::Dense { .. });
        self.files.keys().filter(move |name| dense && name.starts_with("features/"))
    }
}

/// Whether a folder is a store, or was meant to be one.
pub(crate) fn is_store(folder: &Path) -> bool {
    let meta = folder.join(META);
    let says_so = || {
        let short = meta.metadata().is_ok_and(|file| file.is_file() && file.len() <= LONGEST);
        let bytes = if short { std::fs::read(&meta).unwrap_or_default() } else { Vec::new() };
        let value: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
        value.is_some_and(|value| value.get("format").is_some_and(|format| format == FORMAT))
    };
    let arrays = || [OFFSETS, NEIGHBOURS].iter().all(|name| folder.join(name).exists());
    arrays() || says_so()
}

/// The files of a folder that this program has written there, store or tables: what another one in its place replaces.
pub(crate) fn written_parts(folder: &Path) -> Vec<String> {
    let mut parts = listed_parts(folder);
    if !parts.is_empty() {
        parts.push(MANIFEST.into());
    }
    if let Ok(meta) = Meta::read(folder) {
        parts.extend(meta.files.into_keys().chain([META.into()]));
    }
    parts
}
