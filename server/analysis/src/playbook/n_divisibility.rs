//! Offsets that the host knows to be aligned, and the compiler does not.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use super::host::Host;
use super::optimization::optimization;
use super::site::{Site, only_launches};
use super::{Actions, KernelContext};
use crate::body::{Ty, argument};
use crate::target::Version;

optimization! {
    /// Say of which power of two an offset is a multiple: `ct.assume_divisible_by`.
    ///
    /// A slice of an array that begins at a number known only when the kernel runs may begin anywhere,
    /// so nothing of it is loaded by TMA ("base pointer not 16-byte aligned"), or in wide pieces. cuTile
    /// finds out by itself how the arrays that are passed are aligned, but not what the numbers are
    /// multiples of. If the number is no multiple what happens is undefined, so this is offered only
    /// where every launch passes a number that is one, or makes sure of it first. For a slice along an
    /// axis that is not contiguous the code stays the same.
    ///
    /// ```python before
    /// @ct.kernel
    /// def copy(x, y, first, TILE: ct.Constant[int]):
    ///     part = x.slice(axis=1, start=first, stop=first + 4096)
    ///     for j in range(4096 // TILE):
    ///         ct.store(y, (ct.bid(0), j), ct.load(part, (ct.bid(0), j), (TILE, TILE)))
    ///
    /// def columns(x, first):
    ///     if first % 64 != 0:
    ///         raise ValueError("columns are taken in groups of 64")
    ///     y = torch.empty((x.shape[0], 4096), dtype=x.dtype, device=x.device)
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), copy, (x, y, first, 64))
    ///     return y
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def copy(x, y, first, TILE: ct.Constant[int]):
    ///     first = ct.assume_divisible_by(first, 64)
    ///     part = x.slice(axis=1, start=first, stop=first + 4096)
    ///     for j in range(4096 // TILE):
    ///         ct.store(y, (ct.bid(0), j), ct.load(part, (ct.bid(0), j), (TILE, TILE)))
    ///
    /// def columns(x, first):
    ///     if first % 64 != 0:
    ///         raise ValueError("columns are taken in groups of 64")
    ///     y = torch.empty((x.shape[0], 4096), dtype=x.dtype, device=x.device)
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), copy, (x, y, first, 64))
    ///     return y
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def copy(x, y, first, TILE: ct.Constant[int]):
    ///     part = x.slice(axis=1, start=first, stop=first + TILE)
    ///     ct.store(y, (ct.bid(0), 0), ct.load(part, (ct.bid(0), 0), (TILE, TILE)))
    ///
    /// def columns(x, y, first):
    ///     # Any number may be passed.
    ///     ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), copy, (x, y, first, 64))
    /// ```
    N "divisibility" Vectorization Same offer,
    gain "TMA instead of plain loads" "a product of columns from an offset, float16, sm_90" "tileiras 13.4",
    gain "a seventh of the code" "a copy of columns from an offset, float16, sm_80 to sm_100" "tileiras 13.4",
}

/// The first version with `assume_divisible_by`.
const SINCE: Version = Version::new(1, 5, 0);

/// The largest divisor that the compiler makes use of.
const MOST: i64 = 1024;

