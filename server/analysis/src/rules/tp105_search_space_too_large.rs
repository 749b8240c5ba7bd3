//! More configurations than anybody wants to wait for.

use tileperf_syntax::Span;

use super::tuning::search_call::SearchCall;
use super::tuning::spaces::{Taken, listed, searches_of, taken, taken_imported};
use crate::arch::Arch;
use crate::eval::{Note, SpaceCount};
use crate::model::SpaceRef;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links, SpaceFacts};

rule! {
    /// A search space has more than 30 configurations on one architecture.
    ///
    /// Each is compiled and timed at the first call for every new cache key. TileGym's guide for
    /// autotuning gives half a second to a second for compiling one, and asks for at most 30 in code
    /// and about 8 in the end: find out with a larger search outside the source which dimensions
    /// matter, then keep the winners and the original configuration.
    ///
    /// ```python bad
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():  # TP105
    ///     for m in (32, 64, 128, 256):
    ///         for n in (32, 64, 128, 256):
    ///             for occupancy in (1, 2, 4):
    ///                 yield SimpleNamespace(m=m, n=n, occupancy=occupancy)
    ///
    /// def tune(stream, grid, kernel, args):
    ///     return exhaustive_search(list(configs()), stream, grid, kernel, args)
    /// ```
    ///
    /// ```python good
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] >= 10:
    ///         for n in (64, 128, 256):
    ///             for occupancy in range(1, 9):
    ///                 yield SimpleNamespace(n=n, occupancy=occupancy)
    ///     else:
    ///         for n in (32, 64, 128):
    ///             for occupancy in range(1, 9):
    ///                 yield SimpleNamespace(n=n, occupancy=occupancy)
    ///
    /// def tune(stream, grid, kernel, args):
    ///     return exhaustive_search(list(configs()), stream, grid, kernel, args)
    /// ```
    TP105 "search-space-too-large" Warning,
    Workspace(check)
}

/// What a search in code should not exceed.
const MOST: u64 = 30;

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for (number, space) in file.model.spaces.iter().enumerate() {
        let searches = searches_of(file, number);
        let taken: Vec<Taken> = searches.iter().map(|s| taken(s, space)).collect();
        if space.stale || taken.iter().all(|t| *t == Taken::Part) {
            continue;
        }
        let Some(facts) = links.space(&SpaceRef::Local(number)) else {
            continue;
        };
        let whole = taken.contains(&Taken::Whole);
        report(&space.name, space.name_span, whole, &facts, out);
    }
    imported(file, links, out);
}

/// Spaces of other files, at the searches that take them.
fn imported(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for search in file.model.searches.iter().filter(|s| !s.stale) {
        for space in &search.spaces {
            let SpaceRef::Imported(path) = space else {
                continue;
            };
            let name = path.rsplit('.').next().unwrap_or(path);
            let how = SearchCall::of(file, search).map(|call| taken_imported(&call, path));
            let whole = match how {
                Some(Taken::Whole) => true,
                Some(Taken::Filtered) => false,
                _ => continue,
            };
            if let Some(facts) = links.space(space) {
                report(name, search.space_span, whole, &facts, out);
            }
        }
    }
}

fn report(name: &str, at: Span, whole: bool, facts: &SpaceFacts, out: &mut Findings<'_>) {
    let counts = facts.by_arch.iter().map(|(arch, s)| (*arch, &s.count));
    let large: Vec<(Arch, &SpaceCount)> = counts.filter(|(_, c)| is_large(c)).collect();
    let Some(most) = large.iter().filter_map(|(_, c)| c.max).max() else {
        return;
    };
    let surely = whole && large.iter().all(|(_, c)| c.min > MOST);
    let archs: Vec<Arch> = large.iter().map(|(arch, _)| *arch).collect();
    let name = match name {
        "" => "the search space".to_owned(),
        name => format!("`{name}`"),
    };
    let gives = if surely { "has" } else { "may have" };
    let described = out.push(
        at,
        format!(
            "{name} {gives} {most} configurations on {}, each of which is compiled and timed; {MOST} are plenty",
            listed(&archs, facts.by_arch.len())
        ),
    );
    if archs.len() < facts.by_arch.len() {
        described.archs(archs);
    }
}

