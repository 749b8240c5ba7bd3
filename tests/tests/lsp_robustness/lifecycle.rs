//! Requests at the wrong time and methods that do not exist, answered as the protocol says.

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};

use crate::URI;

const NOT_INITIALIZED: i64 = -32002;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

#[test]
fn before_initialize() {
    let mut client = Client::spawn(Options::default());
    for method in [
        "tileperf/serverInfo",
        "textDocument/hover",
        "no/such",
        "$/no",
        "shutdown",
    ] {
        assert_eq!(
            client.ask_error(method, json!({})).code,
            NOT_INITIALIZED,
            "{method}"
        );
    }
    client.open(URI, "x = 1\n");
    // Refused parameters leave the session where it was.
    assert_eq!(
        client.ask_error("initialize", json!([1])).code,
        INVALID_PARAMS
    );
    assert_eq!(
        client.ask_error("tileperf/serverInfo", json!({})).code,
        NOT_INITIALIZED
    );

    let params = client.initialize_params();
    client.ask("initialize", params);
    assert_eq!(
        client.text(URI),
        Value::Null,
        "a notification before initialize had an effect"
    );
    client.finish();
}

#[test]
fn initialize_happens_once() {
    let (mut client, answer) = Client::start(Options::default());
    assert_eq!(answer["serverInfo"]["name"], "tileperf");
    let params = client.initialize_params();
    assert_eq!(client.ask_error("initialize", params).code, INVALID_REQUEST);
    client.finish();
}

#[test]
fn after_shutdown() {
    let (mut client, _) = Client::start(Options::default());
    client.ask("shutdown", Value::Null);
    for method in [
        "tileperf/serverInfo",
        "initialize",
        "shutdown",
        "no/such",
        "$/no",
    ] {
        assert_eq!(
            client.ask_error(method, json!({})).code,
            INVALID_REQUEST,
            "{method}"
        );
    }
    client.open(URI, "x = 1\n");
    client.notify("exit", Value::Null);
    assert_eq!(client.exit_code(tileperf_tests::client::LIMIT), Some(0));
    client.check_nothing_left();
}

#[test]
fn methods_and_parameters_that_do_not_exist() {
    let (mut client, _) = Client::start(Options::default());
    for method in ["no/such", "$/no", "textDocument/formatting2"] {
        assert_eq!(
            client.ask_error(method, json!({})).code,
            METHOD_NOT_FOUND,
            "{method}"
        );
        client.notify(method, json!({"a": 1}));
    }
    for params in [json!({}), json!([]), json!({"uri": 3}), Value::Null] {
        assert_eq!(
            client.ask_error("tileperf/documentText", params).code,
            INVALID_PARAMS
        );
    }
    client.notify("textDocument/didOpen", json!({"textDocument": 3}));
    client.notify("$/setTrace", json!({"value": "verbose"}));
    client.notify("window/workDoneProgress/cancel", json!({"token": "none"}));
    // A notification's method asked as a request, and the other way round.
    assert_eq!(
        client.ask_error("textDocument/didClose", json!({})).code,
        INVALID_REQUEST
    );
    client.notify("tileperf/documentText", json!({"uri": URI}));
    assert_eq!(client.text(URI), Value::Null);
    client.finish();
}

#[test]
fn parameters_may_be_left_out_where_there_are_none() {
    let (mut client, _) = Client::start(Options::default());
    for params in [json!({}), Value::Null] {
        let info = client.ask("tileperf/serverInfo", params);
        assert_eq!(info["pid"], client.pid());
        assert_eq!(info["encoding"], "utf-16");
    }
    let id = client.next_id();
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tileperf/serverInfo"}));
    assert!(client.response(id).is_ok());
    let id = client.next_id();
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "shutdown"}));
    assert_eq!(client.response(id), Ok(Value::Null));
    client.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(client.exit_code(tileperf_tests::client::LIMIT), Some(0));
    client.check_nothing_left();
}

#[test]
fn a_client_newer_than_the_server_keeps_it() {
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"hover": {"contentFormat": ["hologram"]}, "diagnostic": {}},
    });
    let (mut client, answer) = Client::start(Options {
        capabilities,
        ..Options::default()
    });
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
    assert!(answer["capabilities"]["diagnosticProvider"].is_object());
    client.log_line("textDocument.hover");
    client.finish();
}
