//! The run of the paper's experiments that the repository keeps, and what the README shows of it.

use serde_json::Value;
use std::fs;
use std::path::Path;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_readme_shows_what_came_out() {
    let (readme, table) = (read("README.md"), read("results/tables/overall.md"));
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 2 + 11, "a head and eleven models");
    for row in rows {
        assert!(readme.contains(row), "the README lacks {row:?}");
    }
    assert!(readme.contains("](results/figures/accuracy.svg)"));
    read("results/figures/accuracy.svg");
}

/// Within 2.5 points of the published values or above them, on all four graphs; gfDGC at K = 2, where T/K > 1,
/// excepted.
#[test]
fn closed_forms_are_where_they_should_be() {
    let report: Value = serde_json::from_str(&read("results/report.json")).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let of_depth = tables.iter().filter(|t| t["id"].as_str().unwrap().starts_with("depth-"));
    let mut cells = 0;
    for table in of_depth {
        for row in table["rows"].as_array().unwrap() {
            let name = row["name"].as_str().unwrap();
            for (k, cell) in row["cells"].as_array().unwrap().iter().enumerate() {
                if name.starts_with("gf") && (name, k) != ("gfDGC", 0) {
                    let ours = cell["ours"]["mean"].as_f64().unwrap();
                    let published = cell["published"].as_f64().unwrap();
                    assert!(ours > published - 2.5, "{name}, depth {k}: {ours} {published}");
                    cells += 1;
                }
            }
        }
    }
    assert_eq!(cells, 4 * (3 * 7 - 1));
}
