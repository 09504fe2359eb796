//! Tables as Markdown, for people, and as CSV, for programs.

use super::{Cell, Table, number};
use std::fmt::Write;

/// A table as Markdown: every cell is ours ± standard error and, in brackets, the published value and
/// the difference.
pub fn markdown(table: &Table) -> String {
    let mut text = format!("# {}\n\n", plain(&table.title));
    if !table.text.is_empty() {
        let _ = writeln!(text, "{}\n", plain(&table.text));
    }
    let _ = writeln!(
        text,
        "{}. Each cell: our mean ± standard error (published, difference). Best of a column **bold**, \
         second best <ins>underlined</ins>.\n",
        number::unit(table.unit)
    );
    let _ = write!(text, "| {} |", plain(&table.rows_are));
    for column in &table.columns {
        let _ = write!(text, " {} |", plain(column));
    }
    let _ = writeln!(text, "\n|---|{}", "---:|".repeat(table.columns.len()));
    let nothing = Cell::default();
    for row in &table.rows {
        let _ = write!(text, "| {} |", plain(&row.name));
        for column in 0..table.columns.len() {
            let cell = row.cells.get(column).unwrap_or(&nothing);
            let _ = write!(text, " {} |", markdown_cell(table, cell));
        }
        text.push('\n');
    }
    text
}

fn markdown_cell(table: &Table, cell: &Cell) -> String {
    let measured = match (number::measured(table.unit, cell), cell.rank) {
        (text, _) if text.is_empty() => "–".into(),
        (text, Some(1)) => format!("**{text}**"),
        (text, Some(2)) => format!("<ins>{text}</ins>"),
        (text, _) => text,
    };
    let Some(published) = cell.published else { return measured };
    let published = number::published(table.unit, published);
    match cell.difference() {
        Some(difference) => {
            let (difference, _) = number::difference(table.unit, difference);
            format!("{measured} ({published}, {difference})")
        }
        None => format!("{measured} ({published})"),
    }
}

/// Text on one line in which no character means anything to Markdown.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_[]<>|#&".contains(character) {
            escaped.push('\\');
        }
        escaped.push(if character.is_control() { ' ' } else { character });
    }
    escaped
}

/// A table as CSV in long form: a line per cell, with all digits, and nothing where there is no
/// number. Quoted as RFC 4180 says; lines end with a line feed.
pub fn csv(table: &Table) -> String {
    let mut text = String::from("row,column,mean,std_error,runs,published,difference,rank\n");
    let nothing = Cell::default();
    for row in &table.rows {
        for (i, column) in table.columns.iter().enumerate() {
            let cell = row.cells.get(i).unwrap_or(&nothing);
            let fields = [
                quoted(&row.name),
                quoted(column),
                written(cell.ours.map(|ours| ours.mean)),
                written(cell.ours.and_then(|ours| ours.std_error)),
                written(cell.ours.map(|_| cell.runs)),
                written(cell.published),
                written(cell.difference()),
                written(cell.rank),
            ];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

fn written<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn quoted(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Row, Unit};
    use gfgcn::metrics::Summary;

    fn table() -> Table {
        let cell = Cell {
            ours: Some(Summary { mean: 84.75, std: Some(1.0), std_error: Some(0.25) }),
            runs: 20,
            published: Some(83.5),
            rank: Some(1),
        };
        let single = Cell {
            ours: Some(Summary { mean: 80.0, std: None, std_error: None }),
            runs: 1,
            published: None,
            rank: Some(2),
        };
        let published = Cell { published: Some(70.0), ..Cell::default() };
        Table {
            id: "t".into(),
            title: "A | B".into(),
            text: "Some *text*".into(),
            rows_are: "model".into(),
            columns: vec!["K = 2".into(), "with \"quotes\", and\nlines".into()],
            unit: Unit::Percent,
            rows: vec![
                Row { name: "a,b".into(), cells: vec![cell, single] },
                Row { name: "short".into(), cells: vec![published] },
            ],
        }
    }

    /// A reader of RFC 4180, written character by character.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut lines, mut line, mut field, mut inside) = (vec![], vec![], String::new(), false);
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            match (inside, c) {
                (true, '"') if characters.peek() == Some(&'"') => {
                    field.push('"');
                    characters.next();
                }
                (_, '"') => inside = !inside,
                (false, ',') => line.push(std::mem::take(&mut field)),
                (false, '\n') => {
                    line.push(std::mem::take(&mut field));
                    lines.push(std::mem::take(&mut line));
                }
                (_, c) => field.push(c),
            }
        }
        lines
    }

    #[test]
    fn csv_reads_back() {
        let awkward = "with \"quotes\", and\nlines";
        let lines = parse(&csv(&table()));
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[1], ["a,b", "K = 2", "84.75", "0.25", "20", "83.5", "1.25", "1"]);
        assert_eq!(lines[2], ["a,b", awkward, "80", "", "1", "", "", "2"]);
        assert_eq!(lines[3], ["short", "K = 2", "", "", "", "70", "", ""]);
        assert_eq!(lines[4], ["short", awkward, "", "", "", "", "", ""]);
    }

    #[test]
    fn markdown_shows_every_cell() {
        let text = markdown(&table());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r"# A \| B");
        assert_eq!(lines[2], r"Some \*text\*");
        assert_eq!(lines[6], r#"| model | K = 2 | with "quotes", and lines |"#);
        assert_eq!(lines[7], "|---|---:|---:|");
        assert_eq!(lines[8], "| a,b | **84.8 ± 0.2** (83.5, +1.2) | <ins>80.0</ins> |");
        assert_eq!(lines[9], "| short | – (70.0) | – |");
    }
}
