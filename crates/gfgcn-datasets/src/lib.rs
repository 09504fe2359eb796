//! The datasets gfgcn knows by name: three that are built in, and a list of downloadable ones.
//!
//! The built-in ones are bytes inside the program, so that a first run needs neither a network nor
//! a folder. Reading an archive is the work of `gfgcn-data`, fetching one is the command line's; this crate knows
//! what a name or a path means ([`open`]). Where the bytes come from is in `datasets/README.md`.

pub mod folder;
mod open;
pub mod remote;

pub use open::{has_extension, open, open_with, recognise, stem};

/// A dataset that is part of the program.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Bundled {
    /// The name the user writes.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The `.npz` archive.
    pub bytes: &'static [u8],
    /// The number of nodes.
    pub nodes: usize,
    /// The number of undirected edges.
    pub edges: usize,
    /// The number of feature columns.
    pub features: usize,
    /// The number of classes.
    pub classes: usize,
    /// Where the data come from, in one phrase.
    pub source: &'static str,
    /// SHA-256 of `bytes`, in lower-case hexadecimal.
    pub sha256: &'static str,
}

// Written out because the derived form would print five megabytes.
impl std::fmt::Debug for Bundled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bundled")
            .field("name", &self.name)
            .field("bytes", &self.bytes.len())
            .field("sha256", &self.sha256)
            .finish_non_exhaustive()
    }
}

/// The built-in datasets, smallest first.
// Static, not constant: a constant would be copied, five megabytes, into every crate that names it.
pub static BUNDLED: &[Bundled] = &[CORA, CITESEER, PUBMED];

const CORA: Bundled = Bundled {
    name: "cora",
    title: "Cora",
    bytes: include_bytes!("../../../datasets/cora.npz"),
    nodes: 2708,
    edges: 5278,
    features: 1433,
    classes: 7,
    source: "LINQS Cora with the public Planetoid split",
    sha256: "ffead145f6dc07cac448ad4524ae39c4df89f38f01cef5918dbcac70d035fbca",
};

const CITESEER: Bundled = Bundled {
    name: "citeseer",
    title: "Citeseer",
    bytes: include_bytes!("../../../datasets/citeseer.npz"),
    nodes: 3312,
    edges: 4536,
    features: 3703,
    classes: 6,
    source: "Planetoid Citeseer without its 15 papers that have neither features nor a label",
    sha256: "82a84b293bb9d4e1f2c84b80cae11f18e8c59f8c01de2de2aac6858e88462eac",
};

const PUBMED: Bundled = Bundled {
    name: "pubmed",
    title: "PubMed",
    bytes: include_bytes!("../../../datasets/pubmed.npz"),
    nodes: 19717,
    edges: 44324,
    features: 500,
    classes: 3,
    source: "Planetoid PubMed",
    sha256: "9a939be1e5f64e15c60e96ad020db56aee48ac5b2b4cb221dac787a0a82627c6",
};

/// The built-in dataset of that name, in any case.
pub fn find(name: &str) -> Option<&'static Bundled> {
    let name = canonical_name(name);
    BUNDLED.iter().find(|dataset| dataset.name == name)
}

/// The one spelling of a dataset's name: lower case, with `-` for `_`.
///
/// Publications and file names write `Cora_ML`, `cora-ml` and `cora_ml` for the same data, so
/// every comparison of names goes through this.
///
/// ```
/// assert_eq!(gfgcn_datasets::canonical_name("Cora_ML"), "cora-ml");
/// ```
pub fn canonical_name(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::collections::HashSet;

    #[test]
    fn the_bytes_are_the_recorded_ones() {
        for dataset in BUNDLED {
            let hash: String =
                Sha256::digest(dataset.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hash, dataset.sha256, "{}", dataset.name);
        }
    }

    #[test]
    fn the_provenance_page_has_the_same_numbers() {
        let page = include_str!("../../../datasets/README.md");
        for dataset in BUNDLED {
            let Bundled { name, nodes, edges, features, classes, sha256, .. } = dataset;
            let size = dataset.bytes.len();
            let row = format!(
                "| {name}.npz | {nodes} | {edges} | {features} | {classes} | {size} | `{sha256}` |"
            );
            assert!(page.lines().any(|line| line == row), "datasets/README.md lacks {row:?}");
        }
        assert_eq!(page.matches(".npz | ").count(), BUNDLED.len(), "one row per dataset");
    }

    #[test]
    fn names_are_found_in_any_spelling() {
        for name in ["cora", "Cora", "CORA"] {
            assert_eq!(find(name).map(|d| d.name), Some("cora"));
        }
        for name in ["", "cor", "cora ", "cora-ml", "../cora"] {
            assert!(find(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn no_name_means_two_datasets() {
        let names: Vec<_> = BUNDLED
            .iter()
            .map(|dataset| dataset.name)
            .chain(remote::REMOTE.iter().map(|dataset| dataset.name))
            .collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
        assert!(names.iter().all(|name| canonical_name(name) == *name), "{names:?}");
    }

    #[test]
    fn debug_output_leaves_the_bytes_out() {
        assert!(format!("{:?}", BUNDLED).len() < 2000);
    }
}
