//! From the bytes of one message to a request, a notification or a reply.
//!
//! Two kinds of bad text are repaired rather than refused, because refusing a `didChange` leaves
//! the server with another text than the editor's: bytes that are no UTF-8 (an editor may pass on
//! what a file holds) and escaped halves of a surrogate pair (an editor that lets its user delete
//! half an emoji sends them). Both become U+FFFD, which keeps UTF-16 positions as they are.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

/// A message from the client.
#[derive(Debug)]
pub(super) enum Message {
    /// A request or, without an id, a notification.
    Call(Request),
    /// The client's reply to a question of the server.
    Reply(Response),
    /// No message of the protocol; carries the error response to send.
    Invalid(Response),
}

#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<Value>,
    method: Option<Value>,
    params: Option<Value>,
    /// `Some(Null)` for an explicit null, which the protocol does not allow in a call.
    #[serde(default, deserialize_with = "explicit")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "explicit")]
    result: Option<Value>,
    error: Option<Value>,
}

fn explicit<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// Understands one message.
pub(super) fn parse(body: &[u8]) -> Message {
    let parsed = match serde_json::from_slice(body) {
        Err(error) if error.is_syntax() => match repair(body) {
            Some(repaired) => {
                tracing::warn!("a message with broken text: the broken characters became U+FFFD");
                serde_json::from_str(&repaired)
            }
            None => Err(error),
        },
        parsed => parsed,
    };
    match parsed {
        Ok(envelope) => classify(envelope),
        Err(error) => {
            tracing::warn!("a message that is no JSON-RPC: {error}");
            let answer = if error.is_data() {
                Error::invalid_request()
            } else {
                Error::parse_error()
            };
            Message::Invalid(Response::from_error(Id::Null, answer))
        }
    }
}

fn classify(envelope: Envelope) -> Message {
    let Envelope {
        jsonrpc,
        method,
        params,
        id,
        result,
        error,
    } = envelope;
    let id = id.map(|id| serde_json::from_value::<Id>(id).unwrap_or_default());
    let invalid = |why: &str| {
        tracing::warn!("an invalid message: {why}");
        let mut error = Error::invalid_request();
        error.message = format!("Invalid request: {why}").into();
        Message::Invalid(Response::from_error(id.clone().unwrap_or_default(), error))
    };
    if jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
        return invalid("\"jsonrpc\" is not \"2.0\"");
    }
    match (method, id.clone()) {
        (Some(_), Some(Id::Null)) => invalid("the id is neither a number nor a string"),
        (Some(Value::String(method)), id) => Message::Call(call(method, params, id)),
        (Some(_), _) => invalid("the method is not a string"),
        (None, Some(id)) if id != Id::Null => Message::Reply(match error {
            Some(error) => Response::from_error(id, reply_error(error)),
            None => Response::from_ok(id, result.unwrap_or_default()),
        }),
        // The client could not read something we sent; there is nothing to answer.
        (None, Some(_)) if error.is_some() => {
            let error = reply_error(error.unwrap_or_default());
            Message::Reply(Response::from_error(Id::Null, error))
        }
        (None, _) => invalid("neither a method nor a reply"),
    }
}

/// A call with its parameters as the library wants them: it refuses a handler with parameters that
/// gets none and one without that gets some, while clients write none, null and `{}` alike.
fn call(method: String, params: Option<Value>, id: Option<Id>) -> Request {
    let without_params = method == "shutdown";
    let mut request = Request::build(method);
    if !without_params {
        let given = params.filter(|params| !params.is_null());
        request = request.params(given.unwrap_or_else(|| Value::Object(serde_json::Map::new())));
    }
    if let Some(id) = id {
        request = request.id(id);
    }
    request.finish()
}

/// An error of the client's, with whatever it has beside the protocol's fields left out.
fn reply_error(error: Value) -> Error {
    let mut known = Error::internal_error();
    if let Some(code) = error.get("code").and_then(Value::as_i64) {
        known.code = code.into();
    }
    if let Some(message) = error.get("message").and_then(Value::as_str) {
        known.message = message.to_owned().into();
    }
    known
}

