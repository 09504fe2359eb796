//! `tune`, the search of `fit`, and `--explain`.

use crate::sandbox::Sandbox;

#[test]
fn the_search_reports_a_board_and_saves_its_choice() {
    let sandbox = Sandbox::new();
    let report = sandbox.json("tune cora --public-split --save cora.model");
    assert_eq!((&report["training_nodes"], &report["saved"]), (&140.into(), &"cora.model".into()));
    let board = report["board"].as_array().unwrap();
    assert_eq!(board.len() as u64, report["tried"].as_u64().unwrap() + 1, "and their sum");
    let expected = report["expected_score"]["mean"].as_f64().unwrap();
    assert!((70.0..95.0).contains(&expected), "in percent: {report}");
    let model = sandbox.json("inspect cora.model");
    assert_eq!(report["stacked"], false, "the default stays: {report}");
    assert_eq!(model["members"][0]["design"], "ssgc:depth=8,tau=0.05");
    let text = sandbox.ok("tune cora --public-split");
    for word in ["left-out accuracy", "expected accuracy", "SSGC", "all together", "two hops"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn fit_searches_unless_something_is_chosen() {
    let sandbox = Sandbox::new();
    let searched = sandbox.json("fit cora --public-split -o a.model");
    assert!(searched["search"]["tried"].as_u64().unwrap() > 10, "{searched}");
    for choice in [
        "--depth 8",
        "--model gfssgc",
        "--kernel linear",
        "--tau 0.05",
        "--select loo",
        "--time 5",
        "--design ssgc",
    ] {
        let given = sandbox.json(&format!("fit cora --public-split {choice} -o b.model --force"));
        assert!(given["search"].is_null(), "{choice}: {given}");
    }
    // What a search does not choose leaves it on.
    let rows = sandbox.json("fit cora --public-split --normalization row -o c.model");
    assert!(rows["members"][0]["design"].as_str().unwrap().contains("@row"), "{rows}");
    assert!(!rows["search"].is_null());
}

#[test]
fn a_plan_is_explained_before_it_is_run() {
    let sandbox = Sandbox::new();
    for command in [
        "evaluate cora --splits 1 --depths 2,64",
        "fit cora --public-split --depth 64 -o a.model",
        "tune cora --public-split",
    ] {
        let run = sandbox.run(&format!("{command} --explain"));
        assert_eq!(run.status, Some(0), "{command}: {run:?}");
        let text = run.stderr;
        for word in ["propagate", "products", "solve", "moved", "of memory"] {
            assert!(text.contains(word), "{word} in the plan of {command}: {text}");
        }
    }
    let report = sandbox.json("evaluate cora --splits 1 --depths 128 --models gfsgc --explain");
    let plan = &report["plan"];
    // 249 selectors instead of 1433 features, and a truncated series instead of 128 products.
    assert_eq!((&plan["side"], &plan["cost"]["columns"]), (&"selectors".into(), &249.into()));
    assert!(plan["cost"]["products"].as_u64().unwrap() < 65, "{plan}");
    let coarse = sandbox
        .json("evaluate cora --splits 1 --depths 128 --models gfsgc --explain --tolerance 1e-3");
    let products = |report: &serde_json::Value| report["plan"]["cost"]["products"].as_u64();
    assert!(products(&coarse) < products(&report), "{coarse}");
}
