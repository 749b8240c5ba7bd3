use super::*;

/// Long enough for its statements to be parsed one by one.
fn long_sample() -> String {
    use std::fmt::Write;
    let mut text = String::from("import cuda.tile as ct\n\n");
    for method in ["", "    "] {
        let _ = writeln!(text, "{}", if method.is_empty() { "" } else { "class Op:" });
        let _ = writeln!(
            text,
            "{method}@ct.kernel(occupancy=2)\n{method}def kernel(x, y, *, N=1):"
        );
        let body = format!("{method}    ");
        for i in 0..6 {
            let _ = write!(
                text,
                "{body}# step {i}\n\
                 {body}for k in range({i}, N):\n\
                 {body}    t = ct.load(\n{body}        x,\n  index=(k,),  # (\n{body}    )\n\n\
                 {body}    if k > {i}:\n\
                 {body}        t = t * 2\n\
                 {body}    elif k:\n\
                 {body}        t = -t\n\
                 {body}    ct.store(y, (k,), t)\n\
                 {body}@helper\n\
                 {body}def inner(a):\n\
                 {body}    \"\"\"Doc\nof many lines: (\n\"\"\"\n\
                 {body}    return lambda: a; z = 1\n\
                 {body}try:\n\
                 {body}    ct.launch(s, (1,), kernel, (x, y))\n\
                 {body}except E as e:\n\
                 {body}    raise\n"
            );
        }
        let long = |clause: &str, text: &mut String| {
            let _ = writeln!(text, "{body}{clause}:  # {{");
            for i in 0..24 {
                let _ = writeln!(
                    text,
                    "{body}    y = ct.launch(s, ({i},), kernel, [x,\n  y])"
                );
            }
            let _ = writeln!(text, "{body}# between");
        };
        for clauses in [
            &["if x", "elif y", "else"][..],
            &["try", "except A", "except B as b", "else", "finally"],
            &["for i in x", "else"],
            &["while x", "else"],
            &["with x as y, z"],
        ] {
            clauses.iter().for_each(|clause| long(clause, &mut text));
        }
        let _ = writeln!(text, "{body}return y");
    }
    text
}

const SAMPLE: &str = "\
import cuda.tile as ct

@ct.kernel(occupancy=2)
def scale(x, y, N: ct.Constant[int]):
    \"\"\"doc\"\"\"
    ct.store(y, (0,), ct.load(x, (0,), (N,)) * 2)


def run(x, y):
    ct.launch(s, (1,), scale, (x, y, 16))
    return y

if True:
    z = 'é😀'
else:
    z = None
";

/// A small generator that needs no dependency and repeats from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

const PIECES: &[&str] = &[
    "",
    "x",
    " ",
    "\n",
    "(",
    ")",
    "\"\"\"",
    "'",
    "#",
    "    ",
    "def f():\n    pass\n",
    "@ct.kernel\n",
    "else:\n",
    "if a:\n    b\n",
    "\\\n",
    "é",
    "\r\n",
    "[",
    "]",
    ",",
    ":",
    "return 1\n",
    "\t",
    "launch(",
    "if a:\n",
    "if a:\n        b\n    else:\n",
    "    x = [\n",
    "'''",
    "\"",
    "async ",
    "@w\n    ",
    "    for i in x:\n        y\n",
    "; z = 1",
    "with a as b:",
];

fn edit_text(text: &str, random: &mut Random) -> (String, Edit) {
    let floor = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(random.below(text.len() + 1));
    let most = if random.below(8) == 0 { 400 } else { 4 };
    let removed = if random.below(3) == 0 {
        0
    } else {
        random.below(most)
    };
    let old_end = floor((start + removed).min(text.len()));
    let piece = PIECES[random.below(PIECES.len())];
    let new = format!("{}{piece}{}", &text[..start], &text[old_end..]);
    (
        new,
        Edit {
            start,
            old_end,
            new_end: start + piece.len(),
        },
    )
}

fn assert_same_as_scratch(file: &ParsedFile, text: &str) {
    let scratch = parse_fresh(text);
    assert_eq!(file.torn, scratch.torn, "{text}");
    assert_eq!(file.items.len(), scratch.items.len(), "{text}");
    for (a, b) in file.items.iter().zip(&scratch.items) {
        assert_eq!(a.span, b.span, "{text}");
        assert_eq!(a.state, b.state, "{:?}", &text[a.span.range()]);
        if a.state == ItemState::Fresh {
            assert_eq!(a.facts, b.facts, "{:?}", &text[a.span.range()]);
        }
        let inside = a.place(Span::new(0, 1_000_000));
        assert!(a.span.contains(inside));
    }
    if scratch.is_clean() {
        assert!(file.is_clean() && file.ghosts.is_empty());
    }
}

