//! `textDocument/documentSymbol`: the outline of a document.

use tileperf_analysis::views::symbols::Symbol;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation, Uri,
};

use super::symbol_kind::symbol_kind;
use crate::lsp::about::About;
use crate::lsp::server::Server;

/// Kernels, launches, searches and so on, in source order.
pub(in crate::lsp) async fn handle(
    server: &Server,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>> {
    let nested = server
        .session()
        .is_some_and(|session| session.nested_symbols);
    let uri = params.text_document.uri;
    let name = uri.clone();
    server
        .about(
            &uri,
            |surfaces| surfaces.document_symbols,
            move |about| {
                let symbols = about.engine.symbols(&about.id);
                if nested {
                    let entries = symbols
                        .into_iter()
                        .map(|symbol| entry(about, symbol))
                        .collect();
                    return DocumentSymbolResponse::Nested(entries);
                }
                let mut flat = Vec::new();
                flatten(about, &name, symbols, None, &mut flat);
                DocumentSymbolResponse::Flat(flat)
            },
        )
        .await
}

#[expect(
    deprecated,
    reason = "the type has no other constructor than all of its fields"
)]
fn entry(about: &About, symbol: Symbol) -> DocumentSymbol {
    let children: Vec<_> = symbol
        .children
        .into_iter()
        .map(|child| entry(about, child))
        .collect();
    DocumentSymbol {
        name: symbol.name,
        detail: Some(symbol.detail).filter(|detail| !detail.is_empty()),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: about.convert.range(&about.text, symbol.span),
        selection_range: about.convert.range(&about.text, symbol.selection),
        children: Some(children).filter(|children| !children.is_empty()),
    }
}

/// The same for clients that know only lists.
#[expect(
    deprecated,
    reason = "the type has no other constructor than all of its fields"
)]
fn flatten(
    about: &About,
    uri: &Uri,
    symbols: Vec<Symbol>,
    container: Option<&str>,
    flat: &mut Vec<SymbolInformation>,
) {
    for symbol in symbols {
        flat.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location {
                uri: uri.clone(),
                range: about.convert.range(&about.text, symbol.selection),
            },
            container_name: container.map(str::to_owned),
        });
        flatten(about, uri, symbol.children, Some(&symbol.name), flat);
    }
}
