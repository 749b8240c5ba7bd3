//! The report as one page that needs nothing else.
//!
//! No script, no font, no picture from elsewhere: the page can be mailed, kept for years, and shown in
//! an editor's panel under a strict policy, which it brings itself. It is XHTML that HTML parsers read
//! the same way, follows the editor's colours where there are any and the system's light or dark
//! where not, and is readable at the width of a side panel.

mod chart;
mod forest;
mod marks;
mod markup;
mod policy;
mod scale;
mod sections;

use crate::session::{Phase, Session};
use crate::verdict::GoalState;

use super::escape::one_line;
use super::gaps::why_no_baseline;
use super::markdown::short;
use super::measured_on;
use super::quantity::Quantity;
use super::result::{self, Basis, Outcome};
use super::words;
use markup::Markup;

const STYLE: &str = include_str!("style.css");

/// The report of a session as a self-contained page.
pub fn html(session: &Session) -> String {
    let outcome = Outcome::of(session);
    let mut page = Markup::default();
    let kernel = one_line(&session.plan.kernel);
    let attributes = [("xmlns", "http://www.w3.org/1999/xhtml"), ("lang", "en")];
    page.within("html", &attributes, |page| {
        page.within("head", &[], |page| {
            page.empty("meta", &[("charset", "utf-8")]);
            let policy = policy::policy(STYLE);
            let attributes = [
                ("http-equiv", "Content-Security-Policy"),
                ("content", policy.as_str()),
            ];
            page.empty("meta", &attributes);
            let width = "width=device-width, initial-scale=1";
            page.empty("meta", &[("name", "viewport"), ("content", width)]);
            page.leaf("title", &[], &format!("Performance of {kernel}"));
            page.style(STYLE);
        });
        page.within("body", &[], |page| {
            page.within("main", &[], |page| {
                head(page, session, outcome.as_ref());
                sections::all(page, session, outcome.as_ref());
            });
        });
    });
    page.finish()
}

fn head(page: &mut Markup, session: &Session, outcome: Option<&Outcome>) {
    page.within("header", &[], |page| {
        page.leaf("p", &[("class", "eyebrow")], "Performance report");
        page.leaf("h1", &[], &one_line(&session.plan.kernel));
        let file = words::inside(&session.root, &session.plan.file);
        page.leaf("p", &[("class", "quiet mono")], &file);
        page.within("div", &[("class", "result")], |page| {
            headline(page, session, outcome);
            if let Some((state, words)) = result::goal(session, outcome) {
                let class = match state {
                    GoalState::Reached => "pill reached",
                    _ => "pill",
                };
                page.leaf("span", &[("class", class)], &words);
            }
        });
        if let Some(outcome) = outcome {
            page.leaf("p", &[("class", "prose")], &basis(outcome));
        }
        if session.phase == Phase::Abandoned {
            let said = "Abandoned: nothing of this is in the code.";
            page.leaf("p", &[("class", "notice prose")], said);
        }
        facts(page, session);
    });
}

fn headline(page: &mut Markup, session: &Session, outcome: Option<&Outcome>) {
    let big = |page: &mut Markup, class: &str, text: &str| {
        page.leaf("span", &[("class", class)], text);
    };
    let Some(outcome) = outcome.filter(|o| o.is_known()) else {
        big(page, "change none", "No result");
        let why = format!("Iteration 0 is {}.", why_no_baseline(session));
        big(page, "steps", &why);
        return;
    };
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    if outcome.chain.is_empty() {
        let said = match outcome.origin.iteration {
            0 => "Nothing kept",
            _ => "Corrected",
        };
        big(page, "change none", said);
        let last = format!("{} {}", quantity.name(), quantity.short(outcome.last));
        big(page, "steps", &last);
        return;
    }
    let change = quantity.value(outcome.last) / quantity.value(outcome.first) - 1.0;
    big(page, "change", &numeric(&words::percent(change)));
    let steps = format!(
        "{} → {} ({:.3}×)",
        quantity.short(outcome.first),
        quantity.short(outcome.last),
        outcome.first / outcome.last
    );
    big(page, "steps", &steps);
}

/// How the number above is known.
fn basis(outcome: &Outcome) -> String {
    let mut said = match (outcome.basis, outcome.origin.iteration) {
        (Basis::Unchanged, 0) => String::new(),
        (Basis::Unchanged, _) => {
            "The results are right now; speed was not compared with the wrong original.".to_owned()
        }
        _ => outcome.basis_in_words(),
    };
    if let Some(total) = outcome.total {
        let pairs = format!(
            " In pairs, the time changed by {} ({} to {}).",
            words::percent(total.change()),
            words::percent(total.low.exp_m1()),
            words::percent(total.high.exp_m1())
        );
        said.push_str(&numeric(&pairs));
    }
    said.trim_start().to_owned()
}

fn facts(page: &mut Markup, session: &Session) {
    let mut facts = vec![("state", words::phase(session.phase))];
    if let Some(run) = session.current().or(session.runs.last()) {
        facts.push(("device", words::device(&run.device)));
    }
    if let (Some(first), Some(last)) = (session.runs.first(), session.runs.last()) {
        let spent: f64 = session.runs.iter().map(|r| r.seconds).sum();
        facts.push((
            "measured",
            format!(
                "{} to {}, {} of runs",
                words::moment(&first.began),
                words::moment(&last.began),
                words::duration(spent)
            ),
        ));
    }
    if let Some(op) = &session.plan.op {
        facts.push(("op", op.to_string()));
    }
    facts.push(("session", session.name.clone()));
    if let Some(git) = &session.git {
        let commit = short(&git.commit);
        facts.push((
            "started from",
            match &git.branch {
                Some(branch) => format!("{branch} at {commit}"),
                None => commit.to_owned(),
            },
        ));
    }
    sections::list(page, &facts);
    for caution in measured_on::cautions(session) {
        page.leaf("p", &[("class", "notice prose")], &caution);
    }
}

/// Numbers with a real minus sign, which is as wide as a plus, and on the same line as their unit.
fn numeric(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let is_minus = |at: usize| {
        characters[at] == '-'
            && characters.get(at + 1).is_some_and(char::is_ascii_digit)
            && (at == 0 || matches!(characters[at - 1], ' ' | '('))
    };
    let is_joined = |at: usize| characters[at] == ' ' && characters.get(at + 1) == Some(&'%');
    (0..characters.len())
        .map(|at| match characters[at] {
            _ if is_minus(at) => '−',
            _ if is_joined(at) => '\u{a0}',
            other => other,
        })
        .collect()
}
