//! What an optimization is.

use super::{Actions, KernelContext};

/// What an optimization works by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Principle {
    /// Work of one kind goes on while other work waits.
    Pipeline,
    /// More of the device is at work.
    Parallelism,
    /// What was read once is used again while it is near.
    Locality,
    /// More is moved or computed at once.
    Vectorization,
    /// Steps are made one.
    Fusion,
    /// Fewer bits, or fewer of them right.
    Precision,
    /// Small pieces of work are put together.
    Batching,
    /// Somebody else moves the data.
    Async,
}

impl Principle {
    /// As it is written in output.
    pub fn name(self) -> &'static str {
        match self {
            Principle::Pipeline => "pipeline",
            Principle::Parallelism => "parallelism",
            Principle::Locality => "locality",
            Principle::Vectorization => "vectorization",
            Principle::Fusion => "fusion",
            Principle::Precision => "precision",
            Principle::Batching => "batching",
            Principle::Async => "async",
        }
    }
}

/// What happens to the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Numerics {
    /// The same results, bit for bit.
    Same,
    /// Other results in the last bits: the tolerance of the tests decides.
    Different,
    /// Of an optimization: the one or the other, as each of its actions says.
    Varies,
}

/// What somebody gained, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Gain {
    /// How much: `1-5 %`.
    pub amount: &'static str,
    /// Of what, on what: `FP8 GEMM, RTX 5090`.
    pub scope: &'static str,
    /// Who says so.
    pub source: &'static str,
}

/// An optimization: what it is called, what it says of itself, where it applies and how it edits.
pub struct Optimization {
    /// TileGym's letter: `E`.
    pub id: &'static str,
    /// `latency-hints`.
    pub slug: &'static str,
    /// What it works by.
    pub principle: Principle,
    /// What happens to the numbers.
    pub numerics: Numerics,
    /// What was gained with it elsewhere.
    pub gains: &'static [Gain],
    /// Its documentation, a line each: Markdown.
    pub doc: &'static [&'static str],
    /// Proposes what applies to a kernel.
    pub offer: fn(&KernelContext<'_>, &mut Actions<'_>),
}

impl std::fmt::Debug for Optimization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.id, self.slug)
    }
}

impl PartialEq for Optimization {
    fn eq(&self, other: &Optimization) -> bool {
        self.id == other.id
    }
}

impl Eq for Optimization {}

impl Optimization {
    /// By its letter or its slug, in any case.
    pub fn named(name: &str) -> Option<&'static Optimization> {
        let name = name.trim();
        (super::OPTIMIZATIONS.iter().copied())
            .find(|o| o.id.eq_ignore_ascii_case(name) || o.slug.eq_ignore_ascii_case(name))
    }

    /// The fragment under which `docs/playbook.md` has it.
    pub fn anchor(&self) -> String {
        format!("{}-{}", self.id.to_lowercase(), self.slug)
    }

    /// The kind of its code actions.
    pub fn kind(&self) -> String {
        format!("refactor.rewrite.cutile.{}", self.slug)
    }
}

/// Declares the optimization of a file: documentation, letter, slug, principle, what happens to the
/// numbers, how it proposes, and what was gained elsewhere.
///
/// The documentation is the user's. Its Python blocks are its tests: a block marked `after VARIANT` is
/// what that variant makes of the block marked `before` above it; a block marked `good` has nothing for
/// this optimization.
macro_rules! optimization {
    (
        $(#[doc = $doc:literal])*
        $id:ident $slug:literal $principle:ident $numerics:ident $offer:path,
        $(gain $amount:literal $scope:literal $source:literal,)*
    ) => {
        pub(crate) static OPTIMIZATION: $crate::playbook::Optimization =
            $crate::playbook::Optimization {
                id: stringify!($id),
                slug: $slug,
                principle: $crate::playbook::Principle::$principle,
                numerics: $crate::playbook::Numerics::$numerics,
                gains: &[$($crate::playbook::Gain {
                    amount: $amount,
                    scope: $scope,
                    source: $source,
                }),*],
                doc: &[$($doc),*],
                offer: $offer,
            };
    };
}
pub(crate) use optimization;
