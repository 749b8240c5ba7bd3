//! The server's text is the client's text, whatever is typed how fast.

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};

use crate::URI;

/// A small reproducible source of random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound.max(1)
    }
}

/// The editor's side: a list of characters, edited and addressed in the plainest possible way.
struct Buffer {
    chars: Vec<char>,
    utf16: bool,
}

impl Buffer {
    fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// Line and character of an index, counted from the start each time.
    fn position(&self, index: usize) -> Value {
        let (mut line, mut character) = (0, 0);
        for c in &self.chars[..index] {
            if *c == '\n' {
                (line, character) = (line + 1, 0);
            } else {
                character += if self.utf16 {
                    c.len_utf16()
                } else {
                    c.len_utf8()
                };
            }
        }
        json!({"line": line, "character": character})
    }

    /// A place an editor can address: not between the two characters of a line end.
    fn place(&self, random: &mut Random) -> usize {
        let index = random.below(self.chars.len() + 1);
        let inside =
            index > 0 && self.chars.get(index) == Some(&'\n') && self.chars[index - 1] == '\r';
        if inside { index - 1 } else { index }
    }

    /// Makes a random edit and gives it in the protocol's form.
    fn edit(&mut self, random: &mut Random) -> Value {
        const SNIPPETS: [&str; 12] = [
            "",
            "",
            "x",
            "😀",
            "é",
            "\r\n",
            "\n",
            "    ",
            "ct.load(a, 0)\r\n",
            "# 漢字\n",
            "\t\u{1F1E9}\u{1F1EA}",
            "\"\"\"",
        ];
        let new = SNIPPETS[random.below(SNIPPETS.len())];
        if random.below(200) == 0 {
            self.chars = format!("import cuda.tile as ct\r\n# whole text 😀\r\n{new}")
                .chars()
                .collect();
            return json!({ "text": self.text() });
        }
        let start = self.place(random);
        let mut end = start + random.below(6);
        if end > self.chars.len() {
            end = self.chars.len();
        }
        if end > start && self.chars.get(end) == Some(&'\n') && self.chars[end - 1] == '\r' {
            end += 1;
        }
        let range = json!({"start": self.position(start), "end": self.position(end)});
        self.chars.splice(start..end, new.chars());
        self.mend_line_ends();
        json!({"range": range, "text": new})
    }

    /// A deletion or insertion can leave a lone carriage return, which editors never keep.
    fn mend_line_ends(&self) {
        let lone = self
            .chars
            .windows(2)
            .any(|pair| pair[0] == '\r' && pair[1] != '\n');
        assert!(
            !lone && self.chars.last() != Some(&'\r'),
            "the test itself made a lone \\r"
        );
    }
}

fn burst(utf16: bool, seed: u64) {
    let encodings = if utf16 {
        json!(["utf-16"])
    } else {
        json!(["utf-16", "utf-8"])
    };
    let capabilities = json!({"general": {"positionEncodings": encodings}});
    let (mut client, answer) = Client::start(Options {
        capabilities,
        ..Options::default()
    });
    let expected = if utf16 { "utf-16" } else { "utf-8" };
    assert_eq!(answer["capabilities"]["positionEncoding"], expected);

    let start = "import cuda.tile as ct\r\n\r\n@ct.kernel\r\ndef k(a):  # 😀\r\n    pass\r\n";
    let mut buffer = Buffer {
        chars: start.chars().collect(),
        utf16,
    };
    let mut random = Random(seed);
    client.open(URI, start);
    let mut version = 1;
    let mut edits = 0;
    while edits < 1000 {
        version += 1;
        let changes: Vec<Value> = (0..1 + random.below(3))
            .map(|_| buffer.edit(&mut random))
            .collect();
        edits += changes.len();
        client.change(URI, version, Value::Array(changes));
    }
    let document = client.text(URI);
    assert_eq!(document["version"], version);
    assert_eq!(document["text"], buffer.text());

    assert!(client.diagnostics(URI, Some(version)).is_empty());
    client.close(URI);
    assert!(client.diagnostics(URI, None).is_empty());
    assert_eq!(client.text(URI), Value::Null);
    client.finish();
}

#[test]
fn a_burst_of_a_thousand_edits_in_utf_16() {
    burst(true, 0x5EED_0001);
}

#[test]
fn a_burst_of_a_thousand_edits_in_utf_8() {
    burst(false, 0x5EED_0002);
}

#[test]
fn versions_are_answered_in_order_and_the_last_one_always() {
    let (mut client, _) = Client::start(Options::default());
    client.open(URI, "x = 0\n");
    assert!(client.diagnostics(URI, Some(1)).is_empty());
    for version in 2..=300 {
        let range =
            json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}});
        client.change(URI, version, json!([{"range": range, "text": "1"}]));
    }
    // An answer behind all edits: by then the publications so far have been read.
    client.text(URI);
    let earlier = client.published();
    assert!(
        earlier.windows(2).all(|pair| pair[0].1 < pair[1].1),
        "{earlier:?}"
    );
    assert!(client.diagnostics(URI, Some(300)).is_empty());
    client.finish();
}

#[test]
fn a_client_that_pulls_diagnostics_gets_none_pushed() {
    let capabilities = json!({"textDocument": {"diagnostic": {}}});
    let (mut client, answer) = Client::start(Options {
        capabilities,
        ..Options::default()
    });
    assert_eq!(
        answer["capabilities"]["diagnosticProvider"]["identifier"],
        "tileperf"
    );
    client.open(URI, "x = 1\n");
    client.change(URI, 2, json!([{"text": "y = 2\n"}]));
    let report = client.ask(
        "textDocument/diagnostic",
        json!({"textDocument": {"uri": URI}}),
    );
    assert_eq!(
        (&report["kind"], &report["items"]),
        (&json!("full"), &json!([]))
    );
    client.close(URI);
    client.text(URI);
    assert_eq!(client.published(), []);
    client.finish();
}

#[test]
fn documents_that_are_neither_files_nor_untitled_are_left_alone() {
    let (mut client, _) = Client::start(Options::default());
    for uri in [
        "git:/project/kernel.py?HEAD",
        "vscode-notebook-cell:/project/a.ipynb#W0",
    ] {
        client.open(uri, "x = 1\n");
        client.change(uri, 2, json!([{"text": "y = 2\n"}]));
        assert_eq!(client.text(uri), Value::Null);
        client.log_line(uri);
        client.close(uri);
    }
    client.open("untitled:Untitled-1", "x = 1\n");
    assert!(
        client
            .diagnostics("untitled:Untitled-1", Some(1))
            .is_empty()
    );
    assert!(client.published().is_empty());
    client.finish();
}

#[test]
fn positions_beyond_the_text_are_clamped() {
    let (mut client, _) = Client::start(Options::default());
    client.open(URI, "ab\r\ncd");
    let far = json!({"start": {"line": 0, "character": 99}, "end": {"line": 77, "character": 0}});
    client.change(URI, 2, json!([{"range": far, "text": "!"}]));
    assert_eq!(client.text(URI)["text"], "ab!");
    let backwards =
        json!({"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 1}});
    client.change(URI, 3, json!([{"range": backwards, "text": ""}]));
    assert_eq!(client.text(URI)["text"], "a!");
    client.finish();
}

#[test]
fn changes_to_documents_that_are_not_open_are_ignored() {
    let (mut client, _) = Client::start(Options::default());
    client.change(URI, 2, json!([{"text": "y = 2\n"}]));
    client.log_line("not open");
    client.close(URI);
    assert_eq!(client.text(URI), Value::Null);
    client.finish();
}
