//! Facts written beside the code they are of, for tests and for the rules' documentation.
//!
//! A comment `# sm_80 sm_90: WHAT` says what the compiler made of the line's operation, or of the
//! kernel if it stands behind its `def`:
//! `TMA 64x128`, `plain`, `plain: reason`, `tensor core SM90 64x128x16`, `FMA`, `hint out of range: x`,
//! `hint refused: x`, `hint default: x`, `says: words`, `refused: words`, `refused` behind a `def`, and
//! `128 registers, 256 threads, 64 stack, 1024 shared`. `# signature: guess` behind a `def` says where
//! the signature comes from, `# stale` that the kernel was edited since, `# stale sm_100` that it was not
//! yet compiled again for that. A kernel has facts for each
//! architecture that its lines name.

use std::sync::Arc;

use tileperf_syntax::{ParsedFile, Span};

use super::{
    Access, CompiledFacts, HintState, Kind, Machine, Outcome, Placed, Refusal, Remark, Resources,
    Site, Trial, knobs,
};
use crate::arch::Arch;
use crate::model::{AccessKind, FileModel, Kernel};
use crate::rules::Finding;
use crate::signature::{Array, Kind as Given, Origin, Param, Signature};

/// The facts of each kernel of a file.
pub(crate) fn noted(model: &FileModel, text: &str) -> Vec<Vec<CompiledFacts>> {
    model
        .kernels
        .iter()
        .map(|kernel| of_kernel(kernel, model, text))
        .collect()
}

/// What the notes say of each kernel's hints: `# sm_90: same without latency`, `other without`,
/// `unknown without`, on the line of the access, or anywhere in the kernel for one at its decorator.
/// Notes of a fix: `# sm_90: same moved`, `other moved`, for the one that the text's findings have.
pub(crate) fn tried(
    parsed: &ParsedFile,
    model: &FileModel,
    text: &str,
    findings: &[Arc<Finding>],
) -> Vec<Vec<Trial>> {
    let of_kernel = |kernel: &Kernel| {
        let written = text.get(kernel.span.range()).unwrap_or("");
        let head = written.lines().next().unwrap_or("");
        let origin = signature(kernel, head).origin;
        let knobs = knobs(parsed, text, kernel);
        let mut out = Vec::new();
        for note in notes(text, kernel.span) {
            let mut words = note.what.split_whitespace();
            let (said, way, name) = (words.next(), words.next(), words.next());
            let same = match said {
                Some("same") => Some(true),
                Some("other") => Some(false),
                _ => None,
            };
            let edits = match way {
                Some("without") => {
                    let name = name.unwrap();
                    let mine = knobs.iter().filter(|knob| knob.text.starts_with(name));
                    let here = mine.filter(|knob| {
                        knob.span.start < kernel.span.start || note.line.contains(knob.span)
                    });
                    here.map(|knob| knob.edits.clone()).next()
                }
                Some("moved") => {
                    let mine = findings.iter().filter(|f| note.line.contains(f.span));
                    let mut claims = mine.flat_map(|f| &f.claims);
                    claims.find_map(|claim| Some(claim.edits()?.0.to_vec()))
                }
                _ => continue,
            };
            // A text after its fix has the note, but no longer the hint.
            for arch in edits.iter().flat_map(|_| &note.archs) {
                out.push(Trial {
                    edits: edits.clone().unwrap(),
                    arch: *arch,
                    origin,
                    same,
                    stale: is_stale(head, *arch),
                });
            }
        }
        out
    };
    model.kernels.iter().map(of_kernel).collect()
}

/// Whether a note is of [`tried`].
fn is_trial(what: &str) -> bool {
    matches!(what.split_whitespace().nth(1), Some("without" | "moved"))
}

/// A comment: which architectures, what, and the code before it.
struct Note<'t> {
    archs: Vec<Arch>,
    what: &'t str,
    line: Span,
    number: u32,
}

