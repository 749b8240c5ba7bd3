//! Tiles that no block of the architecture can hold.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::host;
use super::tuned::{self, Searched};
use crate::arch::{Arch, TensorCores};
use crate::body::{Device, Dtype, Extent, Tile, argument};
use crate::eval::{Config, Known};
use crate::model::Candidate;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, Links};

rule! {
    /// A matrix multiplication's tile is larger than a block can hold on an architecture: its float32
    /// accumulator fills the register file, or its operands exceed shared memory.
    ///
    /// What does not fit is kept on the stack, in memory, and moved at every step. Compiled for
    /// sm_90, a 256x256 accumulator (256 KiB, the whole register file) gave 6 KiB of stack a thread
    /// and 10 times the code of 128x128; 3 KiB on sm_80, 1 KiB on sm_120. sm_100 keeps accumulators
    /// in tensor memory of the same size, so 256x256 fits, but 512x256 gave 10 KiB and compiled for a
    /// minute (cuda-tile 1.7, tileiras 13.4). `num_ctas` divides the tile among blocks. It is a hint
    /// because only a measurement tells.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def matmul(a, b, c):  # TP302
    ///     acc = ct.zeros((512, 256), ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(512, 64))):
    ///         x = ct.load(a, (ct.bid(0), k), (512, 64))
    ///         y = ct.load(b, (k, ct.bid(1)), (64, 256))
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc.astype(c.dtype))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def matmul(a, b, c):
    ///     acc = ct.zeros((128, 128), ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(128, 64))):
    ///         x = ct.load(a, (ct.bid(0), k), (128, 64))
    ///         y = ct.load(b, (k, ct.bid(1)), (64, 128))
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc.astype(c.dtype))
    /// ```
    TP302 "tile-over-budget" Hint,
    Workspace(check)
}

/// Bytes of tensor memory of a multiprocessor with `tcgen05`: 128 lanes of 512 columns.
const TENSOR_MEMORY: i64 = 128 * 512 * 4;

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for (number, kernel) in file.model.kernels.iter().enumerate() {
        // Divided among blocks at the decorator: for each architecture another number.
        if kernel.hints.iter().any(|h| h.name == "num_ctas") {
            continue;
        }
        let products = products(file, number);
        let constant = |extent: &Extent| match extent {
            Extent::Int(value) => Some(*value),
            _ => None,
        };
        let over = |arch: &Arch| exceeds(*arch, &products, Some(1), &constant);
        let archs: Vec<Arch> = (file.target.archs.iter().copied())
            .filter(|arch| over(arch).is_some())
            .collect();
        if let Some(what) = archs.first().and_then(over) {
            let on = tuned::listed(&archs);
            let message = format!(
                "`{}` has a tile {what}, which does not fit on {on}",
                kernel.name
            );
            out.push(kernel.name_span, message).archs(archs);
        }
    }
    let mut said: Vec<Span> = Vec::new();
    for space in tuned::searched(file, links) {
        if !said.contains(&space.span) && searched(file, &space, out) {
            said.push(space.span);
        }
    }
}

/// A multiplication: the accumulator and the operands.
#[derive(Debug)]
struct Product {
    accumulator: Option<Vec<Extent>>,
    operands: Vec<(Vec<Extent>, i64)>,
}

impl Product {
    /// Whether an extent is a parameter of the kernel.
    fn has(&self, param: &SmolStr) -> bool {
        let operands = self.operands.iter().map(|(shape, _)| shape);
        (operands.chain(&self.accumulator).flatten())
            .any(|extent| matches!(extent, Extent::Name(name) if name == param))
    }
}

/// The multiplications of the n-th kernel.
fn products(file: &FileContext<'_>, number: usize) -> Vec<Product> {
    let Some(kernel) = file.model.kernels.get(number).filter(|k| !k.stale) else {
        return Vec::new();
    };
    let Some(facts) = file.kernel(kernel) else {
        return Vec::new();
    };
    let Some((_, device)) = file.device(kernel, &facts) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    device.calls(&mut |call, _| {
        if call.name != "mma" {
            return;
        }
        let single = |tile: &&Tile| tile.dtype == Dtype::F32;
        let accumulator = tile(&device, call.arg(2, "acc")).filter(single);
        let operands = [call.arg(0, "x"), call.arg(1, "y")];
        out.push(Product {
            accumulator: accumulator.and_then(|t| t.shape.clone()),
            operands: (operands.into_iter())
                .filter_map(|operand| {
                    let tile = tile(&device, operand)?;
                    Some((tile.shape.clone()?, bytes(&tile.dtype)))
                })
                .collect(),
        });
    });
    out
}

fn tile<'d>(device: &Device<'d>, expr: Option<&Expr>) -> Option<&'d Tile> {
    expr.and_then(|e| device.tile(e))
}

/// Bytes that an element takes at least.
fn bytes(dtype: &Dtype) -> i64 {
    match dtype {
        Dtype::F64 => 8,
        Dtype::F32 | Dtype::Tf32 => 4,
        Dtype::F16 | Dtype::Bf16 => 2,
        _ => 1,
    }
}

