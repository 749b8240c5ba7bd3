//! Dotted paths of modules and what is imported from them.

use smol_str::{SmolStr, SmolStrBuilder};

/// A path with leading dots, made absolute.
pub(super) fn absolute(path: &SmolStr, package: &str) -> SmolStr {
    let rest = path.trim_start_matches('.');
    let level = path.len() - rest.len();
    if level == 0 {
        return path.clone();
    }
    let mut base: Vec<&str> = package.split('.').filter(|p| !p.is_empty()).collect();
    base.truncate((base.len() + 1).saturating_sub(level));
    if !rest.is_empty() {
        base.push(rest);
    }
    base.join(".").into()
}

/// `base.name`, without the cost of formatting: every `ct.load` of a file asks for it.
pub(super) fn join(base: &str, name: &str) -> SmolStr {
    let mut path = SmolStrBuilder::new();
    path.push_str(base);
    path.push('.');
    path.push_str(name);
    path.finish()
}

/// Whether an absolute path is cuTile's `name`: `cuda.tile.launch`, `cuda.tile.tune.…`,
/// `cuda.tile_experimental.…`, or through a project's own `ct` module. Never `cuda.lang`.
pub(crate) fn is_api(path: &str, name: &str) -> bool {
    let Some(module) = path.strip_suffix(name).and_then(|p| p.strip_suffix('.')) else {
        return false;
    };
    module == "cuda.tile"
        || module.starts_with("cuda.tile.")
        || module.starts_with("cuda.tile_experimental")
        || (!module.starts_with("cuda.") && matches!(module.rsplit('.').next(), Some("ct")))
}
