//! What a pull request needs: a title, the result, and evidence that a reviewer can check.

use std::fmt::Write as _;

use crate::session::{Phase, Session};

use super::escape::{code, one_line, shortened, text};
use super::gaps::gaps;
use super::markdown::{final_lines, headline, iterations, short};
use super::measured_on;
use super::quantity::Quantity;
use super::result::{self, Outcome};
use super::summary::summary;
use super::words;

/// The longest kernel name in a title, which sites cut off at about seventy characters.
const LONGEST_NAME: usize = 40;

/// Title (plain text on one line) and body (Markdown) of a pull request with what was kept. Host names
/// and paths outside the repository stay out of it.
pub fn pull_request(session: &Session) -> (String, String) {
    let outcome = Outcome::of(session);
    (
        title(session, outcome.as_ref()),
        body(session, outcome.as_ref()),
    )
}

fn title(session: &Session, outcome: Option<&Outcome>) -> String {
    let kernel = shortened(&one_line(&session.plan.kernel), LONGEST_NAME);
    if session.phase == Phase::Abandoned {
        return format!("{kernel}: abandoned");
    }
    match outcome.filter(|o| o.is_known()) {
        Some(outcome) if !outcome.chain.is_empty() => {
            let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
            format!(
                "Optimize {kernel}: {} to {} ({:.2}x)",
                quantity.short(outcome.first),
                quantity.short(outcome.last),
                outcome.first / outcome.last
            )
        }
        Some(outcome) if outcome.origin.iteration > 0 => format!("Correct {kernel}"),
        _ => format!("{kernel}: nothing was kept"),
    }
}

fn body(session: &Session, outcome: Option<&Outcome>) -> String {
    let mut out = format!("{}\n\n", text(&headline(session, outcome)));
    if let Some((_, goal)) = result::goal(session, outcome) {
        let _ = writeln!(out, "{}.\n", text(&words::capital(&goal)));
    }
    out.push_str(&summary(session));
    out.push_str("\n## Evidence\n\n");
    if let Some(outcome) = outcome.filter(|o| !o.lines.is_empty()) {
        out.push_str(&final_lines(outcome));
        out.push('\n');
    }
    out.push_str(&iterations(session));
    let commits: Vec<String> = (outcome.iter())
        .flat_map(|o| std::iter::once(&o.origin).chain(&o.chain))
        .filter_map(|run| {
            let commit = code(short(run.commit.as_ref()?));
            Some(format!("{commit} (iteration {})", run.iteration))
        })
        .collect();
    if !commits.is_empty() {
        let _ = writeln!(out, "\nCommits: {}.", commits.join(", "));
    }
    let gaps = gaps(session, outcome);
    if !gaps.is_empty() {
        out.push_str("\n### Not measured\n\n");
        gaps.iter()
            .for_each(|gap| _ = writeln!(out, "{}", gap.markdown()));
    }
    out.push_str("\n### How it was measured\n\n");
    for said in measured_on::method(session) {
        let _ = writeln!(out, "- {}", text(&said));
    }
    for (what, command) in measured_on::commands(session) {
        let _ = writeln!(out, "- The command for {what}: {}", code(&command));
    }
    for (name, value) in measured_on::machine(session) {
        if name != "host" && name != "device id" {
            let _ = writeln!(out, "- {}: {}", text(&name), text(&value));
        }
    }
    out
}
