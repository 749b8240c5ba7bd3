//! Remaking a kernel at every call of its launcher.

use crate::model::HintContext;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings};

rule! {
    /// A kernel is remade with other hints at every call of a function that launches it.
    ///
    /// `replace_hints` gives a new kernel object, which compiles anew, or at best is looked up anew,
    /// before each launch. Remake the kernel once, when its configuration is found, and keep it
    /// beside the configuration, on the path without tuning as well.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, (64,), scale.replace_hints(occupancy=4), (x, 128))  # TP101
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    /// _tuned = {}
    ///
    /// def run(x, stream):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         _tuned[key] = scale.replace_hints(occupancy=4)
    ///     ct.launch(stream, (64,), _tuned[key], (x, 128))
    /// ```
    TP101 "replace-hints-hot-path" Warning,
    File(check)
}

fn check(file: &FileContext<'_>, out: &mut Findings<'_>) {
    for hints in &file.model.hint_uses {
        if hints.context != HintContext::Hot || hints.stale {
            continue;
        }
        out.push(
            hints.callee_span,
            format!(
                "`{}` is remade with other hints at every call; keep the remade kernel beside its configuration",
                hints.kernel_text
            ),
        );
    }
}
