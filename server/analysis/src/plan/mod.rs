//! A plan of experiments for one kernel: what is worth trying, each by itself, where and why.
//!
//! The playbook's last resort (its row L). Everything in it is about this kernel: actions that are
//! offered for it, what rules and the compiler say of it, what its own code shows, what its parts cost.
//! What was tried already is marked with its result and not proposed again. What is tried first is what
//! promises most: what the compiler gave up, what rules found, the playbook in its order, the kernel's
//! own structure, then values to sweep; last the experiments that change results on purpose, which gain
//! nothing and tell where there is something to gain.

mod code;
mod compiled;
mod helpers;
mod isolation;
mod item;
mod markdown;
mod offered;
mod sweeps;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tileperf_syntax::Span;

use crate::arch::Arch;
use crate::body::{Code, Device};
use crate::classify::{Class, Classification, Known as Extents, classify};
use crate::compiled::CompiledFacts;
use crate::model::{Candidate, Kernel, Launch};
use crate::playbook::{Action, Effect, Proof, own_uses};
use crate::rules::{Claim, FileContext, Finding, KernelUses, Lowering, Severity};

pub use item::{How, Item, Way};
pub use markdown::markdown;

/// Most items of a plan; the least promising are left out.
const MOST: usize = 24;

/// What is known of a kernel beside its file.
#[derive(Debug, Clone, Default)]
pub struct Known<'k> {
    /// What the playbook offers for it, the most promising first, and what compiled code says of that.
    pub actions: &'k [(Action, Option<(Arch, Proof)>)],
    /// What rules find in its file.
    pub findings: &'k [Arc<Finding>],
    /// What it was compiled to.
    pub compiled: Option<&'k CompiledFacts>,
    /// What was tried, in order.
    pub tried: &'k [Tried],
    /// How the workspace uses it; without, what its own file does is all.
    pub uses: Option<KernelUses>,
}

impl Known<'_> {
    /// Whether an action is offered that has this effect.
    fn offers(&self, effect: Effect) -> bool {
        self.actions
            .iter()
            .any(|(action, _)| action.effects.contains(&effect))
    }
}

/// A change that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// What it is called in the journal.
    pub name: String,
    /// The letter of its optimization and its variant, if it is the playbook's.
    pub action: Option<(String, String)>,
    /// What came of it: `reverted: no improvement (iteration 3)`.
    pub result: String,
}

/// A plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What bounds the kernel.
    pub class: Classification,
    /// What to try, in this order.
    pub items: Vec<Item>,
    /// What was tried.
    pub tried: Vec<Tried>,
}

/// The kernel, or a helper that it calls, as those who propose items see it.
#[derive(Clone)]
struct Subject<'a> {
    file: &'a FileContext<'a>,
    kernel: &'a Kernel,
    device: Device<'a>,
    /// Where its item begins: places of its expressions are relative to that.
    start: u32,
    /// Loops around the call of a helper.
    around: usize,
    launches: Vec<&'a Launch>,
    class: Class,
    /// Something tunes the kernel's hints already.
    is_tuned: bool,
}

impl<'a> Subject<'a> {
    /// What stands at a place of the item, on one line.
    fn source(&self, span: Span) -> String {
        let text = self.file.source(self.place(span));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A place of the item in the file.
    fn place(&self, span: Span) -> Span {
        span.moved(i64::from(self.start))
    }
}

/// Plans experiments for a kernel. Nothing for one whose present text does not parse.
pub fn plan(file: &FileContext<'_>, kernel: &Kernel, known: &Known<'_>) -> Option<Plan> {
    let facts = file.kernel(kernel)?;
    let (def, device) = file.device(kernel, &facts)?;
    let code = Code::of(def.node, file.module);
    let device = Device {
        code: Some(&code),
        ..device
    };
    let number = file.model.kernels.iter().position(|k| k == kernel)?;
    let helper = |name: &str| file.device_named(name);
    let launches = file.model.launches.iter();
    let class = classify(&device, &Extents::default(), &helper);
    let uses = known
        .uses
        .clone()
        .unwrap_or_else(|| own_uses(file.model, number));
    let subject = Subject {
        file,
        kernel,
        device,
        start: def.item.span.start,
        around: 0,
        launches: launches
            .filter(|l| l.candidates.contains(&Candidate::Local(number)))
            .collect(),
        class: class.class,
        is_tuned: uses.searches + uses.remade > 0,
    };
    let all = helpers::with_helpers(&subject);
    let mut items = compiled::items(&subject, known);
    items.extend(found(&subject, known));
    items.extend(offered::items(&subject, known));
    items.extend(all.iter().flat_map(code::items));
    items.extend(sweeps::items(&subject, &all, known.actions));
    let room = MOST.saturating_sub(items.len());
    items.extend(isolation::items(&all, room));
    items.truncate(MOST);
    Some(Plan {
        class,
        items,
        tried: known.tried.to_vec(),
    })
}

/// What rules find in the kernel and in its launches, a rule an item. What an action puts right is
/// left to the action.
fn found(subject: &Subject<'_>, known: &Known<'_>) -> Vec<Item> {
    let mut whole = subject.kernel.span;
    whole.start = whole.start.min(subject.kernel.top.start);
    let launches = subject.launches.iter().map(|launch| launch.span);
    let places: Vec<Span> = launches.chain([whole]).collect();
    let of_it = |f: &&Arc<Finding>| {
        let inside = |p: &Span| p.start <= f.span.start && f.span.end <= p.end;
        f.severity >= Severity::Warning && places.iter().any(inside) && !is_offered(f, known)
    };
    let mut items: Vec<Item> = Vec::new();
    for finding in known.findings.iter().filter(of_it) {
        let title = format!("{} ({})", finding.rule.slug, finding.rule.code);
        if let Some(known) = items.iter_mut().find(|item| item.title == title) {
            known.places.push(finding.span);
            continue;
        }
        let fix = finding.fixes.first().map(|fix| fix.title.clone());
        let how = fix.unwrap_or_else(|| {
            let code = finding.rule.code;
            format!("`tileperf explain {code}` says what to write instead")
        });
        items.push(Item {
            title,
            places: vec![finding.span],
            why: finding.message.clone(),
            how: How::Edit(how),
            gain: None,
            principle: None,
        });
    }
    items
}

/// Whether an action of the playbook edits all that a finding's fix edits, or brings the tensor cores that
/// it misses.
fn is_offered(finding: &Finding, known: &Known<'_>) -> bool {
    let misses = |claim: &Claim| {
        matches!(
            claim,
            Claim::AccessIs {
                lowering: Lowering::Fma,
                ..
            }
        )
    };
    if finding.claims.iter().any(misses) && known.offers(Effect::TensorCores) {
        return true;
    }
    let Some(fix) = finding.fixes.first() else {
        return false;
    };
    known.actions.iter().any(|(action, _)| {
        let edits = |span: Span| action.edits.iter().any(|edit| edit.span == span);
        fix.edits.iter().all(|edit| edits(edit.span))
    })
}
