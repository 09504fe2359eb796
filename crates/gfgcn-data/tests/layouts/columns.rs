//! Columns that people name, words and gaps among features, and what is remembered of them.

use super::{assert_says, folder, read_with, same};
use gfgcn::data::{ColumnKind, Dataset, Encoding};
use gfgcn_data::{Columns, ReadOptions};

const EDGES: (&str, &str) = ("edges.csv", "source,target\na,b\nb,c\nc,d\n");

fn columns(change: impl FnOnce(&mut Columns)) -> ReadOptions {
    let mut options = ReadOptions::default();
    change(&mut options.columns);
    options
}

fn read(features: &str, options: &ReadOptions) -> Result<Dataset, String> {
    read_with(folder(&[EDGES, ("features.csv", features)]).path(), options)
}

fn rows(data: &Dataset) -> Vec<Vec<f32>> {
    let row = |node| {
        let mut row = vec![0.0; data.features().cols()];
        data.features().for_each_in_row(node, |column, value| row[column] = value);
        row
    };
    (0..data.nodes()).map(row).collect()
}

const MIXED: &str = "id,age,colour,kind\na,30,red,x\nb,,green,y\nc,50,red,x\nd,40,,\n";

#[test]
fn words_become_features_and_gaps_are_filled_and_marked() {
    let data = read(MIXED, &columns(|c| c.label = Some("kind".into()))).unwrap();
    let names = ["age", "age:missing", "colour=green", "colour=red", "colour:missing"];
    assert_eq!(data.feature_names().unwrap(), names);
    let expected = [
        [30.0, 0.0, 0.0, 1.0, 0.0],
        [40.0, 1.0, 1.0, 0.0, 0.0],
        [50.0, 0.0, 0.0, 1.0, 0.0],
        [40.0, 0.0, 0.0, 0.0, 1.0],
    ];
    assert_eq!(rows(&data), expected);
    let labels: Vec<Option<&str>> = (0..4).map(|node| data.labels().name(node)).collect();
    assert_eq!(labels, [Some("x"), Some("y"), Some("x"), None]);
    let encoding = data.encoding().unwrap();
    assert_eq!(encoding.label_column.as_deref(), Some("kind"));
    assert_eq!(encoding.columns[0].kind, ColumnKind::Number { fill: 40.0 });
    let notes = data.notes().join("\n");
    assert!(notes.contains("\"colour\" (2)") && notes.contains("\"age\" (1)"), "{notes}");
}

/// What a model remembers is done again: with its mean, its categories, and without its labels' column.
#[test]
fn another_table_becomes_the_same_features() {
    let data = read(MIXED, &columns(|c| c.label = Some("kind".into()))).unwrap();
    let known = columns(|c| c.encoding = data.encoding().cloned());
    let other = "colour,id,kind,age,more\nblue,a,z,1,7\nred,b,x,,7\n,c,,2,7\ngreen,d,y,3,7\n";
    let other = read_with(
        folder(&[EDGES, ("features.csv", other)]).path(),
        &ReadOptions { columns: Columns { id: Some("id".into()), ..known.columns }, ..known },
    );
    let other = other.unwrap();
    assert_eq!(other.feature_names(), data.feature_names());
    let expected = [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [40.0, 1.0, 0.0, 1.0, 0.0],
        [2.0, 0.0, 0.0, 0.0, 1.0],
        [3.0, 0.0, 1.0, 0.0, 0.0],
    ];
    assert_eq!(rows(&other), expected);
    assert!(
        other.notes().iter().any(|note| note.contains("1 values of \"colour\"")),
        "{:?}",
        other.notes()
    );
}

