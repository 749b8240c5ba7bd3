//! What optimizations propose.

use super::{EditsElsewhere, Numerics, Optimization};
use crate::rewrite::{Edits, TextEdit};

/// A change that may make a kernel faster.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Of which optimization.
    pub optimization: &'static Optimization,
    /// Which of its ways, empty if there is only one: `latency=3`. With the optimization it names the
    /// action within its kernel.
    pub variant: String,
    /// What it does, for a menu.
    pub title: String,
    /// The change, in the kernel's file.
    pub edits: Vec<TextEdit>,
    /// The change of other files that launch the kernel, each file once: all of it is made, or none.
    pub elsewhere: Vec<EditsElsewhere>,
    /// What compiled code will show if it does what is hoped. Nothing of an action that is about host
    /// code only.
    pub effects: Vec<Effect>,
    /// What its correctness rests on, a sentence each: nothing that the code does not show.
    pub premises: Vec<String>,
    /// What happens to the numbers.
    pub numerics: Numerics,
    /// Of a search: what else is offered for the kernel and still is with the search around it. None
    /// of it is done by this action.
    pub next: Vec<&'static Optimization>,
}

impl Action {
    /// `E latency=3`, as `tileperf apply` takes it.
    pub fn name(&self) -> String {
        match self.variant.as_str() {
            "" => self.optimization.id.to_owned(),
            variant => format!("{} {variant}", self.optimization.id),
        }
    }

    /// What may be tried next, as a sentence; nothing if there is nothing.
    pub fn next_in_words(&self) -> Option<String> {
        let names: Vec<String> = (self.next.iter())
            .map(|next| format!("{} {}", next.id, next.slug))
            .collect();
        (!names.is_empty()).then(|| format!("Next, each on its own: {}.", names.join(", ")))
    }

    /// Whether compiled code can say anything of it.
    pub fn shows_in_code(&self) -> bool {
        !self.effects.is_empty()
    }
}

/// What compiled code shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Other machine code: if it stays the same, nothing was won.
    Code,
    /// More accesses by the tensor memory accelerator.
    Tma,
    /// More products by tensor cores.
    TensorCores,
}

/// Collects what one optimization proposes.
pub struct Actions<'o> {
    pub(super) optimization: &'static Optimization,
    /// Where the kernel's item begins in its file.
    pub(super) start: u32,
    pub(super) out: &'o mut Vec<Action>,
}

/// An action that is being described.
pub struct Described<'a> {
    action: &'a mut Action,
}

impl Actions<'_> {
    /// Adds an action on the whole kernel: which way, what it does, the change of its item.
    pub fn push(
        &mut self,
        variant: impl Into<String>,
        title: impl Into<String>,
        edits: Edits<'_>,
    ) -> Described<'_> {
        let start = self.start;
        self.add(variant.into(), title.into(), edits, start)
    }

    /// Adds an action that changes more of the file than the kernel's item: the change is the file's.
    pub fn push_in_file(
        &mut self,
        variant: impl Into<String>,
        title: impl Into<String>,
        edits: Edits<'_>,
    ) -> Described<'_> {
        self.add(variant.into(), title.into(), edits, 0)
    }

    fn add(
        &mut self,
        variant: String,
        title: String,
        edits: Edits<'_>,
        start: u32,
    ) -> Described<'_> {
        let mut edits = edits.finish();
        for edit in &mut edits {
            edit.span = edit.span.moved(i64::from(start));
        }
        self.out.push(Action {
            optimization: self.optimization,
            variant,
            title,
            edits,
            elsewhere: Vec::new(),
            effects: vec![Effect::Code],
            premises: Vec::new(),
            numerics: match self.optimization.numerics {
                // The ways that differ say so.
                Numerics::Varies => Numerics::Same,
                numerics => numerics,
            },
            next: Vec::new(),
        });
        let last = self.out.len() - 1;
        Described {
            action: &mut self.out[last],
        }
    }
}

impl Described<'_> {
    /// It changes another file that launches the kernel too.
    pub fn and_elsewhere(self, file: usize, edits: Edits<'_>) -> Self {
        let edits = edits.finish();
        self.action.elsewhere.push(EditsElsewhere { file, edits });
        self
    }

    /// It changes nothing of what is compiled: only a measurement shows what it does.
    pub fn in_host_code(self) -> Self {
        self.action.effects.clear();
        self
    }

    /// Unlike others of its optimization it gives other results in the last bits.
    pub fn other_results(self) -> Self {
        self.action.numerics = Numerics::Different;
        self
    }

    /// Compiled code will show this too.
    pub fn shows(self, effect: Effect) -> Self {
        self.action.effects.push(effect);
        self
    }

    /// It is right only if this holds.
    pub fn if_only(self, premise: impl Into<String>) -> Self {
        self.action.premises.push(premise.into());
        self
    }
}
