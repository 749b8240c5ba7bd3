//! What cuTile's functions make of blocks, tiles and elements.

use tileperf_syntax::ast::ExprKind;

use super::{Function, Part, parts};
use crate::body::{ApiCall, Extent};

impl<'c> Function<'c, '_> {
    pub(super) fn api(&mut self, call: &ApiCall<'c>) -> Option<Part> {
        let part = match call.name.as_str() {
            "bid" => {
                let axis = self.device.ty(call.arg(0, "axis")?).int()?;
                match Some(axis) == self.axis {
                    true => Part::Block,
                    false => Part::Own,
                }
            }
            // How many there are along the grid follows from the tile.
            "num_blocks" => {
                let axis = self.device.ty(call.arg(0, "axis")?).int()?;
                (Some(axis) != self.axis).then_some(Part::Own)?
            }
            "num_tiles" => {
                let axis = self.device.ty(call.arg(1, "axis")?).int()?;
                let shape = parts(self.device.follow(call.arg(2, "shape")?));
                let mut of_axis = None;
                for (number, extent) in shape.iter().enumerate() {
                    let part = self.part(extent)?;
                    matches!(part, Part::Own | Part::Tile).then_some(())?;
                    if number as i64 == axis {
                        of_axis = Some(part);
                    }
                }
                self.walks(of_axis?)?
            }
            "cdiv" => {
                let (count, by) = (call.arg(0, "x")?, call.arg(1, "y")?);
                (call.args.len() == 2).then_some(())?;
                self.own(count)?;
                let by = self.part(by)?;
                self.walks(by)?
            }
            "sum" | "max" | "min" => self.reduction(call.name.as_str(), call.args)?,
            // The same elements in the same order.
            "reshape" | "expand_dims" => {
                let [of, rest @ ..] = call.args else {
                    return None;
                };
                let part = self.part(&of.value)?;
                for arg in rest {
                    for extent in parts(&arg.value) {
                        let part = self.part(extent)?;
                        matches!(part, Part::Own | Part::Tile).then_some(())?;
                    }
                }
                let long = |shape: &[Extent]| -> Vec<Extent> {
                    let long = shape.iter().filter(|e| **e != Extent::Int(1));
                    long.cloned().collect()
                };
                let before = long(self.device.tile(&of.value)?.shape.as_ref()?);
                let after = long(self.device.tile(call.expr)?.shape.as_ref()?);
                (before == after && !before.contains(&Extent::Other)).then_some(part)?
            }
            "arange" => {
                let [first, rest @ ..] = call.args else {
                    return None;
                };
                self.all_own(rest)?;
                match self.part(&first.value)? {
                    Part::Tile => Part::Lane,
                    Part::Own => Part::Own,
                    _ => return None,
                }
            }
            "astype" => {
                self.own(call.arg(1, "dtype")?)?;
                return self.part(call.arg(0, "x")?);
            }
            "full" | "zeros" | "ones" => {
                let shape = call.arg(0, "shape")?;
                for extent in parts(shape) {
                    let part = self.part(extent)?;
                    matches!(part, Part::Own | Part::Tile).then_some(())?;
                }
                let others = call.args.iter().filter(|a| !std::ptr::eq(&a.value, shape));
                others.into_iter().try_for_each(|a| self.own(&a.value))?;
                Part::Own
            }
            "load" => {
                let (index, shape) = (call.arg(1, "index")?, call.arg(2, "shape")?);
                let (index, shape) = (self.device.follow(index), self.device.follow(shape));
                let (indices, extents) = (parts(index), parts(shape));
                (indices.len() == extents.len()).then_some(())?;
                for (index, extent) in indices.iter().zip(extents) {
                    match (self.part(index)?, self.part(extent)?) {
                        (Part::Block, Part::Tile) | (Part::Own, Part::Own) => {}
                        _ => return None,
                    }
                }
                self.checked(call, &["index", "shape"], 3)?;
                Part::Own
            }
            "store" => {
                let index = self.device.follow(call.arg(1, "index")?);
                let tile = self.device.tile(call.arg(2, "tile")?)?;
                let (indices, extents) = (parts(index), tile.shape.as_ref()?);
                (indices.len() == extents.len()).then_some(())?;
                let lane = self.tile;
                let is_lane = |e: &Extent| matches!(e, Extent::Name(n) if lane == Some(n));
                // Of pairs only those of a block would be written.
                (extents.iter().filter(|e| is_lane(e)).count() < 2).then_some(())?;
                for (index, extent) in indices.iter().zip(extents) {
                    let follows = is_lane(extent);
                    match self.part(index)? {
                        Part::Block if follows => {}
                        Part::Own if !follows && *extent != Extent::Other => {}
                        _ => return None,
                    }
                }
                self.own(call.arg(2, "tile")?)?;
                self.checked(call, &["index", "tile"], 3)?;
                Part::Own
            }
            "gather" | "scatter" => {
                for index in parts(self.device.follow(call.arg(1, "indices")?)) {
                    self.own(index)?;
                }
                self.checked(call, &["indices"], 2)?;
                Part::Own
            }
            name if ELEMENTWISE.contains(&name) => {
                self.all_own(call.args)?;
                Part::Own
            }
            _ => return None,
        };
        Some(part)
    }

    /// A count of tiles by the tile that is asked about, or by something else.
    fn walks(&self, by: Part) -> Option<Part> {
        match by {
            // Where blocks are by it, a walk over all of it is something else.
            Part::Tile => self.axis.is_none().then_some(Part::Count),
            Part::Own => Some(Part::Own),
            _ => None,
        }
    }

    /// The other arguments of an access: an element's own, and nothing outside the array is touched,
    /// where another size of blocks would reach further.
    fn checked(&mut self, call: &ApiCall<'c>, done: &[&str], places: usize) -> Option<()> {
        let mut place = 0;
        for arg in call.args {
            let name = arg.name.as_ref().map(|n| n.name.as_str());
            if name.is_none() {
                place += 1;
            }
            let is_done = match name {
                Some(name) => done.contains(&name),
                None => place > 1 && place <= places,
            };
            if name == Some("check_bounds") && !matches!(arg.value.kind, ExprKind::Bool(true)) {
                return None;
            }
            if !is_done {
                self.own(&arg.value)?;
            }
        }
        Some(())
    }
}

/// Functions of cuTile's that do the same for every element.
const ELEMENTWISE: [&str; 40] = [
    "abs",
    "add",
    "atan2",
    "bitwise_and",
    "bitwise_lshift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_rshift",
    "bitwise_xor",
    "ceil",
    "cos",
    "cosh",
    "equal",
    "exp",
    "exp2",
    "floor",
    "floordiv",
    "greater",
    "greater_equal",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log2",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "negative",
    "not_equal",
    "pow",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "sub",
    "tan",
    "tanh",
    "truediv",
    "where",
];
