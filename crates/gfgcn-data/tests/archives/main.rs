//! Archives of arrays (`.npz`): what is accepted, what is refused and how, and what survives
//! writing. The archives are made by writers of the tests' own.

mod accepted;
#[path = "../allocation/mod.rs"]
mod allocation;
mod bombs;
mod damage;
mod directed;
mod heterophilous;
mod mapped;
#[path = "../npy/mod.rs"]
mod npy;
mod other_programs;
#[path = "../../../gfgcn/tests/published/mod.rs"]
mod published;
mod refused;
mod relations;
mod round_trip;
mod splits;
mod targets;
#[path = "../zip/mod.rs"]
mod zip;

use flate2::write::DeflateEncoder;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn_data::npz;
use std::io::Write;
use zip::Member;

/// The arrays of a dataset, to be changed and then written.
#[derive(Clone, Debug)]
struct Arrays(Vec<(String, Vec<u8>)>);

impl Arrays {
    /// Five nodes, the last without edges, three features, two classes;
    /// `tests/golden/make_npz.py` writes the same.
    fn small() -> Self {
        Arrays(Vec::new())
            .with("adj_data", npy::vector("<f4", &[1.0; 8]))
            .with("adj_indices", npy::vector("<i8", &[1.0, 2.0, 0.0, 2.0, 0.0, 1.0, 3.0, 2.0]))
            .with("adj_indptr", npy::vector("<i8", &[0.0, 2.0, 4.0, 7.0, 8.0, 8.0]))
            .with("adj_shape", npy::vector("<i8", &[5.0, 5.0]))
            .with("attr_data", npy::vector("<f4", &[1.0, 2.0, 4.0, 3.0, 6.0]))
            .with("attr_indices", npy::vector("<i8", &[0.0, 2.0, 1.0, 0.0, 2.0]))
            .with("attr_indptr", npy::vector("<i8", &[0.0, 2.0, 3.0, 4.0, 4.0, 5.0]))
            .with("attr_shape", npy::vector("<i8", &[5.0, 3.0]))
            .with("labels", npy::vector("<i8", &[0.0, 1.0, 0.0, -1.0, 1.0]))
            .with("class_names", npy::texts('<', &["no", "yes"]))
            .with("train_idx", npy::vector("<i8", &[0.0, 1.0]))
            .with("val_idx", npy::vector("<i8", &[2.0]))
            .with("test_idx", npy::vector("<i8", &[4.0]))
    }

    /// Adds an array or puts it in the place of the one that has its name.
    fn with(mut self, name: &str, array: Vec<u8>) -> Self {
        match self.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = array,
            None => self.0.push((name.to_owned(), array)),
        }
        self
    }

    fn without(mut self, prefix: &str) -> Self {
        self.0.retain(|(name, _)| !name.starts_with(prefix));
        self
    }

    fn members(&self, make: fn(&str, &[u8]) -> Member) -> Vec<Member> {
        self.0.iter().map(|(name, array)| make(&format!("{name}.npy"), array)).collect()
    }

    fn stored(&self) -> Vec<u8> {
        zip::archive(&self.members(|name, array| Member::stored(name, array.to_vec())))
    }

    fn deflated(&self) -> Vec<u8> {
        zip::archive(&self.members(deflated))
    }
}

fn deflated(name: &str, content: &[u8]) -> Member {
    let compressed = deflate(&[content]);
    let crc = zip::crc32(content);
    Member::compressed(name, zip::DEFLATED, crc, content.len() as u32, compressed)
}

fn deflate(pieces: &[&[u8]]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    pieces.iter().for_each(|piece| encoder.write_all(piece).unwrap());
    encoder.finish().unwrap()
}

/// Reads an archive, or says what is wrong with it.
fn read(bytes: &[u8]) -> Result<Dataset, String> {
    npz::from_bytes(bytes, "test", &Context::default()).map_err(|error| error.to_string())
}

fn small() -> Dataset {
    read(&Arrays::small().stored()).unwrap()
}

/// Asserts that the message has all fragments.
fn assert_says(name: &str, bytes: &[u8], fragments: &[&str]) {
    let message = read(bytes).map(|_| ()).expect_err(name);
    for fragment in fragments {
        assert!(message.contains(fragment), "{name}: {fragment:?} is not in {message:?}");
    }
}
