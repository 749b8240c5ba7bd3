//! Other people's text stays text, whatever it is.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::event::{Event, Failure, RunEnd};
use crate::report::escape::{code, is_hidden, one_line, text};
use crate::report::{applied, html, markdown, pull_request, summary};
use crate::session::Session;

use super::journal::{Config, Journal};
use super::page::parse;
use super::scenes;

/// Text as a hostile or an unlucky project has it.
fn anything() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        3 => any::<char>().prop_map(String::from),
        2 => "[a-z_0-9]{1,8}",
        1 => prop::sample::select(vec![
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'", "\"", "<", ">",
            "&", "&lt;", "]]>", "-->", "<!--", "|", "\\|", "\\", "`", "``", "*", "**", "_", "[x](y)",
            "\n", "\r\n", "\n\n# ", "\n- ", "\n| a |", "\t", "\u{0}", "\u{1b}[31m", "\u{202e}",
            "@ct.kernel", "#12", "~~", "$x$", "::", "[", "]", "</style>", "</title>", "</svg>",
        ]).prop_map(String::from),
    ];
    prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

/// A session whose every text is `said`.
fn session_of(said: &str) -> Session {
    let configs = ["a", "b"].map(|suffix| Config {
        id: format!("{said}{suffix}"),
        cost: 0.5,
        is_time: true,
    });
    let mut journal = Journal::new(configs.to_vec(), |plan| {
        plan.kernel = said.into();
        plan.file = said.into();
        plan.files = vec![said.into()];
        plan.op = Some(said.into());
        plan.correctness = vec![said.to_owned()];
        plan.benchmark = vec![said.to_owned(), "x".to_owned()];
        plan.weights.insert(said.to_owned(), 1.0);
    });
    journal.baseline();
    let failure = Failure {
        test: said.to_owned(),
        message: said.to_owned(),
        file: Some(said.into()),
        line: Some(1),
        cause: Some(said.to_owned()),
    };
    journal.timed(said, &[(-0.08, 0.002); 2]);
    journal.wrong(said, failure);
    journal.crashed(said, said);
    let run = journal.try_change(said);
    let why = said.to_owned();
    journal.end(run, RunEnd::Refused { why }, None);
    journal.add(Event::Conflict {
        run,
        files: vec![said.into()],
        kept_at: said.into(),
    });
    let mut session = journal.session();
    session.name = said.to_owned();
    for run in &mut session.runs {
        run.by.1 = said.to_owned();
        run.place_reason = Some(said.to_owned());
        run.device.name = said.to_owned();
        run.device.arch = Some(said.to_owned());
        run.device.facts.insert(said.to_owned(), said.to_owned());
        run.device.others.push(said.to_owned());
        run.began = said.to_owned();
    }
    session
}

/// Names of all elements and attributes of a page.
fn structure(page: &str) -> BTreeSet<String> {
    let document = parse(page);
    let elements = document.descendants().filter(|n| n.is_element());
    elements
        .flat_map(|node| {
            let names = node.attributes().map(|a| a.name().to_owned());
            let names: Vec<String> = names.collect();
            std::iter::once(node.tag_name().name().to_owned()).chain(names)
        })
        .collect()
}

/// The cells of a table's row, as GitHub parts them: at every bar that has no backslash before it.
fn cells(line: &str) -> usize {
    let mut cells = 0usize;
    let mut escaped = false;
    for character in line.chars() {
        match character {
            '\\' if !escaped => escaped = true,
            '|' if !escaped => cells += 1,
            _ => escaped = false,
        }
    }
    cells.saturating_sub(1)
}

