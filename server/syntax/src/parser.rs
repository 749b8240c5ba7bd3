//! tree-sitter's parser with a bound on its patience.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

/// Texts longer than this are not parsed: generated tables, not code anybody tunes. Bytes.
const MAX_TEXT: usize = 4 << 20;

/// A parser for Python, made on first use.
#[derive(Default)]
pub(crate) struct TreeParser(Option<Parser>);

impl TreeParser {
    /// Parses a text from nothing. Nothing for a text that is too long or too broken.
    pub(crate) fn parse(&mut self, source: &str) -> Option<Tree> {
        if source.len() > MAX_TEXT {
            return None;
        }
        let parser = self.0.get_or_insert_with(|| {
            let mut parser = Parser::new();
            // Fails only for a grammar of another tree-sitter release, which the lock file rules out.
            let _ = parser.set_language(&crate::language());
            parser
        });
        // A fault in a long text can cost the parser's recovery seconds; beyond this many steps it
        // counts as unparsable. Steps, not time: the same text gives the same facts.
        let mut steps = 4_000 + source.len() as u64 / 20;
        let mut progress = |_: &tree_sitter::ParseState| {
            steps = steps.saturating_sub(1);
            if steps == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let bytes = source.as_bytes();
        let tree = parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or(&[]),
            None,
            Some(options),
        );
        if tree.is_none() {
            parser.reset();
        }
        tree
    }
}
