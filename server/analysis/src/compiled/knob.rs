//! Hints that are written in a kernel: at its decorator and at its accesses.
//!
//! They change speed only, and many change nothing at all: which, shows when the kernel is compiled
//! without them.

use tileperf_syntax::ast::ExprKind;
use tileperf_syntax::{ParsedFile, Span};

use crate::model::{AccessKind, Kernel};
use crate::rewrite::{Edits, TextEdit};
use crate::rules::expression;

/// Hints of an access.
const OF_ACCESSES: [&str; 2] = ["latency", "allow_tma"];

/// A hint and the edit that takes it out.
#[derive(Debug, Clone, PartialEq)]
pub struct Knob {
    /// As it is written: `occupancy=8`.
    pub text: String,
    /// Where that stands.
    pub span: Span,
    /// The edit that takes it out.
    pub edits: Vec<TextEdit>,
}

/// The hints of a kernel that can be taken out, in source order. Values that say no more than leaving
/// them out are not among them, nor is what is told apart by architecture.
#[must_use]
pub fn knobs(file: &ParsedFile, text: &str, kernel: &Kernel) -> Vec<Knob> {
    if kernel.stale {
        return Vec::new();
    }
    let accesses = (kernel.accesses.iter())
        .filter(|access| !matches!(access.kind, AccessKind::Mma | AccessKind::Atomic))
        .map(|access| access.span);
    let mut out = Vec::new();
    let hints: Vec<&str> = kernel.hints.iter().map(|hint| hint.name.as_str()).collect();
    of_call(file, text, kernel.decorator_span, &hints, &mut out);
    for span in accesses {
        of_call(file, text, span, &OF_ACCESSES, &mut out);
    }
    out
}

fn of_call(file: &ParsedFile, text: &str, at: Span, names: &[&str], out: &mut Vec<Knob>) {
    let Some(call) = expression(file, at) else {
        return;
    };
    let ExprKind::Call { args, .. } = &call.node.kind else {
        return;
    };
    for arg in args {
        let Some(name) = arg.name.as_ref() else {
            continue;
        };
        let value = text.get(call.place(arg.value.span).range()).unwrap_or("");
        if !names.contains(&name.name.as_str()) || says_nothing(&name.name, value) {
            continue;
        }
        let Some(edits) = call.without_argument(Edits::new(text), &name.name) else {
            continue;
        };
        out.push(Knob {
            text: format!("{}={value}", name.name),
            span: call.place(Span {
                start: name.span.start,
                end: arg.value.span.end,
            }),
            edits: edits.finish(),
        });
    }
}

/// Defaults of cuda-tile 1.7, and values of which each architecture has its own.
fn says_nothing(name: &str, value: &str) -> bool {
    matches!(
        (name, value),
        (_, "None") | ("allow_tma", "True") | ("num_ctas", "1") | ("opt_level", "3")
    ) || value.contains("ByTarget")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FileModel, ModelCache};
    use crate::rewrite;

    #[test]
    fn every_hint_goes_alone() {
        let text = "import cuda.tile as ct

@ct.kernel(occupancy=8, num_ctas=ct.ByTarget(sm_100=2), opt_level=3)
def k(x, y, T: ct.Constant[int]):
    a = ct.load(x, (0,), (T,), latency=3)
    b = ct.load(x, (1,), (T,), allow_tma=True, latency=None)
    ct.store(
        y,
        (0,),
        a + b,
        allow_tma=False,
    )

@ct.kernel(occupancy=N)
def l(x):
    ct.atomic_add(x, 0, 1)
";
        let parsed = tileperf_syntax::parse(text);
        let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
        let found: Vec<(String, String)> = (model.kernels.iter())
            .flat_map(|kernel| knobs(&parsed, text, kernel))
            .map(|knob| {
                assert_eq!(&text[knob.span.range()], knob.text);
                let after = rewrite::apply(text, &knob.edits).unwrap();
                assert!(!tileperf_syntax::parse(&after).items.is_empty());
                assert!(tileperf_syntax::parse(&after).is_clean(), "{after}");
                assert!(!after.contains(&knob.text));
                (knob.text, after)
            })
            .collect();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["occupancy=8", "latency=3", "allow_tma=False", "occupancy=N"]
        );
        assert!(found[3].1.contains("@ct.kernel\ndef l"));
    }
}
