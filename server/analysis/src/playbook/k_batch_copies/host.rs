//! The launch's side: a loop that launches for each of its inputs, or launches one below the other.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::kernel::{Copying, End};
use crate::body::{Extent, bindings};
use crate::playbook::KernelContext;
use crate::playbook::host::{followed, quotient};
use crate::playbook::site::{Meaning, Refused, Site, only_launches};

/// Slots of a launch for as many inputs as there are at run time.
pub(super) const SLOTS: usize = 8;

/// What is gathered into one launch.
pub(super) enum Launches<'a> {
    /// The launch of a loop, and the loop.
    Loop(Box<Site<'a>>, &'a Stmt),
    /// Launches one below the other.
    Row(Vec<Site<'a>>),
}

impl<'a> Launches<'a> {
    pub(super) fn of(
        at: &KernelContext<'a>,
        copying: &Copying<'a>,
    ) -> Result<Launches<'a>, Refused> {
        if at.named_elsewhere(&at.kernel.name) == Some(true) {
            return Err("other files name it");
        }
        let mut sites = Vec::new();
        for launch in only_launches(at)? {
            sites.push(Site::anywhere(at, launch)?);
        }
        let launches = match sites.as_slice() {
            [(_, loops)] => {
                let [around] = loops.as_slice() else {
                    return Err("it is launched once, or in loops within loops");
                };
                let around = *around;
                let (site, _) = sites.remove(0);
                Launches::Loop(Box::new(site), around)
            }
            _ if sites.iter().any(|(_, loops)| !loops.is_empty()) => {
                return Err("it is launched in several loops");
            }
            _ => Launches::Row(sites.into_iter().map(|(site, _)| site).collect()),
        };
        launches.check(copying)?;
        Ok(launches)
    }

    pub(super) fn slots(&self) -> usize {
        match self {
            Launches::Loop(..) => SLOTS,
            Launches::Row(sites) => sites.len(),
        }
    }

    fn check(&self, copying: &Copying<'a>) -> Result<(), Refused> {
        match self {
            Launches::Loop(site, around) => check_loop(site, around, copying),
            Launches::Row(sites) => check_row(sites, copying),
        }
    }
}

/// The grid's first two axes; the third is one.
pub(super) fn axes<'a>(site: &Site<'a>) -> Result<Vec<&'a Expr>, Refused> {
    const FORM: Refused = "its grid is not two axes, written out";
    let ExprKind::Tuple(axes) = &followed(site, site.grid).kind else {
        return Err(FORM);
    };
    match axes.as_slice() {
        [first] => Ok(vec![first]),
        [first, second] => Ok(vec![first, second]),
        [first, second, third] if matches!(third.kind, ExprKind::Int(1)) => Ok(vec![first, second]),
        _ => Err(FORM),
    }
}

fn is_written(site: &Site<'_>) -> Result<(), Refused> {
    match site.is_written() {
        true => Ok(()),
        false => Err("its arguments are not written at the launch"),
    }
}

/// Whether blocks of an axis behind the launch's own store nothing: it has one for each tile of what is
/// stored.
fn ends_there<'a>(site: &Site<'a>, copying: &Copying<'a>, axis: usize, blocks: &'a Expr) -> bool {
    let ends = copying.ends.get(axis).map_or(&[][..], Vec::as_slice);
    ends.iter().all(|end| covers(site, copying, end, blocks))
}