fn parse_fresh(text: &str) -> ParsedFile {
    FileParser::default().parse(text)
}

/// Random edits of a text, and back: after each, the facts are those of a parse from nothing.
fn wander(start: &str, seed: u64, edits: usize) {
    let mut random = Random(seed);
    let mut parser = FileParser::default();
    let mut text = start.to_owned();
    let mut file = parser.parse(&text);
    for _ in 0..edits {
        let (new, edit) = edit_text(&text, &mut random);
        let next = parser.update(&file, &new, edit);
        assert_same_as_scratch(&next, &new);
        if random.below(3) == 0 {
            // Undone: everything is as before, nothing stale that was not.
            let back = Edit {
                start: edit.start,
                old_end: edit.new_end,
                new_end: edit.old_end,
            };
            file = parser.update(&next, &text, back);
            assert_same_as_scratch(&file, &text);
        } else {
            (text, file) = (new, next);
        }
        if text.len() > start.len() * 2 + 200 || random.below(40) == 0 {
            text = start.to_owned();
            file = parser.parse(&text);
        }
    }
}

#[test]
fn facts_after_edits_equal_facts_from_scratch() {
    for seed in 0..40 {
        wander(SAMPLE, seed, 60);
    }
}

#[test]
fn facts_after_edits_of_long_items_equal_facts_from_scratch() {
    let text = long_sample();
    for seed in 0..3 {
        wander(&text, seed, 60);
    }
}

/// The parser alone counts a comment behind the last line of a suite to the suite; a statement by
/// itself ends with its last token. So the ends of suites are left out.
fn without_ends(stmts: &[Stmt], out: &mut Vec<String>) {
    for stmt in stmts {
        let blocks = stmt.blocks();
        if blocks.is_empty() {
            out.push(format!("{stmt:?}"));
            continue;
        }
        out.push(format!("{}: {}", stmt.span.start, blocks.len()));
        stmt.own_exprs(&mut |e| out.push(format!("{e:?}")));
        if let StmtKind::FunctionDef(def) = &stmt.kind {
            out.push(format!("{:?} {:?} {:?}", def.name, def.params, def.returns));
        }
        for block in blocks {
            out.push("suite".to_owned());
            without_ends(block, out);
        }
    }
}

/// What statement by statement gives is what the parser makes of the whole item.
fn assert_same_as_whole(text: &str) {
    let shape = |stmts: &[Stmt]| {
        let mut out = Vec::new();
        without_ends(stmts, &mut out);
        out
    };
    let starts =
        |sites: &[Site]| -> Vec<_> { sites.iter().map(|s| (s.kind, s.span.start)).collect() };
    for item in parse_fresh(text).items.iter().filter(|i| !i.is_stale()) {
        let source = &text[item.span.range()];
        let tree = TreeParser::default().parse(source).unwrap();
        assert!(!tree.root_node().has_error(), "{source}");
        let body = lower::module(tree.root_node(), source);
        assert_eq!(shape(&item.facts.body), shape(&body), "{source}");
        let sites = sites::find(tree.root_node(), source);
        assert_eq!(starts(&item.facts.sites), starts(&sites), "{source}");
    }
}

#[test]
fn a_long_item_in_parts_is_what_it_is_in_one_piece() {
    let text = long_sample();
    assert!(parse_fresh(&text).is_clean());
    assert!(text.len() > 5_000);
    assert_same_as_whole(&text);
    assert_same_as_whole(&text.replace('\n', "\r\n"));
    assert_same_as_whole(&text.replace("    ", "\t"));
}

