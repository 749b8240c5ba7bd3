//! The protocol's kinds, which stand for icons, for the things cuTile code has.

use tileperf_analysis::views::symbols::SymbolKind;
use tower_lsp::ls_types;

/// The kind under which editors show a thing.
pub(super) fn symbol_kind(kind: SymbolKind) -> ls_types::SymbolKind {
    match kind {
        SymbolKind::Kernel => ls_types::SymbolKind::FUNCTION,
        SymbolKind::Parameter => ls_types::SymbolKind::VARIABLE,
        SymbolKind::Constant => ls_types::SymbolKind::CONSTANT,
        SymbolKind::Space => ls_types::SymbolKind::ARRAY,
        SymbolKind::Search | SymbolKind::Launch => ls_types::SymbolKind::EVENT,
        SymbolKind::Registration => ls_types::SymbolKind::INTERFACE,
    }
}