fn covers<'a>(site: &Site<'a>, copying: &Copying<'a>, end: &End<'a>, blocks: &'a Expr) -> bool {
    let (count, by) = match quotient(site, blocks) {
        Some((count, by)) => (count, Some(by)),
        None => (blocks, None),
    };
    let passed = |list: &[(usize, &SmolStr)], name: &SmolStr| -> Option<&'a Expr> {
        let (place, _) = list.iter().find(|(_, own)| *own == name)?;
        site.passed.get(*place)
    };
    let tiles = match (&end.tile, by) {
        (Extent::Int(1), None) => true,
        (Extent::Int(extent), Some(by)) => matches!(by.kind, ExprKind::Int(n) if n == *extent),
        (Extent::Name(tile), Some(by)) => passed(&copying.constants, tile).is_some_and(|arg| {
            let fixed = matches!(arg.kind, ExprKind::Name(_) | ExprKind::Int(_));
            fixed && site.source(arg.span) == site.source(by.span)
        }),
        _ => false,
    };
    let array = passed(&copying.arrays, end.array).and_then(|arg| arg.name());
    tiles && array.is_some_and(|array| is_extent(site, followed(site, count), array, end))
}

/// `array.shape[axis]`, `array.size(axis)`, `len(array)`, `array.numel()` of one axis.
fn is_extent(site: &Site<'_>, count: &Expr, array: &SmolStr, end: &End<'_>) -> bool {
    let text = site.source(count.span);
    let axis = end.axis;
    text == format!("{array}.shape[{axis}]")
        || text == format!("{array}.size({axis})")
        || axis == 0 && text == format!("len({array})")
        || end.rank == 1 && text == format!("{array}.numel()")
}

fn check_row(sites: &[Site<'_>], copying: &Copying<'_>) -> Result<(), Refused> {
    let [first, rest @ ..] = sites else {
        return Err("nothing launches it");
    };
    if rest.is_empty() || sites.len() > SLOTS {
        return Err("it is launched once, or very often");
    }
    let def = first.def().ok_or("it is launched outside functions")?;
    if !is_row(&def.body, sites) {
        return Err("its launches are not one below the other");
    }
    for site in sites {
        is_written(site)?;
        if !site.passed.iter().all(is_harmless) {
            return Err("its arguments are made by something that is not seen");
        }
        if sites
            .iter()
            .any(|other| other.source(other.stream.span) != site.source(site.stream.span))
        {
            return Err("its launches are on several streams");
        }
        for (place, _) in &copying.constants {
            let text = |site: &Site<'_>| {
                site.passed
                    .get(*place)
                    .map(|e| site.source(e.span).to_owned())
            };
            if text(site) != text(first) {
                return Err("its launches pass several constants");
            }
        }
        let own = axes(site)?;
        let mut steady = own.iter().all(|blocks| is_harmless(blocks));
        for blocks in &own {
            blocks.walk(&mut |e| {
                let changes = |n: &SmolStr| matches!(site.meaning(n), Meaning::Changing);
                steady &= !e.name().is_some_and(changes);
            });
        }
        if !steady {
            return Err("its grid is made by something that is not seen");
        }
        for (axis, blocks) in own.iter().enumerate() {
            let all_same = sites.iter().all(|other| {
                axes(other).is_ok_and(|axes| {
                    axes.len() == own.len()
                        && axes
                            .get(axis)
                            .is_some_and(|e| other.source(e.span) == site.source(blocks.span))
                })
            });
            if !all_same && !ends_there(site, copying, axis, blocks) {
                return Err("its grid is not seen to end where the array does");
            }
        }
    }
    Ok(())
}

