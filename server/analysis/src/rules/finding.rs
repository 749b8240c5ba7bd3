//! What rules say.

use tileperf_syntax::Span;

use super::{Rule, Severity};
use crate::arch::Arch;
use crate::rewrite::{Edits, TextEdit};

/// Something that a rule found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which rule.
    pub rule: &'static Rule,
    /// Where.
    pub span: Span,
    /// What is wrong, in one sentence.
    pub message: String,
    /// How bad.
    pub severity: Severity,
    /// The architectures that it holds for; empty for all.
    pub archs: Vec<Arch>,
    /// What compiled code would show if it is right.
    pub claims: Vec<Claim>,
    /// How to put it right, the best first.
    pub fixes: Vec<Fix>,
    /// Other places that belong to it.
    pub related: Vec<(Span, String)>,
}

/// What compiled code would show.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// An access is made without tensor cores, TMA and so on.
    AccessIs {
        /// The access's call.
        call: Span,
        /// How it is made.
        lowering: Lowering,
        /// What to say once that is known, where the message says that it may be so.
        stated: Option<String>,
    },
    /// Something changes nothing: the same machine code comes out of the text with these edits.
    Inert {
        /// What takes it out.
        edits: Vec<TextEdit>,
        /// The architectures that this is claimed of; empty for all of the finding.
        on: Vec<Arch>,
    },
    /// It matters how something is written: other machine code comes out of the text with these edits.
    Matters(Vec<TextEdit>),
    /// The kernel does not compile.
    Errors,
}

impl Claim {
    /// An access is made in some way, which the message states whether known or not.
    pub fn access(call: Span, lowering: Lowering) -> Claim {
        Claim::AccessIs {
            call,
            lowering,
            stated: None,
        }
    }

    /// The edits that compiled code with and without this claim's subject differs by, and the
    /// architectures that it is about; empty for all.
    pub fn edits(&self) -> Option<(&[TextEdit], &[Arch])> {
        match self {
            Claim::Inert { edits, on } => Some((edits, on)),
            Claim::Matters(edits) => Some((edits, &[])),
            Claim::AccessIs { .. } | Claim::Errors => None,
        }
    }

    /// An access is made in some way; what to say once that is known.
    pub fn stated(call: Span, lowering: Lowering, stated: impl Into<String>) -> Claim {
        Claim::AccessIs {
            call,
            lowering,
            stated: Some(stated.into()),
        }
    }
}

/// What the compiler makes of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lowering {
    /// Element by element, not by the tensor memory accelerator.
    NoTma,
    /// Fused multiply-adds, not tensor cores.
    Fma,
}

/// Whether a fix can be made unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Safety {
    /// It keeps what the code computes.
    Safe,
    /// Somebody must look: it can change results, or rests on what is not seen here.
    Review,
}

/// A change that puts a finding right.
#[derive(Debug, Clone, PartialEq)]
pub struct Fix {
    /// What it does, for a menu.
    pub title: String,
    /// Whether somebody must look.
    pub safety: Safety,
    /// The change.
    pub edits: Vec<TextEdit>,
}

/// Collects what one rule finds.
pub struct Findings<'o> {
    pub(super) rule: &'static Rule,
    pub(super) out: &'o mut Vec<Finding>,
}

/// A finding that is being described.
pub struct Described<'f> {
    finding: &'f mut Finding,
}

impl Findings<'_> {
    /// Adds a finding.
    pub fn push(&mut self, span: Span, message: impl Into<String>) -> Described<'_> {
        self.out.push(Finding {
            rule: self.rule,
            span,
            message: message.into(),
            severity: self.rule.severity,
            archs: Vec::new(),
            claims: Vec::new(),
            fixes: Vec::new(),
            related: Vec::new(),
        });
        let last = self.out.len() - 1;
        Described {
            finding: &mut self.out[last],
        }
    }
}

impl Described<'_> {
    /// A fix that keeps what the code computes.
    pub fn safe_fix(self, title: impl Into<String>, edits: Edits<'_>) -> Self {
        self.fix(title, Safety::Safe, edits)
    }

    /// A fix that somebody must look at.
    pub fn review_fix(self, title: impl Into<String>, edits: Edits<'_>) -> Self {
        self.fix(title, Safety::Review, edits)
    }

    fn fix(self, title: impl Into<String>, safety: Safety, edits: Edits<'_>) -> Self {
        self.finding.fixes.push(Fix {
            title: title.into(),
            safety,
            edits: edits.finish(),
        });
        self
    }

    /// It holds for these architectures only.
    pub fn archs(self, archs: impl IntoIterator<Item = Arch>) -> Self {
        self.finding.archs.extend(archs);
        self
    }

    /// What compiled code would show.
    pub fn claim(self, claim: Claim) -> Self {
        self.finding.claims.push(claim);
        self
    }

    /// Another place that belongs to it.
    pub fn related(self, span: Span, message: impl Into<String>) -> Self {
        self.finding.related.push((span, message.into()));
        self
    }

    /// Less, or more, severe than the rule's findings are as a rule.
    pub fn severity(self, severity: Severity) -> Self {
        self.finding.severity = severity;
        self
    }
}

impl Finding {
    /// The same, its places mapped.
    pub(super) fn mapped(&self, map: &dyn Fn(Span) -> Span) -> Finding {
        let mut finding = self.clone();
        finding.span = map(finding.span);
        for (span, _) in &mut finding.related {
            *span = map(*span);
        }
        for claim in &mut finding.claims {
            match claim {
                Claim::AccessIs { call, .. } => *call = map(*call),
                Claim::Inert { edits, .. } | Claim::Matters(edits) => {
                    edits.iter_mut().for_each(|edit| edit.span = map(edit.span));
                }
                Claim::Errors => {}
            }
        }
        for edit in finding.fixes.iter_mut().flat_map(|f| &mut f.edits) {
            edit.span = map(edit.span);
        }
        finding
    }
}
