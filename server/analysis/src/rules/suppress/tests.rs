//! What the actions write is what suppresses, wherever a finding begins.

use tileperf_syntax::ast::ExprKind;
use tileperf_syntax::{ParsedFile, Span, parse};

use super::{apply, in_file, on_line};
use crate::rewrite;
use crate::rules::{Finding, RULES, Rule};

/// Statements; a finding begins at each `@` in turn.
const FORMS: &[&str] = &[
    "@f(1)",
    "x = @f(1)  # why",
    "x = @f(\"# no comment\")",
    "x = @f(\n    @1,\n    @2,  # why\n    # a line of its own\n    @3)",
    "x = @a + \\\n    @b + \\\n    @c",
    "x = @a + \\\n    @b  # why",
    "x = @f(\"\"\"one\n# two\nthree\"\"\", @1)",
    "x = @f('''one\n''' + @y, '''\n\n''')",
    "\"\"\"@text\n@more\n\"\"\"",
    "x = @f('one \\\n two', @1)",
    "x = @f(r'\\\\', @1) if y else '#'",
    "x = @f(f\"{y['#']}\", @1)",
    "x = @f(f'{y[\"a\"]:>{w}} {{#', f'''{\n@y}\n#''')",
    "x = @[\n    '''a\n    b''', @f(1), \\\n    @2,\n]",
    "if @f(1): @g(2)",
    "for i in @f(\n    1\n):\n    @g(i)",
    "def g(\n    @a,\n    b=@1,\n):\n    \"\"\"@text\n    more\"\"\"\n    return @a",
    "@f(1); @g(\n2)",
    "x = @f('漢字 😀')\t ",
    "x = @f(1)  # tileperf: ignore[TP999]",
    "x = @f(1)  # why  # tileperf: ignore[TP999] because",
    "x = @f(1)  # see [1]",
    "x = @f('# tileperf: ignore', @1)",
    "x = @f('''\n# tileperf: ignore\n''', @1)",
];

fn finding(rule: &'static Rule, at: usize) -> Finding {
    Finding {
        rule,
        span: Span::new(at, at + 1),
        message: "m".to_owned(),
        severity: rule.severity,
        archs: Vec::new(),
        claims: Vec::new(),
        fixes: Vec::new(),
        related: Vec::new(),
    }
}

fn is_found(text: &str, rule: &'static Rule, at: usize) -> bool {
    !apply(text, vec![finding(rule, at).into()]).is_empty()
}

/// The text without its marks, and where they were.
fn unmarked(text: &str) -> (String, Vec<usize>) {
    let (mut out, mut places) = (String::new(), Vec::new());
    for part in text.split_inclusive('@') {
        out.push_str(part.trim_end_matches('@'));
        if part.ends_with('@') {
            places.push(out.len());
        }
    }
    (out, places)
}

/// The strings of a text, in order.
fn strings(file: &ParsedFile) -> Vec<String> {
    let mut out = Vec::new();
    for item in &file.items {
        crate::body::walk(&item.facts.body, &mut |expr, _| {
            if let ExprKind::Str(text) = &expr.kind {
                out.push(text.to_string());
            }
        });
    }
    out
}

#[test]
fn what_the_action_writes_suppresses_that_finding_and_spares_other_statements() {
    let rule = RULES[0];
    let other = RULES[1];
    for form in FORMS {
        for (before, after) in [
            ("above = 1\n", "\nbelow = 1\n"),
            ("\u{feff}above = 1\n\n", "\n\n# end\nbelow = 1"),
            ("if above:\n    pass\n", "\n"),
            ("above = '''\n'''\n", ""),
        ] {
            for newline in ["\n", "\r\n"] {
                let whole = format!("{before}{form}{after}").replace('\n', newline);
                let (text, places) = unmarked(&whole);
                let parsed = parse(&text);
                assert!(parsed.is_clean(), "{text}");
                for at in places {
                    let edits = on_line(&text, Span::new(at, at + 1), rule);
                    let new = rewrite::apply(&text, &edits).unwrap();
                    let [edit] = edits.as_slice() else {
                        panic!("{edits:?} for {at} of {text}")
                    };
                    let moved = |p: usize| match (edit.span.start as usize) <= p {
                        true => p + edit.text.len(),
                        false => p,
                    };
                    assert!(is_found(&text, rule, at), "{at} of {text}");
                    assert!(!is_found(&new, rule, moved(at)), "{at} of\n{new}");
                    assert!(is_found(&new, other, moved(at)), "{at} of\n{new}");
                    let above = text.find("above").unwrap();
                    assert!(is_found(&new, rule, above), "{new}");
                    if let Some(below) = new.rfind("below") {
                        assert!(is_found(&new, rule, below), "{new}");
                    }
                    // A comment, and nothing but one.
                    let again = parse(&new);
                    assert!(again.is_clean(), "{new}");
                    assert_eq!(strings(&again), strings(&parsed), "{new}");
                    assert_eq!(new.matches("\r\n").count(), text.matches("\r\n").count());
                }
            }
        }
    }
}

