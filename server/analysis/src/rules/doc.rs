//! A rule's documentation, taken apart: it is shown to users and run as tests.

use super::Rule;

/// A rule's documentation.
#[derive(Debug, Clone)]
pub struct Doc {
    /// The first paragraph.
    pub summary: String,
    /// All of it, as Markdown; the marks of the tests taken off the code blocks.
    pub markdown: String,
    /// Its Python blocks.
    pub blocks: Vec<Block>,
}

/// A Python block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it shows.
    pub kind: BlockKind,
    /// The code.
    pub code: String,
}

/// What a block shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Code with findings, on the lines that name the rule in a comment.
    Bad,
    /// The block before with the findings put right.
    Fixed,
    /// Code without.
    Good,
    /// Anything else.
    Other,
}

impl Doc {
    /// Of a rule.
    pub fn of(rule: &Rule) -> Doc {
        let lines = rule.doc.iter().map(|l| l.strip_prefix(' ').unwrap_or(l));
        let mut markdown = String::new();
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for line in lines {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(info)) if info.starts_with("python") => {
                    let kind = match info.trim_start_matches("python").trim() {
                        "bad" => BlockKind::Bad,
                        "fixed" => BlockKind::Fixed,
                        "good" => BlockKind::Good,
                        _ => BlockKind::Other,
                    };
                    open = Some(Block {
                        kind,
                        code: String::new(),
                    });
                    markdown.push_str("```python\n");
                }
                (Some(_), Some(_)) => {
                    blocks.extend(open.take());
                    markdown.push_str("```\n");
                }
                (Some(block), None) => {
                    block.code.push_str(line);
                    block.code.push('\n');
                    markdown.push_str(line);
                    markdown.push('\n');
                }
                (None, _) => {
                    markdown.push_str(line);
                    markdown.push('\n');
                }
            }
        }
        let summary = markdown.split("\n\n").next().unwrap_or_default();
        let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        Doc {
            summary,
            markdown: markdown.trim_end().to_owned(),
            blocks,
        }
    }
}

/// A code block without the comments that say where findings are, and the lines (from 0) that had
/// one.
#[cfg(test)]
pub(super) fn unmarked(code: &str, rule: &Rule) -> (String, Vec<usize>) {
    let mark = format!("# {}", rule.code);
    let mut text = String::new();
    let mut lines = Vec::new();
    for (number, line) in code.split_inclusive('\n').enumerate() {
        match line.trim_end().strip_suffix(&mark) {
            Some(before) => {
                lines.push(number);
                text.push_str(before.trim_end());
                text.push('\n');
            }
            None => text.push_str(line),
        }
    }
    (text, lines)
}
