//! The first tier: a kernel's slice to bytecode, with the signature that cuTile takes.
//!
//! A guessed signature can be wrong. What cuTile says of it leads to the next one, a bounded number
//! of times; if none is taken, the complaint furthest down in the kernel is its own.

use serde_json::Value;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::signature::{Complaint, Origin, Signature, repair};
use tileperf_compiler::CancelToken;
use tileperf_compiler::worker::{
    Answer, Compiled, Error, Module, Place, Problem, ProblemKind, Request, Worker,
};

use super::subject::Subject;

/// Signatures tried before it is given up. Nearly all kernels need one to three.
const MOST_TRIES: usize = 16;

/// What the frontend makes of a kernel.
#[derive(Debug, Clone)]
pub(super) enum Verdict {
    /// It compiles for this signature.
    Accepted(Signature, Compiled),
    /// It does not; the signature is the one that was complained of.
    Refused(Signature, Problem),
    /// Nothing can be said, for a reason that is not the kernel's.
    Failed(Signature, String),
}

/// Compiles a kernel to bytecode. `None` if it was cancelled.
pub(super) fn accept(
    worker: &Worker,
    subject: &Subject,
    arch: Arch,
    cancel: &CancelToken,
) -> Option<Verdict> {
    let mut tried: Vec<Signature> = Vec::new();
    let mut problems: Vec<Problem> = Vec::new();
    let mut waiting = subject.signatures.iter().cloned();
    let mut next = waiting.next();
    while let Some(signature) = next.take() {
        tried.push(signature.clone());
        let problem = match worker.compile(&request(subject, &signature, arch), cancel) {
            Ok(Answer::Compiled(compiled)) => return Some(Verdict::Accepted(signature, compiled)),
            Ok(Answer::Problem(problem)) => problem,
            Err(Error::Cancelled) => return None,
            Err(error) => return Some(Verdict::Failed(signature, error.to_string())),
        };
        if let Some(reason) = not_the_kernels(&problem) {
            return Some(Verdict::Failed(signature, reason));
        }
        // What the user's runs launch is no guess: that it does not compile is the kernel's fault.
        if matches!(signature.origin, Origin::CacheDb | Origin::Recorded) {
            return Some(Verdict::Refused(signature, problem));
        }
        let code = code(subject, &problem);
        problems.push(problem);
        let Some(Problem { kind, message, .. }) = problems.last() else {
            break;
        };
        // A file that cannot be loaded cannot be loaded with another signature either.
        let by_signature = matches!(kind, ProblemKind::Frontend | ProblemKind::Signature);
        if tried.len() < MOST_TRIES && by_signature {
            let code: Vec<&str> = code.iter().map(String::as_str).collect();
            let complaint = Complaint {
                message,
                code: &code,
            };
            let repaired = || repair(&tried, complaint).filter(|next| subject.allows(next));
            next = waiting.next().or_else(repaired);
        }
    }
    let (at, problem) = furthest(&problems)?;
    Some(Verdict::Refused(tried[at].clone(), problem.clone()))
}

fn request(subject: &Subject, signature: &Signature, arch: Arch) -> Request {
    let modules = subject.slice.modules.iter().map(|module| Module {
        name: module.name.to_string(),
        path: module.path.to_string(),
        text: module.text.clone(),
    });
    Request {
        modules: modules.collect(),
        entry: subject.slice.entry.to_string(),
        kernel: subject.slice.kernel.to_string(),
        signature: signature.params.iter().map(|p| json(&p.kind)).collect(),
        arch: arch.name().to_owned(),
        hints: (subject.hints.iter())
            .map(|(name, value)| (name.to_string(), Value::from(*value)))
            .collect(),
        globals: (signature.globals.iter())
            .map(|(name, constant)| (name.to_string(), json(constant)))
            .collect(),
        convention: None,
    }
}

/// What the protocol has for a value: plain data, which always serializes.
fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Why nothing can be said of a kernel; `None` if it was looked at.
fn not_the_kernels(problem: &Problem) -> Option<String> {
    use ProblemKind as P;
    // A statement that the kernel needs took all the memory there was, and the time that takes: it would
    // again for the next signature.
    let used_up = |failure: &&Problem| failure.kind == P::Memory;
    if let Some(failure) = problem.failures.iter().find(used_up) {
        return Some(failure.message.clone());
    }
    match problem.kind {
        P::Syntax | P::Load | P::Frontend | P::Signature => None,
        P::Time | P::Memory | P::CudaTile | P::Internal | P::Request | P::Refused | P::Other => {
            Some(problem.message.clone())
        }
    }
}

/// The code that a problem points to, then that of the calls that led there.
fn code(subject: &Subject, problem: &Problem) -> Vec<String> {
    let places = std::iter::once(&problem.place).chain(&problem.chain);
    places.filter_map(|place| text_at(subject, place)).collect()
}

fn text_at(subject: &Subject, place: &Place) -> Option<String> {
    let text = &subject.source(place.path.as_deref()?)?.text;
    let line = (place.line? as usize).checked_sub(1)?;
    let last = (place.end_line.or(place.line)? as usize).checked_sub(1)?;
    if line > last || last >= text.line_count() {
        return None;
    }
    let (first, last) = (text.line_span(line), text.line_span(last));
    let start = place.column.map_or(first.start, |c| first.start + c);
    let end = place.end_column.map_or(last.end, |c| last.start + c);
    let exact = text.as_str().get(start as usize..end as usize);
    let whole = || text.as_str().get(first.range().start..last.range().end);
    exact
        .filter(|t| !t.is_empty())
        .or_else(whole)
        .map(str::to_owned)
}

/// The problem that is the kernel's own: the one furthest down in it, the first of equals. What is
/// wrong with a signature is gone with the next, and compiling gets further; no signature gets past
/// what is wrong with the kernel.
fn furthest(problems: &[Problem]) -> Option<(usize, &Problem)> {
    let line = |problem: &Problem| {
        // Of a chain of calls the outermost stands in the kernel.
        let place = problem.chain.last().unwrap_or(&problem.place);
        place.line
    };
    let all = problems.iter().enumerate().rev();
    all.max_by_key(|(_, problem)| line(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(message: &str, line: u32, chain: &[u32]) -> Problem {
        let at = |line| Place {
            line: Some(line),
            ..Place::default()
        };
        Problem {
            kind: ProblemKind::Frontend,
            class: None,
            message: message.to_owned(),
            place: at(line),
            chain: chain.iter().map(|line| at(*line)).collect(),
            failures: Vec::new(),
        }
    }

    #[test]
    fn the_problem_is_the_one_that_no_signature_gets_past() {
        let problems = [
            problem("a guess was wrong", 5, &[]),
            problem("the kernel is wrong", 9, &[]),
            problem("so is what a repair made of it", 9, &[]),
            problem("in a helper above", 2, &[7]),
        ];
        let (number, found) = furthest(&problems).unwrap();
        assert_eq!((number, found.message.as_str()), (1, "the kernel is wrong"));
        let (number, _) = furthest(&[problem("x", 9, &[4]), problem("y", 1, &[8])]).unwrap();
        assert_eq!(number, 1);
        assert!(furthest(&[]).is_none());
    }
}
