//! From `autotune_launch` to a search, a cache and a launch.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use super::search_call::{Given, SearchCall};
use crate::body::{argument, walk};
use crate::model::Candidate;
use crate::rewrite::autotune::{Callback, Hints, TunedLaunch, fresh, key, module_lines};
use crate::rewrite::{Edits, indent, line_start};

/// The old call with the code around it, on its way to the new pattern.
pub(in crate::rules) struct Rewrite<'a> {
    pub(in crate::rules) call: SearchCall<'a>,
}

impl<'a> Rewrite<'a> {
    /// The change, if the pattern can be written with what is seen.
    pub(in crate::rules) fn edits(&self) -> Option<Edits<'a>> {
        let call = &self.call;
        if call.is_open() || self.has_other_options() {
            return None;
        }
        let text = call.file.text;
        let (start, end) = self.statement()?;
        let config = self.config();
        let kernel = call.source(call.arg(Given::Kernel)?.span);
        let grid = self.callback(call.arg(Given::Grid)?, &config)?;
        let args = self.callback(call.arg(Given::Args)?, &config)?;
        let launch_args = match call.arg(Given::LaunchArgs) {
            Some(given) if !matches!(given.kind, ExprKind::None) => {
                self.callback(given, &config)?.applied
            }
            _ => args.applied.clone(),
        };
        let (search, import) = self.search_name()?;
        let cache = fresh(text, &format!("_{}_tuned", stem(kernel)));
        let launch = TunedLaunch {
            cache: cache.clone(),
            key: (fresh(text, "cache_key"), self.key()?),
            result: fresh(text, "result"),
            config: config.to_string(),
            tuned: fresh(text, "tuned_kernel"),
            search,
            launch: format!("{}.launch", self.module()?),
            space: self.space()?,
            stream: call.source(call.arg(Given::Stream)?.span).to_owned(),
            kernel: kernel.to_owned(),
            grid,
            args,
            launch_args,
            hints: self.hints(&config)?,
            timeout: self.option("compiler_time_limit_sec"),
        };
        let margin = indent(text, start);
        let lines = launch.lines().join(&format!("\n{margin}"));
        let mut edits = Edits::new(text).replace(Span { start, end }, lines);
        if let Some((at, written)) = import {
            edits = edits.replace(at, written);
        }
        let dict = format!("{cache} = {{}}");
        Some(module_lines(edits, text, call.item.span.start, &[dict]))
    }

    /// The statement that is the call, if it has its lines to itself.
    fn statement(&self) -> Option<(u32, u32)> {
        let call = &self.call;
        let mut found = None;
        walk(&call.around.first()?.body, &mut |expr, place| {
            if expr.span == call.call.span {
                found = place.stmt();
            }
        });
        let stmt = found?;
        // What the old function returns is something else than what the new one does.
        let alone = matches!(&stmt.kind, StmtKind::Expr(e) if e.span == call.call.span);
        let place = call.place(stmt.span);
        let line = line_start(call.file.text, place.start);
        let before = call.file.text.get(line as usize..place.start as usize)?;
        (alone && before.trim().is_empty()).then_some((place.start, place.end))
    }

    /// Options of the old function that the new one has no word for.
    fn has_other_options(&self) -> bool {
        ["seed", "force_retune"]
            .iter()
            .any(|o| self.option(o).is_some())
    }

    fn option(&self, name: &str) -> Option<String> {
        let ExprKind::Call { args, .. } = &self.call.call.kind else {
            return None;
        };
        argument(args, None, name).map(|e| self.call.source(e.span).to_owned())
    }

    /// The name by which the callbacks know the configuration.
    fn config(&self) -> SmolStr {
        let lambdas = [Given::Args, Given::Grid, Given::Hints].into_iter();
        let mut names = lambdas.filter_map(|g| match &self.call.arg(g)?.kind {
            ExprKind::Lambda { params, .. } => params.first().map(|p| p.name.name.clone()),
            _ => None,
        });
        names
            .find(|n| !n.starts_with('_'))
            .unwrap_or_else(|| "cfg".into())
    }

    /// A callback, and what it gives for the configuration: a lambda's own value, else a call.
    fn callback(&self, given: &'a Expr, config: &str) -> Option<Callback> {
        let written = self.call.source(given.span).to_owned();
        let applied = match &given.kind {
            ExprKind::Lambda { params, body }
                if params.len() == 1
                    && (params[0].name.name == config || params[0].name.name.starts_with('_')) =>
            {
                self.call.source(body.span).to_owned()
            }
            // Older still: `lambda named_args, cfg: ...`.
            ExprKind::Lambda { params, .. } if params.len() != 1 => return None,
            ExprKind::Lambda { .. } => format!("({written})({config})"),
            _ => format!("{written}({config})"),
        };
        Some(Callback { written, applied })
    }

    fn hints(&self, config: &str) -> Option<Hints> {
        let Some(given) = self.call.arg(Given::Hints) else {
            return Some(Hints::None);
        };
        if matches!(given.kind, ExprKind::None) {
            return Some(Hints::None);
        }
        let callback = self.callback(given, config)?;
        let ExprKind::Lambda { params, body } = &given.kind else {
            return Some(Hints::Given(callback));
        };
        let own = params.first().is_some_and(|p| p.name.name == config);
        let ExprKind::Dict(pairs) = &body.kind else {
            return Some(Hints::Given(callback));
        };
        let named: Option<Vec<(String, String)>> = (pairs.iter())
            .map(|(key, value)| match &key.as_ref()?.kind {
                ExprKind::Str(name) => {
                    Some((name.clone(), self.call.source(value.span).to_owned()))
                }
                _ => None,
            })
            .collect();
        Some(match named {
            Some(named) if own => Hints::Named(callback, named),
            _ => Hints::Given(callback),
        })
    }

    /// The space as a sequence: the old function took generators and functions too.
    fn space(&self) -> Option<String> {
        let space = self.call.arg(Given::Space)?;
        let text = self.call.source(space.span);
        Some(match &space.kind {
            ExprKind::List(_) | ExprKind::Tuple(_) => text.to_owned(),
            ExprKind::Call { func, .. } if func.name().is_some_and(|n| n == "list") => {
                text.to_owned()
            }
            ExprKind::Name(name) if !self.call.functions(name).is_empty() => {
                format!("list({text}())")
            }
            // It may be a function of another file.
            ExprKind::Name(name) if self.call.file.module.imports.contains_key(name) => {
                return None;
            }
            ExprKind::Lambda { .. } => format!("list(({text})())"),
            _ => format!("list({text})"),
        })
    }

    /// What the best configuration depends on: the key given, else the arguments that do not come
    /// from the configuration.
    fn key(&self) -> Option<String> {
        if let Some(given) = self.option("key").filter(|k| k != "None") {
            return Some(given);
        }
        let args = self.call.arg(Given::Args)?;
        let given = self.call.gives(args);
        let [one] = given.as_slice() else { return None };
        let ExprKind::Tuple(parts) = &one.value.kind else {
            return None;
        };
        let arrays = self.arrays();
        let tensors = self.call.tensors();
        let (mut of_tensors, mut flags) = (Vec::new(), Vec::new());
        for (place, part) in parts.iter().enumerate() {
            let Some(name) = part.name() else { continue };
            let name = name.as_str();
            let is_tensor = tensors.contains(name) || arrays.get(place) == Some(&true);
            let list = if is_tensor {
                &mut of_tensors
            } else {
                &mut flags
            };
            if !list.contains(&name) && one.config.is_none_or(|c| c != name) {
                list.push(name);
            }
        }
        key(&of_tensors, &flags)
    }

    /// Which of the kernel's parameters are arrays.
    fn arrays(&self) -> Vec<bool> {
        let file = &self.call.file;
        let known = self.call.search.candidates.iter().find_map(|c| match c {
            Candidate::Local(number) => file.model.kernels.get(*number),
            _ => None,
        });
        let facts = known.and_then(|k| Some((k, file.kernel(k)?)));
        facts.map_or_else(Vec::new, |(kernel, facts)| {
            (kernel.params.iter())
                .map(|p| facts.body.arrays.contains(&p.name))
                .collect()
        })
    }

    /// The name by which the file knows cuTile's module.
    fn module(&self) -> Option<&'a str> {
        (self.call.file.module.imports.iter())
            .find(|(_, path)| *path == "cuda.tile")
            .map(|(name, _)| name.as_str())
    }

    /// How the file calls the new function, and the import that it needs for that.
    fn search_name(&self) -> Option<(String, Option<(Span, String)>)> {
        let file = &self.call.file;
        let known = (file.module.imports.iter())
            .find(|(_, path)| *path == "cuda.tile.tune.exhaustive_search");
        if let Some((name, _)) = known {
            return Some((name.to_string(), None));
        }
        const IMPORT: &str = "from cuda.tile.tune import exhaustive_search";
        let only = file.model.searches.len() == 1;
        for item in &file.file.items {
            for stmt in &item.facts.body {
                let place = item.place(stmt.span);
                let StmtKind::ImportFrom { module, names, .. } = &stmt.kind else {
                    continue;
                };
                let old = module == "cuda.tile_experimental" && names.len() == 1;
                if old && only && names[0].name.name == "autotune_launch" {
                    return Some(("exhaustive_search".into(), Some((place, IMPORT.into()))));
                }
            }
        }
        // After the first import of cuTile at the top of the file.
        let first = file.file.items.iter().find(|item| {
            item.facts.body.iter().any(|s| match &s.kind {
                StmtKind::Import(names) => {
                    names.iter().any(|n| n.name.name.starts_with("cuda.tile"))
                }
                StmtKind::ImportFrom { module, .. } => module.starts_with("cuda"),
                _ => false,
            })
        })?;
        let end = first.place(first.facts.body.last()?.span).end;
        let at = Span { start: end, end };
        Some((
            "exhaustive_search".into(),
            Some((at, format!("\n{IMPORT}"))),
        ))
    }
}

/// A kernel's own name, for names made from it.
fn stem(kernel: &str) -> &str {
    let last = kernel.rsplit('.').next().unwrap_or_default();
    let is_name = last.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_name {
        last.trim_start_matches('_')
    } else {
        "kernel"
    }
}