/// What the first multiplication that exceeds an architecture needs, in words. `num_ctas` blocks
/// share a tile; nothing is said if nobody knows how many.
fn exceeds(
    arch: Arch,
    products: &[Product],
    num_ctas: Option<i64>,
    extent: &dyn Fn(&Extent) -> Option<i64>,
) -> Option<String> {
    let blocks = if arch.has_clusters() { num_ctas? } else { 1 };
    let limits = arch.limits();
    let bytes = |shape: &[Extent], size: i64| -> Option<i64> {
        let elements = shape
            .iter()
            .try_fold(1_i64, |n, e| n.checked_mul(extent(e)?))?;
        elements.checked_mul(size)?.checked_div(blocks)
    };
    products.iter().find_map(|product| {
        let accumulator = product
            .accumulator
            .as_ref()
            .and_then(|shape| bytes(shape, 4));
        let (most, place) = if arch.tensor_cores() >= TensorCores::Sm100 {
            (TENSOR_MEMORY, "tensor memory")
        } else {
            // Operands and indices need some of the file as well.
            (4 * i64::from(limits.registers_per_sm) - 1, "registers")
        };
        if let Some(needed) = accumulator.filter(|needed| *needed > most) {
            let kib = needed / 1024;
            return Some(format!(
                "whose accumulator needs {kib} KiB of {place} a block"
            ));
        }
        let mut operands = 0_i64;
        for (shape, size) in &product.operands {
            operands = operands.checked_add(bytes(shape, *size)?)?;
        }
        (operands > i64::from(limits.shared_per_block)).then(|| {
            let kib = operands / 1024;
            format!("whose operands of one step need {kib} KiB of shared memory a block or more")
        })
    })
}

/// Says it of a space whose configurations are arguments of the kernel.
fn searched(file: &FileContext<'_>, space: &Searched<'_>, out: &mut Findings<'_>) -> bool {
    let [Candidate::Local(number)] = space.search.candidates.as_slice() else {
        return false;
    };
    let products = products(file, *number);
    let mut fields = fields(file, space.search.span, *number);
    fields.retain(|(param, _)| products.iter().any(|product| product.has(param)));
    if fields.is_empty() {
        return false;
    }
    let mut found: Option<(Vec<Arch>, String)> = None;
    for (arch, known) in &space.facts.by_arch {
        if !known.count.reached {
            continue;
        }
        let over = known.configs.iter().find_map(|config| {
            let value = |extent: &Extent| match extent {
                Extent::Int(value) => Some(*value),
                Extent::Name(param) => {
                    let (_, field) = fields.iter().find(|(name, _)| name == param)?;
                    int(config, field)
                }
                Extent::Other => None,
            };
            let has = config.fields.iter().any(|(name, _)| name == "num_ctas");
            let ctas = if has {
                int(config, "num_ctas")
            } else {
                Some(1)
            };
            let what = exceeds(*arch, &products, ctas.filter(|n| *n > 0), &value)?;
            let said: Vec<String> = (fields.iter())
                .filter_map(|(_, field)| Some(format!("{field}={}", int(config, field)?)))
                .collect();
            Some(format!("`{}`, {what}", said.join(", ")))
        });
        match (&mut found, over) {
            (None, Some(what)) => found = Some((vec![*arch], what)),
            (Some((archs, _)), Some(_)) => archs.push(*arch),
            _ => {}
        }
    }
    let Some((archs, what)) = found else {
        return false;
    };
    let (name, on) = (space.name(), tuned::listed(&archs));
    let message = format!("{name} offers {what}, which does not fit on {on}");
    out.push(space.span, message).archs(archs);
    true
}

fn int(config: &Config, field: &str) -> Option<i64> {
    (config.fields.iter()).find_map(|(name, value)| match value {
        Known::Int(value) if name == field => Some(*value),
        _ => None,
    })
}

/// Which field of a configuration each parameter of the kernel is given, by `args_fn`.
fn fields(file: &FileContext<'_>, search: Span, number: usize) -> Vec<(SmolStr, SmolStr)> {
    let given = || -> Option<Vec<(SmolStr, SmolStr)>> {
        let kernel = file.model.kernels.get(number)?;
        let call = file.expr(search)?;
        let ExprKind::Call { args, .. } = &call.node.kind else {
            return None;
        };
        let place = if args.iter().any(|a| a.stars > 0) {
            None
        } else {
            Some(4)
        };
        let function = call.with(argument(args, place, "args_fn")?);
        let (config, tuple) = given_by(file, function)?;
        let ExprKind::Tuple(items) = &tuple.kind else {
            return None;
        };
        if items.len() != kernel.params.len() {
            return None;
        }
        let pairs = kernel.params.iter().zip(items);
        Some(
            pairs
                .filter_map(|(param, item)| Some((param.name.clone(), field(item, &config)?)))
                .collect(),
        )
    };
    given().unwrap_or_default()
}

/// The parameter and the result of a lambda, or of a function of the file with one `return`.
fn given_by<'a>(file: &FileContext<'a>, function: InItem<'a, Expr>) -> Option<(SmolStr, &'a Expr)> {
    match &function.node.kind {
        ExprKind::Lambda { params, body } => Some((params.first()?.name.name.clone(), &**body)),
        ExprKind::Name(name) => {
            let functions = host::functions(file);
            let mut named = functions.iter().filter(|d| d.node.name.name == *name);
            let def = named.next().filter(|_| named.next().is_none())?;
            let returned = host::returns(def.node);
            match returned.as_slice() {
                [only] => Some((def.node.params.first()?.name.name.clone(), only)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The field of a configuration that an argument is: `cfg.TILE_M`, `cfg["TILE_M"]`.
fn field(expr: &Expr, config: &str) -> Option<SmolStr> {
    match &expr.kind {
        ExprKind::Attribute { value, attr } => (value.name()? == config).then(|| attr.name.clone()),
        ExprKind::Subscript { value, index } => match index.as_slice() {
            [
                Expr {
                    kind: ExprKind::Str(text),
                    ..
                },
            ] => (value.name()? == config).then(|| text.as_str().into()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