#[test]
fn columns_are_found_by_name_and_by_number() {
    let plain = read("id,x,y\na,1,2\nb,3,4\nc,5,6\nd,7,8\n", &ReadOptions::default()).unwrap();
    let text = "x,name,note,y\n1,a,p,2\n3,b,q,4\n5,c,r,6\n7,d,s,8\n";
    for (id, dropped) in [("name", "note"), ("2", "3"), ("NAME", "Note")] {
        let options = columns(|c| (c.id, c.dropped) = (Some(id.into()), vec![dropped.into()]));
        let other = read(text, &options).unwrap();
        assert!(same(plain.clone(), other), "{id}");
    }
    let options =
        columns(|c| (c.id, c.features) = (Some("name".into()), vec!["x".into(), "y".into()]));
    assert!(same(plain.clone(), read(text, &options).unwrap()));
    let semicolons = text.replace(',', "|");
    let options = columns(|c| {
        (c.id, c.dropped) = (Some("name".into()), vec!["note".into()]);
        c.separator = Some("|".parse().unwrap());
    });
    let files =
        folder(&[("edges.csv", "source|target\na|b\nb|c\nc|d\n"), ("features.csv", &semicolons)]);
    assert!(same(plain, read_with(files.path(), &options).unwrap()));
}

#[test]
fn edges_have_the_columns_that_are_named() {
    let text = "since,who,strength,whom,how\n1,a,2,b,knows\n2,b,3,c,likes\n3,c,4,d,knows\n";
    let files = folder(&[("edges.csv", text)]);
    let options = columns(|c| {
        (c.source, c.target) = (Some("who".into()), Some("whom".into()));
        (c.weight, c.kind) = (Some("strength".into()), Some("how".into()));
    });
    let data = read_with(files.path(), &options).unwrap();
    assert!(data.graph().is_weighted());
    let names: Vec<&str> =
        data.graph().relations().iter().map(|relation| relation.name()).collect();
    assert_eq!(names, ["knows", "likes"]);
    assert!(
        data.notes().iter().any(|note| note.contains("not used: column \"since\"")),
        "{:?}",
        data.notes()
    );
    let numbered = folder(&[("edges.txt", "1 a 2 b\n2 b 3 c\n3 c 4 d\n")]);
    let options = columns(|c| {
        (c.source, c.target, c.weight) = (Some("2".into()), Some("4".into()), Some("3".into()));
    });
    let numbered = read_with(numbered.path(), &options).unwrap();
    assert_eq!((numbered.nodes(), numbered.graph().is_weighted()), (4, true));
}

#[test]
fn what_is_no_feature_is_refused_by_name() {
    let texts: String =
        (0..30).map(|k| format!("n{k},2024-01-{:02},some words {k},1\n", 1 + k % 9)).collect();
    let table = format!("id,born,bio,x\n{texts}");
    let edges = ("edges.csv", "source,target\nn0,n1\n");
    let files = folder(&[edges, ("features.csv", &table)]);
    let fragments = [
        "features.csv",
        "\"born\" holds dates",
        "\"bio\" holds free text",
        "--drop-columns born,bio",
    ];
    assert_says("dates", read_with(files.path(), &ReadOptions::default()), &fragments);
    let options = columns(|c| c.dropped = vec!["born".into(), "bio".into()]);
    assert_eq!(read_with(files.path(), &options).unwrap().feature_names().unwrap(), ["x"]);

    let plain = ReadOptions::default();
    let cases: [(&str, &str, ReadOptions, &[&str]); 7] = [
        (
            "word",
            "id,x\na,1\nb,red\nc,2\nd,3\n",
            plain.clone(),
            &["line 3", "\"x\"", "\"red\"", "3 others"],
        ),
        ("infinite", "id,x\na,red\nb,inf\nc,2\nd,3\n", plain.clone(), &["line 3", "inf"]),
        (
            "no id",
            "id,x\na,1\n",
            columns(|c| c.id = Some("key".into())),
            &["no column \"key\"", "\"id\", \"x\""],
        ),
        ("no label", "id,x\na,1\n", columns(|c| c.label = Some("y".into())), &["no column \"y\""]),
        ("no drop", "id,x\na,1\n", columns(|c| c.dropped = vec!["z".into()]), &["no column \"z\""]),
        (
            "all gone",
            "id,x\na,1\n",
            columns(|c| c.dropped = vec!["x".into()]),
            &["no column is left"],
        ),
        ("same", "id,x\na,1\n", columns(|c| c.label = Some("id".into())), &["same column"]),
    ];
    for (name, text, options, fragments) in cases {
        assert_says(name, read(text, &options), fragments);
    }
}

