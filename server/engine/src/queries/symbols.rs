//! The outline of a file and the search over the workspace.

use tileperf_analysis::views::symbols::{Symbol, SymbolKind, outline};

use crate::view::Location;
use crate::{DocId, Engine};

/// A hit of the workspace search.
#[derive(Debug, Clone)]
pub struct WorkspaceSymbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its name.
    pub name: String,
    /// Where it stands: a kernel's module or `op softmax`'s backend.
    pub container: String,
    /// The identifier.
    pub location: Location,
}

/// Hits beyond this help nobody.
const MAX_HITS: usize = 512;

impl Engine {
    /// The outline of a document.
    pub fn symbols(&self, doc: &DocId) -> Vec<Symbol> {
        self.shared
            .file(doc)
            .map_or_else(Vec::new, |file| outline(&file.model))
    }

    /// Kernels, spaces and registrations whose name has the letters of `query` in order, whatever
    /// their case. An empty query finds all.
    pub fn workspace_symbols(&self, query: &str) -> Vec<WorkspaceSymbol> {
        if !self.is_awake() {
            return Vec::new();
        }
        let links = self.shared.links();
        let mut out = Vec::new();
        for file in self.shared.relevant_files() {
            let container = file
                .doc
                .path()
                .and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
            let container = container.unwrap_or_default();
            let mut push = |kind, name: String, container: String, span| {
                if matches(&name, query) && out.len() < MAX_HITS {
                    out.push(WorkspaceSymbol {
                        kind,
                        name,
                        container,
                        location: file.at(span),
                    });
                }
            };
            for kernel in &file.model.kernels {
                push(
                    SymbolKind::Kernel,
                    kernel.title().to_string(),
                    container.clone(),
                    kernel.name_span,
                );
            }
            for space in links
                .spaces
                .get(&file.doc)
                .into_iter()
                .flatten()
                .filter(|s| !s.name.is_empty())
            {
                push(
                    SymbolKind::Space,
                    space.name.to_string(),
                    container.clone(),
                    space.name_span,
                );
            }
            for registration in &file.model.registrations {
                let op = registration.op.as_deref().unwrap_or("?");
                let backend = registration.backend.as_deref().unwrap_or("");
                push(
                    SymbolKind::Registration,
                    format!("op {op}"),
                    backend.to_owned(),
                    registration.op_span,
                );
            }
        }
        out
    }
}

fn matches(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query
        .chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .all(|q| letters.any(|l| l == q))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn letters_in_order() {
        assert!(matches("_softmax_kernel", "SmK"));
        assert!(matches("anything", ""));
        assert!(!matches("_softmax_kernel", "ks"));
    }
}
