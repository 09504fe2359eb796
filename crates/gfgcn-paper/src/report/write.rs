//! The report as a folder of files.

use super::{Report, html, svg, text};
use gfgcn::files::{NewFolder, write_atomically};
use gfgcn::{Error, Result};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes `index.html`, `report.json`, `tables/*.csv`, `tables/*.md` and `figures/*.svg` to a folder,
/// which is made if it is not there. A report that is there is replaced as a whole; other files stay.
///
/// # Errors
///
/// If a file cannot be written, with its path; and if two tables or two figures have the same id, or
/// one that cannot be the name of a file, before anything is written.
pub fn write(report: &Report, folder: &Path) -> Result<()> {
    check_ids("table", report.tables.iter().map(|table| &table.id))?;
    check_ids("figure", report.figures.iter().map(|figure| &figure.id))?;
    let json = serde_json::to_string_pretty(report)
        .map_err(|error| Error::Write { path: folder.join("report.json"), source: error.into() })?;
    let mut new = NewFolder::new(folder)?;
    let mut put = |name: &str, content: &str| {
        let write = |file: &mut BufWriter<&File>| file.write_all(content.as_bytes());
        new.put(name, |path| write_atomically(path, false, write))
    };
    for table in &report.tables {
        put(&format!("tables/{}.csv", table.id), &text::csv(table))?;
        put(&format!("tables/{}.md", table.id), &text::markdown(table))?;
    }
    for figure in &report.figures {
        put(&format!("figures/{}.svg", figure.id), &svg::figure(figure))?;
    }
    put("report.json", &(json + "\n"))?;
    put("index.html", &html::page(report))?;
    new.finish()
}

/// Notices before long work that a report could not be written to a folder.
///
/// # Errors
///
/// If the folder cannot be made or written to.
pub fn check(folder: &Path) -> Result<()> {
    NewFolder::new(folder).map(drop)
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
