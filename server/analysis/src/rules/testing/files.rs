//! A text with the modules that it imports, as rules see a workspace.

use std::sync::Arc;

use tileperf_syntax::ast::FunctionDef;
use tileperf_syntax::{FileParser, ParsedFile, Span};

use super::{Others, whole};
use crate::compiled::CompiledKernel;
use crate::compiled::testing::{noted, tried};
use crate::eval::{Env, EnvItem, Evaluator, ModuleId, Place};
use crate::model::{Candidate, FileModel, Kernel, ModelCache, SpaceRef};
use crate::rules::{
    Checked, CompiledContext, FileContext, Finding, InItem, KernelFacts, KernelUses, Links,
    RuleCache, SpaceFacts, check, check_links, compiled,
};
use crate::target::Target;

/// The text that is asked about comes first.
pub(super) struct Files<'t> {
    files: Vec<One>,
    target: &'t Target,
}

struct One {
    module: String,
    text: String,
    parsed: ParsedFile,
    model: FileModel,
    checked: Checked,
}

impl One {
    fn new(module: &str, text: &str, target: &Target) -> One {
        let parsed = FileParser::default().parse(text);
        let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
        let checked = check(&parsed, text, &model, target, &mut RuleCache::default());
        One {
            module: module.to_owned(),
            text: text.to_owned(),
            parsed,
            model,
            checked,
        }
    }
}

/// A kernel: numbers of the file and in it.
type KernelAt = (usize, usize);

impl<'t> Files<'t> {
    pub(super) fn new(text: &str, others: &Others<'_>, target: &'t Target) -> Self {
        let mut files = vec![One::new("", text, target)];
        let others = (others.iter()).map(|(module, text)| One::new(module, &whole(text), target));
        files.extend(others);
        Files { files, target }
    }

    /// What all rules find in the text.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let file = &self.files[0];
        let linked = check_links(&file.checked, &file.parsed, &file.text, &file.model, self);
        let facts = noted(&file.model, &file.text);
        let trials = tried(
            &file.parsed,
            &file.model,
            &file.text,
            &file.checked.findings,
        );
        let kernels: Vec<CompiledKernel<'_>> = (file.model.kernels.iter().zip(&facts).zip(&trials))
            .map(|((kernel, facts), trials)| CompiledKernel {
                kernel,
                facts,
                trials,
            })
            .collect();
        let compiled = compiled(&CompiledContext {
            file: &file.parsed,
            text: &file.text,
            model: &file.model,
            target: self.target,
            kernels: &kernels,
        });
        let found = file.checked.findings.iter().chain(&linked).chain(&compiled);
        found.map(|f| Finding::clone(f)).collect()
    }

    fn follow(&self, from: usize, candidates: &[Candidate]) -> Vec<KernelAt> {
        let mut out = Vec::new();
        for candidate in candidates {
            match candidate {
                Candidate::Local(number) => out.push((from, *number)),
                Candidate::Imported(path) => {
                    if let Some((file, name)) = self.split(path)
                        && let Some(export) = self.files[file].model.exports.get(name)
                    {
                        out.extend(self.follow(file, &export.kernels));
                    }
                }
                _ => {}
            }
        }
        out
    }

    /// A path as the file of its module and a name in it.
    fn split<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        let (module, name) = path.rsplit_once('.')?;
        let file = self.files.iter().position(|f| f.module == module)?;
        Some((file, name))
    }

    /// Name, where it stands, and the whole of a space.
    fn locate(&self, space: &SpaceRef) -> Option<(usize, String, Span, Span)> {
        let (file, name) = match space {
            SpaceRef::Local(number) => {
                let space = self.files[0].model.spaces.get(*number)?;
                return Some((0, space.name.to_string(), space.name_span, space.span));
            }
            SpaceRef::Imported(path) => self.split(path)?,
        };
        let (at, whole) = self.files[file].model.exports.get(name)?.function?;
        Some((file, name.to_owned(), at, whole))
    }
}

impl Env for Files<'_> {
    fn items(&self, module: ModuleId) -> Vec<EnvItem<'_>> {
        let file = self.files.get(module.0 as usize);
        let items = file.into_iter().flat_map(|f| f.parsed.items.iter());
        items
            .enumerate()
            .map(|(i, item)| EnvItem {
                item: i as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, _: ModuleId, _: u32, dotted: &str) -> Option<ModuleId> {
        let number = self.files.iter().position(|f| f.module == dotted)?;
        (!dotted.is_empty()).then_some(ModuleId(number as u32))
    }
}

impl Links for Files<'_> {
    fn kernels(&self, candidates: &[Candidate]) -> Vec<Arc<KernelFacts>> {
        let kernels = self.follow(0, candidates).into_iter();
        kernels
            .filter_map(|(number, kernel)| {
                let file = &self.files[number];
                let facts = (file.checked).kernel(&file.parsed, &file.text, &file.model, kernel);
                let mut facts = facts?;
                if number != 0 {
                    facts.here = None;
                }
                Some(Arc::new(facts))
            })
            .collect()
    }

    fn at_home(&self, candidates: &[Candidate], ask: &mut dyn FnMut(&FileContext<'_>, &Kernel)) {
        for (number, kernel) in self.follow(0, candidates) {
            let file = &self.files[number];
            (file.checked).ask_kernel(&file.parsed, &file.text, &file.model, kernel, ask);
        }
    }

    fn function(&self, path: &str, ask: &mut dyn FnMut(&FileContext<'_>, InItem<'_, FunctionDef>)) {
        if let Some((number, name)) = self.split(path) {
            let file = &self.files[number];
            (file.checked).ask_function(&file.parsed, &file.text, &file.model, name, ask);
        }
    }

    fn space(&self, space: &SpaceRef) -> Option<SpaceFacts> {
        let (number, name, name_span, span) = self.locate(space)?;
        let mut items = self.files[number].parsed.items.iter().enumerate();
        let (at, item) = items.find(|(_, i)| i.span.contains(span))?;
        let place = Place {
            module: ModuleId(number as u32),
            item: at as u32,
            span: span.moved(-i64::from(item.span.start)),
        };
        let evaluator = Evaluator::new(self);
        let here = number == 0;
        Some(SpaceFacts {
            name: name.into(),
            name_here: here.then_some(name_span),
            here: here.then_some(span),
            by_arch: (self.target.archs.iter())
                .filter_map(|arch| Some((*arch, Arc::new(evaluator.at(place, *arch)?))))
                .collect(),
        })
    }

    fn uses(&self, kernel: usize) -> KernelUses {
        let model = &self.files[0].model;
        let is_it = |list: &[Candidate]| list.contains(&Candidate::Local(kernel));
        KernelUses {
            launches: (model.launches.iter())
                .filter(|l| is_it(&l.candidates))
                .count(),
            searches: (model.searches.iter())
                .filter(|s| is_it(&s.candidates))
                .count(),
            remade: (model.hint_uses.iter())
                .filter(|h| is_it(&h.candidates))
                .count(),
        }
    }
}
