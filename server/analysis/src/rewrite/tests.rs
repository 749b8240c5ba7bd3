use super::*;

fn span(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap();
    Span::new(start, start + part.len())
}

fn changed(text: &str, edits: Edits<'_>) -> String {
    apply(text, &edits.finish()).unwrap()
}

#[test]
fn edits_apply_in_any_order_and_leave_the_rest_alone() {
    let text = "a = 1  # one\nb = 'x'\n";
    let edits = Edits::new(text)
        .replace(span(text, "'x'"), "\"y\"")
        .replace(span(text, "1"), "2");
    assert_eq!(changed(text, edits), "a = 2  # one\nb = \"y\"\n");
    let twice = Edits::new(text)
        .replace(span(text, "a = 1"), "x")
        .replace(span(text, "1"), "2");
    assert_eq!(apply(text, &twice.finish()), Err(Overlap));
    let outside = [TextEdit {
        span: Span::new(3, 900),
        text: String::new(),
    }];
    assert_eq!(apply(text, &outside), Err(Overlap));
}

#[test]
fn lines_take_the_indentation_and_line_ends_of_their_place() {
    let text = "def f():\r\n\tx = 1\r\n";
    let edits = Edits::new(text).lines_before(span(text, "x").start, &["if a:", "    b()", ""]);
    assert_eq!(
        changed(text, edits),
        "def f():\r\n\tif a:\r\n\t    b()\r\n\r\n\tx = 1\r\n"
    );
    let open = "def f():\n    x = 1";
    let at = span(open, "x").start;
    let edits = Edits::new(open).lines_after(at, at, &["y = 2"]);
    assert_eq!(changed(open, edits), "def f():\n    x = 1\n    y = 2");
    let edits = Edits::new(open).delete_lines(span(open, "x = 1"));
    assert_eq!(changed(open, edits), "def f():\n");
}

#[test]
fn text_that_is_moved_keeps_its_line_ends() {
    let text = "f(\r\n    a)\r\n";
    let call = span(text, "f(\r\n    a)");
    let edits = Edits::new(text).replace(call, format!("g({})\nh()", &text[..10]));
    assert_eq!(changed(text, edits), "g(f(\r\n    a))\r\nh()\r\n");
}

#[test]
fn an_element_goes_with_its_comma() {
    for (text, gone, left) in [
        ("f(a, b, c)", "a", "f(b, c)"),
        ("f(a, b, c)", "b", "f(a, c)"),
        ("f(a, b, c)", "c", "f(a, b)"),
        ("f(a, b=1,)", "b=1", "f(a, )"),
        ("@ct.kernel(occupancy=2)", "occupancy=2", "@ct.kernel()"),
    ] {
        let at = text.find(gone).unwrap();
        let edits = Edits::new(text).delete_element(Span::new(at, at + gone.len()));
        assert_eq!(changed(text, edits), left, "{text} - {gone}");
    }
}
