//! Sets of labels and values in tables.

use crate::{assert_says, folder, read, small, small_with};
use gfgcn::context::Context;
use gfgcn::data::{Dataset, LabelSets, TargetKind, Targets, Values};
use gfgcn::matrix::Matrix;
use gfgcn_data::{TableFormat, npz, read_values, write_folder};
use std::fs;

/// [`crate::SMALL`] with values in place of labels.
fn with_values(content: &str) -> Result<Dataset, String> {
    let folder = small_with(&[("values.csv", content)]);
    fs::remove_file(folder.path().join("labels.csv")).unwrap();
    read(folder.path())
}

fn values_of(dataset: &Dataset, id: &str) -> Option<Vec<f64>> {
    let Targets::Values(values) = dataset.targets() else { panic!("values") };
    let node = (0..dataset.nodes()).find(|&node| dataset.node_id(node) == id).unwrap();
    values.get(node).map(<[f64]>::to_vec)
}

#[test]
fn several_rows_of_a_node_are_a_set_of_labels() {
    let labels = "id,label\na,yes\nb,no\na,maybe\ne,no\na,yes\nb,no\n";
    let dataset = read(small_with(&[("labels.csv", labels)]).path()).unwrap();
    let Targets::Sets(sets) = dataset.targets() else { panic!("sets") };
    assert_eq!(sets.names(), ["maybe", "no", "yes"]);
    let of = |id: &str| {
        let node = (0..dataset.nodes()).find(|&node| dataset.node_id(node) == id).unwrap();
        sets.of_node(node).map(|labels| labels.collect::<Vec<_>>())
    };
    assert_eq!(of("a"), Some(vec!["maybe", "yes"]));
    assert_eq!((of("b"), of("e")), (Some(vec!["no"]), Some(vec!["no"])));
    assert_eq!(of("c"), None, "not named is not known");
    assert!(dataset.notes().iter().any(|note| note.starts_with("1 node has several labels")));
    assert!(dataset.labels().labelled().is_empty());
    // The same label again is no set.
    let again = read(small_with(&[("labels.csv", "a,yes\na,yes\nb,no\ne,yes\n")]).path()).unwrap();
    assert_eq!(again.targets(), small().targets());
}

#[test]
fn a_folder_with_values_says_numbers() {
    let dataset = with_values("id,height,age\nb,1.5,-2e-3\na,0.1,7\nd,,\ne,NA,nan\n").unwrap();
    assert_eq!(dataset.targets().names(), ["height", "age"]);
    assert_eq!(values_of(&dataset, "a"), Some(vec![0.1, 7.0]));
    assert_eq!(values_of(&dataset, "b"), Some(vec![1.5, -2e-3]));
    for unknown in ["c", "d", "e"] {
        assert_eq!(values_of(&dataset, unknown), None, "{unknown}");
    }
    // -1 is a value, and a header may be left out.
    let plain = with_values("a,-1\nb,2\n").unwrap();
    assert_eq!(
        (plain.targets().names(), values_of(&plain, "a")),
        (&["value".into()][..], Some(vec![-1.0]))
    );
    let same =
        [("CRLF", "id,x\r\na,1\r\n"), ("BOM", "\u{feff}id,x\na,1\n"), ("no end", "id,x\na,1")];
    for (name, content) in same {
        assert_eq!(values_of(&with_values(content).unwrap(), "a"), Some(vec![1.0]), "{name}");
    }
}

#[test]
fn values_that_are_none_are_refused_with_their_place() {
    for (name, content, fragments) in [
        ("word", "id,x,y\na,1,2\nb,3,tall\n", &["values.csv", "line 3", "\"y\"", "\"tall\""][..]),
        ("infinite", "id,x\na,inf\n", &["line 2", "\"x\"", "finite"]),
        ("too large", "id,x\na,1e999\n", &["line 2", "\"x\"", "finite"]),
        ("half a row", "id,x,y\na,1,\n", &["line 2", "\"y\"", "all or none"]),
        ("unknown node", "id,x\na,1\nzz,2\n", &["line 3", "\"zz\""]),
        ("twice", "id,x\na,1\nb,2\na,1\n", &["line 4", "\"a\"", "line 2", "one row"]),
        ("ragged", "id,x\na,1,2\n", &["line 2"]),
        ("only ids", "id\na\n", &["values.csv", "1 column"]),
        ("empty", "", &["values.csv", "is empty"]),
        ("two of a name", "id,x,x\na,1,2\n", &["values.csv", "\"x\"", "twice"]),
    ] {
        assert_says(name, with_values(content), fragments);
    }
}

#[test]
fn labels_win_and_values_are_named_to_be_read() {
    let folder = small_with(&[("values.csv", "id,x\na,1\n")]);
    let dataset = read(folder.path()).unwrap();
    assert_eq!(dataset.targets().kind(), TargetKind::Classes);
    assert!(dataset.notes().iter().any(|note| note.contains("values.csv is not read")));
    let values = read_values(&folder.path().join("values.csv"), &dataset, &Context::default());
    let dataset = dataset.with_targets(values.unwrap()).unwrap();
    assert_eq!(values_of(&dataset, "a"), Some(vec![1.0]));
}

#[test]
fn what_is_written_reads_back() {
    let sets = LabelSets::from_names(&[Some(vec!["x", "y"]), None, Some(vec!["y"]), None, None]);
    let matrix =
        Matrix::from_fn(5, 2, |i, j| if i == 3 { f64::NAN } else { 0.1 * (i + 7 * j) as f64 });
    let values = Values::new(vec!["b".into(), "a".into()], matrix).unwrap();
    for targets in [Targets::from(sets), values.into()] {
        let dataset = small().with_targets(targets).unwrap();
        for format in TableFormat::ALL {
            let folder = folder::<&str>(&[]);
            write_folder(&dataset, folder.path(), format, false).unwrap();
            let back = read(folder.path()).unwrap();
            assert_eq!(back.targets(), dataset.targets(), "{format}");
            assert_eq!(back.fingerprint(), dataset.fingerprint());
            // Labels take the place of values, which must not stay behind.
            write_folder(&small(), folder.path(), format, true).unwrap();
            assert_eq!(read(folder.path()).unwrap().targets(), small().targets());
        }
        let folder = folder::<&str>(&[]);
        let path = folder.path().join("x.npz");
        npz::write(&dataset, &path, false).unwrap();
        let back = npz::read(&path, "x", &Context::default()).unwrap();
        assert_eq!(back.targets(), dataset.targets());
    }
    let empty = LabelSets::from_names(&[Some(vec!["x", "y"]), Some(vec![]), None, None, None]);
    let dataset = small().with_targets(empty).unwrap();
    let folder = folder::<&str>(&[]);
    let message = write_folder(&dataset, folder.path(), TableFormat::Csv, false).unwrap_err();
    assert!(message.to_string().contains("\"b\""), "{message}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
