//! What a rule is.

use serde::Serialize;

use super::{CompiledContext, FileContext, Findings, ItemContext, Links};
use crate::body::Device;
use crate::target::{Target, Version};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// May be worth a try; nothing is wrong.
    Hint,
    /// Costs time, or is wrong for some inputs.
    Warning,
    /// Does not compile, fails, or gives wrong results.
    Error,
}

impl Severity {
    /// As it is written in settings and output.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// What a rule looks at, and so how often it is asked.
#[derive(Clone, Copy)]
pub enum Check {
    /// One function of device code. Asked again when its item changes. Places are relative to the
    /// item.
    Device(fn(&DeviceContext<'_>, &mut Findings<'_>)),
    /// One top-level statement. As above.
    Item(fn(&ItemContext<'_>, &mut Findings<'_>)),
    /// A file. Asked after every edit, so it only looks at what the model found. Places are the
    /// file's.
    File(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// A file and what it has to do with others, spaces per architecture included. Asked when
    /// nothing is typed.
    Workspace(fn(&FileContext<'_>, &dyn Links, &mut Findings<'_>)),
    /// What a file's kernels were compiled to. Asked when something was compiled, and of what is
    /// known when something is typed.
    Compiled(fn(&CompiledContext<'_>, &mut Findings<'_>)),
}

/// A function of device code, with its text.
#[derive(Debug, Clone, Copy)]
pub struct DeviceContext<'a> {
    /// The function.
    pub device: Device<'a>,
    /// The item's text.
    pub text: &'a str,
    /// What is judged for.
    pub target: &'a Target,
}

impl<'a> DeviceContext<'a> {
    /// What stands at a place of the item.
    pub fn source(&self, span: tileperf_syntax::Span) -> &'a str {
        self.text.get(span.range()).unwrap_or("")
    }
}

impl<'a> std::ops::Deref for DeviceContext<'a> {
    type Target = Device<'a>;

    fn deref(&self) -> &Device<'a> {
        &self.device
    }
}

/// A rule: what it is called, what it says of itself, and how it finds things.
pub struct Rule {
    /// `TP101`.
    pub code: &'static str,
    /// `replace-hints-hot-path`.
    pub slug: &'static str,
    /// Of its findings, unless settings say otherwise.
    pub severity: Severity,
    /// The first cuda-tile that it holds for.
    pub since: Option<Version>,
    /// The first cuda-tile that it holds for no more.
    pub until: Option<Version>,
    /// Its documentation, a line each: Markdown.
    pub doc: &'static [&'static str],
    /// How it finds things: in each of these ways.
    pub checks: &'static [Check],
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.code, self.slug)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.code == other.code
    }
}

impl Rule {
    /// Whether it holds for the cuda-tile at hand. One that holds only below some version stays
    /// silent when nobody knows the version.
    pub fn holds_for(&self, target: &Target) -> bool {
        let version = target.effective_version();
        self.since.is_none_or(|since| version >= since)
            && self.until.is_none_or(|until| version < until)
    }

    /// The fragment under which `docs/rules.md` has it.
    pub fn anchor(&self) -> String {
        format!("{}-{}", self.code.to_lowercase(), self.slug)
    }

    /// Whether a name given by a user means it: its code, its slug, or the beginning of its code.
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.trim();
        name == "all"
            || name.eq_ignore_ascii_case(self.slug)
            || name.len() >= 2
                && (self.code.get(..name.len())).is_some_and(|c| c.eq_ignore_ascii_case(name))
    }
}

/// Declares the rule of a file: documentation, code, slug, severity, versions, how it checks. One that
/// has something to say at once and something else that rests on other files checks in two ways.
///
/// The documentation is the user's. Its Python blocks are its tests: in a block marked `bad` every
/// line that ends in a comment with the rule's code has a finding and no other line has one; a block
/// marked `fixed` is what the fixes make of the `bad` one before it; a block marked `good` has none.
macro_rules! rule {
    (
        $(#[doc = $doc:literal])*
        $code:ident $slug:literal $severity:ident
        $(since $since:literal)? $(until $until:literal)?,
        $($kind:ident($check:path)),+
    ) => {
        pub(crate) static RULE: $crate::rules::Rule = $crate::rules::Rule {
            code: stringify!($code),
            slug: $slug,
            severity: $crate::rules::Severity::$severity,
            since: $crate::rules::rule::version(&[$($since)?]),
            until: $crate::rules::rule::version(&[$($until)?]),
            doc: &[$($doc),*],
            checks: &[$($crate::rules::Check::$kind($check)),+],
        };
    };
}
pub(crate) use rule;

/// `1.6` as a version of cuda-tile.
pub(crate) const fn version(given: &[f32]) -> Option<Version> {
    match given {
        [] => None,
        // cuda-tile's minor versions have one digit so far.
        [number, ..] => {
            let tenths = (*number * 10.0 + 0.5) as u32;
            Some(Version::new(tenths / 10, tenths % 10, 0))
        }
    }
}
