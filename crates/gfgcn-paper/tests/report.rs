//! The whole report, as files.

mod sample;

use gfgcn_paper::report::{html, write};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gfgcn-paper").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The values of an attribute, in order.
fn attributes<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn everything_is_written_and_every_link_leads_to_a_file() {
    let folder = folder("links");
    let report = sample::report();
    write::write(&report, &folder.join("new/deep")).unwrap();
    let folder = folder.join("new/deep");
    // Again: files are replaced.
    write::write(&report, &folder).unwrap();
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    let ids: BTreeSet<&str> = attributes(&page, "id").into_iter().collect();
    for link in attributes(&page, "href") {
        match link.strip_prefix('#') {
            Some(id) => assert!(ids.contains(id), "{link}"),
            None => assert!(link == "data:," || folder.join(link).is_file(), "{link}"),
        }
    }
    let json = fs::read_to_string(folder.join("report.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tables"].as_array().unwrap().len(), report.tables.len());
    assert_eq!(json["figures"][0]["panels"][0]["x"]["scale"], "powers");
}

#[test]
fn the_page_needs_nothing_else() {
    let page = html::page(&sample::report());
    for remote in ["http:", "https:", "//cdn", "@import", "url(", " src="] {
        assert!(!page.contains(remote), "{remote}");
    }
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("</script>").count(), 1);
    let (_, body) = page.split_once("</head>").unwrap();
    assert!(!body.contains("NaN"), "not a number");
}

#[test]
fn ids_of_the_page_are_unique() {
    let page = html::page(&sample::report());
    let ids = attributes(&page, "id");
    let unique: BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
}

#[test]
fn text_cannot_become_markup() {
    let mut report = sample::report();
    let evil = "</table><img src=x onerror='alert(1)'>\"&";
    report.about.push(evil.into());
    report.remarks.push(evil.into());
    let table = &mut report.tables[0];
    (table.title, table.text, table.rows_are) = (evil.into(), evil.into(), evil.into());
    table.columns[0] = evil.into();
    table.rows[0].name = evil.into();
    let figure = &mut report.figures[0];
    (figure.title, figure.text) = (evil.into(), evil.into());
    let page = html::page(&report);
    assert!(!page.contains("<img") && page.contains("&lt;img"));
}

#[test]
fn figures_are_well_formed_and_alone() {
    let folder = folder("figures");
    write::write(&sample::report(), &folder).unwrap();
    for file in fs::read_dir(folder.join("figures")).unwrap() {
        let svg = fs::read_to_string(file.unwrap().path()).unwrap();
        assert_eq!(svg.matches("http").count(), 1, "only the namespace");
        let opened = svg.matches("<g").count();
        assert_eq!(opened, svg.matches("</g>").count());
    }
}

#[test]
fn an_empty_report_and_short_rows_are_shown() {
    let mut report = sample::report();
    report.tables[0].rows[0].cells.clear();
    report.tables[1].rows.clear();
    report.figures[0].panels.clear();
    assert!(html::page(&report).ends_with("</html>\n"));
    (report.tables, report.figures) = (vec![], vec![]);
    (report.about, report.remarks) = (vec![], vec![]);
    assert!(html::page(&report).ends_with("</html>\n"));
}

#[test]
fn bad_ids_are_refused_before_anything_is_written() {
    let folder = folder("ids");
    let mut report = sample::report();
    report.tables[0].id = "../evil".into();
    let error = write::write(&report, &folder.join("out")).unwrap_err().to_string();
    assert!(error.contains("../evil"), "{error}");
    report.tables[0].id = report.tables[1].id.clone();
    let error = write::write(&report, &folder.join("out")).unwrap_err().to_string();
    assert!(error.contains("depth-cora"), "{error}");
    assert!(!folder.join("out").exists());
}

#[test]
fn an_error_names_the_path() {
    let folder = folder("blocked");
    fs::write(folder.join("tables"), "a file in the way").unwrap();
    let error = write::write(&sample::report(), &folder).unwrap_err().to_string();
    assert!(error.contains(&folder.join("tables").display().to_string()), "{error}");
}
