//! Input that is no message: an error response, a line in the log, and the next message is read.

use serde_json::json;
use tileperf_tests::client::{Client, Options};

use crate::URI;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

fn body(text: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

#[test]
fn broken_messages_are_answered_and_the_next_one_is_read() {
    let (mut client, _) = Client::start(Options::default());
    client.open(URI, "x = 1\n");
    let deep = "[".repeat(1_000_000);
    let cases: [(Vec<u8>, i64); 10] = [
        (body("{\"jsonrpc\": \"2.0\", "), PARSE_ERROR),
        (body("no JSON at all"), PARSE_ERROR),
        (body(""), PARSE_ERROR),
        (body(&deep), PARSE_ERROR),
        (body("[]"), INVALID_REQUEST),
        (body("{\"jsonrpc\": \"2.0\"}"), INVALID_REQUEST),
        (
            body("{\"jsonrpc\": \"2.0\", \"id\": [], \"method\": \"m\"}"),
            INVALID_REQUEST,
        ),
        (b"Content-Type: text\r\n\r\n".to_vec(), PARSE_ERROR),
        (b"Content-Length: many\r\n\r\n".to_vec(), PARSE_ERROR),
        (
            vec![0xFF; 10_000].into_iter().chain(*b"\r\n\r\n").collect(),
            PARSE_ERROR,
        ),
    ];
    for (bytes, code) in cases {
        client.send_raw(&bytes);
        let error = client.anonymous_error();
        assert_eq!(
            error.code,
            code,
            "{}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(60)])
        );
        client.log_line("WARN");
        assert_eq!(client.text(URI)["text"], "x = 1\n");
    }
    client.finish();
}

#[test]
fn an_absurd_length_costs_neither_memory_nor_the_session() {
    let (mut client, _) = Client::start(Options::default());
    client.open(URI, "x = 1\n");
    client.send_raw(b"Content-Length: 99999999999\r\n\r\n{\"jsonrpc\":\"2.0\"}");
    assert_eq!(client.anonymous_error().code, PARSE_ERROR);
    assert_eq!(client.text(URI)["text"], "x = 1\n");

    // A message that really is that long is passed over without being kept.
    let before = tileperf_tests::process::resident_kib(client.pid());
    let megabyte = vec![b'x'; 1 << 20];
    client.send_raw(format!("Content-Length: {}\r\n\r\n", 80 << 20).as_bytes());
    for _ in 0..80 {
        client.send_raw(&megabyte);
    }
    assert_eq!(client.anonymous_error().code, PARSE_ERROR);
    assert_eq!(client.text(URI)["text"], "x = 1\n");
    if let (Some(before), Some(after)) =
        (before, tileperf_tests::process::resident_kib(client.pid()))
    {
        assert!(
            after < before + 8 * 1024,
            "{before} KiB before, {after} KiB after"
        );
    }
    client.finish();
}

#[test]
fn text_that_is_no_unicode_is_taken_with_replacement_characters() {
    let (mut client, _) = Client::start(Options::default());
    client.open(URI, "x = 1\n");
    // Half an emoji, as an editor sends it whose user deleted the other half.
    let lone = r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":
        {"uri":"URI","version":2},"contentChanges":[{"text":"a\ud83d!"}]}}"#;
    client.send_raw(&body(&lone.replace("URI", URI)));
    assert_eq!(client.text(URI)["text"], "a\u{fffd}!");
    client.log_line("broken text");
    // Its UTF-16 positions count as before.
    let range = json!({"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}});
    client.change(URI, 3, json!([{"range": range, "text": "?"}]));
    assert_eq!(client.text(URI)["text"], "a\u{fffd}?");

    let mut raw = body(&lone.replace("URI", URI).replace("\\ud83d", "......"));
    let at = raw.windows(6).position(|w| w == b"......").unwrap();
    raw[at..at + 6].copy_from_slice(b"caf\xe9\xff ");
    client.send_raw(&raw);
    assert_eq!(client.text(URI)["text"], "acaf\u{fffd}\u{fffd} !");
    client.finish();
}

#[test]
fn large_documents_are_taken_whole() {
    let (mut client, _) = Client::start(Options::default());
    let one_line = format!("x = \"{}\"", "y".repeat(1 << 20));
    let many_lines = "x = 1  # 😀\n".repeat(100_000);
    for text in [one_line, many_lines] {
        client.open(URI, &text);
        let range =
            json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
        client.change(URI, 2, json!([{"range": range, "text": "z"}]));
        let document = client.text(URI);
        assert!(
            document["text"] == format!("z{}", &text[1..]),
            "the texts differ"
        );
        assert!(client.diagnostics(URI, Some(2)).is_empty());
        client.close(URI);
    }
    client.finish();
}
