//! How a launcher is changed so that it remakes its kernel once: the fixes of `replace-hints-hot-path`.
//!
//! From the best to the last resort: hints that never change are applied when the module is
//! imported; a kernel tuned by a search moves beside its configuration in the search's cache; any
//! other is kept in a dictionary by its hints, which serves the path without tuning as well.

use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, Span};

use super::search_call::names;
use crate::body::{bindings, walk};
use crate::model::{Candidate, HintUse};
use crate::rewrite::autotune::{fresh, module_lines, once};
use crate::rewrite::{Edits, indent, line_start};
use crate::rules::FileContext;

/// A change and what it does.
pub(in crate::rules) struct Remade<'t> {
    pub(in crate::rules) title: &'static str,
    pub(in crate::rules) edits: Edits<'t>,
}

/// A call that remakes a kernel, and the code around it. Places are relative to the item.
pub(super) struct Site<'a> {
    pub(super) file: FileContext<'a>,
    pub(super) hints: &'a HintUse,
    pub(super) item: &'a Item,
    pub(super) call: &'a Expr,
    /// Functions around it, innermost first.
    pub(super) around: Vec<&'a FunctionDef>,
    /// The simple statement that holds it.
    pub(super) stmt: &'a Stmt,
    /// The hints.
    pub(super) args: &'a [Arg],
}

/// The change that makes a kernel be remade once.
pub(in crate::rules) fn once_only<'a>(
    file: &FileContext<'a>,
    hints: &'a HintUse,
) -> Option<Remade<'a>> {
    let site = Site::of(file, hints)?;
    if site.is_nested() {
        return None;
    }
    let remade = (site.at_import())
        .map(|edits| Remade {
            title: "Remake the kernel once, when the module is imported",
            edits,
        })
        .or_else(|| {
            site.beside_configuration().map(|edits| Remade {
                title: "Keep the tuned kernel beside its configuration",
                edits,
            })
        });
    remade.or_else(|| {
        site.by_hints().map(|edits| Remade {
            title: "Keep the remade kernel by its hints",
            edits,
        })
    })
}

/// Whether a call gives any hint at all: `ct.kernel(k._pyfunc)` makes a copy with the same.
pub(in crate::rules) fn changes_hints(file: &FileContext<'_>, hints: &HintUse) -> bool {
    let call = file.expr(hints.span).map(|c| &c.node.kind);
    !matches!(call, Some(ExprKind::Call { args, .. }) if args.iter().all(|a| a.name.is_none() && a.stars != 2))
}

impl<'a> Site<'a> {
    fn of(file: &FileContext<'a>, hints: &'a HintUse) -> Option<Self> {
        let call = file.expr(hints.span)?;
        let ExprKind::Call { func, args } = &call.node.kind else {
            return None;
        };
        let is_method = func.last_ident().is_some_and(|i| i.name == "replace_hints");
        // `ct.kernel(k._pyfunc, occupancy=4)`
        let args = if is_method { args } else { args.get(1..)? };
        let around: Vec<_> = (file.functions_around(hints.span).into_iter())
            .map(|f| f.node)
            .collect();
        let mut stmt = None;
        walk(&around.first()?.body, &mut |expr, place| {
            if expr.span == call.node.span {
                stmt = place.stmt();
            }
        });
        let site = Site {
            file: *file,
            hints,
            item: call.item,
            call: call.node,
            around,
            stmt: stmt?,
            args,
        };
        site.is_plain().then_some(site)
    }

