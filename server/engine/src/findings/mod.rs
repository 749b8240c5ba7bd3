//! What the rules find, in open documents and in files on disk.
//!
//! Rules about an item or a file are answered with every edit. Rules about what a file has to do with
//! others, spaces per architecture among them, are asked when nothing is typed
//! ([`Engine::check_links`]); until then what they said last stays, where its line still stands.

mod carried;
mod compiled;
mod links;

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tileperf_analysis::model::FileModel;
use tileperf_analysis::rules::{self, Checked, Finding, Rule, RuleCache, Severity};
use tileperf_analysis::target::Target;
use tileperf_syntax::{ParsedFile, Text};

use crate::document::Linked;
use crate::engine::Shared;
use crate::event::State;
use crate::index::Indexed;
use crate::{DocId, Engine};
pub use compiled::JudgedFile;

/// A file as the rules see it.
#[derive(Debug, Clone)]
pub struct CheckedFile {
    /// The editor's version of it, if it is open.
    pub version: Option<i32>,
    /// Its text.
    pub text: Text,
    /// What is wrong in it, in source order.
    pub findings: Vec<Arc<Finding>>,
}

/// What is wrong in a workspace.
#[derive(Debug, Clone, Default)]
pub struct CheckedWorkspace {
    /// The files in which something is found, in path order.
    pub files: Vec<DocId>,
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings that are hints.
    pub hints: usize,
}

/// A file with what the rules about it alone found.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The editor's version of it, if it is open.
    pub(crate) version: Option<i32>,
    pub(crate) text: Text,
    pub(crate) parsed: Arc<ParsedFile>,
    pub(crate) model: Arc<FileModel>,
    pub(crate) checked: Checked,
}

/// Files that are not open, kept while questions about them are likely to come back.
#[derive(Debug, Default)]
pub(crate) struct CheckCache(FxHashMap<DocId, (Arc<Indexed>, Arc<Target>, View)>);

/// Files kept.
const MAX_FILES: usize = 24;

/// How long the workspace may take to be read until what is known of it has to do, and how often it is
/// looked whether it is.
const PATIENCE: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(20);

/// The page that describes a rule.
pub fn rule_url(rule: &Rule) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    format!("{repository}/blob/main/docs/rules.md#{}", rule.anchor())
}

impl Engine {
    /// What the rules find in an open document: its own, and what was last known of those that rest
    /// on other files.
    /// Nothing for one that is not open, or while the engine is asleep.
    pub fn findings(&self, doc: &DocId) -> Option<CheckedFile> {
        let open = self.shared.docs.get(doc).map(|d| Arc::clone(&d))?;
        if !self.is_awake() {
            return None;
        }
        let (analyzed, checked) = open.checked(&self.target());
        let mut findings = checked.findings.to_vec();
        if let Some(linked) = &*open.linked.lock() {
            carried::over(linked, &analyzed.text, &mut findings);
        }
        let findings = self.chosen(findings);
        Some(CheckedFile {
            version: Some(analyzed.version),
            text: analyzed.text.clone(),
            findings: match self.shared.shown(doc, &analyzed) {
                Some(shown) => {
                    let file = analyzed.as_compiled();
                    let kernels = shown.kernels(&analyzed.model);
                    self.judged(file, &kernels, findings, &mut open.judgements.lock())
                }
                None => findings,
            },
        })
    }

    /// Frees what is known of a document's texts of before. For whoever has answered its last change:
    /// nobody waits then.
    pub fn tidy(&self, doc: &DocId) {
        if let Some(open) = self.shared.docs.get(doc).map(|d| Arc::clone(&d)) {
            open.tidy();
        }
    }

    /// Asks the rules that rest on other files about an open document. Whether they say something
    /// else than before.
    pub fn check_links(&self, doc: &DocId) -> bool {
        let Some(open) = self.shared.docs.get(doc).map(|d| Arc::clone(&d)) else {
            return false;
        };
        let asked = open.text().0;
        let generation = self.shared.generation.load(Ordering::Acquire);
        let Some(view) = self
            .shared
            .view(doc, &self.target())
            .filter(|_| self.is_awake())
        else {
            return false;
        };
        let findings: Arc<[Arc<Finding>]> = self.linked(doc, &view).into();
        if open.text().0 != asked {
            // Typed meanwhile: what was asked of two texts fits neither. That edit asks again.
            return false;
        }
        let mut linked = open.linked.lock();
        let before = linked.as_ref().map_or(&[][..], |l| &*l.findings);
        let changed = before != &*findings;
        *linked = Some(Linked {
            text: view.text,
            findings,
            generation,
        });
        drop(linked);
        if changed {
            self.try_soon(doc);
        }
        changed
    }

    /// Open documents of which something was asked in [`Engine::check_links`] before the last change
    /// of any text: what was typed in one file can change what is said of another.
    pub fn outdated_links(&self) -> Vec<DocId> {
        let docs = self.shared.docs.iter().map(|d| d.key().clone());
        let docs: Vec<DocId> = docs.collect();
        let outdated = docs.into_iter().filter(|doc| self.has_outdated_links(doc));
        outdated.collect()
    }

    /// Whether [`Engine::outdated_links`] has this document among them.
    pub fn has_outdated_links(&self, doc: &DocId) -> bool {
        let Some(open) = self.shared.docs.get(doc).map(|d| Arc::clone(&d)) else {
            return false;
        };
        let generation = self.shared.generation.load(Ordering::Acquire);
        let linked = open.linked.lock();
        linked.as_ref().is_some_and(|l| l.generation != generation)
    }

