//! The text forms of protocol 0: numbers in decimal, strings with Python's escapes.

use std::borrow::Cow;

/// The start of a text, quoted, short enough for an error message.
pub(super) fn clipped(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// A line as text for a message or a number; odd bytes become replacement characters.
fn shown(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line)
}

/// A decimal integer; Python 2 ends long ones with `L`.
pub(super) fn integer(line: &[u8]) -> Result<i64, String> {
    let text = shown(line);
    let digits = text.strip_suffix('L').unwrap_or(&text);
    digits.parse().map_err(|_| format!("{} is not a 64-bit integer", clipped(&text)))
}

/// A decimal float.
pub(super) fn float(line: &[u8]) -> Result<f64, String> {
    let text = shown(line);
    text.parse().map_err(|_| format!("{} is not a number", clipped(&text)))
}

/// A memo position.
pub(super) fn position(line: &[u8]) -> Result<u64, String> {
    let text = shown(line);
    text.parse().map_err(|_| format!("{} is not a memo position", clipped(&text)))
}

/// The bytes of a quoted string as Python 2's `repr` writes it.
pub(super) fn quoted(line: &[u8]) -> Result<Vec<u8>, String> {
    let inner = match line {
        [open @ (b'\'' | b'"'), inner @ .., close] if open == close => inner,
        _ => return Err(format!("the string {} is not in quotes", clipped(&shown(line)))),
    };
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&escape, tail) = rest.split_first().ok_or("a string ends in a lone backslash")?;
        rest = tail;
        out.push(match escape {
            b'\\' | b'\'' | b'"' => escape,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let (value, tail) = hex(rest, 2)?;
                rest = tail;
                value as u8
            }
            other => return Err(format!("a string has the unknown escape \\{}", other as char)),
        });
    }
    Ok(out)
}

/// Text in Python's raw-unicode-escape: Latin-1, with `\uXXXX` and `\UXXXXXXXX` for the rest.
pub(super) fn raw_unicode(line: &[u8]) -> Result<String, String> {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, tail)) = rest.split_first() {
        let digits = match (byte, tail.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                out.push(byte as char);
                rest = tail;
                continue;
            }
        };
        let (value, tail) = hex(&tail[1..], digits)?;
        rest = tail;
        out.push(char::from_u32(value).ok_or_else(|| format!("U+{value:04X} is not a character"))?);
    }
    Ok(out)
}

fn hex(bytes: &[u8], digits: usize) -> Result<(u32, &[u8]), String> {
    let (head, tail) = bytes
        .split_at_checked(digits)
        .filter(|(head, _)| head.iter().all(u8::is_ascii_hexdigit))
        .ok_or_else(|| format!("an escape needs {digits} hexadecimal digits"))?;
    let value = head
        .iter()
        .fold(0, |value, &digit| value << 4 | (digit as char).to_digit(16).unwrap_or_default());
    Ok((value, tail))
}
