//! What is in an expression.

use tileperf_syntax::ast::{Arg, Expr, ExprKind};

use super::facts::{Facts, Flag, Load, Scaling};
use super::walk::Walk;
use crate::body::{Dtype, Extent, argument};

impl<'a> Walk<'_, 'a> {
    /// What went into an expression.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Facts {
        match &expr.kind {
            ExprKind::Name(name) => self.names.get(name).copied().unwrap_or_default(),
            ExprKind::Attribute { value, attr } => {
                let facts = self.expr(value);
                let is_about = matches!(attr.name.as_str(), "shape" | "dtype" | "ndim" | "strides");
                match is_about {
                    true => Facts::default(),
                    false => facts,
                }
            }
            ExprKind::Subscript { value, index } => {
                let inner = index.iter().map(|i| self.expr(i));
                let inner: Facts = inner.fold(Facts::default(), Facts::with);
                let facts = self.expr(value).with(inner);
                let is_passed = value.name().is_some_and(|name| {
                    self.device.param(name).is_some()
                        && !self.device.constants.contains(name)
                        && !self.names.contains_key(name)
                });
                match is_passed {
                    true => facts.and(Flag::Listed),
                    false => facts,
                }
            }
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.expr(left), self.expr(right));
                match op.as_str() {
                    "@" => self.product(expr, left, right, Facts::default()),
                    op => self.operation(op, left, right),
                }
            }
            ExprKind::Conditional { test, body, orelse } => {
                self.expr(test);
                self.expr(body).with(self.expr(orelse))
            }
            ExprKind::Call { func, args } => self.call(expr, func, args),
            ExprKind::Named { target, value } => {
                let facts = self.expr(value);
                self.names.insert(target.name.clone(), facts);
                facts
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) | ExprKind::Unknown(parts) => {
                let all = parts.iter().map(|part| self.expr(part));
                all.fold(Facts::default(), Facts::with)
            }
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Starred(inner) => self.expr(inner),
            ExprKind::Logical { left, right, .. } => self.expr(left).with(self.expr(right)),
            ExprKind::Compare { first, rest } => {
                let rest = rest.iter().map(|(_, side)| self.expr(side));
                let rest: Facts = rest.fold(Facts::default(), Facts::with);
                self.expr(first).with(rest)
            }
            _ => Facts::default(),
        }
    }

    /// An operator on both.
    pub(super) fn operation(&mut self, op: &str, left: Facts, right: Facts) -> Facts {
        let both = left.with(right);
        let plain = both.without(Flag::Area).without(Flag::Count);
        match op {
            "*" => {
                for (product, scales) in [(left, right), (right, left)] {
                    self.scaled(product, scales);
                }
                let is_area = left.has(Flag::Area)
                    || right.has(Flag::Area)
                    || left.has(Flag::Count) && right.has(Flag::Count);
                match is_area {
                    true => plain.and(Flag::Area),
                    false => plain,
                }
            }
            "-" if left.products != 0 => {
                let is_read = right.is_read() && right.products == 0;
                match is_read || right.maxima & left.products != 0 {
                    true => plain.and(Flag::Lowered),
                    false => plain,
                }
            }
            // Which matrix of several a tile is of: no longer a tile's number.
            "//" if right.has(Flag::Area) => Facts {
                blocks: 0,
                ..plain.without(Flag::Handed).and(Flag::Matrix)
            },
            // (n + tile - 1) // tile
            "//" if !both.is_of_block() => plain.and(Flag::Count),
            _ => plain,
        }
    }

    fn scaled(&mut self, product: Facts, scales: Facts) {
        let is_scale = scales.is_read()
            && scales.products == 0
            && !scales.has(Flag::Exponential)
            && !scales.has(Flag::Offsets);
        if product.products == 0 || !is_scale {
            return;
        }
        let scaling = Scaling {
            products: product.products,
            scales,
            within: self.place.innermost(),
        };
        if !self.scalings.contains(&scaling) {
            self.scalings.push(scaling);
        }
    }

    fn call(&mut self, whole: &'a Expr, func: &'a Expr, args: &'a [Arg]) -> Facts {
        if let Some(call) = self.device.call(whole) {
            return self.api(&call);
        }
        if let ExprKind::Attribute { value, attr } = &func.kind {
            if attr.name == "load" {
                let array = self.expr(value);
                let index = argument(args, Some(0), "index");
                return self.loaded(whole, value, array, index, None);
            }
            let base = self.expr(value);
            let facts = self.all(args).with(base);
            return match attr.name.as_str() {
                "num_tiles" => facts.and(Flag::Count),
                "astype" => self.cast(whole, facts),
                _ => facts,
            };
        }
        if let Some(name) = func.name()
            && let Some(facts) = self.function(whole, name, args)
        {
            return facts;
        }
        self.all(args)
    }

    pub(super) fn all(&mut self, args: &'a [Arg]) -> Facts {
        let all = args.iter().map(|a| self.expr(&a.value));
        all.fold(Facts::default(), Facts::with)
    }

    pub(super) fn cast(&self, whole: &Expr, facts: Facts) -> Facts {
        let facts = facts.without(Flag::Float8).without(Flag::Wider);
        match self.is_float8(whole) {
            Some(true) => facts.and(Flag::Float8),
            Some(false) => facts.and(Flag::Wider),
            None => facts,
        }
    }

    /// Whether a tile's elements are floats of 8 bits, as far as its type says.
    pub(super) fn is_float8(&self, tile: &Expr) -> Option<bool> {
        match &self.device.tile(tile)?.dtype {
            Dtype::F8 => Some(true),
            Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::Tf32 | Dtype::F64 | Dtype::Int => {
                Some(false)
            }
            _ => None,
        }
    }

    pub(super) fn product(&mut self, whole: &'a Expr, x: Facts, y: Facts, acc: Facts) -> Facts {
        let number = self.number(whole.span.start, true);
        let place = self.place.clone();
        let product = &mut self.products[number];
        product.x = product.x.with(x);
        product.y = product.y.with(y);
        product.acc = product.acc.with(acc);
        product.place = place;
        Facts {
            products: acc.products | 1 << number.min(63),
            ..Facts::default()
        }
    }

    pub(super) fn loaded(
        &mut self,
        whole: &'a Expr,
        array: &'a Expr,
        of: Facts,
        index: Option<&'a Expr>,
        shape: Option<&'a Expr>,
    ) -> Facts {
        let written = index.map(|index| (index, shape));
        let index = index.map_or_else(Facts::default, |e| self.expr(e));
        let is_number = match shape.map(|s| &s.kind) {
            Some(ExprKind::Tuple(extents) | ExprKind::List(extents)) => {
                extents.iter().all(|e| matches!(e.kind, ExprKind::Int(1)))
            }
            Some(ExprKind::Int(1)) => true,
            Some(_) => false,
            None => {
                let is_gather = self.device.call(whole).is_some();
                is_gather && !index.has(Flag::Offsets) && index.tiles == 0
            }
        };
        let tile = self.device.tile(whole);
        let extents = tile.and_then(|t| t.shape.clone()).unwrap_or_default();
        let axes = (extents.iter().filter(|e| **e != Extent::Int(1))).count();
        let extents = extents.into_iter().filter_map(|extent| match extent {
            Extent::Name(name) => Some(name),
            _ => None,
        });
        let number = self.number(whole.span.start, false);
        let known = std::mem::take(&mut self.loads[number]);
        self.loads[number] = Load {
            array: known.array.with(of),
            name: array.name().cloned(),
            index: known.index.with(index),
            written,
            extents: extents.collect(),
            axes,
            place: self.place.clone(),
        };
        let bit = 1u128 << number.min(127);
        match is_number {
            true => Facts {
                lookups: bit,
                ..Facts::default()
            },
            false => Facts {
                tiles: bit,
                ..Facts::default()
            },
        }
    }
}
