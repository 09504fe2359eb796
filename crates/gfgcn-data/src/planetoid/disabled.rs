//! What stands for the reader in a build without it: an error that says so.

use super::Files;
use crate::directions::Directions;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::{Error, Result};
use std::path::Path;

pub(super) fn read(folder: &Path, _: &str, _: Directions, _: &Context) -> Result<Dataset> {
    Err(absent().in_file(folder))
}

pub(super) fn assemble(_: &Path, _: &str, _: &Files<'_>, _: &Context) -> Result<Dataset> {
    Err(absent())
}

fn absent() -> Error {
    Error::Data(
        "this build cannot read Planetoid files; use a build with the feature planetoid, or \
         convert them to .npz with one"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use crate::planetoid::{Files, from_bytes, names_in, read};
    use gfgcn::context::Context;
    use std::fs;

    /// The folder is still recognised, so that the message is about the build and not the folder.
    #[test]
    fn reading_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ind.tiny.graph"), "").unwrap();
        assert_eq!(names_in(folder.path()).unwrap(), ["tiny"]);
        let none: &[u8] = &[];
        let files = Files {
            x: none,
            y: none,
            tx: none,
            ty: none,
            allx: none,
            ally: none,
            graph: none,
            test_index: none,
        };
        let context = &Context::default();
        for result in [read(folder.path(), "tiny", context), from_bytes("tiny", &files, context)] {
            let message = result.unwrap_err().to_string();
            assert!(message.contains("this build cannot read Planetoid files"), "{message}");
            assert!(message.contains("the feature planetoid"), "{message}");
        }
    }
}