/// Lines that a report of a tame text does not have: what a text managed to begin.
fn skeleton(report: &str) -> Vec<String> {
    (report.lines())
        .map(|line| {
            let head: String = line
                .chars()
                .take_while(|c| "#-|*0123456789. ".contains(*c))
                .collect();
            format!(
                "{}/{}",
                head.len().min(2),
                if line.starts_with('|') {
                    cells(line)
                } else {
                    0
                }
            )
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_text_reaches_the_page_as_markup(said in anything()) {
        let page = html(&session_of(&said));
        // Well-formed, and made of nothing that a tame session's page is not made of.
        let tame = html(&session_of("tame"));
        let (found, known) = (structure(&page), structure(&tame));
        prop_assert!(found.is_subset(&known), "{:?}", found.difference(&known));
        // Nothing is lost either: the test id can be read as it is.
        let shown: String = said.chars().map(|c| match c {
            '\t' | '\n' => c,
            c if is_hidden(c) => '\u{fffd}',
            c => c,
        }).collect();
        let document = parse(&page);
        let code = document.descendants().filter(|n| n.tag_name().name() == "code");
        let mut texts = code.map(|n| n.text().unwrap_or_default().to_owned());
        prop_assert!(said.is_empty() || texts.any(|text| text == shown), "{shown:?}");
    }

    #[test]
    fn an_angle_bracket_or_a_quote_is_never_a_texts_own(said in anything()) {
        let marked = format!("QQ<\"'>{said}<ZZ");
        let page = html(&session_of(&marked));
        prop_assert!(page.contains("QQ&lt;&quot;&#39;&gt;"));
        prop_assert!(!page.contains("QQ<") && !page.contains("<ZZ"));
        prop_assert!(!page.contains("QQ&lt;\""));
    }

    #[test]
    fn no_text_changes_the_lines_of_a_markdown_report(said in anything()) {
        let said = format!("x{said}");
        let reports = |session: &Session| {
            let (title, body) = pull_request(session);
            [
                markdown(session),
                summary(session),
                applied(session, 1).unwrap_or_default(),
                body,
                title,
            ]
        };
        for (wild, tame) in reports(&session_of(&said)).iter().zip(reports(&session_of("xtame"))) {
            prop_assert_eq!(skeleton(wild), skeleton(&tame), "{}", wild);
        }
    }

    #[test]
    fn escaped_text_is_one_line_without_markup(said in anything()) {
        for escaped in [text(&said), code(&said)] {
            prop_assert!(!escaped.chars().any(|c| is_hidden(c) || c == '\n'));
        }
        let escaped = text(&said);
        prop_assert!(!escaped.starts_with(['>', '#']));
        let mut backslash = false;
        for character in escaped.chars() {
            if !backslash {
                prop_assert!(!"`*[]<|~&$".contains(character), "{escaped}");
            }
            backslash = character == '\\' && !backslash;
        }
        let plain: String = escaped.chars().filter(|c| !"\\\u{2060}".contains(*c)).collect();
        let said: String = one_line(&said).chars().filter(|c| !"\\\u{2060}".contains(*c)).collect();
        prop_assert_eq!(plain, said);
    }

    #[test]
    fn a_code_span_holds_its_text(said in "[a`| ]{1,12}") {
        let span = code(&said);
        let fence = span.chars().take_while(|c| *c == '`').count();
        if !one_line(&said).is_empty() {
            prop_assert!(fence > 0 && span.ends_with(&"`".repeat(fence)));
            let inside = &span[fence..span.len() - fence];
            let runs = inside.split(|c| c != '`').map(str::len);
            prop_assert!(runs.into_iter().all(|run| run != fence), "{}", span);
        }
    }
}

#[test]
fn a_decorator_in_a_message_mentions_nobody() {
    assert_eq!(text("@ct.kernel"), "@\u{2060}ct.kernel");
    assert_eq!(text("see #12"), "see #\u{2060}12");
    assert_eq!(text("a @ b, test_op, _x_"), "a @ b, test_op, \\_x\\_");
}

/// A session can be shown at every moment of its life.
#[test]
fn every_prefix_of_a_journal_has_a_report() {
    let mut whole = scenes::finished();
    while !whole.runs.is_empty() {
        parse(&html(&whole));
        assert!(markdown(&whole).starts_with("# Performance of `scale_kernel`"));
        assert!(summary(&whole).starts_with("## Optimization Summary\n"));
        whole.runs.pop();
    }
}
