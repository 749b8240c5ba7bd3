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

pub use tileperf_analysis::compiled::{Access, HintState, Kind, Remark, Remarks, Site};

use document::{Document, documents};

/// Reads the compiler's YAML. Anything that cannot be read is counted and left out.
#[must_use]
pub fn parse(yaml: &str) -> Remarks {
    let mut remarks = Remarks::default();
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
