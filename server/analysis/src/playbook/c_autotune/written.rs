//! Where the number of a tile is written.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt};

use super::tiles::{Root, Tile, default_of};
use crate::playbook::site::Site;

/// A number as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::playbook) struct Written {
    /// In the file.
    pub(in crate::playbook) span: Span,
    /// The constant of the module that it is the value of.
    pub(in crate::playbook) constant: Option<SmolStr>,
    /// It is a parameter's default.
    pub(in crate::playbook) is_default: bool,
}

impl Written {
    /// A number at the launch.
    pub(in crate::playbook) fn at(site: &Site<'_>, span: Span) -> Written {
        Written {
            span: site.item.place(span),
            constant: None,
            is_default: false,
        }
    }
}

impl Tile {
    /// Where its number stands.
    pub(in crate::playbook) fn written(&self, site: &Site<'_>) -> Option<Written> {
        let name = match &self.root {
            Root::Number(span) => return Some(Written::at(site, *span)),
            Root::Name(name) => name,
        };
        let def = site.def()?;
        if let Some(default) = default_of(def, name) {
            return Some(Written {
                is_default: true,
                ..Written::at(site, default.span)
            });
        }
        if let Some(value) = only(&def.body, name) {
            return Some(Written::at(site, value.span));
        }
        let items = site.file.file.items.iter();
        let mut bound = items.filter_map(|item| Some((item, only(&item.facts.body, name)?)));
        let (item, value) = bound.next()?;
        Some(Written {
            span: item.place(value.span),
            constant: Some(name.clone()),
            is_default: false,
        })
    }
}

/// The number that a name is given once.
fn only<'a>(body: &'a [Stmt], name: &str) -> Option<&'a Expr> {
    let mut found = Vec::new();
    crate::body::bindings(body, name, &mut |value| found.push(value));
    match found.as_slice() {
        [Some(value)] if matches!(value.kind, ExprKind::Int(_)) => Some(value),
        _ => None,
    }
}