    /// Everything that is wrong in a file, open or on disk. Nothing for one that cannot be read.
    pub fn check(&self, doc: &DocId) -> Option<CheckedFile> {
        let view = self.shared.view(doc, &self.target())?;
        let mut findings = view.checked.findings.to_vec();
        findings.extend(self.linked(doc, &view));
        findings.sort_by_key(|f| (f.span.start, f.span.end, f.rule.code));
        Some(CheckedFile {
            version: self.text(doc).map(|(version, _)| version),
            text: view.text,
            findings: self.chosen(findings),
        })
    }

    /// Checks the whole workspace; from now on files that are not open have diagnostics too. While it is
    /// being read this waits: a part of it is not what was asked for.
    pub fn check_workspace(&self) -> CheckedWorkspace {
        self.shared.whole.store(true, Ordering::Release);
        // Who asks wants it read, whether or not anybody has seen cuTile in it.
        self.wake();
        let asked = Instant::now();
        // Whoever woke it first may not have come to the reading yet.
        while self.status().state != State::Ready && asked.elapsed() < PATIENCE {
            std::thread::sleep(STEP);
        }
        let mut all = CheckedWorkspace::default();
        for doc in self.files_to_check() {
            let findings = self.check(&doc).map(|c| c.findings).unwrap_or_default();
            if findings.is_empty() {
                continue;
            }
            all.files.push(doc);
            for finding in &findings {
                match finding.severity {
                    Severity::Error => all.errors += 1,
                    Severity::Warning => all.warnings += 1,
                    Severity::Hint => all.hints += 1,
                }
            }
        }
        all
    }

    /// Files and folders on disk that could not be read, or not as they are written, and why. Files
    /// with bytes that are not UTF-8 only if they mention cuTile.
    pub fn unread(&self) -> Vec<(PathBuf, String)> {
        let unread = self.shared.index.unread.iter();
        let mut unread: Vec<_> = unread
            .map(|e| (e.key().clone(), e.value().clone()))
            .collect();
        unread.sort();
        unread
    }

    /// Whether files that are not open have diagnostics too.
    pub fn is_workspace_checked(&self) -> bool {
        self.shared.whole.load(Ordering::Acquire)
    }

    /// The documents that are open.
    pub fn open_documents(&self) -> Vec<DocId> {
        self.shared.docs.iter().map(|d| d.key().clone()).collect()
    }

    /// Every file that can have findings, in path order.
    pub fn files_to_check(&self) -> Vec<DocId> {
        let files = self.shared.relevant_files();
        files.into_iter().map(|file| file.doc).collect()
    }

    fn linked(&self, doc: &DocId, view: &View) -> Vec<Arc<Finding>> {
        let Some(file) = self.shared.file(doc) else {
            return Vec::new();
        };
        let workspace = OnceCell::new();
        let links = links::Linking::new(self, file, &workspace);
        rules::check_links(
            &view.checked,
            &view.parsed,
            view.text.as_str(),
            &view.model,
            &links,
        )
    }

    /// What kernels are judged for.
    pub fn target(&self) -> Arc<Target> {
        self.shared.target()
    }

    /// Findings of the rules that the settings choose, as severe as the settings say.
    fn chosen(&self, findings: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
        let settings = self.settings();
        let choice = &settings.rules;
        let keep = |finding: &Arc<Finding>| choice.chooses(finding.rule);
        let mut findings: Vec<Arc<Finding>> = findings.into_iter().filter(keep).collect();
        for finding in &mut findings {
            if let Some(severity) = choice.severity(finding.rule) {
                Arc::make_mut(finding).severity = severity;
            }
        }
        findings
    }
}

impl Shared {
    /// As [`Engine::target`].
    pub(crate) fn target(&self) -> Arc<Target> {
        let settings = self.settings.read();
        Arc::new(Target {
            cuda_tile: settings.cuda_tile.or(*self.compiled.version.read()),
            archs: (settings.evaluated_archs().iter())
                .map(|n| n.arch)
                .collect(),
            ..Target::default()
        })
    }

    /// A file and what the rules about it alone find.
    pub(crate) fn view(&self, doc: &DocId, target: &Arc<Target>) -> Option<View> {
        if let Some(open) = self.docs.get(doc).map(|d| Arc::clone(&d)) {
            let (analyzed, checked) = open.checked(target);
            return Some(View {
                version: Some(analyzed.version),
                text: analyzed.text.clone(),
                parsed: Arc::clone(&analyzed.parsed),
                model: Arc::clone(&analyzed.model),
                checked,
            });
        }
        let path = doc.path()?;
        let entry = self.index.files.get(&path).map(|e| Arc::clone(&e))?;
        let indexed = entry.indexed(self.settings.read().index.max_file_size)?;
        if let Some((of, for_target, view)) = self.checks.lock().0.get(doc)
            && Arc::ptr_eq(of, indexed)
            && for_target == target
        {
            return Some(view.clone());
        }
        let parsed = self.parsed(doc);
        let checked = rules::check(
            &parsed,
            indexed.text.as_str(),
            &indexed.model,
            target,
            &mut RuleCache::default(),
        );
        let view = View {
            version: None,
            text: indexed.text.clone(),
            parsed,
            model: Arc::clone(&indexed.model),
            checked,
        };
        let mut cache = self.checks.lock();
        let keeps = self.index.keeps.load(Ordering::Relaxed);
        if cache.0.len() >= MAX_FILES && !keeps {
            cache.0.clear();
        }
        let known = (Arc::clone(indexed), Arc::clone(target), view.clone());
        cache.0.insert(doc.clone(), known);
        Some(view)
    }
}
