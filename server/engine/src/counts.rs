//! How many configurations a space has, per architecture: the evaluator run over the workspace.

use std::cell::OnceCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::eval::{Evaluator, ModuleId, Scope, Space};
use tileperf_analysis::views::counts::Count;
use tileperf_syntax::ast::{Expr, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{ParsedFile, Span};

use crate::engine::Shared;
use crate::snapshot::Snapshot;
use crate::{DocId, Engine};

/// Counts by space, each with the parses it was made from.
#[derive(Debug, Default)]
pub(crate) struct CountCache(FxHashMap<(DocId, Span), Known>);

#[derive(Debug)]
struct Known {
    /// The index as it was: a new file can change what an import means.
    index: u64,
    parses: Vec<(DocId, Weak<ParsedFile>)>,
    spaces: Arc<ByArch>,
}

/// A space evaluated for each architecture of the settings.
pub(crate) type ByArch = Vec<(Arch, Arc<Space>)>;

/// Beyond this many spaces the cache starts anew.
const MAX_KNOWN: usize = 1_000;

impl Engine {
    /// The count of the space at `span` of a file (a function's definition or a list) for each
    /// architecture of the settings. Empty if there is no such space any more.
    pub fn counts(&self, doc: &DocId, span: Span) -> Vec<(Arch, Count)> {
        let spaces = self.evaluated(doc, span);
        let count = |space: &Space| Count {
            min: space.count.min,
            max: space.count.max,
        };
        (spaces.iter())
            .map(|(arch, space)| (*arch, count(space)))
            .collect()
    }

    /// The space at `span` of a file, evaluated for each architecture of the settings.
    pub(crate) fn evaluated(&self, doc: &DocId, span: Span) -> Arc<ByArch> {
        let workspace = OnceCell::new();
        self.evaluated_by(&Evaluating::new(&workspace), doc, span)
    }

    /// The same, for one of several spaces: what the evaluator has seen of the files for one serves
    /// for the next.
    pub(crate) fn evaluated_by<'w>(
        &'w self,
        evaluating: &Evaluating<'w>,
        doc: &DocId,
        span: Span,
    ) -> Arc<ByArch> {
        let index = self.shared.index_generation.load(Ordering::Acquire);
        let key = (doc.clone(), span);
        {
            let cache = self.shared.counts.lock();
            if let Some(known) = cache
                .0
                .get(&key)
                .filter(|k| k.index == index && self.holds(k))
            {
                return Arc::clone(&known.spaces);
            }
        }
        let (workspace, evaluator) = evaluating.begin(&self.shared);
        let spaces = Arc::new(self.evaluate(workspace, evaluator, doc, span));
        let known = Known {
            index,
            parses: workspace.parses(),
            spaces: Arc::clone(&spaces),
        };
        let mut cache = self.shared.counts.lock();
        if cache.0.len() >= MAX_KNOWN {
            cache.0.clear();
        }
        cache.0.insert(key, known);
        spaces
    }

    fn holds(&self, known: &Known) -> bool {
        known.parses.iter().all(|(doc, parse)| {
            parse
                .upgrade()
                .is_some_and(|parse| Arc::ptr_eq(&parse, &self.shared.parsed(doc)))
        })
    }

    fn evaluate<'w>(
        &self,
        workspace: &'w Snapshot<'w>,
        evaluator: &Evaluator<'w>,
        doc: &DocId,
        span: Span,
    ) -> ByArch {
        let Some(module) = workspace.number(doc) else {
            return Vec::new();
        };
        let mut spaces = ByArch::new();
        for nearest in self.settings().evaluated_archs() {
            let arch = nearest.arch;
            // What does not ask for the architecture need not be run for the next.
            if let Some((_, same)) = spaces.first().filter(|(_, space)| !space.by_arch) {
                let same = Arc::clone(same);
                spaces.push((arch, same));
            } else if let Some(space) = space(workspace, evaluator, module, span, arch) {
                spaces.push((arch, Arc::new(space)));
            }
        }
        spaces
    }
}

/// The evaluator with the workspace that it runs over, made when the first space is asked for.
pub(crate) struct Evaluating<'w> {
    workspace: &'w OnceCell<Snapshot<'w>>,
    evaluator: OnceCell<Evaluator<'w>>,
}

impl<'w> Evaluating<'w> {
    pub(crate) fn new(workspace: &'w OnceCell<Snapshot<'w>>) -> Self {
        Self {
            workspace,
            evaluator: OnceCell::new(),
        }
    }

    fn begin(&self, shared: &'w Shared) -> (&'w Snapshot<'w>, &Evaluator<'w>) {
        let workspace = self.workspace.get_or_init(|| Snapshot::new(shared));
        let evaluator = self.evaluator.get_or_init(|| Evaluator::new(workspace));
        (workspace, evaluator)
    }
}

/// The space whose definition or list has this place in the file.
fn space<'e>(
    workspace: &'e Snapshot<'_>,
    evaluator: &Evaluator<'e>,
    module: ModuleId,
    span: Span,
    arch: Arch,
) -> Option<Space> {
    for (number, item) in workspace.file(module).items.iter().enumerate() {
        if !item.span.contains(span) {
            continue;
        }
        let body = &item.facts.body;
        if let Some(def) = find_function(body, &|s| item.place(s) == span) {
            let scope = Scope::at(module, number as u32, body, def.def_span);
            return Some(evaluator.function(def, &scope, arch));
        }
        let expr = find_expr(body, &|s| item.place(s) == span)?;
        let scope = Scope::at(module, number as u32, body, expr.span);
        return Some(evaluator.space(expr, &scope, arch));
    }
    None
}

fn find_function<'e>(body: &'e [Stmt], is_it: &dyn Fn(Span) -> bool) -> Option<&'e FunctionDef> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::FunctionDef(def) if is_it(def.def_span) => Some(&**def),
        _ => stmt
            .blocks()
            .into_iter()
            .find_map(|b| find_function(b, is_it)),
    })
}

fn find_expr<'e>(body: &'e [Stmt], is_it: &dyn Fn(Span) -> bool) -> Option<&'e Expr> {
    body.iter().find_map(|stmt| {
        let mut found = None;
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                if found.is_none() && is_it(e.span) {
                    found = Some(e);
                }
            });
        });
        found.or_else(|| stmt.blocks().into_iter().find_map(|b| find_expr(b, is_it)))
    })
}