/// The same on real files: `TILEPERF_TEST_CORPUS` names a folder of Python files, and
/// `TILEPERF_TEST_EDITS` how often each is edited.
#[test]
#[allow(clippy::disallowed_methods)] // The crate reads no files; this test brings it some.
fn facts_after_edits_equal_facts_from_scratch_on_a_corpus() {
    let Some(root) = std::env::var_os("TILEPERF_TEST_CORPUS") else {
        eprintln!("skipped: TILEPERF_TEST_CORPUS is not set");
        return;
    };
    let mut files = Vec::new();
    let mut folders = vec![std::path::PathBuf::from(root)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "py") {
                files.push(path);
            }
        }
    }
    files.sort();
    let each = std::env::var("TILEPERF_TEST_EDITS").map_or(40, |edits| edits.parse().unwrap());
    let (mut tried, mut edits) = (0, 0);
    for (seed, path) in files.iter().enumerate() {
        let text = std::fs::read_to_string(path).unwrap();
        if text.contains("cuda") && text.len() < 60_000 {
            assert_same_as_whole(&text);
            wander(&text, seed as u64, each);
            edits += each;
            tried += 1;
        }
    }
    println!("{edits} edits of {tried} files");
    assert!(edits > 1_000, "only {edits} edits: is the corpus there?");
}

#[test]
fn composed_edits_cover_both() {
    let mut random = Random(7);
    for _ in 0..500 {
        let (one, a) = edit_text(SAMPLE, &mut random);
        let (two, b) = edit_text(&one, &mut random);
        let both = a.then(b);
        assert_eq!(SAMPLE[..both.start], two[..both.start]);
        assert_eq!(SAMPLE[both.old_end..], two[both.new_end..]);
    }
}

#[test]
fn a_broken_item_keeps_its_facts_and_follows_the_text() {
    let mut parser = FileParser::default();
    let file = parser.parse(SAMPLE);
    let at = SAMPLE.find("(0,), ct.load").unwrap();
    let edit = Edit {
        start: at,
        old_end: at,
        new_end: at + 6,
    };
    let broken = format!("{}((((++{}", &SAMPLE[..at], &SAMPLE[at..]);
    let next = parser.update(&file, &broken, edit);
    let item = next
        .items
        .iter()
        .find(|i| i.facts.name.as_deref() == Some("scale"))
        .unwrap();
    assert!(item.is_stale());
    let load = SAMPLE.find("ct.load").unwrap() - file.items[1].span.start as usize;
    let placed = item.place(Span::new(load, load + 7));
    assert_eq!(&broken[placed.range()], "ct.load");
    // The other items are untouched, and typing on keeps the good facts.
    assert_eq!(next.items.iter().filter(|i| i.is_stale()).count(), 1);
    let more = broken.replace("((((++", "((((++1");
    let edit = Edit {
        start: at + 6,
        old_end: at + 6,
        new_end: at + 7,
    };
    let again = parser.update(&next, &more, edit);
    let item = again.items.iter().find(|i| i.is_stale()).unwrap();
    assert_eq!(
        &more[item.place(Span::new(load, load + 7)).range()],
        "ct.load"
    );
}

#[test]
fn an_open_quote_leaves_ghosts_until_it_is_closed() {
    let mut parser = FileParser::default();
    let file = parser.parse(SAMPLE);
    let broken = format!("x = \"\"\"\n{SAMPLE}");
    let edit = Edit {
        start: 0,
        old_end: 0,
        new_end: 8,
    };
    let next = parser.update(&file, &broken, edit);
    let kept: Vec<_> = next.all().filter_map(|i| i.facts.name.as_deref()).collect();
    assert!(kept.contains(&"scale") && kept.contains(&"run"), "{kept:?}");
    let back = Edit {
        start: 0,
        old_end: 8,
        new_end: 0,
    };
    let healed = parser.update(&next, SAMPLE, back);
    assert_same_as_scratch(&healed, SAMPLE);
}

#[test]
fn a_star_takes_the_whole_operand_whatever_the_grammar_makes_of_it() {
    // `return *a.b, *c.d.e` is parsed in two ways, depending on where it stands.
    for text in [
        "def f(self):\n    return *self.a, *self.b.c[0](1).d\n",
        "class A:\n    def f(self):\n        return *self.a, *self.b.c[0](1).d\n",
        "x = *self.a, *self.b.c[0](1).d\n",
        "x = [*self.a, *self.b.c[0](1).d]\n",
        "f(*self.a, *self.b.c[0](1).d)\n",
    ] {
        let file = parse_fresh(text);
        let debug = format!("{:?}", file.items[0].facts.body);
        for operand in ["self.a", "self.b.c[0](1).d"] {
            let at = text.find(operand).unwrap();
            let whole = format!("Expr {{ span: {:?}", Span::new(at, at + operand.len()));
            assert!(
                debug.contains(&format!("Starred({whole}"))
                    || debug.contains(&format!("stars: 1, value: {whole}")),
                "{operand}: {debug}"
            );
        }
    }
}
