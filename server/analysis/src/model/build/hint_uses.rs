//! Calls that remake a kernel with other hints, and when each of them runs.

use tileperf_syntax::Span;

use super::kernels::rewraps;
use super::{At, Build};
use crate::model::names::Caller;
use crate::model::scan::{Call, CallArg, Def};
use crate::model::value::Value;
use crate::model::{HintContext, HintUse};

/// How many callers up a guard is looked for.
const CALLERS: u32 = 4;

/// The kernel that a call remakes.
struct Remade<'a> {
    value: &'a Value,
    /// Where it stands, and the identifier to jump from.
    span: Span,
    ident: Span,
    /// The call memoises what it makes.
    cached: bool,
}

impl<'a> Build<'a> {
    pub(super) fn hint_use(&mut self, call: &'a Call, at: At) {
        let Some(kernel) = self.remade(call, at) else {
            return;
        };
        let hint_use = HintUse {
            span: self.place(at.item, call.span),
            callee_span: self.place(at.item, call.callee_span),
            kernel_text: self.text_at(kernel.span).to_owned(),
            kernel_span: kernel.ident,
            candidates: self.candidates(kernel.value, at),
            context: if kernel.cached {
                HintContext::Cached
            } else {
                self.context(call, at, 0)
            },
            stale: self.stale(at.item),
        };
        self.out.hint_uses.push(hint_use);
    }

    /// `k.replace_hints(...)`, `cached_replace_hints(k, ...)`, `ct.kernel(k._pyfunc, ...)`.
    fn remade(&self, call: &'a Call, at: At) -> Option<Remade<'a>> {
        match &call.callee {
            Value::Attr(kernel, name) if name == "replace_hints" => {
                let (span, ident) = self.before_method(call, at.item);
                Some(Remade {
                    value: kernel,
                    span,
                    ident,
                    cached: false,
                })
            }
            callee if self.is_cached_replace(callee, at) => {
                let arg = call.args.first()?;
                Some(self.remade_argument(arg, at.item, true))
            }
            callee => {
                let arg = call.positional().next().filter(|a| rewraps(&a.value))?;
                (self.names.is_api(callee, at, "kernel"))
                    .then(|| self.remade_argument(arg, at.item, false))
            }
        }
    }

    fn is_cached_replace(&self, callee: &'a Value, at: At) -> bool {
        callee.last().is_some_and(|n| n == "cached_replace_hints")
            || (self.names.paths(callee, at).iter()).any(|p| p.ends_with(".cached_replace_hints"))
    }

    /// The text before `.replace_hints`, and its last name.
    fn before_method(&self, call: &Call, item: usize) -> (Span, Span) {
        let mut span = self.place(
            item,
            Span {
                start: call.span.start,
                end: call.callee_span.start,
            },
        );
        let text = self.text_at(span).trim_end();
        let text = text.trim_end_matches('.').trim_end();
        span.end = span.start + text.len() as u32;
        (span, last_word(text, span))
    }

    fn remade_argument(&self, arg: &'a CallArg, item: usize, cached: bool) -> Remade<'a> {
        let mut span = self.place(item, arg.span);
        let mut ident = self.place(item, arg.ident.unwrap_or(arg.span));
        // `k._pyfunc` names the kernel `k`.
        if let Some(kernel) = self.text_at(span).strip_suffix("._pyfunc") {
            span.end = span.start + kernel.len() as u32;
            ident = last_word(kernel, span);
        }
        Remade {
            value: &arg.value,
            span,
            ident,
            cached,
        }
    }

    /// When a call runs: see [`HintContext`].
    pub(super) fn context(&self, call: &Call, at: At, depth: u32) -> HintContext {
        let Some(function) = self.names.function_of(at) else {
            return HintContext::Module;
        };
        let memoised = |here| self.names.scope(here).def.as_ref().is_some_and(is_memoised);
        if self.names.outward(function).any(memoised) {
            return HintContext::Cached;
        }
        if call.guarded {
            return HintContext::Guarded;
        }
        let guarded = |caller: &Caller| {
            caller.at != at
                && depth < CALLERS
                && matches!(
                    self.context(caller.call, caller.at, depth + 1),
                    HintContext::Guarded | HintContext::Cached
                )
        };
        let callers = self.names.callers(function);
        if !callers.is_empty() && callers.iter().all(guarded) {
            HintContext::Guarded
        } else {
            HintContext::Hot
        }
    }
}

/// `@functools.cache`, `@lru_cache(maxsize=None)`, `@cached_property`, ...
fn is_memoised(def: &Def) -> bool {
    def.decorators.iter().any(|d| {
        let decorator = match &d.value {
            Value::Call(callee, _) => callee,
            value => value,
        };
        decorator.last().is_some_and(|n| {
            matches!(n.as_str(), "cache" | "cached" | "cached_property")
                || n.ends_with("lru_cache")
                || n.contains("memoize")
        })
    })
}

/// Where the identifier at the end of a text is, which stands at `span`.
fn last_word(text: &str, span: Span) -> Span {
    let boundary = text.rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
    let start = boundary.map_or(0, |i| i + 1);
    Span {
        start: span.start + start as u32,
        end: span.end,
    }
}
