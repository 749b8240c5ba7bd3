//! A dictionary as the space of a search.

use tileperf_syntax::ast::{ComprehensionKind, Expr, ExprKind};

use super::host;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem};

rule! {
    /// A search is given a dictionary: it walks over the keys, which are no configurations.
    ///
    /// `exhaustive_search` takes a list or tuple of configurations and hands each to `grid_fn`,
    /// `args_fn` and `hints_fn`. Of a dictionary of dimensions, as other tuners take it, each of them
    /// is given a key, a string. Write the configurations out, or make them with
    /// `itertools.product`.
    ///
    /// ```python bad
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// def tune(stream, grid, kernel, args):
    ///     return exhaustive_search({"TILE": [64, 128]}, stream, grid, kernel, args)  # TP114
    /// ```
    ///
    /// ```python good
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// def tune(stream, grid, kernel, args):
    ///     return exhaustive_search([{"TILE": 64}, {"TILE": 128}], stream, grid, kernel, args)
    /// ```
    TP114 "dict-search-space" Error,
    File(check)
}

fn check(file: &FileContext<'_>, out: &mut Findings<'_>) {
    for search in file.model.searches.iter().filter(|s| !s.stale) {
        let Some(given) = file.expr(search.space_span) else {
            continue;
        };
        let Some(space) = space(file, given) else {
            continue;
        };
        let text = file.source(given.place(given.node.span));
        let name = given.node.name().map_or("the space", |_| text);
        let found = out.push(
            search.space_span,
            format!(
                "{} is a dictionary: `{}` walks over its keys; give a list of configurations",
                if name == text {
                    format!("`{name}`")
                } else {
                    name.to_owned()
                },
                search.api.name()
            ),
        );
        if space.node.span != given.node.span {
            found.related(space.place(space.node.span), "the dictionary");
        }
    }
}

/// The dictionary that a space is: written out, through a name, as what a function of the file
/// returns, or in `list(...)`.
fn space<'a>(file: &FileContext<'a>, given: InItem<'a, Expr>) -> Option<InItem<'a, Expr>> {
    let found = host::follow(file, given);
    if is_dict(found.node) {
        return Some(found);
    }
    let ExprKind::Call { func, args } = &found.node.kind else {
        return None;
    };
    let name = func.name()?;
    if let ("list" | "tuple" | "sorted", [only]) = (name.as_str(), args.as_slice()) {
        let inner = found.with(&only.value);
        return space(file, inner);
    }
    let def = host::function(file, name)?;
    let returned = host::returns(def.node);
    let first = returned.first().copied()?;
    (returned.iter().all(|e| is_dict(e))).then_some(def.with(first))
}

/// A dictionary whose keys are strings. Other keys may be configurations.
fn is_dict(expr: &Expr) -> bool {
    let text = |e: &Expr| matches!(e.kind, ExprKind::Str(_) | ExprKind::FString(_));
    match &expr.kind {
        ExprKind::Dict(pairs) => {
            !pairs.is_empty() && pairs.iter().all(|(k, _)| k.as_ref().is_some_and(text))
        }
        ExprKind::Comprehension {
            kind: ComprehensionKind::Dict,
            element,
            ..
        } => text(element),
        // `dict(TILE=[64, 128])`: keywords are strings.
        ExprKind::Call { func, args } => {
            func.name().is_some_and(|n| n == "dict")
                && !args.is_empty()
                && args.iter().all(|a| a.name.is_some())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    const IMPORT: &str = "from cuda.tile.tune import exhaustive_search\n";

    fn with(before: &str, space: &str) -> String {
        format!("{IMPORT}{before}def tune():\n    return exhaustive_search({space}, s, g, k, a)\n")
    }

    #[test]
    fn every_way_to_give_one() {
        for (before, space) in [
            ("SPACE = {'T': [64]}\n", "SPACE"),
            ("", "dict(T=[64, 128])"),
            ("", "list({'T': [64]})"),
            ("def space():\n    return {'T': [64]}\n\n", "space()"),
            ("", "{f'T{i}': i for i in range(4)}"),
        ] {
            let code = with(before, space).replace("k, a)", "k, a)  # TP114");
            bad(&RULE, &code);
        }
        bad(
            &RULE,
            &format!(
                "{IMPORT}def tune():\n    space = {{'T': [64]}}\n    return exhaustive_search(search_space=space, stream=s, grid_fn=g, kernel=k, args_fn=a)  # TP114\n"
            ),
        );
    }

    #[test]
    fn what_holds_configurations() {
        for (before, space) in [
            ("SPACE = {'a': [C(1)], 'b': [C(2)]}\n", "SPACE['a']"),
            ("SPACE = {'a': C(1)}\n", "list(SPACE.values())"),
            ("", "{(64, 64): 1, (64, 128): 2}"),
            ("", "{(64, 64): 1, 'other': 2}"),
            ("", "{**BASE, 'T': [64]}"),
            (
                "def space(n):\n    if n:\n        return {'T': [64]}\n    return [C(64)]\n\n",
                "space(1)",
            ),
            ("", "[dict(T=64), dict(T=128)]"),
            ("", "[{'T': t} for t in (64, 128)]"),
            ("", "dict(zip(KEYS, VALUES))"),
            ("", "{}"),
            ("def space():\n    return [{'T': 64}]\n\n", "space()"),
        ] {
            good(&RULE, &with(before, space));
        }
        // A name of the function's own, given twice.
        good(
            &RULE,
            &format!(
                "{IMPORT}space = {{'T': [64]}}\ndef tune(n):\n    space = [C(64)]\n    if n:\n        space = [C(128)]\n    return exhaustive_search(space, s, g, k, a)\n"
            ),
        );
        // Which of the two is not known.
        good(
            &RULE,
            &format!(
                "{IMPORT}def tune(n):\n    space = {{'T': [64]}}\n    space = expand(space)\n    return exhaustive_search(space, s, g, k, a)\n"
            ),
        );
        good(
            &RULE,
            "from mine import exhaustive_search\nexhaustive_search({'T': [64]}, s)\n",
        );
    }

    #[test]
    fn the_dictionary_is_shown_where_it_is_not_in_the_call() {
        for (before, space, shown) in [
            ("SPACE = {'T': [64]}\n", "SPACE", 1),
            ("", "{'T': [64]}", 0),
        ] {
            let code = with(before, space).replace("k, a)", "k, a)  # TP114");
            let (_, found) = bad(&RULE, &code);
            assert_eq!(found[0].related.len(), shown, "{found:?}");
        }
    }
}
