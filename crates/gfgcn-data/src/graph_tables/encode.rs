//! Columns of a table that are not all numbers, made features: categories one by one, missing values filled in.
//!
//! The table is passed over twice. First every column is looked at as a whole, because what one cell means depends on the
//! others: `3` among numbers, `3` among words. What was found is an [`Encoding`], which a model remembers.

use super::parts::is_missing;
use crate::table::{Cell, Place, Table, is_number};
use gfgcn::Result;
use gfgcn::data::{ColumnKind, EncodedColumn, Encoding};
use std::collections::{BTreeMap, HashMap};

/// A column with more different words than this is no category.
const MOST_LEVELS: usize = 1000;
/// Up to so many different words may be categories even if hardly any comes twice.
const FEW_LEVELS: usize = 20;

/// What was seen of a column.
#[derive(Default)]
struct Seen {
    numbers: u64,
    sum: f64,
    missing: u64,
    words: BTreeMap<String, u64>,
    /// More different words than are counted.
    too_many: bool,
    /// Whether it is said that these are categories.
    is_category: bool,
    only_dates: bool,
    first_word: Option<(Place, String)>,
}

/// Looks at the columns `features` of all rows and says how they become features. Columns with nothing in them are left
/// out.
///
/// # Errors
/// Columns of dates or free text, by name; words among numbers, by place.
pub(super) fn survey(table: &mut Table, width: usize, notes: &mut Vec<String>) -> Result<Encoding> {
    let of_column = |k| Seen { is_category: table.is_category(k + 1), ..Seen::default() };
    let mut seen: Vec<Seen> = (0..width).map(of_column).collect();
    while table.advance()? {
        for (k, seen) in seen.iter_mut().enumerate() {
            seen.look(table, k + 1)?;
        }
    }
    let names: Vec<String> = table.names().map_or_else(Vec::new, |names| names[1..=width].to_vec());
    let (mut columns, mut refused, mut nothing) = (Vec::new(), Vec::new(), Vec::new());
    let (mut encoded, mut filled) = (Vec::new(), Vec::new());
    for (k, (seen, name)) in seen.into_iter().zip(names).enumerate() {
        let missing = seen.missing > 0;
        let words: u64 = seen.words.values().sum();
        let kind = match (seen.numbers, seen.first_word) {
            (0, None) => {
                nothing.push(format!("{name:?}"));
                continue;
            }
            (numbers, None) => {
                if missing {
                    filled.push(format!("{name:?} ({})", seen.missing));
                }
                ColumnKind::Number { fill: (seen.sum / numbers as f64) as f32 }
            }
            (0, Some(_)) if seen.only_dates && !seen.is_category => {
                refused.push((name, "dates"));
                continue;
            }
            (0, Some(_))
                if seen.too_many
                    || (!seen.is_category && is_free_text(seen.words.len(), words)) =>
            {
                refused.push((name, "free text"));
                continue;
            }
            (0, Some(_)) => {
                encoded.push(format!("{name:?} ({})", seen.words.len()));
                ColumnKind::Category { levels: seen.words.into_keys().collect() }
            }
            (numbers, Some((place, word))) => {
                let position = table.position(k + 1);
                let leaving_out = table.leaving_out(&[]);
                let problem = format!(
                    "column {name:?} is {word:?}, which is not a number, but {numbers} others in this column (number \
                     {position}) are; leave the cell empty if it is unknown, or the column {leaving_out}"
                );
                return Err(gfgcn::Error::Data(problem).at(table.path(), place));
            }
        };
        columns.push(EncodedColumn { name, kind, missing });
    }
    if !refused.is_empty() {
        let each: Vec<String> =
            refused.iter().map(|(name, what)| format!("column {name:?} holds {what}")).collect();
        let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
        let problem = format!(
            "{}, which cannot become features; leave {} {}",
            each.join(", "),
            if names.len() == 1 { "it" } else { "them" },
            table.leaving_out(&names)
        );
        return Err(gfgcn::Error::Data(problem).in_file(table.path()));
    }
    let file = super::file_name(table.path());
    for (what, columns) in [
        ("words became features, one for each, in column", encoded),
        ("missing numbers are filled with the mean of the others, and marked, in column", filled),
        ("nothing stands in, and nothing is made of, column", nothing),
    ] {
        if !columns.is_empty() {
            notes.push(format!("{file}: {what} {}", columns.join(", ")));
        }
    }
    let encoding = Encoding { columns, ..Encoding::default() };
    encoding.check().map_err(|e| e.in_file(table.path()))?;
    Ok(encoding)
}

