//! One entry of the table, how it is written down, and how it is explained.

use std::fmt::Write;

use crate::arch::Arch;
use crate::target::Version;

/// What is known about one public name or parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Dotted as in cuda.tile, without the module (`load`, `PaddingMode.ZERO`); the bare name of a
    /// parameter.
    pub name: &'static str,
    /// What sort of thing it is.
    pub kind: Kind,
    /// For a parameter, the dotted names of everything that has it; else empty.
    pub owners: &'static [&'static str],
    /// How it is called, with the defaults that matter; empty where there is nothing to call.
    pub signature: &'static str,
    /// What it does, one sentence without a final stop.
    pub text: &'static str,
    /// The values it takes; empty if the text says it all.
    pub range: &'static str,
    /// The default as Python source; empty if there is none.
    pub default: &'static str,
    /// The first cuda-tile that has it.
    pub since: Version,
    /// What later versions changed, oldest first.
    pub changes: &'static [Change],
    /// The first release of the tileiras compiler that takes it, (major, minor), where that is
    /// later than cuda-tile's own oldest, 13.1.
    pub tileiras: Option<(u32, u32)>,
    /// Where it can be used.
    pub runs: Runs,
    /// The architectures where it has an effect.
    pub effect: Effect,
    /// What one should also know; one or more sentences without a final stop, or empty.
    pub caveat: &'static str,
    /// Whether effect or caveat was seen in compiled code, not only read.
    pub measured: bool,
}

/// What a version brought to something that existed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The version.
    pub version: Version,
    /// What is so from then on, no capital, no final stop.
    pub text: &'static str,
}

/// What sort of thing a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something to call.
    Function,
    /// A class, or a type alias used like one.
    Class,
    /// Something to call on an object.
    Method,
    /// A property of an object.
    Attribute,
    /// A member of an enumeration.
    Member,
    /// A data type of elements.
    Dtype,
    /// An exception.
    Exception,
    /// A module.
    Module,
    /// A parameter.
    Keyword,
}

/// Where a name can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runs {
    /// In kernels and the functions they call.
    Kernel,
    /// In ordinary Python.
    Host,
    /// In both.
    Both,
}

/// Where something has an effect. Elsewhere it is accepted and changes nothing, or is refused;
/// the caveat says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// On every architecture.
    Everywhere,
    /// On this architecture and later ones.
    From(Arch),
    /// On these architectures only.
    Only(&'static [Arch]),
}

impl Effect {
    /// Whether there is an effect on this architecture.
    pub fn on(self, arch: Arch) -> bool {
        match self {
            Effect::Everywhere => true,
            Effect::From(first) => arch >= first,
            Effect::Only(archs) => archs.contains(&arch),
        }
    }
}

/// Shorthand for the table.
pub(super) const fn version(major: u32, minor: u32) -> Version {
    Version::new(major, minor, 0)
}

/// Shorthand for the table.
pub(super) const fn change(major: u32, minor: u32, text: &'static str) -> Change {
    Change {
        version: version(major, minor),
        text,
    }
}

const fn entry(
    kind: Kind,
    name: &'static str,
    signature: &'static str,
    text: &'static str,
) -> Knob {
    Knob {
        name,
        kind,
        owners: &[],
        signature,
        text,
        range: "",
        default: "",
        since: version(1, 0),
        changes: &[],
        tileiras: None,
        runs: Runs::Kernel,
        effect: Effect::Everywhere,
        caveat: "",
        measured: false,
    }
}

pub(super) const fn function(
    name: &'static str,
    signature: &'static str,
    text: &'static str,
) -> Knob {
    entry(Kind::Function, name, signature, text)
}

pub(super) const fn class(name: &'static str, signature: &'static str, text: &'static str) -> Knob {
    entry(Kind::Class, name, signature, text)
}

pub(super) const fn method(
    name: &'static str,
    signature: &'static str,
    text: &'static str,
) -> Knob {
    entry(Kind::Method, name, signature, text)
}

pub(super) const fn attribute(name: &'static str, text: &'static str) -> Knob {
    entry(Kind::Attribute, name, "", text)
}

pub(super) const fn member(name: &'static str, text: &'static str) -> Knob {
    entry(Kind::Member, name, "", text)
}

pub(super) const fn dtype(name: &'static str, text: &'static str) -> Knob {
    entry(Kind::Dtype, name, "", text).both()
}

pub(super) const fn exception(name: &'static str, text: &'static str) -> Knob {
    entry(Kind::Exception, name, "", text).host()
}

pub(super) const fn module(name: &'static str, text: &'static str) -> Knob {
    entry(Kind::Module, name, "", text).host()
}