#[test]
fn an_encoding_that_contradicts_itself_is_refused() {
    let number = |name: &str, fill| gfgcn::data::EncodedColumn {
        name: name.into(),
        kind: ColumnKind::Number { fill },
        missing: false,
    };
    let check = |columns| Encoding { columns, ..Encoding::default() }.check().is_err();
    assert!(check(vec![number("x", f32::NAN)]));
    assert!(check(vec![number("x", 1.0), number("x", 1.0)]));
    assert!(!check(vec![number("x", 1.0), number("y", 1.0)]));
}

/// A table of nothing but numbers is read in one pass, and nothing has to be remembered.
#[test]
fn plain_numbers_leave_nothing_to_remember() {
    let data = read("id,x\na,1\nb,2\nc,3\nd,4\n", &ReadOptions::default()).unwrap();
    assert_eq!(data.encoding(), None);
}

/// Without another table of labels, a column that is called so has them; a feature of that name stays one where it is named.
#[test]
fn a_column_called_label_holds_the_labels() {
    let table = "id,x,label\na,1,yes\nb,2,no\nc,3,\nd,4,yes\n";
    let guessed = read(table, &ReadOptions::default()).unwrap();
    let named = read(table, &columns(|c| c.label = Some("label".into()))).unwrap();
    assert!(same(guessed.clone(), named.clone()));
    assert_eq!(guessed.encoding(), named.encoding(), "a model remembers it");
    assert_eq!(guessed.feature_names().unwrap(), ["x"]);
    assert_eq!(guessed.labels().name(0), Some("yes"));
    assert!(
        guessed.notes().join("\n").contains("column \"label\" of features.csv is what is learnt")
    );

    let as_feature = read(table, &columns(|c| c.features = vec!["x".into(), "label".into()]));
    assert_eq!(as_feature.unwrap().feature_names().unwrap()[1], "label=no");
    let other = read(&table.replace("label", "topic"), &ReadOptions::default()).unwrap();
    assert!(other.labels().as_slice().iter().all(Option::is_none), "a topic may be a feature");
    let beside = [EDGES, ("features.csv", table), ("labels.csv", "id,label\na,1\nb,2\n")];
    let beside = read_with(folder(&beside).path(), &ReadOptions::default()).unwrap();
    assert_eq!(beside.labels().name(0), Some("1"), "a table of labels counts more");
    // Where a model says how columns were read, its features are not taken for labels.
    let known = columns(|c| c.encoding = Some(Encoding::default()));
    let again = read("id,x,class\na,1,1\nb,2,0\nc,3,0\nd,4,1\n", &known).unwrap();
    assert_eq!(again.feature_names().unwrap(), ["x", "class"]);
}

/// What pandas writes of a frame whose ids are a column: the index comes first, without a name.
#[test]
fn an_index_before_the_column_of_ids_is_left_out() {
    let plain = read("email,x\na,1\nb,2\nc,3\nd,4\n", &ReadOptions::default()).unwrap();
    let table = ",email,x\n0,a,1\n1,b,2\n2,c,3\n3,d,4\n";
    let named = read(table, &columns(|c| c.id = Some("email".into()))).unwrap();
    assert!(same(plain, named.clone()));
    assert!(named.notes().join("\n").contains("the first column has no name and is left out"));
    assert_says("index", read(table, &ReadOptions::default()), &["index=False", "--id-column"]);
}