fn notes(text: &str, within: Span) -> Vec<Note<'_>> {
    let mut out = Vec::new();
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let span = Span::new(start, start + line.len());
        start += line.len();
        if span.end <= within.start || span.start >= within.end {
            continue;
        }
        let mut comments = line.split("# ");
        let code = comments.next().unwrap_or("").len();
        for comment in comments {
            let Some((names, what)) = comment.split_once(':') else {
                continue;
            };
            let archs: Option<Vec<Arch>> = names
                .split_whitespace()
                .map(|name| name.parse().ok())
                .collect();
            out.extend(archs.filter(|archs| !archs.is_empty()).map(|archs| Note {
                archs,
                what: what.trim(),
                line: Span::new(span.start as usize, span.start as usize + code),
                number: number as u32 + 1,
            }));
        }
    }
    out
}

fn of_kernel(kernel: &Kernel, model: &FileModel, text: &str) -> Vec<CompiledFacts> {
    let written = text.get(kernel.span.range()).unwrap_or("");
    let head = written.lines().next().unwrap_or("");
    let mut own = notes(text, kernel.span);
    // Helpers belong to every kernel that names them.
    let kernels: Vec<Span> = model.kernels.iter().map(|k| k.span).collect();
    let all = notes(text, Span::new(0, text.len()));
    let helpers = all.into_iter().filter(|note| {
        !kernels
            .iter()
            .any(|k| k.start < note.line.end && note.line.start < k.end)
    });
    if written.contains("helper") {
        own.extend(helpers);
    }
    let mut archs: Vec<Arch> = Vec::new();
    for arch in own.iter().flat_map(|note| &note.archs) {
        if !archs.contains(arch) {
            archs.push(*arch);
        }
    }
    let facts = archs.into_iter().map(|arch| {
        let mine = own.iter().filter(|note| note.archs.contains(&arch));
        CompiledFacts {
            arch,
            signature: signature(kernel, head),
            outcome: outcome(kernel, text, mine),
            stale: is_stale(head, arch),
        }
    });
    facts.collect()
}

fn is_stale(head: &str, arch: Arch) -> bool {
    head.split_once("# stale").is_some_and(|(_, after)| {
        let names = after.split(['#', '\n']).next().unwrap_or("");
        names.trim().is_empty() || names.split_whitespace().any(|name| name == arch.name())
    })
}

fn signature(kernel: &Kernel, head: &str) -> Signature {
    let params = kernel
        .params
        .iter()
        .filter(|p| !p.constant)
        .map(|param| Param {
            name: param.name.clone(),
            kind: Given::Array(Array::usual("float16", 2)),
        });
    Signature {
        params: params.collect(),
        globals: Vec::new(),
        launched: None,
        origin: match head
            .split_once("# signature: ")
            .map(|(_, word)| word.trim())
        {
            Some(word) if word.starts_with("guess") => Origin::Guess,
            Some(word) if word.starts_with("literals") => Origin::Literals,
            Some(word) => panic!("unknown signature: {word}"),
            None => Origin::Recorded,
        },
    }
}

fn outcome<'n, 't: 'n>(
    kernel: &Kernel,
    text: &str,
    notes: impl Iterator<Item = &'n Note<'t>>,
) -> Outcome {
    let mut machine = Machine {
        resources: Resources {
            registers: 64,
            stack: 0,
            shared: 1024,
            threads: Some(128),
            cluster: 1,
        },
        code_hash: String::new(),
        remarks: Some(Vec::new()),
        seconds: 0.5,
    };
    for note in notes {
        let of_kernel =
            note.line.start < kernel.name_span.end && kernel.name_span.start < note.line.end;
        let place = (!of_kernel).then(|| operation(kernel, text, note));
        match note.what.split_once(':').unwrap_or((note.what, "")) {
            ("refused", words) => {
                return Outcome::Refused(Refusal {
                    message: words.trim().to_owned(),
                    span: place,
                    chain: Vec::new(),
                });
            }
            ("accepted", _) => return Outcome::Accepted,
            ("failed", words) => return Outcome::Failed(words.trim().to_owned()),
            ("silent", _) => machine.remarks = None,
            (what, _) if is_trial(what) => {}
            _ if of_kernel => machine.resources = resources(note.what),
            (what, more) => {
                let kind = kind(what, more.trim(), is_store(kernel, place));
                let remark = remark(note, kind, more.trim());
                let placed = Placed {
                    span: place,
                    remark,
                };
                machine
                    .remarks
                    .iter_mut()
                    .for_each(|all| all.push(placed.clone()));
            }
        }
    }
    Outcome::Machine(machine)
}

