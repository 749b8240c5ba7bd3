//! Which modules of the workspace a slice's imports mean, and the names they go by.
//!
//! Whoever executes a slice resolves imports by name, as Python does. So a module has every name
//! under which the slice imports it, found along the imports from the kernel's module on.

use smol_str::{SmolStr, format_smolstr};

use super::Workspace;
use crate::eval::ModuleId;

/// Names that one module goes by; more are not followed.
const MAX_NAMES: usize = 4;

/// An import of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: ModuleId,
    /// Leading dots.
    pub(super) level: u32,
    /// What follows them: the whole name of the module.
    pub(super) dotted: SmolStr,
    pub(super) to: ModuleId,
}

/// Each module with the names it goes by, the first with its own. In the order of `modules`.
pub(super) fn named(
    workspace: &dyn Workspace,
    modules: &[ModuleId],
    edges: &[Edge],
) -> Vec<(ModuleId, Vec<SmolStr>)> {
    let mut named: Vec<(ModuleId, Vec<SmolStr>)> =
        modules.iter().map(|m| (*m, Vec::new())).collect();
    if let Some((entry, names)) = named.first_mut() {
        names.extend(workspace.source(*entry).map(|s| s.name));
    }
    loop {
        let mut grown = false;
        for edge in edges {
            let Some(source) = workspace.source(edge.from) else {
                continue;
            };
            let is_package = source.path.ends_with("__init__.py");
            let from = named.iter().find(|(m, _)| *m == edge.from);
            let from = from.map_or_else(Vec::new, |(_, names)| names.clone());
            let to = named.iter_mut().find(|(m, _)| *m == edge.to);
            let Some((_, names)) = to else { continue };
            for importer in from {
                let name = absolute(&importer, is_package, edge.level, &edge.dotted);
                if names.len() < MAX_NAMES && !names.contains(&name) {
                    names.push(name);
                    grown = true;
                }
            }
        }
        if !grown {
            return named;
        }
    }
}

/// The absolute name that an import in a module means.
fn absolute(importer: &str, is_package: bool, level: u32, dotted: &str) -> SmolStr {
    let Some(up) = level.checked_sub(1) else {
        return dotted.into();
    };
    let mut parts: Vec<&str> = importer.split('.').collect();
    let gone = up as usize + usize::from(!is_package);
    parts.truncate(parts.len().saturating_sub(gone));
    let package = parts.join(".");
    match (package.is_empty(), dotted.is_empty()) {
        (true, _) => dotted.into(),
        (_, true) => package.into(),
        _ => format_smolstr!("{package}.{dotted}"),
    }
}

/// Two parts of a dotted name.
pub(super) fn joined(first: &str, second: &str) -> SmolStr {
    match (first.is_empty(), second.is_empty()) {
        (true, _) => second.into(),
        (_, true) => first.into(),
        _ => format_smolstr!("{first}.{second}"),
    }
}
