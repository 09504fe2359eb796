//! Text from files, names and paths as it may be shown: no control characters, no endless lines.
//!
//! A class name can hold anything, an escape sequence that repaints the terminal included. What is printed goes
//! through here; files and JSON keep the text as it is.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Characters of a cell or a name in a list.
const NAME: usize = 80;
/// Characters of a line.
const LINE: usize = 2000;
/// Names of a list.
const LISTED: usize = 50;
/// Names in a sentence.
const FEW: usize = 8;

/// Text with control characters written out, as in `\u{1b}`; line breaks stay.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| c == '\n' || !is_control(c);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if harmless(c) {
            out.push(c);
        } else {
            let _ = write!(out, "{}", c.escape_default());
        }
    }
    Cow::Owned(out)
}

/// Text on one line of bearable length.
pub(crate) fn line(text: &str) -> String {
    on_one_line(text, LINE)
}

/// A name, such as a class's, for a cell of a table or a list.
pub(crate) fn name(text: &str) -> String {
    on_one_line(text, NAME)
}

/// Names with commas between them, the first fifty of many.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    first_of(names, LISTED)
}

/// As [`list`], of names that stand in the middle of a sentence: the first few.
pub(crate) fn few<S: AsRef<str>>(names: &[S]) -> String {
    first_of(names, FEW)
}

fn first_of<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let mut text: Vec<String> = names.iter().take(most).map(|text| name(text.as_ref())).collect();
    if names.len() > most {
        text.push(format!("and {} more", names.len() - most));
    }
    text.join(", ")
}

/// A path as text; bytes that are no UTF-8 become replacement characters.
pub(crate) fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A message that may have a file's text in it: line breaks stay, the middle of a very long one is left out.
pub(crate) fn message(text: &str) -> String {
    let length = text.chars().count();
    if length <= 2 * LINE {
        return printable(text).into_owned();
    }
    let start: String = text.chars().take(LINE).collect();
    let end: String = text.chars().skip(length - LINE / 2).collect();
    printable(&format!("{start} … {end}")).into_owned()
}

fn on_one_line(text: &str, longest: usize) -> String {
    // Only the start is looked at: a name can have millions of characters.
    let cut = text.char_indices().nth(longest).map(|(at, _)| at);
    let start = &text[..cut.unwrap_or(text.len())];
    let shown = printable(start).replace('\n', "\\n");
    match cut {
        None => shown,
        Some(_) => format!("{shown}… ({} characters)", text.chars().count()),
    }
}

/// Control characters, and those that reverse the direction of what follows.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_written_out() {
        assert_eq!(printable("a\u{1b}[31mred\u{7}\nb"), "a\\u{1b}[31mred\\u{7}\nb");
        assert_eq!(printable("\u{9b}2J \u{202e}txt"), "\\u{9b}2J \\u{202e}txt");
        assert_eq!(line("two\nlines\r"), "two\\nlines\\r");
        assert!(matches!(printable("Künstliche λ, 神経"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_text_is_shortened() {
        let long = "x".repeat(1_000_000);
        assert_eq!(name(&long), format!("{}… (1000000 characters)", "x".repeat(80)));
        assert!(message(&format!("{long}: use another")).ends_with("x: use another"));
        let names: Vec<String> = (0..70).map(|k| k.to_string()).collect();
        assert!(list(&names).ends_with("48, 49, and 20 more"));
        assert_eq!(list(&["a", "b"]), "a, b");
    }
}
