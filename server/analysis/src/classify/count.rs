//! Counting what one operation, product or access comes to.

use smol_str::SmolStr;
use tileperf_syntax::ast::Expr;

use super::amount;
use super::cost::Walk;
use crate::body::{ApiCall, Dtype, Extent, Tile, Ty};

impl<'a> Walk<'_, 'a> {
    /// An operation on every element of a tile.
    pub(super) fn operation(&mut self, ty: &Ty, cost: f64) {
        let Ty::Tile(tile) = ty else { return };
        // Whole numbers are addresses and masks, which other units compute.
        let counts = !tile.offsets && !matches!(tile.dtype, Dtype::Int | Dtype::Bool);
        if cost == 0.0 || !counts {
            return;
        }
        let (elements, shape) = self.elements(tile);
        let flops = cost * elements * self.rounds;
        self.found.flops += flops;
        let entry = self.found.elementwise.entry(shape).or_default();
        entry.0 += flops;
        entry.1 += cost;
    }

    /// A matrix product: two of the three tiles say how large it is.
    pub(super) fn product(&mut self, a: Option<&Tile>, b: Option<&Tile>, acc: Option<&Tile>) {
        let m = last(a, 2).or_else(|| last(acc, 2));
        let n = last(b, 1).or_else(|| last(acc, 1));
        let k = last(a, 1).or_else(|| last(b, 2));
        let [m, n, k] = [m, n, k].map(|e| self.extent(e.unwrap_or(&Extent::Other)));
        let batch: f64 = match a.and_then(|t| t.shape.as_deref()) {
            Some([batch @ .., _, _]) => batch.iter().map(|e| self.extent(e)).product(),
            _ => 1.0,
        };
        let flops = 2.0 * batch * m * n * k * self.rounds;
        self.found.flops += flops;
        let text = format!(
            "{} FLOP: a matrix product of {m} x {n} x {k}{}",
            amount::short(flops),
            self.times()
        );
        self.found.entries.push((flops, text));
    }

    pub(super) fn written(&mut self, call: &ApiCall<'a>, value: Option<&'a Expr>) {
        match value.map(|v| self.device.ty(v)) {
            Some(Ty::Tile(tile)) => self.moved(tile, call, "stored"),
            Some(Ty::Unknown) => self.moved(&Tile::default(), call, "stored"),
            Some(_) => {
                let one = Tile {
                    shape: Some(Vec::new()),
                    ..Tile::default()
                };
                self.moved(&one, call, "stored");
            }
            None => {}
        }
    }

    pub(super) fn moved(&mut self, tile: &Tile, call: &ApiCall<'a>, what: &str) {
        let array = call.arg(0, "array").and_then(Expr::name);
        let (elements, shape) = self.elements(tile);
        let bytes = elements * self.element_bytes(array) * self.rounds;
        self.found.bytes += bytes;
        let array = array.map_or("an array", SmolStr::as_str);
        let text = format!(
            "{} bytes: {shape} of `{array}` {what}{}",
            amount::short(bytes),
            self.times()
        );
        self.found.entries.push((bytes, text));
    }

    fn times(&self) -> String {
        match self.rounds {
            1.0 => String::new(),
            rounds => format!(", {} times", amount::short(rounds)),
        }
    }

    fn element_bytes(&mut self, array: Option<&SmolStr>) -> f64 {
        if let Some(bytes) = array.and_then(|a| self.known.element_bytes.get(a)) {
            return f64::from(*bytes);
        }
        let bytes = self.assumptions.bytes;
        self.assume(format!("{bytes} bytes an element"));
        bytes
    }

    /// How many elements a tile has, and its shape as people read it.
    fn elements(&mut self, tile: &Tile) -> (f64, String) {
        let Some(shape) = &tile.shape else {
            if self.largest == 0.0 {
                self.largest = self.assumptions.extent;
                self.assume(format!("{} elements of a tile", self.largest));
            }
            return (
                self.largest,
                format!("{} elements", amount::short(self.largest)),
            );
        };
        let extents: Vec<f64> = shape.iter().map(|e| self.extent(e)).collect();
        let elements = extents.iter().product();
        self.largest = self.largest.max(elements);
        let text: Vec<String> = extents.iter().map(f64::to_string).collect();
        match text.as_slice() {
            [] => (1.0, "1 element".to_owned()),
            _ => (elements, format!("{} elements", text.join(" x "))),
        }
    }

    fn extent(&mut self, extent: &Extent) -> f64 {
        match extent {
            Extent::Int(value) => *value as f64,
            Extent::Name(name) => match self.known.constants.get(name) {
                Some(value) => *value as f64,
                None => {
                    self.assume(format!("{name} = {}", self.assumptions.extent));
                    self.assumptions.extent
                }
            },
            Extent::Other => {
                self.assume(format!("{} for other extents", self.assumptions.extent));
                self.assumptions.extent
            }
        }
    }
}

/// An extent of a tile, counted from its last axis.
fn last(tile: Option<&Tile>, from_end: usize) -> Option<&Extent> {
    let shape = tile?.shape.as_ref()?;
    shape.get(shape.len().checked_sub(from_end)?)
}