/// Whether launches are statements in a row.
fn is_row(body: &[Stmt], sites: &[Site<'_>]) -> bool {
    let wanted: Vec<Span> = sites.iter().map(|site| site.stmt.span).collect();
    let here = body.windows(wanted.len()).any(|window| {
        window
            .iter()
            .map(|stmt| stmt.span)
            .eq(wanted.iter().copied())
    });
    let within = |stmt: &Stmt| stmt.blocks().into_iter().any(|inner| is_row(inner, sites));
    here || body.iter().any(within)
}

fn check_loop<'a>(site: &Site<'a>, around: &'a Stmt, copying: &Copying<'a>) -> Result<(), Refused> {
    let StmtKind::For {
        target,
        iter,
        body,
        orelse,
    } = &around.kind
    else {
        return Err("it is launched in a `while`");
    };
    if !orelse.is_empty() || !body.iter().any(|stmt| stmt.span == site.stmt.span) {
        return Err("its loop does not launch it for each input");
    }
    is_written(site)?;
    let mut bound: FxHashSet<SmolStr> = FxHashSet::default();
    target.walk(&mut |e| bound.extend(e.name().cloned()));
    let harmless = body
        .iter()
        .filter(|s| s.span != site.stmt.span)
        .all(|stmt| {
            let targets: Vec<&Expr> = match &stmt.kind {
                StmtKind::Assign { targets, value } if is_harmless(value) => {
                    targets.iter().collect()
                }
                StmtKind::AugAssign { target, value, .. } if is_harmless(value) => vec![target],
                _ => return false,
            };
            targets.iter().all(|target| binds_names(target, &mut bound))
        });
    if !harmless || !is_harmless(iter) || !site.passed.iter().all(is_harmless) {
        return Err("its loop does something else than to give names to views and numbers");
    }
    let varies = |expr: &Expr| {
        let mut found = false;
        expr.walk(&mut |e| found |= e.name().is_some_and(|n| bound.contains(n)));
        found
    };
    let constants = copying
        .constants
        .iter()
        .filter_map(|(place, _)| site.passed.get(*place));
    if varies(site.stream) || constants.into_iter().any(varies) {
        return Err("its loop launches it with several constants");
    }
    // An array by another name from one line to the next would end elsewhere.
    let def = site.def().ok_or("it is launched outside functions")?;
    let once = |name: &SmolStr| {
        let mut count = 0;
        bindings(&def.body, name, &mut |_| count += 1);
        count <= 1
    };
    for (axis, blocks) in axes(site)?.into_iter().enumerate() {
        if !is_harmless(blocks) {
            return Err("its grid is made by something that is not seen");
        }
        let follows = varies(blocks) || varies(followed(site, blocks));
        let mut steady = true;
        blocks.walk(&mut |e| {
            steady &= !e.name().is_some_and(|n| bound.contains(n) && !once(n));
        });
        if follows && !(steady && ends_there(site, copying, axis, blocks)) {
            return Err("its grid is not seen to end where the array does");
        }
    }
    Ok(())
}

fn binds_names(target: &Expr, bound: &mut FxHashSet<SmolStr>) -> bool {
    match &target.kind {
        ExprKind::Name(name) => {
            bound.insert(name.clone());
            true
        }
        ExprKind::Tuple(parts) => parts.iter().all(|part| binds_names(part, bound)),
        _ => false,
    }
}

/// Whether evaluating an expression reads and writes no array: views, extents and numbers.
fn is_harmless(expr: &Expr) -> bool {
    let mut fine = true;
    expr.walk(&mut |e| match &e.kind {
        ExprKind::Call { func, .. } => {
            let name = func.last_ident().map(|ident| ident.name);
            fine &= name.is_some_and(|name| HARMLESS.contains(&name.as_str()));
        }
        ExprKind::Await(_)
        | ExprKind::Yield(_)
        | ExprKind::YieldFrom(_)
        | ExprKind::Lambda { .. }
        | ExprKind::Comprehension { .. }
        | ExprKind::Named { .. }
        | ExprKind::Starred(_)
        | ExprKind::Unknown(_) => fine = false,
        _ => {}
    });
    fine
}

/// Functions and methods that look at no element.
const HARMLESS: [&str; 24] = [
    "cdiv",
    "ceil",
    "empty",
    "empty_like",
    "enumerate",
    "flatten",
    "int",
    "items",
    "len",
    "max",
    "min",
    "narrow",
    "numel",
    "permute",
    "range",
    "reversed",
    "select",
    "size",
    "squeeze",
    "stride",
    "unsqueeze",
    "view",
    "values",
    "zip",
];
