//! Calls of functions of the same file.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Param};

use super::Known;
use super::cost::{Walk, cost_of_function, cost_of_operator};
use crate::body::{ApiCall, Const, Device, Tile, Ty, argument};

/// How deep helpers that call helpers are followed.
const DEPTH: u32 = 3;

impl<'a> Walk<'_, 'a> {
    /// A call of a function. One that reads or writes memory is walked as if it stood there; another
    /// is taken as done on each element of the tile that it is given.
    pub(super) fn helper(&mut self, name: &str, args: &'a [Arg]) {
        if self.depth >= DEPTH {
            return;
        }
        let Some(callee) = (self.lookup)(name) else {
            return;
        };
        self.depth += 1;
        let moves = !callee.body.loaded.is_empty() || !callee.body.stored.is_empty();
        if moves {
            self.inlined(callee, args);
        } else if let Some(tile) = args.iter().find_map(|a| self.device.tile(&a.value)) {
            self.products(&callee, args);
            let operations = self.operations(&callee, self.depth);
            self.operation(&tile.clone().ty(), operations);
        }
        self.depth -= 1;
    }

    fn inlined(&mut self, callee: Device<'a>, args: &'a [Arg]) {
        let mut known = Known::default();
        for (param, value) in bound_to(callee.def.params.as_slice(), args) {
            let bytes = value.name().and_then(|n| self.known.element_bytes.get(n));
            if let Some(bytes) = bytes {
                known.element_bytes.insert(param.clone(), *bytes);
            }
            let constant = match self.device.ty(value) {
                Ty::Const(Const::Name(name)) => self.known.constants.get(name).copied(),
                ty => ty.int(),
            };
            if let Some(constant) = constant {
                known.constants.insert(param.clone(), constant);
            }
        }
        let caller = std::mem::replace(&mut self.device, callee);
        let outer = std::mem::replace(&mut self.known, known);
        self.block(&callee.def.body);
        self.device = caller;
        self.known = outer;
    }

    /// Matrix products in a helper, of tiles that it is given.
    fn products(&mut self, callee: &Device<'a>, args: &'a [Arg]) {
        let given = bound_to(callee.def.params.as_slice(), args);
        let mut found = Vec::new();
        callee.calls(&mut |call, _| {
            if matches!(call.name.as_str(), "mma" | "mma_scaled" | "matmul") {
                found.push(call.clone());
            }
        });
        for call in found {
            let tile = |place, name| -> Option<&'a Tile> {
                let operand = call_operand(&call, place, name)?;
                let (_, value) = given.iter().find(|(param, _)| *param == operand)?;
                self.device.tile(value)
            };
            let (a, b, acc) = (tile(0, "x"), tile(1, "y"), tile(2, "acc"));
            if [a, b, acc].iter().flatten().count() < 2 {
                self.found.blind = true;
            } else {
                self.product(a, b, acc);
            }
        }
    }

    /// FLOP of a helper and those that it calls on one element.
    fn operations(&self, callee: &Device<'a>, depth: u32) -> f64 {
        let mut operations = 0.0;
        crate::body::walk(&callee.def.body, &mut |expr, _| match &expr.kind {
            ExprKind::Binary { op, .. } => operations += cost_of_operator(op),
            ExprKind::Call { func, .. } => match callee.call(expr) {
                Some(call) => operations += cost_of_function(&call.name),
                None => {
                    let inner = func.name().filter(|_| depth < DEPTH);
                    if let Some(inner) = inner.and_then(|n| (self.lookup)(n)) {
                        operations += self.operations(&inner, depth + 1);
                    }
                }
            },
            _ => {}
        });
        operations
    }
}

/// The name of an operand, if it is a plain one.
fn call_operand<'a>(call: &ApiCall<'a>, place: usize, name: &str) -> Option<&'a SmolStr> {
    call.arg(place, name).and_then(Expr::name)
}

/// What each parameter is given.
fn bound_to<'p>(params: &'p [Param], args: &'p [Arg]) -> Vec<(&'p SmolStr, &'p Expr)> {
    let plain = params.iter().filter(|p| p.stars == 0).enumerate();
    plain
        .filter_map(|(place, param)| {
            let name = &param.name.name;
            Some((name, argument(args, Some(place), name)?))
        })
        .collect()
}