#[test]
fn a_line_of_its_own_is_about_what_follows() {
    let mark = format!("# tileperf: ignore[{}]", RULES[0].slug);
    for (text, found) in [
        ("a = 1\nMARK\n@f(1)\nb = 1\n", false),
        ("a = 1\nMARK\n\n# more\n@f(1)\n", false),
        ("a = 1\nMARK\nx = g(\n    @1,\n    2)\n", false),
        ("a = 1\nMARK\nx = a + \\\n    @b\n", false),
        ("a = 1\nMARK\nx = '''\n''' + @b\n", false),
        ("a = 1\nMARK\nx = g(\n    1)\n@f(1)\n", true),
        ("a = 1\nMARK\nx = a + \\\n    b\n@f(1)\n", true),
        ("a = 1\nx = g(\n    MARK\n    @1,\n    2)\n", false),
        ("a = 1\nx = g(\n    MARK\n    1,\n    @2)\n", true),
        ("a = 1\n@f(1)\nMARK\n", true),
        ("# first\nMARK\na = 1\n@f(1)\n", false),
        ("'''text'''\nMARK\na = 1\n@f(1)\n", true),
        ("x = g(\n    1)  MARK\n@f(1)\n", true),
        ("x = @g(\n    1)  MARK\n", true),
        ("a = 1\nif a:\n    pass\n    MARK\n@f(1)\n", false),
    ] {
        for newline in ["\n", "\r\n", "\r"] {
            let text = text.replace("MARK", &mark).replace('\n', newline);
            let (text, places) = unmarked(&text);
            assert_eq!(is_found(&text, RULES[0], places[0]), found, "{text}");
        }
    }
}

#[test]
fn a_whole_file_is_suppressed_from_its_first_lines() {
    let rule = RULES[0];
    for text in [
        "",
        "f(1)\n",
        "#!/usr/bin/env python\nf(1)\n",
        "#!/usr/bin/env python",
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nf(1)\n",
        "# vim: set fileencoding=utf-8 :\nf(1)\n",
        "\u{feff}f(1)\n",
        "\u{feff}#!python\n\"\"\"text\n\"\"\"\nf(1)\n",
        "# a notice\n\n\nf(1)\n",
        "\n\nf(1)",
    ] {
        for newline in ["\n", "\r\n"] {
            let text = text.replace('\n', newline);
            let new = rewrite::apply(&text, &in_file(&text, rule)).unwrap();
            assert!(!is_found(&new, rule, new.len()), "{new:?}");
            assert!(is_found(&new, RULES[1], new.len()), "{new:?}");
            if text.contains('\n') {
                let ends = new.matches('\n').count();
                assert_eq!(new.matches(newline).count(), ends, "{new:?}");
            }
            let first = |t: &str, sign| t.lines().take(2).position(|l| l.contains(sign));
            for sign in ["#!", "coding"] {
                assert_eq!(first(&new, sign), first(&text, sign), "{new:?}");
            }
        }
    }
}

#[test]
fn no_comment_is_put_into_a_string_that_does_not_end() {
    for text in ["x = f('''\n", "x = '''", "x = f(1, \\", "x = f'''{\n"] {
        let at = text.find('=').unwrap();
        let edits = on_line(text, Span::new(at, at + 1), RULES[0]);
        assert!(edits.is_empty(), "{edits:?} in {text:?}");
    }
}
