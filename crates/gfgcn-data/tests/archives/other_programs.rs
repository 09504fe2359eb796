//! Archives that NumPy wrote (`tests/golden/make_npz.py`).

use super::{read, small};
use std::fs;
use std::path::Path;

#[test]
fn archives_of_numpy_read_as_the_same_dataset() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/npz");
    for (name, notes) in [
        ("plain", &[][..]),
        ("dense", &[]),
        (
            "wild",
            &[
                "1 self-loops dropped",
                "4 edges go one way only",
                "member node_names skipped: it holds pickled",
                "members not used: idx_to_node, idx_to_class",
            ],
        ),
    ] {
        let bytes = fs::read(folder.join(name).with_extension("npz")).unwrap();
        let dataset = read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(dataset.fingerprint(), small().fingerprint(), "{name}");
        assert_eq!(dataset.split(), small().split(), "{name}");
        let found = dataset.notes();
        assert_eq!(found.len(), notes.len(), "{name}: {found:?}");
        for (found, note) in found.iter().zip(notes) {
            assert!(found.starts_with(note), "{name}: {found}");
        }
    }
}

/// A SciPy matrix in an archive is a pickle, which is code.
#[test]
fn pickled_matrices_are_refused_with_the_way_to_save_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/npz");
    for (name, member) in [("pickled_graph", "adj_matrix"), ("pickled_features", "attr_matrix")] {
        let bytes = fs::read(folder.join(name).with_extension("npz")).unwrap();
        let message = read(&bytes).unwrap_err();
        for part in [member, "pickled Python object", "never read", "indices, indptr and shape"] {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    }
}
