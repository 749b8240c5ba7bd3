//! Kernels: functions decorated with `ct.kernel`, or wrapped by a call of it.

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};
use tileperf_syntax::{SiteKind, Span};

use super::params::Annotations;
use super::{At, Build};
use crate::model::names::Target;
use crate::model::scan::{Call, Def, ScopeKind};
use crate::model::value::Value;
use crate::model::{Fingerprint, Hint, Kernel};

/// A kernel on its way into the model.
struct Found<'a> {
    at: At,
    def: &'a Def,
    /// The item of the decorator or of the call that wraps the function: it may be another one.
    item: usize,
    /// The decorator or call.
    span: Span,
    /// Hints: name and place of the value.
    keywords: Vec<(SmolStr, Span)>,
}

impl<'a> Build<'a> {
    /// Finds and numbers the kernels, in source order.
    pub(super) fn kernels(&mut self) {
        let mut found = self.decorated();
        self.wrapped(&mut found);
        found.sort_by_key(|k| self.place(k.at.item, k.def.name.span).start);
        let mut ordinals: FxHashMap<SmolStr, u32> = FxHashMap::default();
        let mut annotations = Annotations::default();
        for found in found {
            let qualified = self.names.qualified(found.at);
            let next = ordinals.entry(qualified.clone()).or_insert(0);
            let kernel = self.kernel(&found, qualified, *next, &mut annotations);
            *next += 1;
            self.kernels.insert(found.at, self.out.kernels.len());
            self.out.kernels.push(kernel);
        }
    }

    /// `@ct.kernel`, `@ct.kernel(occupancy=2)`, `@partial(ct.kernel, occupancy=2)`.
    fn decorated(&self) -> Vec<Found<'a>> {
        let mut found = Vec::new();
        for (item, scan) in self.names.scans.iter().enumerate() {
            for (scope, here) in scan.scopes.iter().enumerate() {
                let Some(def) = &here.def else { continue };
                let outer = At::new(item, here.parent);
                let decorator = def.decorators.iter().find(|d| {
                    let callee = match &d.value {
                        Value::Call(callee, args)
                            if callee.last().is_some_and(|n| n == "partial") =>
                        {
                            args.first().map_or(&d.value, |(_, v)| v)
                        }
                        Value::Call(callee, _) => callee,
                        value => value,
                    };
                    self.names.is_api(callee, outer, "kernel")
                });
                found.extend(decorator.map(|d| Found {
                    at: At::new(item, scope),
                    def,
                    item,
                    span: d.span,
                    keywords: d.keywords.clone(),
                }));
            }
        }
        found
    }

    /// Adds functions wrapped by a call: `ct.kernel(f, occupancy=2)`, `ct.kernel(occupancy=2)(f)`.
    fn wrapped(&self, found: &mut Vec<Found<'a>>) {
        for &(at, call) in &self.notable {
            let callee = match &call.callee {
                Value::Call(inner, _) => inner,
                callee if self.is_candidate(call, SiteKind::Kernel) => callee,
                _ => continue,
            };
            let Some(function) = call.positional().next() else {
                continue;
            };
            if rewraps(&function.value) || !self.names.is_api(callee, at, "kernel") {
                continue;
            }
            for target in self.names.resolve_through_callers(&function.value, at) {
                if let Target::Def(def_at) = target
                    && let scope = self.names.scope(def_at)
                    && scope.kind == ScopeKind::Function
                    && let Some(def) = &scope.def
                    && !found.iter().any(|known| known.at == def_at)
                {
                    found.push(Found {
                        at: def_at,
                        def,
                        item: at.item,
                        span: call.span,
                        keywords: wrapper_hints(call, &self.names.scans[at.item].calls),
                    });
                }
            }
        }
    }

    fn kernel(
        &self,
        found: &Found<'a>,
        qualified: SmolStr,
        ordinal: u32,
        annotations: &mut Annotations<'a>,
    ) -> Kernel {
        let Found { at, def, item, .. } = *found;
        let hint = |(name, span): &(SmolStr, Span)| Hint {
            name: name.clone(),
            text: self.source(item, *span).to_owned(),
            span: self.place(item, *span),
        };
        let keyword = Span {
            start: def.span.start,
            end: def.span.start + "def".len() as u32,
        };
        let top = def.decorators.first().map_or(keyword, |d| d.span);
        Kernel {
            name: def.name.name.clone(),
            ordinal,
            name_span: self.place(at.item, def.name.span),
            span: self.place(at.item, def.span),
            decorator_span: self.place(item, found.span),
            top: self.place(at.item, top),
            hints: found.keywords.iter().map(hint).collect(),
            params: self.params(at, def, annotations),
            accesses: self.accesses(at),
            fingerprint: Fingerprint(self.fingerprint(at)),
            stale: self.stale(at.item),
            qualified,
        }
    }
}

/// The keywords of a call that wraps a function. In `ct.kernel(occupancy=2)(f)` the hints are the
/// inner call's.
fn wrapper_hints(call: &Call, calls: &[Call]) -> Vec<(SmolStr, Span)> {
    let starts = |c: &&Call| c.span.start == call.span.start && c.span.end < call.span.end;
    let inner = match call.callee {
        Value::Call(..) => calls.iter().find(starts),
        _ => None,
    };
    (inner.unwrap_or(call).args.iter())
        .filter_map(|a| Some((a.name.clone()?, a.span)))
        .collect()
}

/// `f._pyfunc`: the Python function of a kernel, to be wrapped again.
pub(super) fn rewraps(value: &Value) -> bool {
    matches!(value, Value::Attr(_, name) if name == "_pyfunc")
}

impl Kernel {
    /// A name for messages: `name`, or `name (definition 2)` for a later one.
    pub fn title(&self) -> SmolStr {
        match self.ordinal {
            0 => self.name.clone(),
            n => format_smolstr!("{} (definition {})", self.name, n + 1),
        }
    }
}
