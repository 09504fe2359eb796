//! The datasets that are too large to build in: where they are, and how their content is pinned.
//!
//! Every entry names the hash of the one content it stands for. Results stay comparable when a
//! repository changes, and neither a mirror nor a proxy has to be trusted.

use crate::canonical_name;
use std::fmt;

/// The server the repositories' files are read from.
pub const HOST: &str = "https://raw.githubusercontent.com";

/// A dataset that can be downloaded.
///
/// ```
/// let photo = gfgcn_datasets::remote::find("Amazon_Photo").unwrap();
/// assert_eq!(photo.file_name(), "amazon-photo.npz");
/// assert!(photo.url().ends_with("/master/data/npz/amazon_electronics_photo.npz"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The name the user writes.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The GitHub repository, `OWNER/REPOSITORY`.
    pub repository: &'static str,
    /// The branch of the repository.
    pub branch: &'static str,
    /// The file's path in the repository.
    pub path: &'static str,
    /// What the file's content must be.
    pub pin: Pin,
}

/// The content a file must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// The SHA-256 and the length of the content.
    Sha256 {
        /// The hash in lower-case hexadecimal.
        hex: &'static str,
        /// The length in bytes.
        bytes: u64,
    },
    /// The content's id in git, in lower-case hexadecimal: SHA-1 over `blob LENGTH\0` and the
    /// content. The length is part of the id without being known beforehand.
    GitBlob(&'static str),
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::Sha256 { hex, bytes } => write!(f, "SHA-256 {hex} ({bytes} bytes)"),
            Pin::GitBlob(hex) => write!(f, "git blob {hex}"),
        }
    }
}

/// The downloadable datasets.
pub const REMOTE: &[Remote] = &[
    Remote {
        name: "cora-ml",
        title: "Cora-ML",
        repository: "danielzuegner/gnn-meta-attack",
        branch: "master",
        path: "data/cora_ml.npz",
        pin: Pin::Sha256 {
            hex: "ffbe4e64857dc6bf38f1877e4312559a064df84b59d0f32f938717de5d5af0fd",
            bytes: 1_620_832,
        },
    },
    gnn_benchmark(
        "amazon-computers",
        "Amazon Computers",
        "data/npz/amazon_electronics_computers.npz",
        "8120e4148a330b3fafe37c4476823302d9d834b9",
    ),
    gnn_benchmark(
        "amazon-photo",
        "Amazon Photo",
        "data/npz/amazon_electronics_photo.npz",
        "97323743cb56aca9dd611f5b4b46862c1c9c6bd9",
    ),
    gnn_benchmark(
        "coauthor-cs",
        "Coauthor CS",
        "data/npz/ms_academic_cs.npz",
        "9bdd7da943d86b74297e8d32e99eb64245b52835",
    ),
    gnn_benchmark(
        "coauthor-physics",
        "Coauthor Physics",
        "data/npz/ms_academic_phy.npz",
        "8d8bc12e29aa67f6753a712080eae81079bd7d01",
    ),
];

/// An entry of the gnn-benchmark collection, whose files are pinned by their ids in git.
const fn gnn_benchmark(
    name: &'static str,
    title: &'static str,
    path: &'static str,
    blob: &'static str,
) -> Remote {
    let pin = Pin::GitBlob(blob);
    Remote { name, title, repository: "shchur/gnn-benchmark", branch: "master", path, pin }
}

/// The downloadable dataset of that name, in any case and with `_` for `-`.
pub fn find(name: &str) -> Option<&'static Remote> {
    let name = canonical_name(name);
    REMOTE.iter().find(|dataset| dataset.name == name)
}

impl Remote {
    /// The address of the file.
    pub fn url(&self) -> String {
        self.url_at(HOST)
    }

    /// The address of the file on a mirror that keeps the paths of [`HOST`]; `base` is the
    /// mirror's scheme and host, perhaps followed by a path.
    pub fn url_at(&self, base: &str) -> String {
        let Remote { repository, branch, path, .. } = self;
        format!("{}/{repository}/{branch}/{path}", base.trim_end_matches('/'))
    }

    /// The name the file gets on disk.
    pub fn file_name(&self) -> String {
        format!("{}.npz", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_spelling() {
        for name in ["cora-ml", "cora_ml", "Cora-ML", "CORA_ML"] {
            assert_eq!(find(name).map(|d| d.name), Some("cora-ml"));
        }
        for name in ["", "cora", "coraml", "cora-ml.npz"] {
            assert!(find(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn addresses_are_raw_content() {
        assert_eq!(
            find("cora-ml").unwrap().url(),
            "https://raw.githubusercontent.com/danielzuegner/gnn-meta-attack/master/data/cora_ml.npz"
        );
        assert_eq!(
            find("coauthor-cs").unwrap().url_at("http://mirror.example/github/"),
            "http://mirror.example/github/shchur/gnn-benchmark/master/data/npz/ms_academic_cs.npz"
        );
    }

    #[test]
    fn pins_are_well_formed() {
        for dataset in REMOTE {
            let (hex, length) = match dataset.pin {
                Pin::Sha256 { hex, .. } => (hex, 64),
                Pin::GitBlob(hex) => (hex, 40),
            };
            assert_eq!(hex.len(), length, "{}", dataset.name);
            assert!(hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{hex}");
        }
    }
}
