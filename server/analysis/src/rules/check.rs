//! Asking the rules about a file, as little as an edit allows.
//!
//! What rules about an item and its device code found stays with the item's facts: as long as the
//! item's text, the file's names and the target are the same, it is the same. A keystroke asks them
//! about one item again, and the rules about the file, which only look at what the model found.

use std::sync::Arc;

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::ast::{FunctionDef, StmtKind};
use tileperf_syntax::{Item, ItemFacts, ParsedFile, Span};

use super::context::{self, DeviceFacts, FileContext, ItemContext, Links};
use super::names::{Changed, Names};
use super::rule::DeviceContext;
use super::{Check, Finding, Findings, InItem, RULES, Rule, host, suppress};
use crate::body::{Body, Code, Device, ModuleEnv};
use crate::classify::{Classification, Known, classify};
use crate::model::{FileModel, Kernel};
use crate::plan::{self, Plan};
use crate::playbook::{self, Action, Surroundings};
use crate::target::Target;

/// Keeps what rules found from one edit to the next.
#[derive(Debug, Default)]
pub struct RuleCache {
    target: Target,
    names: Names,
    /// By the address of the item's facts, which are held so that no others can take it.
    items: FxHashMap<usize, Kept>,
    /// What was found in items that are no more, until somebody has time to free it.
    gone: FxHashMap<usize, Kept>,
}

/// What was found in an item, and where its findings were placed last.
#[derive(Debug)]
struct Kept {
    /// So that no others can take their address.
    _facts: Arc<ItemFacts>,
    found: Arc<ItemFindings>,
    placed: Option<(u32, Vec<Arc<Finding>>)>,
}

#[derive(Debug)]
struct ItemFindings {
    devices: Arc<[Arc<DeviceFacts>]>,
    /// Places are relative to the item.
    findings: Vec<Finding>,
}

/// A file as rules saw it.
#[derive(Debug, Clone)]
pub struct Checked {
    /// What the rules about items and the file found, suppressed ones left out, in source order.
    pub findings: Arc<[Arc<Finding>]>,
    /// The file's names.
    pub module: Arc<ModuleEnv>,
    devices: Arc<[Arc<[Arc<DeviceFacts>]>]>,
    target: Arc<Target>,
}

/// The ways in which the rules that hold for a target find things.
fn checks(target: &Target) -> impl Iterator<Item = (&'static Rule, Check)> {
    let rules = RULES.iter().filter(|r| r.holds_for(target));
    rules.flat_map(|rule| rule.checks.iter().map(|check| (*rule, *check)))
}

/// Asks the rules about items and files.
pub fn check(
    file: &ParsedFile,
    text: &str,
    model: &FileModel,
    target: &Target,
    cache: &mut RuleCache,
) -> Checked {
    let module = cache.module(file, text, model, target);
    let mut next = FxHashMap::default();
    let mut devices = Vec::with_capacity(file.items.len());
    let mut findings = Vec::new();
    for item in &file.items {
        let key = Arc::as_ptr(&item.facts) as usize;
        let known = cache.items.remove(&key).or_else(|| next.remove(&key));
        let mut known = known.unwrap_or_else(|| Kept {
            _facts: Arc::clone(&item.facts),
            found: Arc::new(about_item(item, text, model, &module, target)),
            placed: None,
        });
        devices.push(Arc::clone(&known.found.devices));
        // Of a text that never parsed, only a part is known.
        if !item.is_stale() || item.facts.is_clean() {
            known.place(item, &mut findings);
        }
        next.insert(key, known);
    }
    cache.gone = std::mem::replace(&mut cache.items, next);
    let context = FileContext {
        file,
        text,
        model,
        module: &module,
        target,
        devices: &devices,
    };
    let mut of_file = Vec::new();
    for (rule, check) in checks(target) {
        if let Check::File(check) = check {
            let out = &mut of_file;
            check(&context, &mut Findings { rule, out });
        }
    }
    findings.extend(of_file.into_iter().map(Arc::new));
    let findings = suppress::apply(text, findings);
    Checked {
        findings: findings.into(),
        module,
        devices: devices.into(),
        target: Arc::new(target.clone()),
    }
}

