//! Stores without the tensor memory accelerator.

use super::context::Called;
use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::arch::Arch;
use crate::rewrite::arguments::add_argument;

optimization! {
    /// Store without TMA: `allow_tma=False`.
    ///
    /// A store by the tensor memory accelerator goes through shared memory and waits for its copy; plain
    /// stores from registers need neither. Which is faster differs from kernel to kernel, in both
    /// directions: measure. Before sm_90 there is no TMA and the keyword changes nothing. With
    /// `occupancy=16` and more a deadlock was reported, so it is not offered there.
    ///
    /// ```python before
    /// @ct.kernel
    /// def double(x, y, TILE: ct.Constant[int]):
    ///     row = ct.load(x, (ct.bid(0), 0), (1, TILE))
    ///     ct.store(y, (ct.bid(0), 0), row * 2)
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def double(x, y, TILE: ct.Constant[int]):
    ///     row = ct.load(x, (ct.bid(0), 0), (1, TILE))
    ///     ct.store(y, (ct.bid(0), 0), row * 2, allow_tma=False)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel(occupancy=16)
    /// def double(x, y, TILE: ct.Constant[int]):
    ///     row = ct.load(x, (ct.bid(0), 0), (1, TILE))
    ///     ct.store(y, (ct.bid(0), 0), row * 2)
    /// ```
    F "no-tma-stores" Async Same offer,
    gain "30 %" "one rms_norm, B200" "TileGym's guides",
}

/// From here on a deadlock was reported.
const TOO_MANY: i64 = 16;

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    if !at.on_any(Arch::has_tma) || at.hint("occupancy").is_some_and(|n| n >= TOO_MANY) {
        return;
    }
    let mut stores = at.calls(&["store"]);
    stores.retain(|c| c.call.keyword("allow_tma").is_none());
    let what = match stores.as_slice() {
        [] => return,
        [_] => "Store without TMA".to_owned(),
        stores => format!("Make the {} stores without TMA", stores.len()),
    };
    let mut edits = at.edits();
    for Called { call, .. } in &stores {
        edits = add_argument(edits, call.expr, "allow_tma=False");
    }
    out.push("", format!("{what} (allow_tma=False)"), edits);
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::arch::Arch;
    use crate::playbook::testing::{after, none, none_for};
    use crate::target::Target;

    #[test]
    fn stores_that_say_something_stay() {
        let code = |first: &str, second: &str| {
            format!(
                "@ct.kernel(occupancy=4)\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.load(x, (0,), (T,))\n    ct.store(y, (0,), t{first})\n    ct.store(x, (0,), t{second})\n"
            )
        };
        let given = ", allow_tma=True";
        after(
            &OPTIMIZATION,
            &code(given, ""),
            "",
            &code(given, ", allow_tma=False"),
        );
        none(&OPTIMIZATION, &code(given, given));
    }

    #[test]
    fn nothing_where_there_is_no_tma() {
        let target = Target {
            archs: vec![Arch::Sm80, Arch::Sm89],
            ..Target::default()
        };
        none_for(
            &OPTIMIZATION,
            "@ct.kernel\ndef k(x, T: ct.Constant[int]):\n    ct.store(x, (0,), ct.load(x, (1,), (T,)))\n",
            &target,
        );
    }
}
