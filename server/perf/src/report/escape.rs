//! Other people's text inside Markdown.
//!
//! Kernel names, test ids and messages are whatever a project calls them. In a report they stay
//! text: they end no table cell, make no link or tag, and mention nobody on the site that shows it.

/// Characters that mean something inside a line of Markdown, or in HTML inside that.
const SPECIAL: &str = "\\`*[]<|~&$";

/// Prose on one line.
pub(super) fn text(raw: &str) -> String {
    let line = one_line(raw);
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        // Inside a word an underscore is one; headings and quotations begin a line.
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let special = match character {
            '_' => !(word(before) && word(characters.peek().copied())),
            '#' | '>' => before.is_none(),
            other => SPECIAL.contains(other),
        };
        if special {
            out.push('\\');
        }
        out.push(character);
        before = Some(character);
        // `@name` and `#12` become mentions after Markdown is done, so a backslash does not help: an
        // invisible joiner does. A decorator in a traceback would otherwise call somebody.
        let mentions = matches!(character, '@' | '#')
            && characters.peek().is_some_and(char::is_ascii_alphanumeric);
        if mentions {
            out.push('\u{2060}');
        }
    }
    out
}

/// A code span on one line, fit for a table cell. A backslash before a bar cannot be written in one
/// (readers of tables differ in what it escapes), so such a text is plain.
pub(super) fn code(raw: &str) -> String {
    if raw.contains("\\|") {
        return text(raw);
    }
    let line = one_line(raw).replace('|', "\\|");
    if line.is_empty() {
        return String::new();
    }
    let longest = (line.split(|c| c != '`').map(str::len)).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if line.starts_with('`') || line.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{line}{space}{fence}")
}

/// Text with every run of white space as one space, and without control characters.
pub(super) fn one_line(raw: &str) -> String {
    raw.split_whitespace()
        .map(|word| word.replace(is_hidden, "\u{fffd}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Characters that no reader sees: controls, what XML does not allow at all, and marks that turn the
/// direction of the text after them, so that it reads otherwise than it is.
pub(super) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// At most so many characters, the middle left out.
pub(super) fn shortened(raw: &str, most: usize) -> String {
    let characters: Vec<char> = raw.chars().collect();
    if characters.len() <= most {
        return raw.to_owned();
    }
    let head = most.saturating_sub(1) / 2;
    let tail = most.saturating_sub(1) - head;
    let start: String = characters[..head].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{start}…{end}")
}
