//! Directions in archives of both layouts.

use super::{Arrays, npy, read};
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn_data::{Directions, npz};

type Arcs = Vec<(usize, usize, f32)>;

fn kept(arrays: &Arrays) -> Result<Dataset, String> {
    npz::from_bytes_with(
        &arrays.stored(),
        "test",
        Directions::Kept { by: "--directed" },
        &Context::default(),
    )
    .map_err(|error| error.to_string())
}

/// 0 → 1 (twice), 1 → 0, 2 → 0, and a self-loop, as rows and as a list.
fn layouts() -> [(&'static str, Arrays); 2] {
    let rows = Arrays::small()
        .with("adj_data", npy::vector("<f4", &[1.0; 5]))
        .with("adj_indices", npy::vector("<i8", &[1.0, 1.0, 0.0, 0.0, 3.0]))
        .with("adj_indptr", npy::vector("<i8", &[0.0, 2.0, 3.0, 4.0, 5.0, 5.0]));
    let ends = [0u64, 1, 0, 1, 1, 0, 2, 0, 3, 3].map(u64::to_le_bytes).concat();
    let list = Arrays(Vec::new())
        .with("edges", npy::array("'<i8'", "5, 2", &ends))
        .with("node_features", npy::array("'<f4'", "5, 1", &[0; 20]))
        .with("node_labels", npy::vector("<i8", &[0.0, 1.0, 0.0, 1.0, 1.0]));
    [("rows", rows), ("list", list)]
}

fn flag(descr: &str, shape: &str, value: u8) -> Vec<u8> {
    npy::array(descr, shape, &[value])
}

#[test]
fn arcs_are_kept_where_that_is_asked_for_or_said() {
    let expected: Arcs = vec![(0, 1, 1.0), (1, 0, 1.0), (2, 0, 1.0)];
    let repaired = ["1 duplicate edge entries merged", "1 self-loops dropped"];
    for (name, plain) in layouts() {
        let forgotten = read(&plain.stored()).unwrap();
        assert!(!forgotten.graph().is_directed());
        let note = "1 edge goes one way only; it is used either way (--directed keeps directions)";
        assert!(forgotten.notes().iter().any(|n| n == note), "{name}: {:?}", forgotten.notes());
        let said = [("'|b1'", ""), ("'|b1'", "1,"), ("'|u1'", ""), ("'|i1'", "1,")];
        let said = said.map(|(descr, shape)| plain.clone().with("directed", flag(descr, shape, 1)));
        let said = said.map(|arrays| read(&arrays.stored()).unwrap());
        let asked = kept(&plain).unwrap();
        let both = kept(&plain.clone().with("directed", flag("'|b1'", "", 1))).unwrap();
        for dataset in said.iter().chain([&asked, &both]) {
            assert_eq!(dataset.graph().arc_list().collect::<Arcs>(), expected, "{name}");
            assert_eq!(dataset.notes().len(), 2, "{name}: {:?}", dataset.notes());
            for (note, part) in dataset.notes().iter().zip(repaired) {
                assert!(note.starts_with(part), "{name}: {note}");
            }
        }
    }
}

#[test]
fn flags_that_differ_are_refused() {
    const MIXED: &str = "mixed directed flags";
    for (name, plain) in layouts() {
        let said = |value| plain.clone().with("directed", flag("'|b1'", "", value));
        let error = kept(&said(0)).unwrap_err();
        let parts = [MIXED, "member directed", "undirected", "--directed"];
        assert!(parts.iter().all(|part| error.contains(part)), "{name}: {error}");
        let undirected = read(&said(0).stored()).unwrap();
        assert!(!undirected.graph().is_directed(), "{name}");
        let notes = undirected.notes();
        assert!(!notes.iter().any(|note| note.contains("either way")), "{name}: {notes:?}");
        for (descr, shape, bytes) in
            [("'|i1'", "", &[2][..]), ("'|b1'", "2,", &[1, 1]), ("'|b1'", "0,", &[])]
        {
            let arrays = plain.clone().with("directed", npy::array(descr, shape, bytes));
            let error = read(&arrays.stored()).unwrap_err();
            assert!(
                error.contains("member directed") && error.contains("true or false"),
                "{error}"
            );
        }
    }
    let halved = layouts()[0].1.clone().with("adj_symmetric", flag("'|b1'", "1,", 1));
    let error = kept(&halved).unwrap_err();
    assert!(error.contains(MIXED) && error.contains("member adj_symmetric"), "{error}");
    let error = read(&halved.with("directed", flag("'|b1'", "", 1)).stored()).unwrap_err();
    let parts = [MIXED, "member adj_symmetric", "member directed"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn directions_survive() {
    for (name, plain) in layouts() {
        let dataset = kept(&plain).unwrap();
        let again = npz::from_bytes(&npz::to_bytes(&dataset), "test", &Context::default()).unwrap();
        assert_eq!(again.graph(), dataset.graph(), "{name}");
        assert_eq!(again.fingerprint(), dataset.fingerprint(), "{name}");
        assert_eq!(again.notes(), [""; 0], "{name}");
    }
}
