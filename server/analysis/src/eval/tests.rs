//! Spaces written as Python, with the counts that Python itself gives.

mod cases;
mod facts;
mod random;
mod triton;

use std::collections::HashMap;

use tileperf_syntax::ParsedFile;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::{Env, EnvItem, Evaluator, ModuleId, Scope, Space};
use crate::arch::Arch;

/// A workspace in a string: modules begin with a line `#- dotted.name`; text before the first such
/// line is the module `main`.
struct Workspace {
    files: Vec<ParsedFile>,
    names: Vec<String>,
    by_name: HashMap<String, u32>,
}

impl Workspace {
    fn new(text: &str) -> Self {
        let mut out = Self {
            files: Vec::new(),
            names: Vec::new(),
            by_name: HashMap::new(),
        };
        let mut name = "main".to_owned();
        let mut body = String::new();
        for line in text.lines().chain(["#- end"]) {
            if let Some(next) = line.trim().strip_prefix("#- ") {
                out.by_name.insert(name.clone(), out.files.len() as u32);
                out.files.push(tileperf_syntax::parse(&body));
                out.names
                    .push(std::mem::replace(&mut name, next.to_owned()));
                body.clear();
            } else {
                body.push_str(line);
                body.push('\n');
            }
        }
        out
    }

    fn function(&self, name: &str) -> (u32, &FunctionDef) {
        let items = self.files[0].items.iter().enumerate();
        items
            .flat_map(|(i, item)| item.facts.body.iter().map(move |s| (i as u32, s)))
            .find_map(|(i, stmt)| match &stmt.kind {
                StmtKind::FunctionDef(def) if def.name.name == name => Some((i, &**def)),
                _ => None,
            })
            .unwrap_or_else(|| panic!("no function {name}"))
    }

    /// The first argument of the first call of `search`, and the item that it is in.
    fn searched(&self) -> Option<(u32, &Expr)> {
        fn find<'a>(body: &'a [Stmt], out: &mut Vec<&'a Expr>) {
            for stmt in body {
                stmt.own_exprs(&mut |e| {
                    e.walk(&mut |e| {
                        if let ExprKind::Call { func, args } = &e.kind
                            && func.name().is_some_and(|n| n == "search")
                        {
                            out.extend(args.first().map(|a| &a.value));
                        }
                    })
                });
                stmt.blocks().into_iter().for_each(|b| find(b, out));
            }
        }
        let items = self.files[0].items.iter().enumerate();
        items
            .filter_map(|(i, item)| {
                let mut found = Vec::new();
                find(&item.facts.body, &mut found);
                found.first().map(|e| (i as u32, *e))
            })
            .next()
    }
}

impl Env for Workspace {
    fn items(&self, module: ModuleId) -> Vec<EnvItem<'_>> {
        let items = self.files[module.0 as usize].items.iter().enumerate();
        items
            .map(|(i, item)| EnvItem {
                item: i as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, from: ModuleId, level: u32, dotted: &str) -> Option<ModuleId> {
        let mut parts: Vec<&str> = Vec::new();
        if level > 0 {
            parts = self.names[from.0 as usize].split('.').collect();
            parts.truncate(parts.len().saturating_sub(level as usize));
        }
        parts.extend(dotted.split('.').filter(|p| !p.is_empty()));
        self.by_name.get(&parts.join(".")).map(|&id| ModuleId(id))
    }
}

/// The space of the first `search(...)` in the text, else of the function `configs`, called with
/// unknown arguments.
fn space(text: &str, arch: Arch) -> Space {
    let workspace = Workspace::new(text);
    let evaluator = Evaluator::new(&workspace);
    let main = ModuleId(0);
    match workspace.searched() {
        Some((item, expr)) => {
            let body = &workspace.files[0].items[item as usize].facts.body;
            evaluator.space(expr, &Scope::at(main, item, body, expr.span), arch)
        }
        None => {
            let (item, def) = workspace.function("configs");
            evaluator.function(
                def,
                &Scope {
                    item,
                    ..Scope::module(main)
                },
                arch,
            )
        }
    }
}

/// `3`, `0..3`, `1..` for a count without bound, `-` for a space that is never reached.
fn said(space: &Space) -> String {
    match (space.count.reached, space.count.min, space.count.max) {
        (false, ..) => "-".to_owned(),
        (_, min, Some(max)) if min == max => min.to_string(),
        (_, min, Some(max)) => format!("{min}..{max}"),
        (_, min, None) => format!("{min}.."),
    }
}