pub(super) const fn keyword(
    owners: &'static [&'static str],
    name: &'static str,
    text: &'static str,
) -> Knob {
    let mut knob = entry(Kind::Keyword, name, "", text);
    knob.owners = owners;
    knob
}

impl Knob {
    pub(super) const fn range(mut self, range: &'static str) -> Knob {
        self.range = range;
        self
    }

    pub(super) const fn default(mut self, default: &'static str) -> Knob {
        self.default = default;
        self
    }

    pub(super) const fn since(mut self, major: u32, minor: u32) -> Knob {
        self.since = version(major, minor);
        self
    }

    pub(super) const fn changes(mut self, changes: &'static [Change]) -> Knob {
        self.changes = changes;
        self
    }

    pub(super) const fn tileiras(mut self, major: u32, minor: u32) -> Knob {
        self.tileiras = Some((major, minor));
        self
    }

    pub(super) const fn host(mut self) -> Knob {
        self.runs = Runs::Host;
        self
    }

    pub(super) const fn both(mut self) -> Knob {
        self.runs = Runs::Both;
        self
    }

    pub(super) const fn effect(mut self, effect: Effect) -> Knob {
        self.effect = effect;
        self
    }

    pub(super) const fn caveat(mut self, caveat: &'static str) -> Knob {
        self.caveat = caveat;
        self
    }

    pub(super) const fn measured(mut self) -> Knob {
        self.measured = true;
        self
    }

    /// Whether this version of cuda-tile has it; yes if the version is not known.
    pub fn exists_in(&self, version: Option<Version>) -> bool {
        version.is_none_or(|version| version >= self.since)
    }

    /// How a reader would write it: `ct.load(...)`, `ct.PaddingMode.ZERO`, `latency=`.
    pub fn heading(&self) -> String {
        match self.kind {
            Kind::Keyword if self.default.is_empty() => self.name.to_owned(),
            Kind::Keyword => format!("{}={}", self.name, self.default),
            // A property of some object, which has no name here.
            Kind::Attribute => self.name.to_owned(),
            _ if self.signature.is_empty() => format!("ct.{}", self.name),
            _ => self.signature.to_owned(),
        }
    }
}

/// The entry as one line of Markdown, for the given version of cuda-tile.
pub fn explain(knob: &Knob, version: Option<Version>) -> String {
    let mut line = format!("`{}`: {}.", knob.heading(), knob.text);
    if !knob.exists_in(version) {
        let version = version.unwrap_or(knob.since);
        line = format!(
            "**Not in cuda-tile {version}: since {}.** {line}",
            knob.since
        );
    }
    for sentence in sentences(knob, version) {
        line.push(' ');
        line.push_str(&sentence);
        line.push('.');
    }
    line
}

/// What comes after the text, in sentences without their stops.
pub(super) fn sentences(knob: &Knob, version: Option<Version>) -> Vec<String> {
    let mut sentences = Vec::new();
    if !knob.range.is_empty() {
        sentences.push(format!("Range: {}", knob.range));
    }
    // The heading of a parameter shows it.
    if !knob.default.is_empty() && knob.kind != Kind::Keyword {
        sentences.push(format!("Default: `{}`", knob.default));
    }
    if let Some(effect) = effect_sentence(knob.effect) {
        sentences.push(effect);
    }
    match knob.runs {
        Runs::Kernel => {}
        Runs::Host => sentences.push("Host code".to_owned()),
        Runs::Both => sentences.push("Host and kernel code".to_owned()),
    }
    // A version that lacks it altogether was told so at the start.
    if knob.since > self::version(1, 0) && knob.exists_in(version) {
        sentences.push(format!("Since cuda-tile {}", knob.since));
    }
    for change in knob.changes {
        let wording = match version {
            Some(version) if version < change.version => "Not before",
            _ => "Since",
        };
        sentences.push(format!("{wording} {}: {}", change.version, change.text));
    }
    if let Some((major, minor)) = knob.tileiras {
        sentences.push(format!("Needs tileiras {major}.{minor}"));
    }
    if !knob.caveat.is_empty() {
        sentences.push(knob.caveat.to_owned());
    }
    sentences
}

fn effect_sentence(effect: Effect) -> Option<String> {
    match effect {
        Effect::Everywhere => None,
        Effect::From(first) => Some(format!("Effective from {first} on")),
        Effect::Only(archs) => {
            let mut sentence = "Effective on ".to_owned();
            for (at, arch) in archs.iter().enumerate() {
                let separator = if at == 0 { "" } else { ", " };
                // Writing to a String cannot fail.
                let _ = write!(sentence, "{separator}{arch}");
            }
            sentence.push_str(" only");
            Some(sentence)
        }
    }
}
