//! Many requests, cancelled requests, panicking handlers: one response each.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};

use crate::URI;

const INTERNAL_ERROR: i64 = -32603;
const REQUEST_CANCELLED: i64 = -32800;

fn start() -> Client {
    Client::start(Options {
        hooks: true,
        ..Options::default()
    })
    .0
}

fn sleep(client: &mut Client, milliseconds: u64, busy: bool) -> i64 {
    client.request(
        "tileperf/test/sleep",
        json!({"milliseconds": milliseconds, "busy": busy}),
    )
}

fn cancel(client: &mut Client, id: i64) {
    client.notify("$/cancelRequest", json!({ "id": id }));
}

#[test]
fn two_hundred_requests_outstanding_and_one_of_them_cancelled() {
    let mut client = start();
    client.open(URI, "x = 1\n");
    let begin = Instant::now();
    let ids: Vec<i64> = (0..200).map(|_| sleep(&mut client, 3000, false)).collect();
    cancel(&mut client, ids[57]);
    let cancelled = client.response(ids[57]).unwrap_err();
    assert_eq!(cancelled.code, REQUEST_CANCELLED);
    client.change(URI, 2, json!([{"text": "y = 2\n"}]));
    assert_eq!(client.text(URI)["text"], "y = 2\n");
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "cancelled only after {:?}",
        begin.elapsed()
    );
    for id in ids.into_iter().filter(|id| *id != cancelled_id(57)) {
        assert_eq!(client.response(id), Ok(json!(3000)));
    }
    // At once, not one after another: that would be ten minutes.
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "all took {:?}",
        begin.elapsed()
    );
    client.finish();
}

/// The id of the n-th request after `initialize`, which took the first.
fn cancelled_id(n: i64) -> i64 {
    n + 2
}

#[test]
fn heavy_requests_hold_up_neither_edits_nor_cancellations() {
    let mut client = start();
    client.open(URI, "x = 1\n");
    // More than there are threads for: most of these wait for one.
    let ids: Vec<i64> = (0..40).map(|_| sleep(&mut client, 600_000, true)).collect();
    for version in 2..100 {
        client.change(URI, version, json!([{"text": format!("x = {version}\n")}]));
    }
    assert_eq!(client.text(URI)["text"], "x = 99\n");
    assert!(client.diagnostics(URI, Some(99)).is_empty());
    for &id in ids.iter().rev() {
        cancel(&mut client, id);
        assert_eq!(client.response(id).unwrap_err().code, REQUEST_CANCELLED);
    }
    client.finish();
}

#[test]
fn cancelled_work_that_has_not_begun_never_begins() {
    let mut client = start();
    // Ten seconds' worth for each of up to eight threads, and behind it one short request.
    let ids: Vec<i64> = (0..200).map(|_| sleep(&mut client, 400, true)).collect();
    let last = sleep(&mut client, 1, true);
    let begin = Instant::now();
    for &id in &ids {
        cancel(&mut client, id);
    }
    assert_eq!(client.response(last), Ok(json!(1)));
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
    for id in ids {
        let response = client.response(id);
        assert!(
            response
                .as_ref()
                .is_err_and(|e| e.code == REQUEST_CANCELLED)
                || response == Ok(json!(400))
        );
    }
    client.finish();
}

#[test]
fn a_cancellation_before_during_or_after_leaves_exactly_one_response() {
    let mut client = start();
    // Before: of a request that does not exist yet, so it means nothing.
    let before = client.next_id();
    cancel(&mut client, before);
    let params = json!({"milliseconds": 10});
    client.send(
        &json!({"jsonrpc": "2.0", "id": before, "method": "tileperf/test/sleep", "params": params}),
    );
    assert_eq!(client.response(before), Ok(json!(10)));

    for busy in [false, true] {
        let during = sleep(&mut client, 600_000, busy);
        std::thread::sleep(Duration::from_millis(50));
        cancel(&mut client, during);
        cancel(&mut client, during);
        assert_eq!(client.response(during).unwrap_err().code, REQUEST_CANCELLED);
    }

    let after = sleep(&mut client, 1, false);
    assert_eq!(client.response(after), Ok(json!(1)));
    cancel(&mut client, after);

    // As it happens: either answer, but one.
    for milliseconds in 0..20 {
        let race = sleep(&mut client, milliseconds, milliseconds % 2 == 0);
        std::thread::sleep(Duration::from_millis(10));
        cancel(&mut client, race);
        let response = client.response(race);
        let cancelled = response
            .as_ref()
            .is_err_and(|error| error.code == REQUEST_CANCELLED);
        assert!(
            cancelled || response == Ok(json!(milliseconds)),
            "{response:?}"
        );
    }
    for params in [
        json!({}),
        json!({"id": null}),
        json!({"id": "nobody"}),
        json!([]),
    ] {
        client.notify("$/cancelRequest", params);
    }
    // Any second response has arrived before this one's.
    client.ask("tileperf/serverInfo", json!({}));
    client.finish();
}

#[test]
fn a_panicking_handler_is_an_error_response_and_nothing_else() {
    let mut client = start();
    client.open(URI, "x = 1\n");
    for at in ["start", "later", "pool"] {
        let error = client.ask_error("tileperf/test/panic", json!({ "at": at }));
        assert_eq!(error.code, INTERNAL_ERROR, "{at}");
        assert!(
            error.message.contains("asked to panic"),
            "{at}: {}",
            error.message
        );
        // Where it panicked, and which request it was.
        client.log_line("asked to panic");
        client.log_line("tileperf/test/panic panicked");
    }
    client.notify("tileperf/test/panicNotification", Value::Null);
    client.log_line("asked to panic");
    client.log_line("panicNotification panicked");
    client.change(URI, 2, json!([{"text": "y = 2\n"}]));
    assert_eq!(client.text(URI)["text"], "y = 2\n");
    assert!(client.diagnostics(URI, Some(2)).is_empty());
    client.finish();
}

#[test]
fn the_hooks_of_these_tests_do_not_exist_for_users() {
    let (mut client, _) = Client::start(Options::default());
    let error = client.ask_error("tileperf/test/sleep", json!({"milliseconds": 1}));
    assert_eq!(error.code, -32601);
    client.finish();
}
