//! The documentation of a rule or an optimization, taken apart: it is shown to users and run as tests.

#[cfg(test)]
use super::Rule;

/// The documentation of a rule or an optimization.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Code with findings, on the lines that name the rule in a comment.
    Bad,
    /// The block before with the findings put right.
    Fixed,
    /// Code without, or without an optimization's place.
    Good,
    /// Code that an optimization changes.
    Before,
    /// What this variant of the optimization makes of the block marked so before it.
    After(String),
    /// Anything else.
    Other,
}

impl Doc {
    /// Of its lines.
    pub fn parse(lines: &[&str]) -> Doc {
        let lines = lines.iter().map(|l| l.strip_prefix(' ').unwrap_or(l));
        let mut markdown = String::new();
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for line in lines {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(info)) if info.starts_with("python") => {
                    open = Some(Block {
                        kind: BlockKind::named(info.trim_start_matches("python").trim()),
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

impl BlockKind {
    /// By what stands behind the language.
    fn named(name: &str) -> BlockKind {
        match name {
            "bad" => BlockKind::Bad,
            "fixed" => BlockKind::Fixed,
            "good" => BlockKind::Good,
            "before" => BlockKind::Before,
            _ => match name.strip_prefix("after") {
                Some(variant) => BlockKind::After(variant.trim().to_owned()),
                None => BlockKind::Other,
            },
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