/// Whether hardly any of some words comes twice.
fn is_free_text(levels: usize, words: u64) -> bool {
    levels > FEW_LEVELS && 2 * levels as u64 > words
}

impl Seen {
    fn look(&mut self, table: &Table, column: usize) -> Result<()> {
        let cell = table.cell(column)?;
        if is_missing(&cell) {
            self.missing += 1;
            return Ok(());
        }
        match cell {
            Cell::Text(text) if self.is_category || !is_number(text) => self.word(text, table),
            _ => {
                let number = cell.number().map_err(|problem| table.cell_error(column, problem))?;
                self.numbers += 1;
                self.sum += f64::from(number);
                Ok(())
            }
        }
    }

    fn word(&mut self, text: &str, table: &Table) -> Result<()> {
        let is_date = is_date(text);
        if self.first_word.is_none() {
            self.first_word = Some((table.place(), text.chars().take(80).collect()));
            self.only_dates = true;
        }
        self.only_dates &= is_date;
        if let Some(count) = self.words.get_mut(text) {
            *count += 1;
        } else if self.words.len() == MOST_LEVELS {
            self.too_many = true;
        } else {
            table.grow(text.len() + 64)?;
            self.words.insert(text.to_owned(), 1);
        }
        Ok(())
    }
}

/// Whether a text looks like a date: three numbers between `-`, `/` or `.`, one of them a year, and perhaps a time.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<&str> = day.split(separator).collect();
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let short = |part: &str| digits(part) && part.len() <= 2;
        let year = |part: &str| digits(part) && part.len() == 4;
        match parts[..] {
            [a, b, c] => short(b) && ((year(a) && short(c)) || (short(a) && year(c))),
            _ => false,
        }
    })
}

/// Makes rows of features from rows of a table.
pub(super) struct Encoder<'e> {
    encoding: &'e Encoding,
    /// The column of the table for each column of the encoding.
    places: Vec<usize>,
    levels: Vec<HashMap<&'e str, usize>>,
    /// Words that are none of the categories, by column.
    unknown: Vec<u64>,
}

impl<'e> Encoder<'e> {
    /// For columns that stand at these places of a table.
    pub(super) fn new(encoding: &'e Encoding, places: Vec<usize>) -> Self {
        let levels = encoding.columns.iter().map(|column| match &column.kind {
            ColumnKind::Number { .. } => HashMap::new(),
            ColumnKind::Category { levels } => {
                levels.iter().enumerate().map(|(k, level)| (level.as_str(), k)).collect()
            }
        });
        let unknown = vec![0; encoding.columns.len()];
        Encoder { encoding, places, levels: levels.collect(), unknown }
    }

    /// Fills a row of features from the current row of the table.
    pub(super) fn fill(&mut self, table: &Table, row: &mut [f32]) -> Result<()> {
        row.fill(0.0);
        let mut at = 0;
        for (k, column) in self.encoding.columns.iter().enumerate() {
            let place = self.places[k];
            let cell = table.cell(place)?;
            let own = &mut row[at..at + column.width()];
            at += column.width();
            match (&column.kind, is_missing(&cell)) {
                (ColumnKind::Number { fill }, true) => {
                    own[0] = *fill;
                    if column.missing {
                        own[1] = 1.0;
                    }
                }
                (ColumnKind::Number { .. }, false) => {
                    own[0] = cell.number().map_err(|problem| table.cell_error(place, problem))?;
                }
                (ColumnKind::Category { levels }, true) => {
                    if column.missing {
                        own[levels.len()] = 1.0;
                    }
                }
                (ColumnKind::Category { .. }, false) => match self.levels[k].get(&*cell.text()) {
                    Some(&level) => own[level] = 1.0,
                    None => self.unknown[k] += 1,
                },
            }
        }
        Ok(())
    }

    /// A note for each column with words that are none of the categories.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let columns = self.encoding.columns.iter().zip(&self.unknown);
        columns.filter(|(_, unknown)| **unknown > 0).map(|(column, unknown)| {
            let name = &column.name;
            format!("{unknown} values of {name:?} are none of the categories that the model knows")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_other_words() {
        for date in [
            "2024-01-31",
            "31.1.2024",
            "1/31/2024",
            "2024/1/3",
            "2024-01-31T10:00:00Z",
            "2024-01-31 10:00",
        ] {
            assert!(is_date(date), "{date}");
        }
        for word in
            ["", "red", "1.2.3", "2024", "10:00", "a-b-c", "2024-01", "192.168.2024.1", "20240131"]
        {
            assert!(!is_date(word), "{word}");
        }
    }
}
