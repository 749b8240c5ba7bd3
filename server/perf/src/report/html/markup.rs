//! Writing XHTML that cannot be malformed.
//!
//! Elements are closed by their scope and every text is escaped on the way in, so the rest of the
//! page is written without thinking about either.

use crate::report::escape::is_hidden;

/// Attributes of an element; the names are ours, the values anybody's.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A growing page.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// An element with whatever `inside` writes.
    pub(super) fn within(
        &mut self,
        name: &'static str,
        attributes: Attributes,
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        self.0.push('>');
        inside(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
        if is_block(name) {
            self.0.push('\n');
        }
    }

    /// An element that holds one text.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: Attributes, text: &str) {
        self.within(name, attributes, |inside| inside.text(text));
    }

    /// An element without content, closed as both XML and HTML read it: only for HTML's void elements
    /// and for SVG.
    pub(super) fn empty(&mut self, name: &'static str, attributes: Attributes) {
        self.open(name, attributes);
        self.0.push_str("/>");
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) {
        escape_into(&mut self.0, text);
    }

    /// The style sheet, which HTML reads raw and XML does not: it must be the same in both, so it is
    /// ours, without a less-than sign or an ampersand.
    pub(super) fn style(&mut self, sheet: &'static str) {
        debug_assert!(!sheet.contains(['<', '&']));
        self.0.push_str("<style>");
        self.0.push_str(sheet);
        self.0.push_str("</style>\n");
    }

    /// The document so far.
    pub(super) fn finish(self) -> String {
        format!("<!DOCTYPE html>\n{}", self.0)
    }

    fn open(&mut self, name: &'static str, attributes: Attributes) {
        self.0.push('<');
        self.0.push_str(name);
        for (attribute, value) in attributes {
            self.0.push(' ');
            self.0.push_str(attribute);
            self.0.push_str("=\"");
            escape_into(&mut self.0, value);
            self.0.push('"');
        }
    }
}

fn is_block(name: &str) -> bool {
    !matches!(
        name,
        "span" | "strong" | "em" | "code" | "td" | "th" | "text" | "title" | "desc" | "a" | "g"
    )
}

fn escape_into(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            c if is_hidden(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}
