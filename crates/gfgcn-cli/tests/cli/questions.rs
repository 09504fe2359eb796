//! The commands of `docs/own-data.md`, run as they stand there, on the files that stand there.

use crate::sandbox::{PROGRAM, Sandbox};
use std::path::Path;

/// A fenced block: what stands behind the fence, and its text.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((kind, text.join("\n") + "\n"));
        }
    }
    blocks
}

#[test]
fn every_question_is_answered_by_the_command_under_it() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/own-data.md");
    let page = std::fs::read_to_string(page).unwrap();
    let sandbox = Sandbox::new();
    let programs = Path::new(PROGRAM).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let mut commands = 0;
    for (kind, text) in blocks(&page) {
        match kind.split_once(' ') {
            Some(("csv", name)) => sandbox.write(name, &text),
            None if kind == "sh" => {
                let done = sandbox
                    .command("bash")
                    .args(["-e", "-o", "pipefail", "-c", &text])
                    .env("PATH", &path)
                    .output();
                let done = done.unwrap();
                assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
                commands += 1;
            }
            // Run by the tests of the Python package.
            None if kind == "python" || kind == "text" => {}
            _ => panic!("a block of {kind:?}"),
        }
    }
    assert!(page.matches("\n### ").count() >= 10 && commands >= 10);
    let labels = sandbox.read("teams.csv");
    for (id, team) in [("dan@a.org", "chess"), ("hal@a.org", "rowing")] {
        assert!(labels.contains(&format!("\n{id},{team},")), "{labels}");
    }
    assert_eq!(sandbox.read("few.csv").lines().count(), 3);
    let piped: serde_json::Value = serde_json::from_str(&sandbox.read("teams.json")).unwrap();
    assert_eq!(piped.as_array().unwrap().len(), 8);
}