/// The text with broken UTF-8 and lone surrogate escapes replaced, or `None` if it has neither.
fn repair(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let lossy = matches!(text, std::borrow::Cow::Owned(_));
    let mut fixed = String::with_capacity(text.len());
    let mut changed = lossy;
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        fixed.push_str(before);
        let taken = match surrogate(escape) {
            None => escape
                .char_indices()
                .nth(2)
                .map_or(escape.len(), |(end, _)| end),
            Some(high)
                if high < 0xDC00 && surrogate(&escape[6..]).is_some_and(|low| low >= 0xDC00) =>
            {
                12
            }
            Some(_) => {
                fixed.push_str("\\ufffd");
                changed = true;
                rest = &escape[6..];
                continue;
            }
        };
        fixed.push_str(&escape[..taken]);
        rest = &escape[taken..];
    }
    fixed.push_str(rest);
    changed.then_some(fixed)
}

/// The code unit of an escape such as `\ud83d` at the start of `text`, if it is half a pair.
fn surrogate(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let unit = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..0xE000).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tower_lsp::jsonrpc::ErrorCode;

    use super::*;

    fn call_of(body: &[u8]) -> Request {
        match parse(body) {
            Message::Call(request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn refusal(body: &str) -> (Id, ErrorCode) {
        match parse(body.as_bytes()) {
            Message::Invalid(response) => (
                response.id().clone(),
                response.error().expect("an error").code,
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tells_requests_notifications_and_replies_apart() {
        let request = call_of(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}"#);
        assert_eq!(
            (request.id(), request.params()),
            (Some(&"a".into()), Some(&json!([1])))
        );
        let notification = call_of(br#"{"jsonrpc":"2.0","method":"m","params":null}"#);
        assert_eq!(
            (notification.id(), notification.params()),
            (None, Some(&json!({})))
        );
        let shutdown = call_of(br#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}"#);
        assert_eq!(shutdown.params(), None);

        let reply = parse(br#"{"jsonrpc":"2.0","id":3,"result":null}"#);
        assert!(matches!(reply, Message::Reply(r) if r.is_ok() && *r.id() == Id::Number(3)));
        let error =
            parse(br#"{"jsonrpc":"2.0","id":3,"error":{"code":-1.5,"message":"no","extra":1}}"#);
        assert!(matches!(error, Message::Reply(r) if r.error().is_some_and(|e| e.message == "no")));
    }

    #[test]
    fn refuses_what_the_protocol_refuses() {
        for (body, id, code) in [
            ("{", Id::Null, ErrorCode::ParseError),
            ("", Id::Null, ErrorCode::ParseError),
            ("[]", Id::Null, ErrorCode::InvalidRequest),
            ("3", Id::Null, ErrorCode::InvalidRequest),
            (
                r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#,
                Id::Number(7),
                ErrorCode::InvalidRequest,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":3}"#,
                Id::Number(7),
                ErrorCode::InvalidRequest,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
                Id::Null,
                ErrorCode::InvalidRequest,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
                Id::Null,
                ErrorCode::InvalidRequest,
            ),
            (r#"{"jsonrpc":"2.0"}"#, Id::Null, ErrorCode::InvalidRequest),
        ] {
            assert_eq!(refusal(body), (id, code), "{body}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(refusal(&deep), (Id::Null, ErrorCode::ParseError));
    }

    #[test]
    fn repairs_broken_characters() {
        let text = |body: &[u8]| {
            call_of(body)
                .params()
                .and_then(|p| p["t"].as_str().map(str::to_owned))
        };
        let lone = br#"{"jsonrpc":"2.0","method":"m","params":{"t":"a\ud83d \ude00b \\ud83d \ud83d\ude00"}}"#;
        assert_eq!(
            text(lone).as_deref(),
            Some("a\u{fffd} \u{fffd}b \\ud83d 😀")
        );
        let bytes = b"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"t\":\"caf\xe9!\"}}";
        assert_eq!(text(bytes).as_deref(), Some("caf\u{fffd}!"));
    }
}
