//! Files that are cut or changed anywhere: read or refused, never a panic or a large allocation.

use super::{allocation, golden_path, read, read_file, same};
use std::fs;

/// Formats that say where they end.
const WHOLE: [&str; 5] = [
    "directed.graphml",
    "undirected.gexf",
    "directed_links.json",
    "columns.npy",
    "facebook100_compressed.mat",
];

#[test]
fn a_document_cut_anywhere_is_refused() {
    for name in WHOLE {
        let bytes = fs::read(golden_path(name)).unwrap();
        let needed = bytes.trim_ascii_end().len();
        for length in 0..needed {
            let cut = read_file(name, &bytes[..length]);
            // Between two arrays a MATLAB file may end; then what is missing is said.
            let noted =
                |notes: &[String]| notes.iter().any(|note| note.contains("there are no features"));
            let refused = cut
                .as_ref()
                .map_or(true, |dataset| name.ends_with(".mat") && noted(dataset.notes()));
            assert!(refused, "{name} cut at {length}");
        }
    }
    allocation::assert_modest();
}

#[test]
fn a_changed_byte_is_read_or_refused() {
    let names = ["spaces.edges", "blogcatalog.mat", "facebook100.mat", "rows.npy"];
    for name in WHOLE.into_iter().chain(names) {
        let whole = fs::read(golden_path(name)).unwrap();
        let mut damaged = whole.clone();
        for at in 0..whole.len() {
            for flip in [0x01, 0x90] {
                damaged[at] ^= flip;
                if let Err(message) = read_file(name, &damaged) {
                    assert!(message.contains(name), "{name}, byte {at}: {message}");
                }
                damaged[at] ^= flip;
            }
        }
    }
    allocation::assert_modest();
}

/// Collections, and their files.
const COLLECTIONS: [(&str, &[&str]); 4] = [
    ("musae", &["musae_git_edges.csv", "musae_git_features.json", "musae_git_target.csv"]),
    ("neo4j", &["acted.csv", "films.csv", "knows.csv", "people.csv"]),
    (
        "ogbn_tiny",
        &[
            "raw/edge.csv.gz",
            "raw/node-feat.csv.gz",
            "raw/node-label.csv.gz",
            "split/time/train.csv.gz",
        ],
    ),
    ("karateclub", &["edges.csv", "features.csv", "target.csv"]),
];

/// Tables of a collection, each with every byte changed while the others are whole.
#[test]
fn a_changed_byte_of_a_collection_is_read_or_refused() {
    for (collection, files) in COLLECTIONS {
        let content = |file: &&str| fs::read(golden_path(collection).join(file)).unwrap();
        let whole: Vec<(&str, Vec<u8>)> = files.iter().map(|file| (*file, content(file))).collect();
        let folder = super::folder(&whole);
        for (file, bytes) in &whole {
            for at in 0..bytes.len() {
                for flip in [0x01, 0x90] {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= flip;
                    fs::write(folder.path().join(file), damaged).unwrap();
                    if let Err(message) = read(folder.path()) {
                        let folder = folder.path().to_str().unwrap();
                        assert!(message.contains(folder), "{file}, byte {at}: {message}");
                    }
                }
            }
            fs::write(folder.path().join(file), bytes).unwrap();
        }
    }
    allocation::assert_modest();
}

/// Tables of a collection, each cut at every byte while the others are whole.
#[test]
fn cut_tables_of_collections_are_read_or_refused() {
    for (collection, files) in COLLECTIONS {
        let whole = read(&golden_path(collection)).unwrap();
        let content = |file: &str| fs::read(golden_path(collection).join(file)).unwrap();
        for damaged in files {
            for length in 0..content(damaged).len() {
                let parts: Vec<(&str, Vec<u8>)> = files
                    .iter()
                    .map(|file| {
                        (
                            *file,
                            if file == damaged {
                                content(file)[..length].to_vec()
                            } else {
                                content(file)
                            },
                        )
                    })
                    .collect();
                let folder = super::folder(&parts);
                let cut = read(folder.path());
                let ends = content(damaged).trim_ascii_end().len();
                if damaged.ends_with(".gz") || damaged.ends_with(".json") {
                    assert!(
                        cut.is_err() || length >= ends,
                        "{collection}: {damaged} cut at {length}"
                    );
                }
                if length >= ends && !damaged.ends_with(".gz") {
                    assert!(
                        same(cut.unwrap(), whole.clone()),
                        "{collection}: {damaged} without its last line end"
                    );
                }
            }
        }
    }
    allocation::assert_modest();
}
