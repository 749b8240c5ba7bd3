//! Other files that launch a kernel, as the playbook sees them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tileperf_analysis::model::Candidate;
use tileperf_analysis::playbook::Elsewhere;
use tileperf_analysis::rules;
use tileperf_syntax::{Span, Text};

use crate::DocId;
use crate::engine::Shared;
use crate::findings::View;
use crate::links::UseKind;
use crate::view::FileView;

/// A kernel that more files launch is a library's: which of them a change is for nobody knows.
const MOST: usize = 8;

/// Another file that launches a kernel.
#[derive(Debug, Clone)]
pub struct OtherFile {
    /// The file.
    pub doc: DocId,
    /// The editor's version of it, if it is open.
    pub version: Option<i32>,
    /// Its text.
    pub text: Text,
}

/// The same with what it means.
pub(super) struct Launching {
    pub(super) doc: DocId,
    view: View,
    /// The calls.
    launches: Vec<Span>,
}

impl Launching {
    pub(super) fn as_elsewhere(&self) -> Elsewhere<'_> {
        let View {
            text,
            parsed,
            model,
            checked,
            ..
        } = &self.view;
        Elsewhere {
            file: checked.context(parsed, text.as_str(), model),
            launches: &self.launches,
        }
    }

    pub(super) fn file(&self) -> OtherFile {
        OtherFile {
            doc: self.doc.clone(),
            version: self.view.version,
            text: self.view.text.clone(),
        }
    }
}

impl Shared {
    /// Other files whose launches can only be of the n-th kernel of a file, in path order. None of
    /// them where too many have launches.
    pub(super) fn launching(&self, doc: &DocId, number: usize) -> Vec<Launching> {
        let links = self.links();
        let mut calls: FxHashMap<&DocId, Vec<Span>> = FxHashMap::default();
        for used in (links.uses.get(&(doc.clone(), number)).into_iter()).flatten() {
            if matches!(used.kind, UseKind::Launch(_)) && used.location.doc != *doc {
                calls.entry(&used.location.doc).or_default().push(used.call);
            }
        }
        if calls.len() > MOST {
            return Vec::new();
        }
        let mut calls: Vec<(&DocId, Vec<Span>)> = calls.into_iter().collect();
        calls.sort();
        let all = calls.into_iter();
        all.filter_map(|(other, calls)| self.launching_in(other, calls, doc, number))
            .collect()
    }

    fn launching_in(
        &self,
        other: &DocId,
        calls: Vec<Span>,
        doc: &DocId,
        number: usize,
    ) -> Option<Launching> {
        let target = self.target();
        let view = match self.docs.contains_key(other) {
            true => self.view(other, &target)?,
            // Its findings are not asked for, and take longer than the rest.
            false => {
                let file = self.file(other)?;
                let parsed = self.parsed(other);
                let text = file.text.as_str();
                View {
                    version: None,
                    checked: rules::unchecked(&parsed, text, &file.model, &target),
                    text: file.text,
                    model: file.model,
                    parsed,
                }
            }
        };
        let file = FileView {
            doc: other.clone(),
            text: view.text.clone(),
            model: Arc::clone(&view.model),
        };
        let is_it = |candidates: &[Candidate]| {
            let kernels = self.kernels(&file, candidates);
            matches!(kernels.as_slice(), [one] if one.is(doc, number))
        };
        let launches = view.model.launches.iter();
        let launches: Vec<Span> = launches
            .filter(|l| calls.contains(&l.span) && is_it(&l.candidates))
            .map(|l| l.span)
            .collect();
        (!launches.is_empty()).then(|| Launching {
            doc: other.clone(),
            view,
            launches,
        })
    }
}