fn is_large(count: &SpaceCount) -> bool {
    // Filters on what is not known only make the space smaller than its greatest size.
    let vague = count.why.iter().any(|note| {
        matches!(
            note,
            Note::UnknownFilter(_) | Note::UnknownLength(_) | Note::TooMuch
        )
    });
    count.reached && (count.min > MOST || count.max.is_some_and(|m| m > MOST) && !vague)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, bad_beside, good, good_beside};

    const HEAD: &str = "from cuda.tile.tune import exhaustive_search\nimport itertools\n\
        from types import SimpleNamespace as C\n\n";

    fn searched(before: &str, space: &str) -> String {
        format!(
            "{HEAD}{before}\ndef tune(s, g, k, a):\n    return exhaustive_search({space}, s, g, k, a)\n"
        )
    }

    #[test]
    fn every_form_of_space() {
        let (_, found) = bad(
            &RULE,
            &searched(
                "SPACE = [C(m=m, n=n) for m in range(6) for n in range(6)]  # TP105\n",
                "SPACE",
            ),
        );
        assert!(
            found[0].message.contains("36") && found[0].archs.is_empty(),
            "{found:?}"
        );
        bad(
            &RULE,
            &searched(
                "def configs():  # TP105\n    return [C(o=o) for o in range(31)]\n",
                "configs()",
            ),
        );
        bad(
            &RULE,
            &searched(
                "def configs():  # TP105\n    yield from itertools.product(range(8), range(4))\n",
                "list(configs())",
            ),
        );
        let inline = format!(
            "{HEAD}def tune(s, g, k, a):\n    return exhaustive_search([C(o=o) for o in range(31)], s, g, k, a)  # TP105\n"
        );
        bad(&RULE, &inline);
        let local = "def tune(s, g, k, a):\n    space = [C(o=o) for o in range(31)]  # TP105\n    \
            return exhaustive_search(space, s, g, k, a)\n";
        bad(&RULE, &format!("{HEAD}{local}"));
    }

    #[test]
    fn on_one_architecture() {
        let (_, found) = bad(&RULE, &searched(
            "def configs():  # TP105\n    if torch.cuda.get_device_capability()[0] == 9:\n        \
             yield from range(31)\n    else:\n        yield 1\n",
            "list(configs())",
        ).replace("import itertools", "import torch"));
        assert!(found[0].message.contains("sm_90"), "{found:?}");
        assert_eq!(found[0].archs, [crate::arch::Arch::Sm90]);
    }

    #[test]
    fn it_depends() {
        let (_, found) = bad(
            &RULE,
            &searched(
                "def configs(big):  # TP105\n    if big:\n        yield from range(40)\n    else:\n        yield 1\n",
                "list(configs(True))",
            ),
        );
        assert!(found[0].message.contains("may have 40"), "{found:?}");
    }

    #[test]
    fn filtered_by_an_input() {
        bad(
            &RULE,
            &searched(
                "def configs(limit):  # TP105\n    for m in range(60):\n        if m <= limit:\n            yield C(m=m)\n",
                "list(configs(s))",
            ),
        );
        let (_, found) = bad(
            &RULE,
            &searched(
                "def configs():  # TP105\n    yield from [C(o=o) for o in range(40)]\n",
                "[c for c in configs() if c.o <= s]",
            ),
        );
        assert!(found[0].message.contains("may have 40"), "{found:?}");
        bad(
            &RULE,
            &searched(
                "SPACE = [C(o=o) for o in range(40)]  # TP105\n",
                "[c for c in list(SPACE)]",
            ),
        );
    }

    #[test]
    fn small_ones() {
        good(
            &RULE,
            &searched("SPACE = [C(o=o) for o in range(30)]\n", "SPACE"),
        );
        good(
            &RULE,
            &searched(
                "SPACE = [C(o=o) for o in range(60)]\n",
                "[c for c in SPACE if c.o < 9]",
            ),
        );
        good(
            &RULE,
            &searched("SPACE = [C(o=o) for o in range(60)]\n", "SPACE[:8]"),
        );
        good(
            &RULE,
            &searched("SPACE = [C(o=o) for o in range(60)]\n", "prune(SPACE)"),
        );
        good(
            &RULE,
            &searched(
                "from other import fits\nSPACE = [C(o=o) for o in range(60) if fits(o)]\n",
                "SPACE",
            ),
        );
        good(
            &RULE,
            &searched(
                "def configs(sizes):\n    return [C(o=o) for o in sizes]\n",
                "configs(s)",
            ),
        );
        good(&RULE, "SPACE = list(range(60))\n");
    }

    #[test]
    fn spaces_of_other_files() {
        let others = [(
            "pkg.spaces",
            "def large():\n    return [n for n in range(40)]\n\ndef small():\n    return [1]\n",
        )];
        let code = |import: &str, space: &str, mark: &str| {
            searched(import, space).replace("k, a)\n", &format!("k, a){mark}\n"))
        };
        for (import, space) in [
            ("from pkg.spaces import large", "large()"),
            ("from pkg.spaces import large as l", "list(l())"),
            ("from pkg import spaces", "spaces.large()"),
        ] {
            bad_beside(&RULE, &others, &code(import, space, "  # TP105"));
        }
        good_beside(
            &RULE,
            &others,
            &code("from pkg.spaces import small", "small()", ""),
        );
        good_beside(
            &RULE,
            &others,
            &code(
                "from pkg.spaces import large",
                "[c for c in large() if c > 30]",
                "",
            ),
        );
    }
}
