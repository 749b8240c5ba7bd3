//! The workspace as the evaluator and the slicer see it: one state of every file, parsed when
//! somebody asks for it.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use smol_str::SmolStr;
use tileperf_analysis::eval::{Env, EnvItem, ModuleId};
use tileperf_analysis::signature::{Elsewhere, Signature, tested_dtypes, with_tested};
use tileperf_analysis::slice::{self, Source};
use tileperf_syntax::{ParsedFile, Text};

use crate::DocId;
use crate::compiled::{KernelKey, Recorded};
use crate::engine::Shared;
use crate::links::{Use, UseKind};

/// The files of a workspace. What is asked for once stays as it was then.
pub(crate) struct Snapshot<'s> {
    shared: &'s Shared,
    serial: u64,
    docs: Vec<DocId>,
    numbers: BTreeMap<DocId, u32>,
    files: Vec<OnceCell<(Text, Arc<ParsedFile>)>>,
}

impl<'s> Snapshot<'s> {
    pub(crate) fn new(shared: &'s Shared) -> Self {
        let serial = shared.generation.load(Ordering::Acquire);
        let mut docs: Vec<DocId> = shared.docs.iter().map(|d| d.key().clone()).collect();
        docs.extend(shared.index.files.iter().map(|e| DocId::file(&e.path)));
        docs.sort();
        docs.dedup();
        let numbers = docs.iter().cloned().zip(0..).collect();
        let files = docs.iter().map(|_| OnceCell::new()).collect();
        Self {
            shared,
            serial,
            docs,
            numbers,
            files,
        }
    }

    /// The same with another text of one document.
    pub(crate) fn with(self, doc: &DocId, text: Text, parsed: Arc<ParsedFile>) -> Self {
        let mut edited = self;
        if let Some(at) = edited.numbers.get(doc) {
            edited.files[*at as usize] = OnceCell::from((text, parsed));
        }
        edited
    }

    /// What experiments launched.
    pub(crate) fn recorded(&self) -> &'s Recorded {
        &self.shared.compiled.recorded
    }

    /// A guess for a kernel of a file with the dtypes that the tests of its ops are parametrized with.
    pub(crate) fn tested(&self, key: &KernelKey, guess: &Signature) -> Vec<Signature> {
        let mut dtypes = Vec::new();
        for used in self.uses(key) {
            let UseKind::Registration { op, .. } = &used.kind else {
                continue;
            };
            for test in self.shared.test_files(op, &used.location.doc) {
                if let Some(module) = self.number(&test) {
                    dtypes.extend(tested_dtypes(self, module));
                }
            }
        }
        dtypes.dedup();
        with_tested(guess, &dtypes)
    }

    /// The launches and searches of a kernel in other files, tests last.
    pub(crate) fn launches_elsewhere(&self, key: &KernelKey) -> Vec<Elsewhere> {
        let mut found: Vec<(bool, Elsewhere)> = Vec::new();
        for used in self.uses(key) {
            let doc = &used.location.doc;
            let is_call = matches!(used.kind, UseKind::Launch(_) | UseKind::Search(_));
            if !is_call || *doc == key.doc {
                continue;
            }
            let Some(module) = self.number(doc) else {
                continue;
            };
            let call = used.call;
            found.push((is_test(doc), Elsewhere { module, call }));
        }
        found.sort_by_key(|(test, _)| *test);
        found.into_iter().map(|(_, one)| one).collect()
    }

    /// How the workspace uses a kernel.
    fn uses(&self, key: &KernelKey) -> Vec<Use> {
        let file = self.shared.file(&key.doc);
        let number = file.and_then(|file| {
            let mut kernels = file.model.kernels.iter();
            kernels.position(|kernel| KernelKey::new(&key.doc, kernel) == *key)
        });
        let links = self.shared.links();
        let uses = number.and_then(|number| links.uses.get(&(key.doc.clone(), number)));
        uses.cloned().unwrap_or_default()
    }

    /// Greater for one that was taken after a change.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    pub(crate) fn number(&self, doc: &DocId) -> Option<ModuleId> {
        self.numbers.get(doc).copied().map(ModuleId)
    }

    /// What was looked at.
    pub(crate) fn parses(&self) -> Vec<(DocId, Weak<ParsedFile>)> {
        let asked = self.docs.iter().zip(&self.files);
        asked
            .filter_map(|(doc, cell)| Some((doc.clone(), Arc::downgrade(&cell.get()?.1))))
            .collect()
    }

    pub(crate) fn file(&self, module: ModuleId) -> &ParsedFile {
        &self.text(module).1
    }

    /// A file's text and what it parses to.
    pub(crate) fn text(&self, module: ModuleId) -> &(Text, Arc<ParsedFile>) {
        let at = module.0 as usize;
        self.files[at].get_or_init(|| self.shared.source(&self.docs[at]))
    }
}

/// Whether a file has the name of pytest's tests.
fn is_test(doc: &DocId) -> bool {
    let path = doc.path();
    let name = path.as_ref().and_then(|path| path.file_name()?.to_str());
    name.is_some_and(|name| {
        name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py"
    })
}

impl Env for Snapshot<'_> {
    fn items(&self, module: ModuleId) -> Vec<EnvItem<'_>> {
        let items = self.file(module).items.iter().enumerate();
        items
            .map(|(i, item)| EnvItem {
                item: i as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, from: ModuleId, level: u32, dotted: &str) -> Option<ModuleId> {
        let doc = self.docs.get(from.0 as usize)?;
        let found = self.shared.import(doc, level, dotted)?;
        self.number(&found)
    }
}

impl slice::Workspace for Snapshot<'_> {
    fn source(&self, module: ModuleId) -> Option<Source<'_>> {
        let doc = self.docs.get(module.0 as usize)?;
        let (text, file) = self.text(module);
        Some(Source {
            name: self.shared.module_name(doc),
            path: SmolStr::new(doc.as_str()),
            text: text.as_str(),
            file,
        })
    }
}