/// How often names are followed.
const HOPS: u32 = 4;

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(ct) = at.ct() else { return };
    if at.file.target.cuda_tile.is_some_and(|v| v < SINCE) {
        return;
    }
    let starts = starts(at);
    if starts.is_empty() {
        return;
    }
    let Ok(launches) = only_launches(at) else {
        return;
    };
    let sites = launches.into_iter().map(|launch| Site::of(at, launch));
    let Ok(sites) = sites.collect::<Result<Vec<_>, _>>() else {
        return;
    };
    let known: Vec<(&SmolStr, i64)> = (starts.into_iter())
        .filter_map(|param| Some((param, divisor(at, &sites, param)?)))
        .collect();
    let body = at.def.node.body.iter();
    let mut first = body.skip_while(
        |stmt| matches!(&stmt.kind, StmtKind::Expr(e) if matches!(e.kind, ExprKind::Str(_))),
    );
    let edits = at.edits();
    let Some(first) = first
        .next()
        .filter(|s| edits.own_line(s.span.start).is_some())
    else {
        return;
    };
    let assume = |(param, by): &(&SmolStr, i64)| {
        format!("{param} = {ct}.assume_divisible_by({param}, {by})")
    };
    let lines: Vec<String> = known.iter().map(assume).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let facts: Vec<String> = (known.iter())
        .map(|(param, by)| format!("`{param}` is a multiple of {by}"))
        .collect();
    if facts.is_empty() {
        return;
    }
    let title = format!("Say that {}", facts.join(", and "));
    let edits = edits.lines_before(first.span.start, &lines);
    let mut described = out.push("", title, edits);
    for fact in facts {
        described = described.if_only(format!("{fact} at every launch, as the host says"));
    }
}

/// The parameters that are numbers at which slices begin, or that such numbers are made of.
fn starts<'a>(at: &KernelContext<'a>) -> BTreeSet<&'a SmolStr> {
    let mut out = BTreeSet::new();
    at.device.walk(&mut |expr, _| {
        let ExprKind::Call { func, args } = &expr.kind else {
            return;
        };
        let ExprKind::Attribute { value, attr } = &func.kind else {
            return;
        };
        if attr.name == "slice"
            && matches!(at.device.ty(value), Ty::Array(_))
            && let Some(start) = argument(args, Some(1), "start")
        {
            numbers(at, start, HOPS, &mut out);
        }
    });
    out
}

/// Adds the parameters known only at run time that a number is made of.
fn numbers<'a>(at: &KernelContext<'a>, expr: &'a Expr, hops: u32, out: &mut BTreeSet<&'a SmolStr>) {
    let Some(hops) = hops.checked_sub(1) else {
        return;
    };
    let expr = at.device.follow(expr);
    match &expr.kind {
        ExprKind::Name(name) => {
            let given = at
                .parameter(expr)
                .filter(|_| !at.device.constants.contains(name));
            out.extend(given);
        }
        ExprKind::Binary { left, right, .. } => {
            numbers(at, left, hops, out);
            numbers(at, right, hops, out);
        }
        _ => {}
    }
}

