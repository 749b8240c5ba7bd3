//! `docs/playbook.md`, made from the optimizations.

use std::fmt::Write;

use super::{Numerics, OPTIMIZATIONS};
use crate::rules::Doc;

/// The page that describes every optimization.
pub fn markdown() -> String {
    let mut out = String::from(
        "# The playbook\n\n<!-- Made from the optimizations by `cargo xtask docs`. Do not edit. -->\n\n\
         What may make a kernel faster, as edits: code actions in the editors, `tileperf actions PATH` and \
         `tileperf apply ID PATH:KERNEL` on the command line. The letters are those of TileGym's guides. \
         What others gained is no promise: compiled code shows whether an edit changes anything, and only \
         a measurement whether it is faster.\n\n\
         | id | name | works by | results | in short |\n|---|---|---|---|---|\n",
    );
    for optimization in OPTIMIZATIONS {
        let numerics = match optimization.numerics {
            Numerics::Same => "the same",
            Numerics::Different => "differ in the last bits",
            Numerics::Varies => "some ways differ in the last bits",
        };
        let _ = writeln!(
            out,
            "| [{}](#{}) | {} | {} | {numerics} | {} |",
            optimization.id,
            optimization.anchor(),
            optimization.slug,
            optimization.principle.name(),
            Doc::parse(optimization.doc).summary.replace('|', "\\|"),
        );
    }
    for optimization in OPTIMIZATIONS {
        let doc = Doc::parse(optimization.doc);
        let _ = write!(
            out,
            "\n## {} {}\n\n{}\n\nGained elsewhere:\n\n",
            optimization.id, optimization.slug, doc.markdown
        );
        for gain in optimization.gains {
            let _ = writeln!(out, "- {}: {} ({})", gain.amount, gain.scope, gain.source);
        }
    }
    out
}
