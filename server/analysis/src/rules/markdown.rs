//! `docs/rules.md`, made from the rules.

use std::fmt::Write;

use super::{Check, Doc, RULES};

/// The page that describes every rule.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Rules\n\n<!-- Made from the rules by `cargo xtask docs`. Do not edit. -->\n\n\
         `tileperf check` and the editors show these findings. A code or slug in \
         `# tileperf: ignore[...]` silences one on its line, or in the whole file from a comment \
         among its first lines; `tileperf explain CODE` prints a rule's text.\n\n\
         | code | name | severity | in short |\n|---|---|---|---|\n",
    );
    for rule in RULES {
        let doc = Doc::parse(rule.doc);
        let _ = writeln!(
            out,
            "| [{}](#{}) | {} | {} | {} |",
            rule.code,
            rule.anchor(),
            rule.slug,
            rule.severity.name(),
            doc.summary.replace('|', "\\|"),
        );
    }
    for rule in RULES {
        let doc = Doc::parse(rule.doc);
        let _ = write!(out, "\n## {} {}\n\n", rule.code, rule.slug);
        let mut facts = vec![format!("Severity: {}.", rule.severity.name())];
        if let Some(since) = rule.since {
            facts.push(format!("Since cuda-tile {since}."));
        }
        if let Some(until) = rule.until {
            facts.push(format!("Before cuda-tile {until}."));
        }
        if (rule.checks.iter()).any(|c| matches!(c, Check::Workspace(_))) {
            facts.push("Looks at other files of the workspace as well.".to_owned());
        }
        if rule
            .checks
            .iter()
            .any(|check| matches!(check, Check::Compiled(_)))
        {
            facts.push("Found in compiled code only; comments in the examples say what the compiler made of a line.".to_owned());
        }
        let _ = writeln!(out, "{}\n\n{}", facts.join(" "), doc.markdown);
    }
    out
}
