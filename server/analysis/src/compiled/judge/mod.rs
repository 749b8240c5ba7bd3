//! Holds what rules claim against compiled code.
//!
//! A finding is confirmed (it says for which architectures), refuted on every architecture that was
//! compiled for (it is withdrawn), or nothing is known (it stays as it is, worded "may" by its rule).
//! What was compiled once stays the judgement while the kernel is typed in: a text that has not been
//! compiled is not judged by what its predecessor became, so findings neither blink nor are new
//! mistakes taken for refuted ones. Where some architectures have been compiled again and others not
//! yet, the former can confirm; only all of them refute.

mod place;
#[cfg(test)]
mod tests;
mod verdict;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::{ParsedFile, Span};

pub(crate) use self::place::head;
use self::place::same_place;
use self::verdict::{Question, Verdict};
use super::CompiledKernel;
use crate::arch::Arch;
use crate::rules::{Check, Claim, Finding, Severity, listed};

/// What a file's findings are held against.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The file.
    pub file: &'a ParsedFile,
    /// Its text.
    pub text: &'a str,
    /// All its kernels, those that were never compiled without facts.
    pub kernels: &'a [CompiledKernel<'a>],
    /// The architectures that are judged for.
    pub archs: &'a [Arch],
}

/// What was judged last, by kernel; kept with a document from one text to the next.
#[derive(Debug, Clone, Default)]
pub struct Judgements(FxHashMap<Owner, FxHashMap<Key, Verdict>>);

/// Whose findings: a kernel by its name and ordinal; nobody's for device code that kernels call.
type Owner = Option<(SmolStr, u32)>;

/// A finding whatever its place: the same words of the same code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    code: &'static str,
    message: String,
    source: String,
    /// It takes a second compile to judge, which comes after the first.
    by_trial: bool,
}

/// Judges the findings of a file: those of its text, and those of compiled code
/// ([`rules::compiled`](crate::rules::compiled)), which are left out where they only repeat another.
/// Findings that settings leave out are to be left out before. Order is kept.
pub fn judge(
    findings: Vec<Arc<Finding>>,
    evidence: &Evidence<'_>,
    last: &mut Judgements,
) -> Vec<Arc<Finding>> {
    last.forget(evidence);
    let verdicts = evidence.verdicts(&findings, last);
    let mut judged: Vec<(Arc<Finding>, Verdict)> = Vec::with_capacity(findings.len());
    let mut compiled = Vec::new();
    for (finding, verdict) in findings.into_iter().zip(verdicts) {
        match verdict {
            _ if is_compiled(&finding) => compiled.push((judged.len(), finding)),
            Verdict::Refuted => {}
            verdict => judged.push((worded(finding, &verdict, evidence.archs), verdict)),
        }
    }
    let mut out = Vec::with_capacity(judged.len() + compiled.len());
    let mut added = Vec::new();
    for (before, finding) in compiled {
        let same = judged
            .iter_mut()
            .find(|(said, verdict)| evidence.repeats(&finding, said, verdict));
        match same {
            Some((said, _)) => {
                let words = (finding.span, finding.message.clone());
                Arc::make_mut(said).related.push(words);
            }
            None => added.push((before, finding)),
        }
    }
    let mut added = added.into_iter().peekable();
    for (number, (finding, _)) in judged.into_iter().enumerate() {
        while let Some((_, finding)) = added.next_if(|(before, _)| *before <= number) {
            out.push(finding);
        }
        out.push(finding);
    }
    out.extend(added.map(|(_, finding)| finding));
    out
}

fn is_compiled(finding: &Finding) -> bool {
    (finding.rule.checks.iter()).any(|check| matches!(check, Check::Compiled(_)))
}

/// A finding as it is said once something is known.
fn worded(finding: Arc<Finding>, verdict: &Verdict, archs: &[Arch]) -> Arc<Finding> {
    let Verdict::Confirmed {
        on,
        not_on,
        guessed,
    } = verdict
    else {
        return finding;
    };
    let mut known = Finding::clone(&finding);
    let stated = known.claims.iter().find_map(|claim| match claim {
        Claim::AccessIs { stated, .. } => stated.clone(),
        _ => None,
    });
    if let Some(stated) = stated {
        known.message = stated;
    }
    let with = match guessed {
        true => " with a guessed signature",
        false => "",
    };
    let shown = known.claims.iter().find_map(|claim| match claim {
        Claim::Inert { .. } => Some(": the same code without it"),
        Claim::Matters(_) => Some(": other code comes out"),
        _ => None,
    });
    let shown = shown.unwrap_or("");
    known
        .message
        .push_str(&format!(" (compiled for {}{with}{shown})", listed(on)));
    if !not_on.is_empty() {
        let all = match known.archs.is_empty() {
            true => archs.to_vec(),
            false => known.archs,
        };
        known.archs = all
            .into_iter()
            .filter(|arch| !not_on.contains(arch))
            .collect();
    }
    Arc::new(known)
}