/// The line's first access, else its first call of cuTile, else all of its code.
fn operation(kernel: &Kernel, text: &str, note: &Note<'_>) -> Span {
    let wanted = match note.what.starts_with("tensor core") || note.what.starts_with("FMA") {
        true => [AccessKind::Mma].as_slice(),
        false => &[
            AccessKind::Load,
            AccessKind::Store,
            AccessKind::Gather,
            AccessKind::Scatter,
        ],
    };
    let starts = |span: Span| note.line.start <= span.start && span.start < note.line.end;
    let access = (kernel.accesses.iter())
        .find(|access| starts(access.span) && wanted.contains(&access.kind));
    if let Some(access) = access {
        return access.span;
    }
    let code = text.get(note.line.range()).unwrap_or("");
    let indent = code.len() - code.trim_start().len();
    let call = code.find("ct.").and_then(|at| {
        let mut depth = 0;
        let end = code.get(at..)?.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            *c == ')' && depth == 0
        })?;
        Some((at, at + end.0 + 1))
    });
    let (from, to) = match call.filter(|_| !note.what.starts_with("refused")) {
        Some(call) => call,
        None => (indent, code.trim_end().len()),
    };
    let start = note.line.start as usize;
    Span::new(start + from, start + to)
}

fn is_store(kernel: &Kernel, place: Option<Span>) -> Access {
    let store = kernel.accesses.iter().any(|access| {
        access.kind == AccessKind::Store && place.is_some_and(|at| at == access.span)
    });
    match store {
        true => Access::Store,
        false => Access::Load,
    }
}

fn kind(what: &str, more: &str, access: Access) -> Kind {
    let reasons = |more: &str| match more.is_empty() {
        true => Vec::new(),
        false => vec![more.to_owned()],
    };
    let hint = |state| Kind::Hint {
        state,
        hint: more.to_owned(),
    };
    match what.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["TMA", shape] => Kind::Tma {
            access,
            shape: extents(shape),
        },
        ["plain"] => Kind::Plain {
            access,
            reasons: reasons(more),
        },
        ["tensor", "core", instruction, shape] => Kind::TensorCore {
            instruction: (*instruction).to_owned(),
            shape: extents(shape),
            ctas: None,
        },
        ["FMA"] => Kind::Fma {
            reasons: reasons(more),
        },
        ["hint", "out", "of", "range"] => hint(HintState::OutOfRange),
        ["hint", "refused"] => hint(HintState::Incorrect),
        ["hint", "default"] => hint(HintState::Default),
        ["says"] => Kind::Other {
            pass: "Loop".to_owned(),
            name: "RemarkLoop".to_owned(),
            details: Vec::new(),
        },
        _ => panic!("unknown fact: {what}"),
    }
}

fn remark(note: &Note<'_>, kind: Kind, more: &str) -> Remark {
    let text = match &kind {
        Kind::Tma { .. } | Kind::Plain { .. } => "Load instruction selected",
        Kind::TensorCore { .. } => "MMA operation successfully optimized to use Tensor Cores",
        Kind::Fma { .. } => "it is using FMA",
        Kind::Hint { .. } => "OptimizationHint",
        Kind::Other { .. } => more,
    };
    Remark {
        site: Some(Site {
            file: "/w/k.py".to_owned(),
            line: note.number,
            column: 0,
        }),
        passed: !matches!(kind, Kind::Fma { .. }),
        text: text.to_owned(),
        kind,
        count: 1,
    }
}

fn extents(shape: &str) -> Vec<u32> {
    shape
        .split('x')
        .map(|extent| extent.parse().unwrap())
        .collect()
}

fn resources(what: &str) -> Resources {
    let mut resources = Resources {
        registers: 64,
        stack: 0,
        shared: 0,
        threads: Some(128),
        cluster: 1,
    };
    for part in what.split(", ") {
        let (number, name) = part.trim().split_once(' ').unwrap();
        let number: u32 = number.parse().unwrap();
        match name {
            "registers" => resources.registers = number,
            "threads" => resources.threads = Some(number),
            "stack" => resources.stack = number,
            "shared" => resources.shared = number,
            "cluster" => resources.cluster = number,
            other => panic!("unknown resource: {other}"),
        }
    }
    resources
}