    /// The call runs whenever its statement does, and the statement has its lines to itself.
    fn is_plain(&self) -> bool {
        let simple = matches!(
            self.stmt.kind,
            StmtKind::Assign { .. }
                | StmtKind::AnnAssign { .. }
                | StmtKind::Return(_)
                | StmtKind::Expr(_)
        );
        let start = self.place(self.stmt.span).start;
        let line = line_start(self.file.text, start);
        let before = self.file.text.get(line as usize..start as usize);
        let mut plain = simple && before.is_some_and(|b| b.trim().is_empty());
        self.stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                let deferred = matches!(
                    e.kind,
                    ExprKind::Lambda { .. }
                        | ExprKind::Comprehension { .. }
                        | ExprKind::Conditional { .. }
                        | ExprKind::Logical { .. }
                );
                plain &= !(deferred && e.span.contains(self.call.span));
            });
        });
        plain
    }

    pub(super) fn place(&self, span: Span) -> Span {
        self.item.place(span)
    }

    pub(super) fn source(&self, span: Span) -> &'a str {
        self.file.source(self.place(span))
    }

    /// The kernel as written.
    fn kernel(&self) -> &'a str {
        &self.hints.kernel_text
    }

    /// The kernel's own name, for names made from it.
    fn stem(&self) -> &'a str {
        let last = self.kernel().rsplit('.').next().unwrap_or_default();
        let is_name = last.chars().all(|c| c.is_alphanumeric() || c == '_');
        let stem = if is_name { last } else { "kernel" };
        stem.trim_start_matches('_')
    }

    /// Whether the functions around bind a name.
    pub(super) fn is_local(&self, name: &str) -> bool {
        self.around.iter().any(|def| {
            let mut bound = def.params.iter().any(|p| p.name.name == name);
            bindings(&def.body, name, &mut |_| bound = true);
            bound
        })
    }

    fn root(&self) -> &'a str {
        let text = self.kernel();
        text.split(['.', '(', '[']).next().unwrap_or(text).trim()
    }

    /// The kernel is defined within the functions around: another one at each call.
    fn is_nested(&self) -> bool {
        self.hints.candidates.iter().any(|c| match c {
            Candidate::Local(number) => (self.file.model.kernels.get(*number))
                .is_some_and(|k| k.qualified.contains("<locals>")),
            _ => false,
        })
    }

    /// The kernel is a name of the module, not of a function.
    pub(super) fn is_of_module(&self) -> bool {
        let root = self.root();
        !matches!(root, "self" | "cls") && !self.is_local(root)
    }

    /// What the module's top-level statements bind before this item begins.
    fn is_known_before(&self, name: &str) -> bool {
        let module = self.file.module;
        if module.imports.contains_key(name) {
            return true;
        }
        let start = self.item.span.start;
        let before = self.file.file.items.iter().filter(|i| i.span.start < start);
        let mut bound = false;
        for item in before {
            bindings(&item.facts.body, name, &mut |_| bound = true);
        }
        bound
    }

    /// Hints that never change: the module keeps the kernel under a name of its own.
    fn at_import(&self) -> Option<Edits<'a>> {
        let constant = |value: &Expr| {
            names(value)
                .iter()
                .all(|n| !self.is_local(n) && self.is_fixed(n) && self.is_known_before(n))
                && !calls_other(value, &self.file)
        };
        let fixed = !self.args.is_empty()
            && self.args.iter().all(|a| a.stars == 0 && constant(&a.value))
            && self.is_of_module()
            && self.is_known_before(self.root());
        if !fixed {
            return None;
        }
        let name = fresh(self.file.text, &self.named_after_hints());
        let start = self.place(self.stmt.span).start;
        let indent = format!("\n{}", indent(self.file.text, start));
        let text = self.source(self.call.span).replace(&indent, "\n");
        let edits = Edits::new(self.file.text).replace(self.place(self.call.span), name.as_str());
        let line = format!("{name} = {text}");
        Some(module_lines(
            edits,
            self.file.text,
            self.item.span.start,
            &[line],
        ))
    }

    /// A name that is imported or a constant of the module.
    fn is_fixed(&self, name: &str) -> bool {
        let module = self.file.module;
        module.imports.contains_key(name) || module.constants.contains_key(name)
    }

    /// `_scale_occupancy4` for one number, else `_scale_tuned`.
    fn named_after_hints(&self) -> String {
        if let [
            Arg {
                name: Some(hint),
                value,
                ..
            },
        ] = self.args
            && let ExprKind::Int(number) = value.kind
            && number >= 0
        {
            return format!("_{}_{}{number}", self.stem(), hint.name);
        }
        format!("_{}_tuned", self.stem())
    }

    /// A dictionary of the module keeps the kernel by its hints.
    fn by_hints(&self) -> Option<Edits<'a>> {
        let mut parts: Vec<String> = Vec::new();
        if !self.is_of_module() {
            parts.push(self.kernel().to_owned());
        }
        for arg in self.args {
            self.key_parts(arg, &mut parts)?;
        }
        parts.dedup();
        let key = match parts.as_slice() {
            [] => return None,
            [one] => one.clone(),
            _ => format!("({})", parts.join(", ")),
        };
        let text = self.file.text;
        let cache = fresh(text, &format!("_{}_by_hints", self.stem()));
        let mut lines = Vec::new();
        // A long key is written once.
        let key = if parts.len() > 1 || key.contains('(') {
            let name = fresh(text, "hints_key");
            lines.push(format!("{name} = {key}"));
            name
        } else {
            key
        };
        // What stands on further lines moves with the first.
        let margin = format!("\n{}", indent(text, self.place(self.stmt.span).start));
        let remade = (self.source(self.call.span)).replace(&margin, &format!("{margin}    "));
        lines.extend(once(&cache, &key, &remade));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let edits = Edits::new(text)
            .lines_before(self.place(self.stmt.span).start, &lines)
            .replace(self.place(self.call.span), format!("{cache}[{key}]"));
        let dict = format!("{cache} = {{}}");
        Some(module_lines(edits, text, self.item.span.start, &[dict]))
    }

    /// What a hint's value depends on, hashable.
    fn key_parts(&self, arg: &Arg, parts: &mut Vec<String>) -> Option<()> {
        let text = self.source(arg.value.span).to_owned();
        match &arg.value.kind {
            _ if arg.stars == 2 => match &arg.value.kind {
                ExprKind::Dict(pairs) => {
                    for (key, value) in pairs {
                        key.as_ref()?;
                        if !is_literal(value) {
                            parts.push(self.source(value.span).to_owned());
                        }
                    }
                }
                _ => parts.push(format!("tuple(sorted({text}.items()))")),
            },
            _ if arg.stars > 0 => return None,
            // `ByTarget` is not hashable.
            ExprKind::Call { func, args }
                if func.last_ident().is_some_and(|i| i.name == "ByTarget") =>
            {
                for arg in args {
                    if arg.stars > 0 {
                        return None;
                    }
                    if !is_literal(&arg.value) {
                        parts.push(self.source(arg.value.span).to_owned());
                    }
                }
            }
            _ if is_literal(&arg.value) => {}
            _ => parts.push(text),
        }
        Some(())
    }
}

fn is_literal(value: &Expr) -> bool {
    matches!(
        value.kind,
        ExprKind::Int(_)
            | ExprKind::Str(_)
            | ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Float(_)
    )
}

/// Whether an expression calls anything but `ByTarget`.
fn calls_other(value: &Expr, file: &FileContext<'_>) -> bool {
    let mut other = false;
    value.walk(&mut |e| {
        if let ExprKind::Call { func, .. } = &e.kind {
            other |= file.module.api(func).is_none_or(|n| n != "ByTarget");
        }
    });
    other
}
