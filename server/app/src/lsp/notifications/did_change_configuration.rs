//! `workspace/didChangeConfiguration`

use tower_lsp::ls_types::request::WorkspaceConfiguration;
use tower_lsp::ls_types::{ConfigurationItem, ConfigurationParams, DidChangeConfigurationParams};

use crate::lsp::server::Server;
use crate::lsp::settings;

/// Takes over the editor's settings. A client that sends none wants to be asked for them.
pub(in crate::lsp) fn handle(server: &Server, params: DidChangeConfigurationParams) {
    if params.settings.is_null() {
        if server
            .session()
            .is_some_and(|session| session.has_configuration)
        {
            ask(server);
        }
        return;
    }
    let (editor, trusted) = settings::on_change(params.settings);
    if let Some(trusted) = trusted {
        server.engine.set_trusted(trusted);
    }
    server.show_problems(&server.engine.set_editor_settings(editor));
}

fn ask(server: &Server) {
    let item = ConfigurationItem {
        scope_uri: None,
        section: Some("tileperf".into()),
    };
    let (engine, notices) = (server.engine.clone(), server.notices.clone());
    let question = ConfigurationParams { items: vec![item] };
    server
        .questions
        .ask::<WorkspaceConfiguration>(question, move |answer| match answer {
            Ok(mut values) => {
                let editor = values.pop().unwrap_or_default();
                for problem in engine.set_editor_settings(editor) {
                    notices.warn(&problem.message);
                }
            }
            Err(error) => tracing::warn!("the client does not tell its settings: {error}"),
        });
}
