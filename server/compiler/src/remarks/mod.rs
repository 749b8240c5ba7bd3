//! What the compiler says it made of each load, store and multiplication.
//!
//! `tileiras --remarks=all --remark-format=yaml` writes one YAML document a remark, several of them
//! twice, in no stable order, with reasons repeated hundreds of times. Here they become typed,
//! unique and ordered. A name that is not known is kept as it is: a newer compiler says more, and
//! its words are worth more than silence.

mod document;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use document::{Document, documents};

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

impl Remarks {
    /// Reads the compiler's YAML. Anything that cannot be read is counted and left out.
    #[must_use]
    pub fn parse(yaml: &str) -> Self {
        let mut remarks = Self::default();
        // The ids under which a remark was given: the same one comes twice.
        let mut found: BTreeMap<Remark, Vec<String>> = BTreeMap::new();
        for document in documents(yaml) {
            let Some(document) = document else {
                remarks.unreadable += 1;
                continue;
            };
            let id = document.detail("RemarkId").unwrap_or_default().to_owned();
            let ids = found.entry(typed(document)).or_default();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let counted = found.into_iter().map(|(mut remark, ids)| {
            remark.count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            remark
        });
        remarks.all = with_reasons(counted.collect());
        remarks
    }
}

fn typed(document: Document) -> Remark {
    let text = document.detail("Remark").unwrap_or_default().to_owned();
    Remark {
        kind: kind(&document, &text),
        passed: document.tag == "Passed",
        site: document.site,
        text,
        count: 1,
    }
}

fn kind(document: &Document, text: &str) -> Kind {
    let instruction = document.detail("Instruction").unwrap_or_default();
    let hint = |state, words: &str| {
        let hint = text.strip_prefix(words)?.trim();
        Some(Kind::Hint {
            state,
            hint: hint.to_owned(),
        })
    };
    let known = match document.name.as_str() {
        "RemarkMemoryLoadInstructionSelected" => moved(document, Access::Load, instruction),
        "RemarkMemoryStoreInstructionSelected" => moved(document, Access::Store, instruction),
        "RemarkMemoryTmaLoadFailed" => Some(plain(document, Access::Load)),
        "RemarkMemoryTmaStoreFailed" => Some(plain(document, Access::Store)),
        "RemarkTensorCoreMMA" => multiplied(document, instruction),
        "RemarkHintDefault" => hint(HintState::Default, "OptimizationHint used default"),
        "RemarkHintOutOfRange" => {
            hint(HintState::OutOfRange, "OptimizationHint value out of range")
        }
        "RemarkHint" => hint(HintState::Used, "OptimizationHint used")
            .or_else(|| hint(HintState::Incorrect, "OptimizationHint incorrect")),
        _ => None,
    };
    known.unwrap_or_else(|| Kind::Other {
        pass: document.pass.clone(),
        name: document.name.clone(),
        details: document.further_details(),
    })
}

fn moved(document: &Document, access: Access, instruction: &str) -> Option<Kind> {
    if instruction.starts_with("TMA ") {
        return Some(Kind::Tma {
            access,
            shape: document.shape(),
        });
    }
    (instruction.starts_with("Global-memory ")).then(|| plain(document, access))
}

fn plain(document: &Document, access: Access) -> Kind {
    Kind::Plain {
        access,
        reasons: document.reasons(),
    }
}

fn multiplied(document: &Document, instruction: &str) -> Option<Kind> {
    if let Some(instruction) = instruction.strip_prefix("Tensor-core ") {
        let ctas = document.detail("NumCTAs");
        return Some(Kind::TensorCore {
            instruction: instruction.to_owned(),
            shape: document.shape(),
            ctas: ctas.and_then(|ctas| ctas.parse().ok()),
        });
    }
    (instruction == "FMA").then(|| Kind::Fma {
        reasons: document.reasons(),
    })
}

/// A plain access is told in two remarks, that it is one and why: makes them one.
fn with_reasons(remarks: Vec<Remark>) -> Vec<Remark> {
    let place = |remark: &Remark| match &remark.kind {
        Kind::Plain { access, .. } => Some((remark.site.clone(), *access)),
        _ => None,
    };
    let mut why: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let mut selected = Vec::new();
    for remark in &remarks {
        if let (Some(place), Kind::Plain { reasons, .. }) = (place(remark), &remark.kind) {
            match remark.passed {
                true => selected.push(place),
                false => {
                    let known = why.entry(place).or_default();
                    known.extend(reasons.iter().cloned());
                    known.sort();
                    known.dedup();
                }
            }
        }
    }
    let merge = |mut remark: Remark| {
        let Some(place) = place(&remark) else {
            return Some(remark);
        };
        if !remark.passed && selected.contains(&place) {
            return None;
        }
        if let (Kind::Plain { reasons, .. }, Some(why)) = (&mut remark.kind, why.get(&place)) {
            reasons.clone_from(why);
        }
        Some(remark)
    };
    remarks.into_iter().filter_map(merge).collect()
}
