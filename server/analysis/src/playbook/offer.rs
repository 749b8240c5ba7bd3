//! Asking the optimizations about a kernel.

use super::c_autotune::template::Kind;
use super::context::own_uses;
use super::{Action, Actions, KernelContext, OPTIMIZATIONS, Surroundings, next, order};
use crate::body::{Code, Device};
use crate::classify::{Known, classify};
use crate::model::Kernel;
use crate::rules::FileContext;

/// What may make a kernel faster, by what bounds it: the most promising first. Nothing for a kernel
/// whose present text does not parse. `around` is what the workspace says of it; without, what its own
/// file does is all.
pub fn actions(
    file: &FileContext<'_>,
    kernel: &Kernel,
    around: Option<Surroundings<'_>>,
) -> Vec<Action> {
    let Some(facts) = file.kernel(kernel) else {
        return Vec::new();
    };
    let Some((def, device)) = file.device(kernel, &facts) else {
        return Vec::new();
    };
    let code = Code::of(def.node, file.module);
    let device = Device {
        code: Some(&code),
        ..device
    };
    let helper = |name: &str| file.device_named(name);
    let class = classify(&device, &Known::default(), &helper).class;
    let Some(number) = file.model.kernels.iter().position(|k| k == kernel) else {
        return Vec::new();
    };
    let context = KernelContext {
        file,
        kernel,
        number,
        uses: around.map_or_else(|| own_uses(file.model, number), |a| a.uses.clone()),
        around,
        def,
        device,
        class,
    };
    let mut out = Vec::new();
    for optimization in OPTIMIZATIONS {
        let mut actions = Actions {
            optimization,
            start: context.def.item.span.start,
            out: &mut out,
        };
        (optimization.offer)(&context, &mut actions);
    }
    order::by_promise(&mut out, class);
    next::note(&mut out);
    out
}

/// What kind of kernel it is, as the titles of searches call it. Nothing for one whose present text
/// does not parse.
pub fn kind(file: &FileContext<'_>, kernel: &Kernel) -> Option<&'static str> {
    let facts = file.kernel(kernel)?;
    let (_, device) = file.device(kernel, &facts)?;
    Some(Kind::of(file, &device).template.name())
}