/// The largest power of two that divides what every launch passes for a parameter.
fn divisor<'a>(at: &KernelContext<'a>, sites: &[Site<'a>], param: &SmolStr) -> Option<i64> {
    let place = at.kernel.params.iter().position(|p| p.name == *param)?;
    let mut least = MOST;
    for site in sites {
        // No array's axes are counted from the end here.
        let host = Host::new(site, 0);
        let number = host.term(site.passed.get(place)?)?;
        least = least.min(host.power_of_two(&number, MOST));
    }
    (least > 1).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::playbook::testing::{none, none_for, offered, variants};
    use crate::rewrite;
    use crate::rules::testing::whole;
    use crate::target::{Target, Version};

    /// A kernel that takes a slice at `start`, and the function that launches it.
    fn code(start: &str, host: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, n, m, T: ct.Constant[int]):\n    \"\"\"Takes a part.\"\"\"\n    s = {start}\n    part = x.slice(1, s, s + 64)\n    ct.store(x, (0, 0), ct.load(part, (ct.bid(0), 0), (T, T)))\n\ndef run(x, n, m, s):\n    {}\n",
            host.replace('\n', "\n    ")
        )
    }

    /// What is written into the kernel.
    fn assumed(start: &str, host: &str) -> Vec<String> {
        let text = whole(&code(start, host));
        let all = offered(&text, &Target::default());
        let action = all.iter().find(|a| a.optimization.id == "N");
        let action = action.unwrap_or_else(|| panic!("nothing for\n{text}"));
        let applied = rewrite::apply(&text, &action.edits).unwrap();
        let lines = applied.lines().map(str::trim);
        let lines = lines.filter(|line| line.contains("assume"));
        lines.map(str::to_owned).collect()
    }

    const LAUNCH: &str = "ct.launch(s, (4,), k, (x, n, m, 8))";

    #[test]
    fn what_the_host_says() {
        let launch = |n: &str| format!("ct.launch(s, (4,), k, (x, {n}, m, 8))");
        for (before, n, by) in [
            ("assert n % 64 == 0\n", "n", 64),
            ("assert n % 96 == 0\n", "n", 32),
            ("assert n % 64 == 0 and n % 128 == 0\n", "n", 128),
            ("if n % 16:\n    raise ValueError(n)\n", "n", 16),
            ("if m < 2 or n % 16 > 0:\n    return None\n", "n", 16),
            ("size = 32\nassert n % size == 0\n", "n", 32),
            ("first = pick(n)\nassert first % 8 == 0\n", "first", 8),
            ("", "256", 256),
            ("", "m * 8", 8),
            ("first = 16 * m\n", "first", 16),
            ("assert n % 8 == 0\n", "n * 4", 32),
            ("assert n % 65536 == 0\n", "n", 1024),
        ] {
            let host = format!("{before}{}", launch(n));
            let wanted = format!("n = ct.assume_divisible_by(n, {by})");
            assert_eq!(assumed("n", &host), [wanted], "{host}");
        }
        let branches = "if n % 64 == 0:\n    ct.launch(s, (4,), k, (x, n, m, 8))\nelse:\n    ct.launch(s, (4,), k, (x, 8, m, 8))";
        assert_eq!(assumed("n", branches), ["n = ct.assume_divisible_by(n, 8)"]);
        let both = format!("assert n % 64 == 0\nassert m % 8 == 0\n{LAUNCH}");
        assert_eq!(assumed("n * ct.bid(0) + m", &both).len(), 2);
    }

    #[test]
    fn what_nobody_says() {
        for before in [
            "",
            "assert m % 64 == 0\n",
            "assert n % 63 == 0\n",
            "assert n % m == 0\n",
            "assert n % 64 == 8\n",
            "assert n % 64 != 0\n",
            "assert n % 64 == 0 or m\n",
            "if n % 64:\n    print(n)\n",
            "if m:\n    assert n % 64 == 0\n",
            "assert n % 64 == 0\nn = n + 1\n",
        ] {
            none(&OPTIMIZATION, &code("n", &format!("{before}{LAUNCH}")));
        }
        for host in [
            "ct.launch(s, (4,), k, (x, n + 64, m, 8))",
            "ct.launch(s, (4,), k, (x, f(n), m, 8))",
            "if n % 64 == 0:\n    print(n)\nelse:\n    ct.launch(s, (4,), k, (x, n, m, 8))",
            "ct.launch(s, (4,), k, (x, n, m, 8))\nassert n % 64 == 0",
            "assert n % 64 == 0\nif m:\n    ct.launch(s, (4,), k, (x, n, m, 8))\nelse:\n    ct.launch(s, (4,), k, (x, m, m, 8))",
            "assert n % 64 == 0\nct.launch(s, (4,), k, (x, n, m, 8))\nlater(k)",
        ] {
            none(&OPTIMIZATION, &code("n", host));
        }
    }

    #[test]
    fn only_numbers_at_which_slices_begin() {
        let host = format!("assert n % 64 == 0\n{LAUNCH}");
        for start in ["8", "T", "ct.bid(0)", "m", "ct.gather(x, (n, 0)).item()"] {
            none(&OPTIMIZATION, &code(start, &host));
        }
        let said = code("ct.assume_divisible_by(n, 64)", &host);
        none(&OPTIMIZATION, &said);
        let old = Target {
            cuda_tile: Some(Version::new(1, 4, 0)),
            ..Target::default()
        };
        none_for(&OPTIMIZATION, &code("n", &host), &old);
        assert_eq!(variants(&OPTIMIZATION, &code("n", &host)), [""]);
    }
}
