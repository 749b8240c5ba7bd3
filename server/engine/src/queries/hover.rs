//! What a place means: the kernel card, a space's counts, an op, or a word of cuTile's vocabulary; and
//! what a compile error there comes from.

use tileperf_analysis::arch::Arch;
use tileperf_analysis::views::card::{CardFacts, markdown};
use tileperf_analysis::views::compiled;
use tileperf_analysis::views::counts::line;
use tileperf_syntax::Span;

use crate::queries::kernel_at::Thing;
use crate::view::{FileView, KernelRef, Location};
use crate::{DocId, Engine, UseKind};

/// A hover.
#[derive(Debug, Clone, PartialEq)]
pub struct HoverText {
    /// What it is about.
    pub span: Span,
    /// Markdown.
    pub markdown: String,
}

/// Cards shown for a launch that may be of several kernels.
const MAX_CARDS: usize = 3;

impl Engine {
    /// The hover at a byte offset.
    pub fn hover(&self, doc: &DocId, offset: usize) -> Option<HoverText> {
        let file = self.shared.file(doc)?;
        let meaning = self.meaning(&file, offset);
        let Some(error) = self.shared.compile_error_at(doc, offset) else {
            return meaning;
        };
        let (span, markdown) = match meaning {
            Some(meaning) => (
                meaning.span,
                format!("{}\n\n---\n\n{}", error.markdown, meaning.markdown),
            ),
            None => (error.span, error.markdown),
        };
        Some(HoverText { span, markdown })
    }

    fn meaning(&self, file: &FileView, offset: usize) -> Option<HoverText> {
        let Some(thing) = self.shared.thing_at(file, offset) else {
            return self.explained(file, offset);
        };
        let (span, markdown) = match thing {
            Thing::Kernels(_, kernels) if kernels.is_empty() => {
                return self.explained(file, offset);
            }
            Thing::Kernels(span, kernels) => {
                let mut cards: Vec<String> = kernels
                    .iter()
                    .take(MAX_CARDS)
                    .map(|k| self.card(k))
                    .collect();
                if kernels.len() > MAX_CARDS {
                    cards.push(format!("and {} more kernels", kernels.len() - MAX_CARDS));
                }
                (span, cards.join("\n---\n\n"))
            }
            Thing::Spaces(_, spaces) if spaces.is_empty() => return self.explained(file, offset),
            Thing::Spaces(span, spaces) => {
                let lines: Vec<String> = spaces
                    .iter()
                    .map(|(doc, space)| {
                        let counts = self.counts(doc, space.span);
                        let name = if space.name.is_empty() {
                            "search space".into()
                        } else {
                            format!("search space `{}`", space.name)
                        };
                        if counts.is_empty() {
                            name
                        } else {
                            format!("{name}: `{}` configurations", line(&counts))
                        }
                    })
                    .collect();
                (span, lines.join("\n\n"))
            }
            Thing::Registration(span, number) => (span, self.registration(file, number)),
        };
        Some(HoverText { span, markdown })
    }

    /// A word of cuTile's vocabulary, and what the compiler made of the call that it stands in.
    fn explained(&self, file: &FileView, offset: usize) -> Option<HoverText> {
        let mut hover = self.explain(file, offset)?;
        if let Some(compiled) = self.shared.compiled_of(&file.doc)
            && let Some(call) = compiled.call_at(offset)
            && let Some(words) = compiled::hover(&compiled.kernels_and_callers(), call)
        {
            hover.markdown.push_str("\n\n---\n\n");
            hover.markdown.push_str(&words);
        }
        Some(hover)
    }

    fn card(&self, kernel: &KernelRef) -> String {
        let links = self.shared.links();
        let id = (kernel.file.doc.clone(), kernel.number);
        let mut facts = CardFacts::default();
        for used in links.uses.get(&id).into_iter().flatten() {
            let place = format!("`{}`", place(&used.location));
            let named = |function: &str| {
                if function.is_empty() {
                    place.clone()
                } else {
                    format!("`{function}` ({place})")
                }
            };
            match &used.kind {
                UseKind::Launch(function) => facts.launches.push(named(function)),
                UseKind::Search(function) => facts.searches.push(named(function)),
                UseKind::Hints(context) => {
                    let context = format!("{context:?}").to_lowercase();
                    facts.hint_uses.push(format!("{place} ({context})"));
                }
                UseKind::Registration { op, backend } => {
                    let words = if backend.is_empty() {
                        format!("op `{op}`")
                    } else {
                        format!("op `{op}`, backend `{backend}`")
                    };
                    if !facts.registrations.contains(&words) {
                        facts.registrations.push(words);
                    }
                }
            }
        }
        for (doc, space) in links.kernel_spaces.get(&id).into_iter().flatten() {
            let name = if space.name.is_empty() {
                "written in the call".to_owned()
            } else {
                space.name.to_string()
            };
            facts.spaces.push((name, self.counts(doc, space.span)));
        }
        for test in self.tests_of_kernel(&kernel.file.doc, kernel.number) {
            let file = format!("`{}`", file_name(&test));
            if !facts.tests.contains(&file) {
                facts.tests.push(file);
            }
        }
        // Estimated when somebody looks, never with an edit.
        facts.class = (self.shared.view(&kernel.file.doc, &self.target())).and_then(|view| {
            let text = view.text.as_str();
            (view.checked).class(&view.parsed, text, &view.model, kernel.number)
        });
        if let Some(known) = self.shared.compiled_of(&kernel.file.doc) {
            facts.compiled = known.section(kernel.kernel());
        }
        let run = self
            .shared
            .runs
            .of(&kernel.file.doc, &kernel.kernel().qualified);
        facts.measured = run.and_then(|run| run.for_card());
        let archs: Vec<Arch> = self
            .settings()
            .evaluated_archs()
            .iter()
            .map(|n| n.arch)
            .collect();
        markdown(kernel.kernel(), &facts, &archs)
    }

    fn registration(&self, file: &FileView, number: usize) -> String {
        let registration = &file.model.registrations[number];
        let op = registration.op.as_deref().unwrap_or("?");
        let mut out = format!("op `{op}`");
        if let Some(backend) = &registration.backend {
            out.push_str(&format!(", backend `{backend}`"));
        }
        if let Some(function) = &registration.function {
            out.push_str(&format!("\n\n- implemented by `{function}`"));
        }
        let kernels = self.shared.kernels(file, &registration.kernels);
        let names: Vec<String> = kernels
            .iter()
            .map(|k| format!("`{}`", k.kernel().name))
            .collect();
        out.push_str(&match names.as_slice() {
            [] => "\n- launches no kernel that is found".to_owned(),
            names => format!("\n- launches {}", names.join(", ")),
        });
        let tests = self.tests_of_op(op, file);
        let mut files: Vec<String> = tests
            .iter()
            .map(|t| format!("`{}`", file_name(t)))
            .collect();
        files.dedup();
        if !files.is_empty() {
            out.push_str(&format!("\n- tests: {}", files.join(", ")));
        }
        out
    }
}

/// `softmax.py:40`.
fn place(location: &Location) -> String {
    let line = location.text.line_column(location.span.start as usize).0;
    format!("{}:{line}", file_name(location))
}

fn file_name(location: &Location) -> String {
    let path = location.doc.path();
    let name = path
        .as_ref()
        .and_then(|p| p.file_name())
        .map(|n| n.to_string_lossy().into_owned());
    name.unwrap_or_else(|| location.doc.as_str().to_owned())
}
