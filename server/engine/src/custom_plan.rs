//! Custom plans: what is worth trying on a kernel, from everything that is known of it.

use std::path::{Path, PathBuf};

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_analysis::plan::{Known, Tried, markdown};
use tileperf_analysis::playbook::{Action, Proof};
use tileperf_perf::event::{Origin, RunKind};
use tileperf_perf::session::Run;
use tileperf_perf::store::Store;
use tileperf_perf::{Session, custom_plan, flow, journal};

use crate::runs::ended_in_words;
use crate::{Engine, KernelActions};

/// A plan that was made.
#[derive(Debug, Clone)]
pub struct CustomPlan {
    /// The root of the kernel's experiments, whose folder it belongs into.
    pub root: PathBuf,
    /// The plan as Markdown.
    pub text: String,
    /// What it proposes.
    pub items: usize,
}

impl Engine {
    /// Plans experiments for a kernel. `compiled`: what it was compiled to; without, what is known of
    /// it since its file was opened.
    ///
    /// # Errors
    /// The file is on no disk, or the kernel does not parse at the moment.
    pub fn custom_plan(
        &self,
        of: &KernelActions,
        compiled: Option<&CompiledFacts>,
    ) -> Result<CustomPlan, String> {
        let path = of.doc.path().ok_or("it is in no file yet")?;
        let folder = path.parent().unwrap_or(&path);
        let workspace = self.root().unwrap_or_else(|| folder.to_owned());
        let root = flow::root_of(&path, &workspace);
        let view = self.shared.view(&of.doc, &self.target());
        let view = view.ok_or("the file cannot be read")?;
        let is_it = |k: &tileperf_analysis::model::Kernel| {
            (&k.qualified, k.ordinal) == (&of.kernel, of.ordinal)
        };
        let number = view.model.kernels.iter().position(is_it);
        let number = number.ok_or("the kernel is gone")?;
        let known = self.shared.compiled_of(&of.doc);
        let fresh = (known.as_ref()).and_then(|known| {
            let facts = known.facts_of(&view.model.kernels[number]);
            facts.iter().find(|f| !f.stale && f.machine().is_some())
        });
        let offered = of.actions.iter();
        let actions: Vec<(Action, Option<(Arch, Proof)>)> = offered
            .map(|offered| (offered.action.clone(), offered.proof.clone()))
            .collect();
        let findings = self.check(&of.doc).map(|c| c.findings).unwrap_or_default();
        let inside = path.strip_prefix(&root).unwrap_or(&path);
        let tried = tried(&root, inside, &of.kernel);
        let plan = view.checked.plan(
            &view.parsed,
            view.text.as_str(),
            &view.model,
            number,
            &Known {
                actions: &actions,
                findings: &findings,
                compiled: compiled.or(fresh),
                tried: &tried,
                uses: Some(self.shared.kernel_uses(&of.doc, number)),
            },
        );
        let plan = plan.ok_or("its present text does not parse")?;
        let file = inside.to_string_lossy();
        Ok(CustomPlan {
            text: markdown(&plan, &of.kernel, &file, &view.text),
            items: plan.items.len(),
            root,
        })
    }

    /// Writes the plan of a kernel where its experiments are, and gives its path.
    ///
    /// # Errors
    /// As [`Engine::custom_plan`]; it cannot be written.
    pub fn write_plan(
        &self,
        of: &KernelActions,
        compiled: Option<&CompiledFacts>,
    ) -> Result<(PathBuf, CustomPlan), String> {
        let plan = self.custom_plan(of, compiled)?;
        let written = custom_plan::write(&plan.root, &of.kernel, &plan.text);
        Ok((written.map_err(|error| error.to_string())?, plan))
    }

    /// What is offered for the kernel of that name, the first if it is defined several times.
    pub fn actions_of_kernel(&self, doc: &crate::DocId, kernel: &str) -> Option<KernelActions> {
        let mut all = self.actions(doc).into_iter();
        all.find(|of| of.kernel == kernel)
    }
}

/// What was tried on a kernel in all of its sessions, in order. A journal that cannot be read counts as
/// none: the loop says so where it matters.
fn tried(root: &Path, file: &Path, kernel: &str) -> Vec<Tried> {
    let mut all: Vec<(String, Tried)> = Vec::new();
    for name in Store::sessions(root) {
        let entries = journal::read(&Store::new(root, &name).journal());
        let Some(session) = entries.ok().and_then(|entries| Session::fold(&entries)) else {
            continue;
        };
        if session.plan.kernel != kernel || session.plan.file != file {
            continue;
        }
        all.extend(session.runs.iter().filter_map(of_run));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.into_iter().map(|(_, tried)| tried).collect()
}

/// What a run says of its change, and when; nothing if it says nothing.
fn of_run(run: &Run) -> Option<(String, Tried)> {
    if !matches!(run.kind, RunKind::Iteration | RunKind::Experiment) {
        return None;
    }
    let change = run.tried.as_ref()?;
    let result = ended_in_words(run)?;
    let undone = if run.undone { ", undone later" } else { "" };
    Some((
        run.began.clone(),
        Tried {
            name: change.optimization.clone(),
            action: match &change.origin {
                Origin::Playbook { id, variant } => Some((id.clone(), variant.clone())),
                Origin::User | Origin::Agent { .. } => None,
            },
            result: format!(
                "{result}{undone} (run {} of {})",
                run.run,
                moment(&run.began)
            ),
        },
    ))
}

/// The day of a journal's time.
fn moment(at: &str) -> &str {
    at.get(..10).unwrap_or(at)
}
