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
    heterophilous(
        "texas",
        "Texas: web pages",
        "data/texas.npz",
        "b164b99e6c3d43e4ab07488ec59bd8c815f90cbc1bd4cf425ce587d2b534d844",
        28_586,
    ),
    heterophilous(
        "cornell",
        "Cornell: web pages",
        "data/cornell.npz",
        "684c54ba3daa13b0ba1f04a3d6dd1b1175c1ae9bdeb982851fd4ff96d3aac298",
        30_515,
    ),
    heterophilous(
        "chameleon-filtered",
        "Chameleon: Wikipedia articles, no duplicates",
        "data/chameleon_filtered.npz",
        "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5",
        58_924,
    ),
    heterophilous(
        "chameleon-filtered-directed",
        "Chameleon: no duplicates, with directions",
        "data/chameleon_filtered_directed.npz",
        "5a2d40701407188f1661d37a326484b49cc15251e0dedaa7bd380873dac80f21",
        69_275,
    ),
    heterophilous(
        "chameleon-directed",
        "Chameleon: with duplicates and directions",
        "data/chameleon_directed.npz",
        "34aea6b6888063544232100d53d4aa7e87e37953ec8dd3a7092afb25bb2f0328",
        191_520,
    ),
    heterophilous(
        "actor",
        "Actor: actors named on the same pages",
        "data/actor.npz",
        "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816",
        252_956,
    ),
    heterophilous(
        "minesweeper",
        "Minesweeper: cells of a grid",
        "data/minesweeper.npz",
        "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3",
        135_045,
    ),
];

/// An entry of the heterophilous-graphs collection, which comes with ten splits each.
const fn heterophilous(
    name: &'static str,
    title: &'static str,
    path: &'static str,
    hex: &'static str,
    bytes: u64,
) -> Remote {
    let pin = Pin::Sha256 { hex, bytes };
    Remote {
        name,
        title,
        repository: "yandex-research/heterophilous-graphs",
        branch: "main",
        path,
        pin,
    }
}

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
        assert_eq!(
            find("chameleon_filtered").unwrap().url(),
            "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/main/data/chameleon_filtered.npz"
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
