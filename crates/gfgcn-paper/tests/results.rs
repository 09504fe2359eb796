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

/// A cell of the depth tables.
struct Cell {
    graph: String,
    model: String,
    depth: String,
    runs: u64,
    ours: f64,
    published: Option<f64>,
}

impl Cell {
    /// As percentages are shown, with one decimal.
    fn difference(&self) -> Option<f64> {
        self.published.map(|published| (10.0 * (self.ours - published)).round() / 10.0)
    }
}

/// All cells of all depth tables; panics where one is empty.
fn depth_cells() -> Vec<Cell> {
    let report: Value = serde_json::from_str(&read("results/report.json")).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let mut cells = Vec::new();
    for table in tables.iter().filter(|t| t["id"].as_str().unwrap().starts_with("depth-")) {
        let graph = table["title"].as_str().unwrap().split(':').next().unwrap();
        for row in table["rows"].as_array().unwrap() {
            let model = row["name"].as_str().unwrap();
            let depths = table["columns"].as_array().unwrap();
            for (depth, cell) in depths.iter().zip(row["cells"].as_array().unwrap()) {
                let depth = depth.as_str().unwrap();
                let mean = cell["ours"]["mean"].as_f64();
                cells.push(Cell {
                    graph: graph.to_owned(),
                    model: model.to_owned(),
                    depth: depth.to_owned(),
                    runs: cell["runs"].as_u64().unwrap(),
                    ours: mean.unwrap_or_else(|| panic!("{graph}, {model}, {depth} is empty")),
                    published: cell["published"].as_f64(),
                });
            }
        }
    }
    cells
}

#[test]
fn every_model_was_run_at_every_depth() {
    let cells = depth_cells();
    assert_eq!(cells.len(), 4 * 11 * 7);
    for Cell { graph, model, depth, runs, .. } in cells {
        let network = ["GCN", "GAT", "JKNet", "APPNP", "GCNII"].contains(&model.as_str());
        let least = if network { 5 } else { 20 };
        assert!(runs >= least, "{graph}, {model}, {depth}: {runs} runs");
    }
}

/// Within 2.5 points of the published values or above them, on all four graphs; gfDGC at K = 2, where T/K > 1,
/// excepted.
#[test]
fn closed_forms_are_where_they_should_be() {
    for cell in depth_cells().iter().filter(|cell| cell.model.starts_with("gf")) {
        let overshoots = cell.model == "gfDGC" && cell.depth == "K = 2";
        let difference = cell.difference().unwrap();
        let Cell { graph, model, depth, .. } = cell;
        assert!(overshoots || difference > -2.5, "{graph}, {model}, {depth}: {difference}");
    }
}

/// `results/differences.md` shows every cell that is more than 2.5 points from the published number, with what was tried.
#[test]
fn every_difference_is_looked_into() {
    let (page, table) = (read("results/differences.md"), read("results/tables/differences.md"));
    let far = |cell: &Cell| cell.difference().is_some_and(|points| points.abs() > 2.5);
    for Cell { graph, model, depth, .. } in depth_cells().into_iter().filter(far) {
        let name = format!("| {graph}, {model}, {depth}: ");
        let row = table.lines().find(|line| line.starts_with(&name));
        let row = row.unwrap_or_else(|| panic!("no row begins with {name:?}"));
        assert!(!row.contains("not tried yet"), "{row}");
        assert!(page.contains(row), "the page lacks {row:?}");
    }
}
