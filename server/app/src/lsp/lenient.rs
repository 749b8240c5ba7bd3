//! Capabilities of clients newer than the protocol's types here.
//!
//! The types refuse a whole `initialize` for one unknown word anywhere in it, such as a markup kind
//! that a later version of the protocol adds. A client that knows more must not lose its server, so
//! what is not understood is left out, as if the client had not said it.

use serde_json::{Map, Value, json};
use tower_lsp::jsonrpc::Request;
use tower_lsp::ls_types::InitializeParams;

/// An `initialize` request without the parts that the types here do not know. Other requests, and
/// one that is beyond repair, are given back as they are.
pub(super) fn understood(call: Request) -> Request {
    if call.method() != "initialize" {
        return call;
    }
    let (method, id, params) = call.into_parts();
    let mut params = params.unwrap_or_default();
    if !fits(&params)
        && let Some(params) = params.as_object_mut()
    {
        leave_out_unknown(params);
    }
    let mut request = Request::build(method).params(params);
    if let Some(id) = id {
        request = request.id(id);
    }
    request.finish()
}

fn fits(params: &Value) -> bool {
    serde_json::from_value::<InitializeParams>(params.clone()).is_ok()
}

fn leave_out_unknown(params: &mut Map<String, Value>) {
    params.retain(|name, value| {
        let known = name == "capabilities" || fits(&json!({ "capabilities": {}, name: value }));
        noted(known, name)
    });
    let Some(areas) = params
        .get_mut("capabilities")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    for (area, capabilities) in areas {
        if let Some(capabilities) = capabilities.as_object_mut() {
            capabilities.retain(|name, value| {
                let known = fits(&json!({ "capabilities": { area: { name: value } } }));
                noted(known, &format!("{area}.{name}"))
            });
        }
    }
}

fn noted(known: bool, name: &str) -> bool {
    if !known {
        tracing::warn!("the client says something about {name} that is not understood; left out");
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_left_out() {
        let params = json!({
            "processId": 7,
            "trace": "sometimes",
            "capabilities": {
                "general": {"positionEncodings": ["utf-8", "utf-64"]},
                "textDocument": {
                    "hover": {"contentFormat": ["hologram"]},
                    "diagnostic": {"dynamicRegistration": true},
                },
            },
        });
        let call = understood(Request::build("initialize").params(params).id(1).finish());
        let params: InitializeParams =
            serde_json::from_value(call.params().unwrap().clone()).unwrap();
        assert_eq!(params.process_id, Some(7));
        let text_document = params.capabilities.text_document.unwrap();
        assert!(text_document.hover.is_none() && text_document.diagnostic.is_some());
        assert_eq!(
            params
                .capabilities
                .general
                .unwrap()
                .position_encodings
                .unwrap()
                .len(),
            2
        );
    }
}
