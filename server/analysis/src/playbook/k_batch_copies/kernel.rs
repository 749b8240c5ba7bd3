//! The kernel's side: a copy of whole arrays, tile by tile, and the same for several of them.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use crate::body::{Device, Extent, is_decorated};
use crate::playbook::KernelContext;
use crate::playbook::site::Refused;
use crate::rewrite::autotune::fresh;
use crate::rewrite::{Edits, line_end, line_start};

/// Lines that are longer are broken.
const WIDTH: usize = 100;

/// What a copying kernel may call.
const CALLS: [&str; 6] = ["bid", "load", "store", "astype", "reshape", "permute"];

/// A kernel that copies.
pub(super) struct Copying<'a> {
    /// Parameters that are arrays, then those that are constants, each with its place.
    pub(super) arrays: Vec<(usize, &'a SmolStr)>,
    pub(super) constants: Vec<(usize, &'a SmolStr)>,
    /// What ends along each axis of the grid: blocks from there on store nothing.
    pub(super) ends: [Vec<End<'a>>; 2],
}

/// A tile for each block of an axis, along an axis of an array that is written.
pub(super) struct End<'a> {
    pub(super) array: &'a SmolStr,
    /// Of the array.
    pub(super) axis: usize,
    pub(super) rank: usize,
    /// The tile's extent: a constant parameter or a number.
    pub(super) tile: Extent,
}

impl<'a> Copying<'a> {
    pub(super) fn of(at: &KernelContext<'a>) -> Result<Copying<'a>, Refused> {
        const FORM: Refused = "it does more than copy";
        let def = at.def.node;
        if !is_decorated(at.kernel) || def.decorators.len() != 1 {
            return Err("it has further decorators");
        }
        let mut arrays = Vec::new();
        let mut constants = Vec::new();
        for (place, param) in def.params.iter().enumerate() {
            let name = &param.name.name;
            let plain = param.stars == 0 && !param.keyword_only && param.default.is_none();
            let constant = at.device.constants.contains(name);
            match (plain, constant, at.device.body.arrays.contains(name)) {
                (true, true, _) => constants.push((place, name)),
                (true, false, true) => arrays.push((place, name)),
                _ => return Err("it gets something else than arrays and constants"),
            }
        }
        let straight = def.body.iter().all(|stmt| match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().all(is_names),
            StmtKind::Expr(_) => true,
            _ => false,
        });
        if !straight {
            return Err(FORM);
        }
        let mut copying = Copying {
            arrays,
            constants,
            ends: [Vec::new(), Vec::new()],
        };
        let mut result = Ok(());
        at.device.walk(&mut |expr, _| {
            if result.is_ok() {
                result = copying.look(&at.device, expr);
            }
        });
        result?;
        if copying.ends.iter().all(Vec::is_empty) {
            return Err("its stores do not follow the grid");
        }
        Ok(copying)
    }

    fn look(&mut self, device: &Device<'a>, expr: &'a Expr) -> Result<(), Refused> {
        const FORM: Refused = "it does more than copy";
        match &expr.kind {
            ExprKind::Binary { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Logical { .. }
            | ExprKind::Conditional { .. }
            | ExprKind::Lambda { .. }
            | ExprKind::Comprehension { .. }
            | ExprKind::Named { .. }
            | ExprKind::Unknown(_) => return Err(FORM),
            ExprKind::Call { .. } => {}
            _ => return Ok(()),
        }
        let Some(call) = device.call(expr) else {
            let ExprKind::Call { func, .. } = &expr.kind else {
                return Ok(());
            };
            let casts = matches!(&func.kind, ExprKind::Attribute { value, attr }
                if attr.name == "astype" && device.tile(value).is_some());
            return if casts { Ok(()) } else { Err(FORM) };
        };
        let is_open = call.is_open() || !CALLS.contains(&call.name.as_str());
        if is_open || call.keyword("check_bounds").is_some() {
            return Err(FORM);
        }
        match call.name.as_str() {
            "bid" => match block_axis(device, expr) {
                Some(0 | 1) => Ok(()),
                _ => Err("it asks for the third axis of the grid already"),
            },
            "store" => self.store(device, &call),
            _ => Ok(()),
        }
    }

    /// A store whose blocks end where its array does.
    fn store(
        &mut self,
        device: &Device<'a>,
        call: &crate::body::ApiCall<'a>,
    ) -> Result<(), Refused> {
        const UNSEEN: Refused = "where its stores end is not seen";
        let array = call.arg(0, "array").and_then(|e| e.name()).ok_or(UNSEEN)?;
        let array = self.arrays.iter().find(|(_, name)| *name == array);
        let (_, array) = array.ok_or(UNSEEN)?;
        let index = device.follow(call.arg(1, "index").ok_or(UNSEEN)?);
        let tile = call.arg(2, "tile").and_then(|e| device.tile(e));
        let extents = tile.and_then(|t| t.shape.as_ref()).ok_or(UNSEEN)?;
        let indices = match &index.kind {
            ExprKind::Tuple(parts) => parts.as_slice(),
            _ => std::slice::from_ref(index),
        };
        if indices.len() != extents.len() {
            return Err(UNSEEN);
        }
        for (axis, (index, extent)) in indices.iter().zip(extents).enumerate() {
            if let Some(of_grid @ (0 | 1)) = block_axis(device, device.follow(index)) {
                self.ends[of_grid].push(End {
                    array,
                    axis,
                    rank: indices.len(),
                    tile: extent.clone(),
                });
            }
        }
        Ok(())
    }

    /// The kernel as a function for one copy, and a kernel of the same name for several.
    pub(super) fn edits(&self, at: &KernelContext<'a>, slots: usize) -> Result<Edits<'a>, Refused> {
        let (file, def) = (at.file, at.def);
        let text = file.text;
        let name = at.kernel.name.as_str();
        let one = fresh(text, &format!("_{}_one", name.trim_start_matches('_')));
        let decorator = at.kernel.decorator_span;
        let line = Span {
            start: line_start(text, decorator.start),
            end: line_end(text, decorator.end),
        };
        let decorated = file.source(line).trim_end().to_owned();
        if !decorated.starts_with('@') || decorated.contains('#') {
            return Err("its decorator shares its line");
        }
        let ct = at.ct().ok_or("cuTile's functions are imported by name")?;
        let arrays = |slot: usize| -> Vec<String> {
            let names = self.arrays.iter();
            names.map(|(_, name)| format!("{name}_{slot}")).collect()
        };
        let all: Vec<String> = (0..slots).flat_map(arrays).collect();
        let typed: Vec<&str> = (self.constants.iter())
            .filter_map(|(place, _)| def.node.params.get(*place))
            .map(|param| {
                let end = param
                    .annotation
                    .as_ref()
                    .map_or(param.name.span, |a| a.span);
                at.source(Span {
                    start: param.name.span.start,
                    end: end.end,
                })
            })
            .collect();
        if typed.iter().any(|t| t.contains('\n'))
            || all.iter().any(|a| at.text().contains(a.as_str()))
        {
            return Err("its parameters are written in a way that is not followed");
        }
        let mut lines = vec![String::new(), String::new(), decorated];
        let head = format!("def {name}({}", all.join(", "));
        let rest = typed.join(", ");
        if head.len() + rest.len() + 4 <= WIDTH {
            let comma = if rest.is_empty() { "" } else { ", " };
            lines.push(format!("{head}{comma}{rest}):"));
        } else {
            lines.push(format!("def {name}("));
            lines.extend(wrapped(&all));
            lines.extend(typed.iter().map(|t| format!("    {t},")));
            lines.push("):".to_owned());
        }
        let which = fresh(at.text(), "slot");
        lines.push(format!("    {which} = {ct}.bid(2)"));
        for slot in 0..slots {
            lines.push(match slot {
                0 => format!("    if {which} == 0:"),
                _ if slot + 1 == slots => "    else:".to_owned(),
                _ => format!("    elif {which} == {slot}:"),
            });
            lines.push(format!("        {one}({})", self.handed(slot)));
        }
        let mut block = String::new();
        for line in &lines {
            block.push_str(line);
            block.push('\n');
        }
        let end = line_end(text, def.place(def.node.def_span).end.saturating_sub(1));
        let edits = Edits::new(text)
            .replace(line, "")
            .replace(def.place(def.node.name.span), one);
        Ok(
            match text.get(..end as usize).is_some_and(|t| t.ends_with('\n')) {
                true => edits.insert(end, block),
                false => edits.insert(end, format!("\n{}", block.trim_end())),
            },
        )
    }

    /// The arguments for one copy, in the order of the parameters.
    fn handed(&self, slot: usize) -> String {
        let arrays = self
            .arrays
            .iter()
            .map(|(place, name)| (*place, format!("{name}_{slot}")));
        let constants = self
            .constants
            .iter()
            .map(|(place, name)| (*place, name.to_string()));
        let mut all: Vec<(usize, String)> = arrays.chain(constants).collect();
        all.sort();
        let all: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
        all.join(", ")
    }
}

/// The axis of a block's index, if an expression is one.
fn block_axis<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<usize> {
    let call = device.call(expr).filter(|call| call.name == "bid")?;
    usize::try_from(device.ty(call.arg(0, "axis")?).int()?).ok()
}

fn is_names(target: &Expr) -> bool {
    match &target.kind {
        ExprKind::Name(_) => true,
        ExprKind::Tuple(parts) => parts.iter().all(is_names),
        _ => false,
    }
}

/// Names on as few lines as they fit on.
fn wrapped(names: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() + 2 <= WIDTH => {
                line.push_str(&format!(" {name},"))
            }
            _ => lines.push(format!("    {name},")),
        }
    }
    lines
}
