//! The report as a folder of files.

use super::{Report, html, svg, text};
use gfgcn::files::{temporary_beside, write_atomically};
use gfgcn::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Writes `index.html`, `report.json`, `tables/*.csv`, `tables/*.md` and `figures/*.svg` to a folder,
/// which is made if it is not there. Files of the same names are replaced, each as a whole.
///
/// # Errors
///
/// If a file cannot be written, with its path; and if two tables or two figures have the same id, or
/// one that cannot be the name of a file, before anything is written.
pub fn write(report: &Report, folder: &Path) -> Result<()> {
    check_ids("table", report.tables.iter().map(|table| &table.id))?;
    check_ids("figure", report.figures.iter().map(|figure| &figure.id))?;
    let (tables, figures) = (folder.join("tables"), folder.join("figures"));
    for folder in [&tables, &figures] {
        fs::create_dir_all(folder)
            .map_err(|source| Error::Write { path: folder.clone(), source })?;
    }
    for table in &report.tables {
        put(&tables.join(format!("{}.csv", table.id)), &text::csv(table))?;
        put(&tables.join(format!("{}.md", table.id)), &text::markdown(table))?;
    }
    for figure in &report.figures {
        put(&figures.join(format!("{}.svg", figure.id)), &svg::figure(figure))?;
    }
    let json = serde_json::to_string_pretty(report)
        .map_err(|error| Error::Write { path: folder.join("report.json"), source: error.into() })?;
    put(&folder.join("report.json"), &(json + "\n"))?;
    // Last: whoever finds the page finds all that it links to.
    put(&folder.join("index.html"), &html::page(report))
}

/// Notices before long work that a report could not be written to a folder, which is made if it is not
/// there.
///
/// # Errors
///
/// If the folder cannot be made or written to.
pub fn check(folder: &Path) -> Result<()> {
    let failed = |source| Error::Write { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    temporary_beside(&folder.join("index.html")).map(drop).map_err(failed)
}

fn put(path: &Path, content: &str) -> Result<()> {
    write_atomically(path, true, |file| file.write_all(content.as_bytes()))
}

/// Ids become names of files and links.
fn check_ids<'a>(kind: &str, ids: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for id in ids {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.is_empty() || !id.chars().all(plain) {
            return Err(Error::Data(format!(
                "the id {id:?} of a {kind} cannot be the name of a file; use a to z, 0 to 9 and -"
            )));
        }
        if !seen.insert(id) {
            return Err(Error::Data(format!("two {kind}s have the id {id:?}; rename one")));
        }
    }
    Ok(())
}
