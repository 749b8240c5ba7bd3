//! What the compiler says it made of each load, store and multiplication, in types.
//!
//! The compiler crate reads them from tileiras' YAML; here they are plain data, so that views, rules
//! and judgements stay pure.

use serde::{Deserialize, Serialize};

/// A place in a source file. Order is that of the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The path as Python knew it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// In bytes of UTF-8, from 0.
    pub column: u32,
}

/// Whether data is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// `ct.load`.
    Load,
    /// `ct.store`.
    Store,
}

/// What became of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintState {
    /// The value for this architecture was taken.
    Used,
    /// The value for all architectures was taken.
    Default,
    /// The value is not allowed and was ignored.
    OutOfRange,
    /// The hint itself was refused.
    Incorrect,
}

/// What a remark says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// A tile is copied by the tensor memory accelerator.
    Tma {
        /// Direction.
        access: Access,
        /// Elements of one copy per axis. The order of axes is the compiler's.
        shape: Vec<u32>,
    },
    /// A tile is copied by the threads, element by element or vector by vector.
    Plain {
        /// Direction.
        access: Access,
        /// Why not by TMA, in the compiler's words. Empty if it was not tried.
        reasons: Vec<String>,
    },
    /// A multiplication runs on tensor cores.
    TensorCore {
        /// The generation of instructions: `SM90`.
        instruction: String,
        /// Rows, columns and depth of one instruction.
        shape: Vec<u32>,
        /// Blocks that work on it together, where the compiler says.
        ctas: Option<u32>,
    },
    /// A multiplication runs on ordinary arithmetic units.
    Fma {
        /// Why, in the compiler's words; mostly empty.
        reasons: Vec<String>,
    },
    /// A hint was looked at.
    Hint {
        /// What became of it.
        state: HintState,
        /// Its name, with more if the compiler says more: `latency`.
        hint: String,
    },
    /// Something that is not known here.
    Other {
        /// The compiler's category.
        pass: String,
        /// The compiler's name for it.
        name: String,
        /// What else it says, in its order.
        details: Vec<(String, String)>,
    },
}

/// One remark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Remark {
    /// The place it speaks of. In a helper, that is the helper's line and not the caller's.
    pub site: Option<Site>,
    /// What it says.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether something was optimized, as opposed to tried in vain.
    pub passed: bool,
    /// The compiler's words.
    pub text: String,
    /// How many operations at this place it is true of: a helper called twice has two.
    pub count: u32,
}

/// All remarks of one compile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remarks {
    /// By place, those without one first.
    pub all: Vec<Remark>,
    /// Documents that could not be read, of a cut file for example.
    pub unreadable: u32,
}

/// In a few words: `TMA load of 64x128`, `plain load: stride not 16-byte aligned`.
impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Tma { access, shape } => write!(f, "TMA {access} of {}", by(shape)),
            Kind::Plain { access, reasons } => write!(f, "plain {access}{}", because(reasons)),
            Kind::TensorCore {
                instruction,
                shape,
                ctas,
            } => {
                write!(f, "tensor core {instruction} {}", by(shape))?;
                match ctas {
                    Some(ctas) if *ctas > 1 => write!(f, ", {ctas} blocks"),
                    _ => Ok(()),
                }
            }
            Kind::Fma { reasons } => write!(f, "FMA, no tensor core{}", because(reasons)),
            Kind::Hint { state, hint } => write!(f, "hint {hint} {state}"),
            Kind::Other {
                pass,
                name,
                details,
            } => {
                write!(f, "{pass}: {name}")?;
                for (key, value) in details {
                    write!(f, ", {key} {value}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Access::Load => "load",
            Access::Store => "store",
        })
    }
}

impl std::fmt::Display for HintState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HintState::Used => "used",
            HintState::Default => "used, as for every architecture",
            HintState::OutOfRange => "out of range, ignored",
            HintState::Incorrect => "refused",
        })
    }
}

/// `64x128`.
fn by(shape: &[u32]) -> String {
    let extents: Vec<String> = shape.iter().map(u32::to_string).collect();
    extents.join("x")
}

fn because(reasons: &[String]) -> String {
    match reasons {
        [] => String::new(),
        reasons => format!(": {}", reasons.join("; ")),
    }
}
