//! `workspace/didChangeWorkspaceFolders`

use tower_lsp::ls_types::DidChangeWorkspaceFoldersParams;

use crate::lsp::convert;
use crate::lsp::server::Server;

/// The user added folders to the workspace or removed some.
pub(in crate::lsp) fn handle(server: &Server, params: DidChangeWorkspaceFoldersParams) {
    let roots = {
        let mut roots = server.roots();
        for folder in &params.event.removed {
            let removed = convert::path(&folder.uri);
            roots.retain(|root| Some(root) != removed.as_ref());
        }
        for added in params
            .event
            .added
            .iter()
            .filter_map(|folder| convert::path(&folder.uri))
        {
            if !roots.contains(&added) {
                roots.push(added);
            }
        }
        roots.clone()
    };
    server.show_problems(&server.engine.set_roots(roots));
    server.engine.probe();
}
