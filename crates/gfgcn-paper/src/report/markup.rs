//! Text inside HTML and SVG.

/// Text that is safe between tags and inside quoted attributes, in HTML and in XML.
///
/// Characters that XML cannot hold at all become U+FFFD: one of them would make a whole figure
/// unreadable.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_open_a_tag_or_close_an_attribute() {
        assert_eq!(
            escape("<b a=\"1\" c='2'>R&D</b>\u{0}\n"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;R&amp;D&lt;/b&gt;\u{fffd} "
        );
    }
}
