//! The outline: kernels with their parameters, spaces, searches, launches, registrations.

use tileperf_syntax::Span;

use crate::model::{FileModel, Kernel};

/// What an outline entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The words of the field.
pub enum SymbolKind {
    Kernel,
    Parameter,
    Constant,
    Space,
    Search,
    Launch,
    Registration,
}

/// An entry of the outline.
#[derive(Debug, Clone, PartialEq)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its title.
    pub name: String,
    /// A few more words.
    pub detail: String,
    /// The whole thing.
    pub span: Span,
    /// What to select; inside `span`.
    pub selection: Span,
    /// Entries below it.
    pub children: Vec<Symbol>,
}

/// The outline of a file in source order.
pub fn outline(model: &FileModel) -> Vec<Symbol> {
    let mut out: Vec<Symbol> = model.kernels.iter().map(kernel).collect();
    out.extend(model.spaces.iter().map(|s| Symbol {
        kind: SymbolKind::Space,
        name: if s.name.is_empty() {
            "configurations".to_owned()
        } else {
            s.name.to_string()
        },
        detail: "search space".to_owned(),
        span: s.span,
        selection: s.name_span,
        children: Vec::new(),
    }));
    out.extend(model.searches.iter().map(|s| Symbol {
        kind: SymbolKind::Search,
        name: format!("{} {}", s.api.name(), s.kernel_text),
        detail: in_function(&s.function),
        span: s.span,
        selection: s.callee_span,
        children: Vec::new(),
    }));
    out.extend(model.launches.iter().map(|l| Symbol {
        kind: SymbolKind::Launch,
        name: format!("launch {}", l.kernel_text),
        detail: in_function(&l.function),
        span: l.span,
        selection: l.callee_span,
        children: Vec::new(),
    }));
    out.extend(model.registrations.iter().map(|r| {
        Symbol {
            kind: SymbolKind::Registration,
            name: format!("op {}", r.op.as_deref().unwrap_or("?")),
            detail: r
                .backend
                .as_deref()
                .map_or_else(String::new, |b| format!("backend {b}")),
            span: r.span,
            selection: r.op_span,
            children: Vec::new(),
        }
    }));
    // A selection outside its range is refused by editors; a stale item's places can be off.
    out.retain(|s| s.span.contains(s.selection));
    out.sort_by_key(|s| (s.span.start, s.span.end));
    out
}

fn in_function(function: &str) -> String {
    if function.is_empty() {
        String::new()
    } else {
        format!("in {function}")
    }
}

fn kernel(kernel: &Kernel) -> Symbol {
    let hints: Vec<String> = kernel
        .hints
        .iter()
        .map(|h| format!("{}={}", h.name, h.text))
        .collect();
    let children = kernel
        .params
        .iter()
        .filter(|p| kernel.span.contains(p.span))
        .map(|p| Symbol {
            kind: if p.constant {
                SymbolKind::Constant
            } else {
                SymbolKind::Parameter
            },
            name: p.name.to_string(),
            detail: p.annotation.clone().unwrap_or_default(),
            span: p.span,
            selection: p.span,
            children: Vec::new(),
        })
        .collect();
    Symbol {
        kind: SymbolKind::Kernel,
        name: kernel.title().to_string(),
        detail: if hints.is_empty() {
            "kernel".to_owned()
        } else {
            format!("kernel, {}", hints.join(", "))
        },
        span: kernel.span,
        selection: kernel.name_span,
        children,
    }
}
