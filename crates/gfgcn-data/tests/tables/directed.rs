//! Directions of edges in tables: asked for, said by the tables themselves, or forgotten and said.

use super::{KEPT, assert_says, folder, read_as, small_with};
use gfgcn_data::Directions;

const FEATURES: (&str, &str) = ("features.csv", "id,x\na,1\nb,2\nc,3\n");

type Arcs = Vec<(usize, usize, f32)>;

#[test]
fn edges_are_arcs_where_that_is_asked_for_or_said() {
    let plain = "source,target\na,b\nb,a\nc,b\n";
    let flagged = "source,target,directed\na,b,true\nb,a,1\nc,b,Yes\n";
    let tab = "from\tto\tIs_Directed\na\tb\tTRUE\nb\ta\tdirected\nc\tb\ttrue\n";
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 1\n3 2\n";
    let expected: Arcs = vec![(0, 1, 1.0), (1, 0, 1.0), (2, 1, 1.0)];
    let note = "1 edge goes one way only; it is used either way (--directed keeps directions)";
    for (name, text, said) in [
        ("edges.csv", plain, false),
        ("edges.csv", flagged, true),
        ("edges.tsv", tab, true),
        ("edges.mtx", matrix, false),
    ] {
        let folder = folder(&[FEATURES, (name, text)]);
        let kept = read_as(folder.path(), KEPT).unwrap();
        assert_eq!(kept.graph().arc_list().collect::<Arcs>(), expected, "{name}");
        assert_eq!(kept.notes(), [""; 0], "{name}");
        let plain = read_as(folder.path(), Directions::AsSaid).unwrap();
        assert_eq!(plain.graph().is_directed(), said, "{name}");
        assert_eq!(plain.graph().edges(), 2, "{name}");
        let notes: &[&str] = if said { &[] } else { &[note] };
        assert_eq!(plain.notes(), notes, "{name}");
    }
}

/// A list that names every edge once cannot tell, a matrix can.
#[test]
fn directions_are_only_missed_where_they_could_be_meant() {
    for (name, text, notes) in [
        ("edges.csv", "a,b\nc,b\n", 0),
        ("edges.csv", "a,b\nb,a\nc,b\nb,c\n", 0),
        ("edges.csv", "source,target,directed\na,b,false\nb,a,no\nc,b,0\n", 0),
        ("edges.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n", 1),
        ("edges.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n", 0),
    ] {
        let dataset = read_as(folder(&[FEATURES, (name, text)]).path(), Directions::AsSaid);
        let dataset = dataset.unwrap();
        assert!(!dataset.graph().is_directed());
        assert_eq!(dataset.notes().len(), notes, "{text:?}: {:?}", dataset.notes());
    }
}

#[test]
fn directed_edges_are_repaired_and_counted() {
    let text = "source,target,weight\na,b,2\na,b,3\nb,a,1\nc,c,1\nc,a,0\n";
    let dataset = read_as(folder(&[FEATURES, ("edges.csv", text)]).path(), KEPT);
    let dataset = dataset.unwrap();
    assert_eq!(dataset.graph().arc_list().collect::<Arcs>(), [(0, 1, 3.0), (1, 0, 1.0)]);
    let notes = dataset.notes().join("; ");
    for note in ["1 duplicate edge", "1 self-loops", "1 edges of weight 0"] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    assert_eq!(dataset.notes().len(), 3, "{notes}");
}

#[test]
fn flags_that_differ_and_bad_weights_are_refused() {
    const MIXED: &str = "mixed directed flags";
    let undirected = "source,target,directed\na,b,false\n";
    let symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 1\n2 1\n";
    for (name, directions, file, fragments) in [
        (
            "two rows",
            Directions::AsSaid,
            ("edges.csv", "source,target,directed\na,b,true\nb,c,true\na,c,false\n"),
            &["edges.csv", "line 4", MIXED, "undirected", "line 2"][..],
        ),
        (
            "asked for, and denied",
            KEPT,
            ("edges.csv", undirected),
            &[MIXED, "line 2 of edges.csv", "undirected", "--directed"],
        ),
        (
            "a symmetric matrix",
            KEPT,
            ("edges.mtx", symmetric),
            &["edges.mtx", MIXED, "the word symmetric", "--directed"],
        ),
        (
            "no truth value",
            Directions::AsSaid,
            ("edges.csv", "source,target,directed\na,b,perhaps\n"),
            &["line 2", "\"directed\"", "\"perhaps\"", "true or false"],
        ),
        (
            "empty flag",
            Directions::AsSaid,
            ("edges.csv", "source,target,directed\na,b,\n"),
            &["line 2", "\"directed\"", "true or false"],
        ),
        (
            "negative weight",
            KEPT,
            ("edges.csv", "source,target,directed,weight\na,b,true,-1\n"),
            &["line 2", "\"weight\"", "-1", "negative"],
        ),
        (
            "NaN weight",
            KEPT,
            ("edges.csv", "source,target,weight\na,b,nan\n"),
            &["line 2", "\"weight\"", "nan", "finite"],
        ),
        (
            "two columns of one meaning",
            Directions::AsSaid,
            ("edges.csv", "source,target,weight,w\na,b,1,1\n"),
            &["line 1", "columns 3 and 4", "\"weight\"", "\"w\""],
        ),
    ] {
        assert_says(name, read_as(small_with(&[file]).path(), directions), fragments);
    }
}
