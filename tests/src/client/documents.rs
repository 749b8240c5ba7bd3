//! Open documents, as an editor has them.

use serde_json::{Value, json};

use super::Client;

impl Client {
    /// Opens a document as version 1.
    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Sends edits, in the protocol's form, that make `version` of a document.
    pub fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({"uri": uri, "version": version});
        let params = json!({"textDocument": document, "contentChanges": changes});
        self.notify("textDocument/didChange", params);
    }

    /// Closes a document.
    pub fn close(&mut self, uri: &str) {
        self.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri}}),
        );
    }

    /// The server's text of an open document.
    pub fn text(&mut self, uri: &str) -> Value {
        self.ask("tileperf/documentText", json!({ "uri": uri }))
    }

    /// Waits for the diagnostics of a version of a document, or of a closed one.
    pub fn diagnostics(&mut self, uri: &str, version: Option<i32>) -> Vec<Value> {
        let wanted = json!(version);
        self.wait(&format!("diagnostics of {uri} {version:?}"), |client| {
            while let Some(at) = client
                .notifications
                .iter()
                .position(|(name, p)| name == "textDocument/publishDiagnostics" && p["uri"] == uri)
            {
                let (_, mut params) = client.notifications.remove(at)?;
                if params["version"] == wanted {
                    return params["diagnostics"].as_array_mut().map(std::mem::take);
                }
            }
            None
        })
    }

    /// Everything that was published for documents so far: URI and version.
    pub fn published(&mut self) -> Vec<(String, Option<i64>)> {
        self.drain();
        let published = self
            .notifications
            .iter()
            .filter(|(name, _)| name == "textDocument/publishDiagnostics");
        published
            .map(|(_, p)| {
                (
                    p["uri"].as_str().unwrap_or_default().to_owned(),
                    p["version"].as_i64(),
                )
            })
            .collect()
    }
}