/// Asks the rules about what a file has to do with others.
pub fn check_links(
    checked: &Checked,
    file: &ParsedFile,
    text: &str,
    model: &FileModel,
    links: &dyn Links,
) -> Vec<Arc<Finding>> {
    let context = checked.context(file, text, model);
    let mut findings = Vec::new();
    for (rule, check) in checks(&checked.target) {
        if let Check::Workspace(check) = check {
            let out = &mut findings;
            check(&context, links, &mut Findings { rule, out });
        }
    }
    suppress::apply(text, findings.into_iter().map(Arc::new).collect())
}

impl Kept {
    /// Adds the findings where the item stands now. Those of an item that has not moved are the same
    /// as before.
    fn place(&mut self, item: &Item, out: &mut Vec<Arc<Finding>>) {
        if item.is_stale() {
            out.extend(self.found.findings.iter().map(|finding| {
                let mut finding = finding.mapped(&|span| item.place(span));
                // Made for a text that is no more.
                finding.fixes.clear();
                Arc::new(finding)
            }));
            return;
        }
        let start = item.span.start;
        if self.placed.as_ref().is_none_or(|(at, _)| *at != start) {
            let place = |finding: &Finding| Arc::new(finding.mapped(&|span| item.place(span)));
            self.placed = Some((start, self.found.findings.iter().map(place).collect()));
        }
        let placed = self.placed.iter().flat_map(|(_, placed)| placed);
        out.extend(placed.cloned());
    }
}

/// A file whose rules nobody asks: its names alone. It is as if it had no device code.
pub fn unchecked(
    file: &ParsedFile,
    text: &str,
    model: &FileModel,
    target: &Arc<Target>,
) -> Checked {
    Checked {
        findings: Arc::default(),
        module: RuleCache::default().module(file, text, model, target),
        devices: Arc::default(),
        target: Arc::clone(target),
    }
}

impl Checked {
    /// The file as its rules are shown it.
    pub fn context<'a>(
        &'a self,
        file: &'a ParsedFile,
        text: &'a str,
        model: &'a FileModel,
    ) -> FileContext<'a> {
        FileContext {
            file,
            text,
            model,
            module: &self.module,
            target: &self.target,
            devices: &self.devices,
        }
    }

    /// Asks about the n-th kernel of the model in its own file.
    pub fn ask_kernel(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        number: usize,
        ask: &mut dyn FnMut(&FileContext<'_>, &Kernel),
    ) {
        if let Some(kernel) = model.kernels.get(number) {
            ask(&self.context(file, text, model), kernel);
        }
    }

    /// Asks about the function of that name at the top of the file, if there is one only.
    pub fn ask_function(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        name: &str,
        ask: &mut dyn FnMut(&FileContext<'_>, InItem<'_, FunctionDef>),
    ) {
        let context = self.context(file, text, model);
        if let Some(def) = host::function(&context, name) {
            ask(&context, def);
        }
    }

    /// The n-th kernel of the model as its launches and searches see it.
    pub fn kernel(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        number: usize,
    ) -> Option<context::KernelFacts> {
        let kernel = model.kernels.get(number)?;
        let context = self.context(file, text, model);
        Some(context::KernelFacts {
            name: kernel.name.clone(),
            params: kernel.params.clone(),
            hints: kernel.hints.clone(),
            device: context.kernel(kernel),
            here: Some(kernel.span),
        })
    }

    /// What may make the n-th kernel of the model faster, the most promising first. Of how it is used
    /// no more is known than the file shows.
    pub fn actions(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        number: usize,
    ) -> Vec<Action> {
        self.actions_within(file, text, model, number, None)
    }

    /// The same where the workspace was asked about the kernel.
    pub fn actions_within(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        number: usize,
        around: Option<Surroundings<'_>>,
    ) -> Vec<Action> {
        let kernel = model.kernels.get(number);
        kernel.map_or_else(Vec::new, |kernel| {
            playbook::actions(&self.context(file, text, model), kernel, around)
        })
    }

    /// What kind of kernel the n-th of the model is: `matmul`, `attention`. Nothing if its present text
    /// does not parse.
    pub fn kind(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        number: usize,
    ) -> Option<&'static str> {
        playbook::kind(&self.context(file, text, model), model.kernels.get(number)?)
    }

    /// What is worth trying on the n-th kernel of the model. Nothing if its present text does not
    /// parse.
    pub fn plan(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        number: usize,
        known: &plan::Known<'_>,
    ) -> Option<Plan> {
        let kernel = model.kernels.get(number)?;
        plan::plan(&self.context(file, text, model), kernel, known)
    }

    /// What bounds the n-th kernel of the model, from its text alone. Nothing if its present text
    /// does not parse.
    pub fn class(
        &self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        number: usize,
    ) -> Option<Classification> {
        let kernel = model.kernels.get(number)?;
        let context = self.context(file, text, model);
        let facts = context.kernel(kernel)?;
        let (_, device) = context.device(kernel, &facts)?;
        let known = Known::default();
        let helper = |name: &str| context.device_named(name);
        Some(classify(&device, &known, &helper))
    }
}

