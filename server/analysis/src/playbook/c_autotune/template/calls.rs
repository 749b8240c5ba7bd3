//! What is in the result of a function of cuTile's.

use tileperf_syntax::ast::ExprKind;

use super::facts::{Facts, Flag};
use super::walk::Walk;
use crate::body::ApiCall;

impl<'a> Walk<'_, 'a> {
    /// What went into the result of a call.
    pub(super) fn api(&mut self, call: &ApiCall<'a>) -> Facts {
        match call.name.as_str() {
            "load" | "gather" => {
                let Some(array) = call.arg(0, "array") else {
                    return Facts::default();
                };
                let facts = self.expr(array);
                let index = call.arg(1, "index").or_else(|| call.keyword("indices"));
                let shape = call.arg(2, "shape").filter(|_| call.name == "load");
                self.loaded(call.expr, array, facts, index, shape)
            }
            "mma" | "matmul" => {
                let operand = |place, name| call.arg(place, name);
                let (x, y) = (operand(0, "x"), operand(1, "y"));
                let known = [x, y].map(|e| e.and_then(|e| self.is_float8(e)));
                let [x, y] = [x, y].map(|e| e.map_or_else(Facts::default, |e| self.expr(e)));
                let acc = call
                    .arg(2, "acc")
                    .map_or_else(Facts::default, |e| self.expr(e));
                let facts = self.product(call.expr, x, y, acc);
                let number = self.number(call.expr.span.start, true);
                let told = |of: Facts, known: Option<bool>| match known {
                    Some(known) => Some(known),
                    None if of.has(Flag::Wider) => Some(false),
                    None if of.has(Flag::Float8) => Some(true),
                    None => None,
                };
                self.products[number].is_float8 = match (told(x, known[0]), told(y, known[1])) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (a, b) => a.or(b),
                };
                facts
            }
            "mma_scaled" => {
                let parts = [
                    (0, "x"),
                    (1, "x_scale"),
                    (2, "y"),
                    (3, "y_scale"),
                    (4, "acc"),
                ];
                let [x, x_scale, y, y_scale, acc] = parts.map(|(place, name)| {
                    (call.arg(place, name)).map_or_else(Facts::default, |e| self.expr(e))
                });
                let facts = self.product(call.expr, x, y, acc);
                let number = self.number(call.expr.span.start, true);
                self.products[number].scales = Some(x_scale.with(y_scale));
                facts
            }
            "exp" | "exp2" => {
                let facts = self.all(call.args);
                let softmax = match facts.has(Flag::Lowered) {
                    true => facts.products,
                    false => 0,
                };
                Facts {
                    softmax: facts.softmax | softmax,
                    ..facts.and(Flag::Exponential)
                }
            }
            "sum" | "max" | "min" | "prod" | "argmax" | "argmin" | "reduce" | "cumsum"
            | "cumprod" | "scan" => {
                self.reduces = true;
                let facts = self.all(call.args).without(Flag::Offsets);
                match call.name.as_str() {
                    "max" => Facts {
                        maxima: facts.maxima | facts.products,
                        ..facts
                    },
                    _ => facts,
                }
            }
            "add" | "sub" | "mul" | "floordiv" => {
                let op = match call.name.as_str() {
                    "add" => "+",
                    "sub" => "-",
                    "mul" => "*",
                    _ => "//",
                };
                let sides = [(0, "x"), (1, "y")].map(|(place, name)| {
                    (call.arg(place, name)).map_or_else(Facts::default, |e| self.expr(e))
                });
                self.operation(op, sides[0], sides[1])
            }
            "arange" => Facts::of(Flag::Offsets),
            "bid" => {
                let axis = call.arg(0, "axis").map(|e| &e.kind);
                let blocks = match axis {
                    Some(ExprKind::Int(axis @ 0..=2)) => 1 << axis,
                    _ => 0b111,
                };
                let facts = Facts {
                    blocks,
                    ..Facts::default()
                };
                match blocks & self.rows.blocks != 0 {
                    true => facts.and(Flag::Rows),
                    false => facts,
                }
            }
            "num_blocks" => Facts::of(Flag::Blocks),
            "cdiv" | "num_tiles" => self.all(call.args).and(Flag::Count),
            "astype" | "bitcast" => {
                let facts = self.all(call.args);
                self.cast(call.expr, facts)
            }
            "zeros" | "ones" => Facts::default(),
            _ => self.all(call.args),
        }
    }
}
