//! The launch of several copies, as it is written.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{ExprKind, Stmt, StmtKind};

use super::host::{Launches, SLOTS, axes};
use super::kernel::Copying;
use crate::playbook::KernelContext;
use crate::playbook::c_autotune::flow::one_line;
use crate::playbook::site::Site;
use crate::rewrite::autotune::fresh;
use crate::rewrite::{Edits, line_end};

impl<'a> Launches<'a> {
    pub(super) fn edits(
        &self,
        at: &KernelContext<'a>,
        copying: &Copying<'a>,
        edits: Edits<'a>,
    ) -> Option<Edits<'a>> {
        match self {
            Launches::Loop(site, around) => gathered(at, site, around, copying, edits),
            Launches::Row(sites) => joined(sites, copying, edits),
        }
    }
}

/// Texts of the arrays that a launch passes.
fn arrays(site: &Site<'_>, copying: &Copying<'_>) -> Option<Vec<String>> {
    let places = copying.arrays.iter();
    places
        .map(|(place, _)| one_line(site.source(site.passed.get(*place)?.span)))
        .collect()
}

fn constants(site: &Site<'_>, copying: &Copying<'_>) -> Option<Vec<String>> {
    let places = copying.constants.iter();
    places
        .map(|(place, _)| one_line(site.source(site.passed.get(*place)?.span)))
        .collect()
}

/// Grid texts of the first two axes.
fn blocks(site: &Site<'_>) -> Option<Vec<String>> {
    let mut out: Vec<String> = (axes(site).ok()?.iter())
        .map(|axis| one_line(site.source(axis.span)))
        .collect::<Option<_>>()?;
    if out.len() < 2 {
        out.push("1".to_owned());
    }
    Some(out)
}

/// The loop that gathers, and one behind it that launches.
fn gathered<'a>(
    at: &KernelContext<'a>,
    site: &Site<'a>,
    around: &'a Stmt,
    copying: &Copying<'a>,
    edits: Edits<'a>,
) -> Option<Edits<'a>> {
    let own = site.text();
    let [
        copies,
        first,
        slots,
        blocks,
        counts,
        padded,
        arrays,
        array,
        slot,
    ] = [
        "copies", "first", "slots", "blocks", "counts", "padded", "arrays", "array", "slot",
    ]
    .map(|name| fresh(own, name));
    let place = |span: Span| site.item.place(span);
    let StmtKind::Expr(call) = &site.stmt.kind else {
        return None;
    };
    let ExprKind::Call { func, .. } = &call.kind else {
        return None;
    };
    let (grid, given) = (self::blocks(site)?.join(", "), self::arrays(site, copying)?);
    let comma = if given.len() == 1 { "," } else { "" };
    let kept = format!("{copies}.append((({grid}), ({}{comma})))", given.join(", "));
    let mut passed = vec![format!("*{arrays}")];
    passed.extend(constants(site, copying)?);
    let comma = if passed.len() == 1 { "," } else { "" };
    let lines = [
        format!("for {first} in range(0, len({copies}), {SLOTS}):"),
        format!("    {slots} = {copies}[{first} : {first} + {SLOTS}]"),
        format!(
            "    {blocks} = [max({counts}) for {counts} in zip(*({counts} for {counts}, _ in {slots}))]"
        ),
        format!("    {padded} = {slots} + {slots}[:1] * ({SLOTS} - len({slots}))"),
        format!("    {arrays} = [{array} for _, {slot} in {padded} for {array} in {slot}]"),
        format!(
            "    {}({}, (*{blocks}, len({slots})), {}, ({}{comma}))",
            site.source(func.span),
            one_line(site.source(site.stream.span))?,
            at.kernel.name,
            passed.join(", "),
        ),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let start = place(around.span).start;
    edits.own_line(start)?;
    let empty = format!("{copies} = []");
    let end = place(around.span).end.saturating_sub(1);
    Some(
        edits
            .lines_before(start, &[&empty])
            .replace(place(site.stmt.span), kept)
            .lines_after(end, start, &lines),
    )
}

/// The launches as the first one.
fn joined<'a>(sites: &[Site<'a>], copying: &Copying<'a>, edits: Edits<'a>) -> Option<Edits<'a>> {
    let (first, rest) = sites.split_first()?;
    let all: Vec<Vec<String>> = sites.iter().map(blocks).collect::<Option<_>>()?;
    let largest = |axis: usize| -> String {
        let mut texts: Vec<&str> = all
            .iter()
            .filter_map(|b| Some(b.get(axis)?.as_str()))
            .collect();
        texts.dedup();
        match texts.as_slice() {
            [one] => (*one).to_owned(),
            several => format!("max({})", several.join(", ")),
        }
    };
    let mut passed = Vec::new();
    for site in sites {
        passed.extend(arrays(site, copying)?);
    }
    passed.extend(constants(first, copying)?);
    let mut edits = edits
        .replace(
            first.item.place(first.grid.span),
            format!("({}, {}, {})", largest(0), largest(1), sites.len()),
        )
        .replace(
            first.item.place(first.args.span),
            format!("({})", passed.join(", ")),
        );
    for site in rest {
        let place = site.item.place(site.stmt.span);
        let end = line_end(site.file.text, place.end);
        edits = edits.delete_lines(Span {
            start: place.start,
            end: end.saturating_sub(1).max(place.end),
        });
    }
    Some(edits)
}