impl RuleCache {
    /// Frees what is no longer of use: better done when nobody waits.
    pub fn tidy(&mut self) {
        self.gone = FxHashMap::default();
    }

    /// The file's names; what was found where it rests on other names, or another target, is
    /// forgotten.
    fn module(
        &mut self,
        file: &ParsedFile,
        text: &str,
        model: &FileModel,
        target: &Target,
    ) -> Arc<ModuleEnv> {
        if self.target != *target {
            self.items.clear();
            self.target = target.clone();
        }
        match self.names.update(file, model) {
            Changed::Nothing => {}
            Changed::These(names) => self.forget(file, text, &names),
            Changed::All => self.items.clear(),
        }
        self.names.module()
    }

    /// Forgets what was found in items that mention one of these names.
    fn forget(&mut self, file: &ParsedFile, text: &str, names: &[SmolStr]) {
        let finders: Vec<_> = names
            .iter()
            .map(|n| memmem::Finder::new(n.as_bytes()))
            .collect();
        for item in &file.items {
            let source = text.get(item.span.range()).unwrap_or("").as_bytes();
            // The text of a stale item is not the one that its facts are of.
            if item.is_stale() || finders.iter().any(|name| name.find(source).is_some()) {
                self.items.remove(&(Arc::as_ptr(&item.facts) as usize));
            }
        }
    }
}

/// What rules about an item and its device code find.
fn about_item(
    item: &Item,
    text: &str,
    model: &FileModel,
    module: &ModuleEnv,
    target: &Target,
) -> ItemFindings {
    let source = text.get(item.span.range()).unwrap_or("");
    let mut functions = Vec::new();
    context::functions(&item.facts.body, &mut functions);
    let top = |span: Span| {
        (item.facts.body.iter())
            .any(|s| matches!(&s.kind, StmtKind::FunctionDef(d) if d.def_span == span))
    };
    let mut devices: Vec<Arc<DeviceFacts>> = Vec::new();
    let mut findings = Vec::new();
    for def in functions.iter().copied() {
        let kernel = (model.kernels.iter()).find(|k| k.span == item.place(def.def_span));
        let is_helper = module.functions.get(&def.name.name)
            == Some(&crate::body::FunctionKind::Device)
            && top(def.def_span);
        if kernel.is_none() && !is_helper {
            continue;
        }
        let constants: FxHashSet<SmolStr> = match kernel {
            Some(kernel) => (kernel.params.iter().filter(|p| p.constant))
                .map(|p| p.name.clone())
                .collect(),
            None => FxHashSet::default(),
        };
        let around: Vec<&FunctionDef> = (functions.iter().copied())
            .filter(|f| f.def_span.contains(def.def_span) && f.def_span != def.def_span)
            .collect();
        let body = Body::within(def, &around, &constants, module);
        let facts = Arc::new(DeviceFacts {
            def_span: def.def_span,
            body,
            constants,
            is_kernel: kernel.is_some(),
            open: def.params.iter().any(|p| p.stars > 0),
        });
        let code = Code::of(def, module);
        let context = DeviceContext {
            device: Device {
                def,
                body: &facts.body,
                module,
                is_kernel: facts.is_kernel,
                constants: &facts.constants,
                code: Some(&code),
            },
            text: source,
            target,
        };
        for (rule, check) in checks(target) {
            if let Check::Device(check) = check {
                let out = &mut findings;
                check(&context, &mut Findings { rule, out });
            }
        }
        devices.push(facts);
    }
    let context = ItemContext {
        body: &item.facts.body,
        text: source,
        devices: &devices,
        module,
        target,
    };
    for (rule, check) in checks(target) {
        if let Check::Item(check) = check {
            let out = &mut findings;
            check(&context, &mut Findings { rule, out });
        }
    }
    ItemFindings {
        devices: devices.into(),
        findings,
    }
}