impl Evidence<'_> {
    fn verdicts(&self, findings: &[Arc<Finding>], last: &mut Judgements) -> Vec<Verdict> {
        let mut fresh: FxHashMap<Owner, FxHashMap<Key, Verdict>> = FxHashMap::default();
        let mut verdicts = Vec::with_capacity(findings.len());
        for finding in findings {
            if finding.claims.is_empty() || is_compiled(finding) {
                verdicts.push(Verdict::Unknown);
                continue;
            }
            let (owner, about) = self.owner(finding.span);
            let key = self.key(finding);
            let is_awaited = (finding.claims.iter().filter_map(Claim::edits))
                .any(|(edits, on)| about.iter().any(|known| known.awaits(edits, on)));
            let is_settled = !is_awaited && about.iter().all(CompiledKernel::is_fresh);
            let mut verdict = match about.iter().any(CompiledKernel::has_fresh) {
                true => self.verdict(finding, &about, owner.is_some()),
                false => Verdict::Unknown,
            };
            if verdict == Verdict::Unknown && !is_settled {
                let known = last.0.get(&owner).and_then(|known| known.get(&key));
                verdict = known.cloned().unwrap_or_default();
            }
            let known = fresh.entry(owner).or_default();
            match known.get_mut(&key) {
                // Of two that look alike, nobody knows which is which once they move.
                Some(other) if *other != verdict => *other = Verdict::Unknown,
                Some(_) => {}
                None => {
                    known.insert(key, verdict.clone());
                }
            }
            verdicts.push(verdict);
        }
        for (owner, found) in fresh {
            let known = last.0.entry(owner).or_default();
            for (key, verdict) in found {
                match verdict {
                    Verdict::Unknown => known.remove(&key),
                    verdict => known.insert(key, verdict),
                };
            }
        }
        verdicts
    }

    fn verdict(&self, finding: &Finding, about: &[CompiledKernel<'_>], own: bool) -> Verdict {
        let question = Question {
            file: self.file,
            text: self.text,
            span: finding.span,
            archs: match finding.archs.as_slice() {
                [] => self.archs,
                archs => archs,
            },
            own,
        };
        let verdicts = finding
            .claims
            .iter()
            .map(|claim| question.verdict(claim, about));
        // Whatever is known of one of several claims.
        verdicts
            .reduce(|known, next| match known {
                Verdict::Unknown => next,
                known => known,
            })
            .unwrap_or_default()
    }

    /// The kernel that a place is in; for other device code every kernel that was compiled.
    fn owner(&self, at: Span) -> (Owner, Vec<CompiledKernel<'_>>) {
        let around = self.kernels.iter().find(|k| k.kernel.span.contains(at));
        match around {
            Some(known) => {
                let id = (known.kernel.qualified.clone(), known.kernel.ordinal);
                (Some(id), vec![*known])
            }
            None => {
                let compiled = self.kernels.iter().filter(|k| !k.facts.is_empty());
                (None, compiled.copied().collect())
            }
        }
    }

    fn key(&self, finding: &Finding) -> Key {
        Key {
            code: finding.rule.code,
            message: finding.message.clone(),
            source: self.text.get(finding.span.range()).unwrap_or("").to_owned(),
            by_trial: finding.claims.iter().any(|claim| claim.edits().is_some()),
        }
    }

    /// Whether a finding of compiled code says no more than one of the text does: an error at the
    /// place of an error, the lowering that a confirmed finding is about.
    fn repeats(&self, compiled: &Finding, said: &Finding, verdict: &Verdict) -> bool {
        compiled.claims.iter().any(|claim| match claim {
            Claim::Errors => {
                said.severity == Severity::Error
                    && said.rule.code.starts_with("TP2")
                    && same_place(self.file, self.text, compiled.span, said.span)
            }
            Claim::AccessIs { call, lowering, .. } => {
                matches!(verdict, Verdict::Confirmed { .. })
                    && said.claims.iter().any(|other| {
                        matches!(other, Claim::AccessIs { call: c, lowering: l, .. }
                            if c.start == call.start && l == lowering)
                    })
            }
            Claim::Inert { edits, .. } => {
                matches!(verdict, Verdict::Confirmed { .. })
                    && said
                        .claims
                        .iter()
                        .any(|other| matches!(other, Claim::Inert { edits: e, .. } if e == edits))
            }
            Claim::Matters(_) => false,
        })
    }
}

impl Judgements {
    /// Forgets what is judged anew, and kernels that are no more.
    fn forget(&mut self, evidence: &Evidence<'_>) {
        self.0.retain(|owner, known| {
            let (is_there, is_fresh) = match owner {
                Some((qualified, ordinal)) => {
                    let it = evidence.kernels.iter().find(|known| {
                        known.kernel.qualified == *qualified && known.kernel.ordinal == *ordinal
                    });
                    (it.is_some(), it.is_some_and(CompiledKernel::is_fresh))
                }
                None => {
                    let mut all = evidence.kernels.iter();
                    (true, all.all(|k| k.facts.is_empty() || k.is_fresh()))
                }
            };
            if is_fresh {
                // What a second compile showed stays until there is another.
                known.retain(|key, _| key.by_trial);
            }
            is_there && !known.is_empty()
        });
    }
}
