//! `data`: lists, descriptions, conversions, downloads.

use crate::sandbox::Sandbox;
use serde_json::Value;

fn fingerprint(sandbox: &Sandbox, dataset: &str) -> String {
    sandbox.json(&format!("data info {dataset}"))["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn the_list_has_what_is_built_in_to_download_and_ones_own() {
    let sandbox = Sandbox::new();
    sandbox.write("mine/own.npz", "");
    let list = sandbox.json("data list --data-dir mine");
    let status = |name: &str| {
        let entry = list["datasets"].as_array().unwrap().iter().find(|d| d["name"] == name);
        entry.unwrap_or_else(|| panic!("{name}: {list}"))["status"].clone()
    };
    for name in ["cora", "citeseer", "pubmed"] {
        assert_eq!(status(name), "built in");
    }
    assert_eq!(status("amazon-photo"), "to download");
    assert_eq!(status("own"), "in the data folder");
    let text = sandbox.ok("data list --data-dir mine");
    assert!(text.contains("gfgcn data get NAME") && text.contains("2708 nodes"), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
}

/// Nodes and edges of each component, the largest first, of an edge table with numbered nodes.
fn components(edges: &str, nodes: usize) -> Vec<(usize, usize)> {
    fn root(parent: &mut [usize], mut node: usize) -> usize {
        while parent[node] != node {
            parent[node] = parent[parent[node]];
            node = parent[node];
        }
        node
    }
    let mut parent: Vec<usize> = (0..nodes).collect();
    let edges: Vec<(usize, usize)> = edges
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').unwrap())
        .map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()))
        .collect();
    for &(a, b) in &edges {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a] = b;
    }
    let mut sizes = vec![(0, 0); nodes];
    (0..nodes).for_each(|node| sizes[root(&mut parent, node)].0 += 1);
    edges.iter().for_each(|&(a, _)| sizes[root(&mut parent, a)].1 += 1);
    sizes.retain(|&(nodes, _)| nodes > 0);
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

#[test]
fn the_figures_of_cora_are_right() {
    let sandbox = Sandbox::new();
    let info = sandbox.json("data info cora");
    // From the provenance page of the built-in datasets.
    for (field, value) in [("nodes", 2708), ("edges", 5278), ("features", 1433)] {
        assert_eq!(info[field], value, "{field}");
    }
    assert_eq!(info["largest_component"], serde_json::json!({"nodes": 2485, "edges": 5069}));
    let parts = serde_json::json!({"train": 140, "validation": 500, "test": 1000});
    assert_eq!(info["split"], parts);
    assert_eq!(info["classes"].as_array().unwrap().len(), 7);

    sandbox.ok("data convert cora tables");
    let counted = components(&sandbox.read("tables/edges.csv"), 2708);
    assert_eq!(info["components"], counted.len());
    assert_eq!(counted[0], (2485, 5069));
    let isolated = counted.iter().filter(|&&(nodes, _)| nodes == 1).count();
    assert_eq!(info["isolated_nodes"], isolated);
    let text = sandbox.ok("data info cora");
    assert!(text.contains("78 (largest: 2485 nodes, 5069 edges; 0 isolated nodes)"), "{text}");
}

#[test]
fn conversions_keep_the_data() {
    let sandbox = Sandbox::new();
    let original = fingerprint(&sandbox, "cora");
    sandbox.ok("data convert cora x.npz");
    assert_eq!(fingerprint(&sandbox, "x.npz"), original);
    for format in ["csv", "tsv", "parquet"] {
        sandbox.ok(&format!("data convert cora {format} --format {format}"));
        sandbox.ok(&format!("data convert {format} {format}.npz"));
        assert_eq!(fingerprint(&sandbox, format), original, "{format}");
        assert_eq!(fingerprint(&sandbox, &format!("{format}.npz")), original, "{format}.npz");
    }
    sandbox.ok("data convert cora csv --force");
    assert_eq!(fingerprint(&sandbox, "csv"), original);
}

#[test]
fn a_dataset_in_the_data_folder_has_a_name() {
    let sandbox = Sandbox::new();
    sandbox.communities("folder", 5);
    sandbox.ok("data convert folder My_Data.npz");
    let mut command = sandbox.gfgcn("data info my-data --json");
    let output = command.env("GFGCN_DATA", sandbox.path("")).output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(info["nodes"], 10);
}

#[test]
fn a_download_that_fails_leaves_no_file() {
    let sandbox = Sandbox::new();
    // Port 1 is not listened on by anything that people run.
    let run = sandbox.run("data get amazon-photo --mirror http://127.0.0.1:1 --data-dir mine");
    assert_eq!(run.status, Some(4), "{run:?}");
    assert!(run.stderr.contains("connection refused"), "{run:?}");
    assert!(sandbox.snapshot().values().all(Option::is_none), "{:?}", sandbox.snapshot());
}
