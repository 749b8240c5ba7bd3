//! From an expression to the name in `cuda.tile` that it means.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::module::{Literal, ModuleEnv};

/// How often a module-level alias is followed.
const HOPS: u32 = 4;

impl ModuleEnv {
    /// The name in `cuda.tile` that an expression means: `load` for `ct.load`, `PaddingMode.ZERO`
    /// for a module-level alias of it. Nothing for what is not cuTile's.
    pub fn api(&self, expr: &Expr) -> Option<SmolStr> {
        // Nearly every call of a kernel is `ct.something`.
        if let ExprKind::Attribute { value, attr } = &expr.kind
            && let ExprKind::Name(root) = &value.kind
        {
            match self.imports.get(root) {
                Some(path) if is_module(path) => return Some(attr.name.clone()),
                None if root == "ct" => return Some(attr.name.clone()),
                _ => {}
            }
        }
        if !self.may_be_api(expr) {
            return None;
        }
        let path = self.path(expr)?;
        api_name(&path)
    }

    /// Whether a path can lead to cuTile at all: most of device code is `x.shape[0]` and `range(n)`, for
    /// which no path need be spelt out.
    fn may_be_api(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(root) => {
                matches!(root.as_str(), "ct" | "cuda")
                    || self.imports.contains_key(root)
                    || self.constants.contains_key(root)
            }
            ExprKind::Attribute { value, attr } => attr.name == "ct" || self.may_be_api(value),
            _ => false,
        }
    }

    /// The absolute dotted path that a name or attribute chain means, through imports and
    /// module-level aliases. A name that nothing binds stands for itself.
    pub fn path(&self, expr: &Expr) -> Option<SmolStr> {
        self.resolve(&expr.dotted()?, HOPS)
    }

    fn resolve(&self, dotted: &str, hops: u32) -> Option<SmolStr> {
        let (root, rest) = match dotted.split_once('.') {
            Some((root, rest)) => (root, Some(rest)),
            None => (dotted, None),
        };
        let base: SmolStr = match (self.imports.get(root), self.constants.get(root)) {
            (Some(path), _) => path.clone(),
            (None, Some(Literal::Path(path) | Literal::Generic { path, .. })) if hops > 0 => {
                self.resolve(path, hops - 1)?
            }
            // Files that import cuTile inside a function nearly always call it so.
            (None, None) if root == "ct" && rest.is_some() => "cuda.tile".into(),
            _ => root.into(),
        };
        Some(match rest {
            Some(rest) => smol_str::format_smolstr!("{base}.{rest}"),
            None => base,
        })
    }
}

fn is_module(path: &str) -> bool {
    path == "cuda.tile" || (!path.starts_with("cuda.") && path.rsplit('.').next() == Some("ct"))
}

/// What follows cuTile's module in an absolute path.
fn api_name(path: &str) -> Option<SmolStr> {
    if let Some(name) = path.strip_prefix("cuda.tile.") {
        return Some(name.into());
    }
    if path.starts_with("cuda.") {
        return None;
    }
    // A project's own module of that name, as TileGym's wrappers have.
    path.split_once(".ct.").map(|(_, name)| name.into())
}
