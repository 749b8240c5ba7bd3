//! Which action of the playbook the user means by a kernel, an optimization and a variant.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tileperf_analysis::playbook::{Action, OPTIMIZATIONS, Optimization};
use tileperf_analysis::rewrite;
use tileperf_engine::{DocId, KernelActions};

use super::edited::Edited;

/// `PATH:KERNEL` as its parts. A path may hold colons itself.
pub(super) fn split(text: &str) -> (PathBuf, Option<String>) {
    match text.rsplit_once(':') {
        Some((path, kernel)) if !Path::new(text).exists() => {
            (PathBuf::from(path), Some(kernel.to_owned()))
        }
        _ => (PathBuf::from(text), None),
    }
}

/// The optimization of a letter or a name.
///
/// # Errors
/// There is none.
pub(super) fn optimization(id: &str) -> anyhow::Result<&'static Optimization> {
    Optimization::named(id).with_context(|| {
        let all = OPTIMIZATIONS.iter();
        let all: Vec<String> = all.map(|o| format!("{} ({})", o.id, o.slug)).collect();
        format!(
            "no optimization is called {id}; there is {}",
            all.join(", ")
        )
    })
}

/// The one of a file's kernels that is meant. `shown`: what the file is called.
///
/// # Errors
/// None of that name, or several.
pub(super) fn kernel(
    mut kernels: Vec<KernelActions>,
    shown: &str,
    name: Option<&str>,
) -> anyhow::Result<KernelActions> {
    let all: Vec<String> = kernels.iter().map(|k| k.kernel.to_string()).collect();
    let all = all.join(", ");
    if let Some(name) = name {
        let bare = |k: &KernelActions| k.kernel.rsplit('.').next() == Some(name);
        kernels.retain(|k| k.kernel == name || bare(k));
    }
    match (kernels.len(), name) {
        (1, _) => kernels.pop().context("one kernel"),
        (0, Some(name)) => bail!("{shown} has no kernel {name}; it has {all}"),
        (0, None) => bail!("no kernel found in {shown}"),
        (_, Some(name)) => bail!("{shown} has several kernels called {name}: {all}"),
        (_, None) => bail!("{shown} has several kernels: {all}; name one as {shown}:KERNEL"),
    }
}

/// What an optimization offers for a kernel, in the way that is asked for.
///
/// # Errors
/// Nothing, or several ways and none is named; what is offered is said.
pub(super) fn action<'k>(
    kernel: &'k KernelActions,
    optimization: &'static Optimization,
    variant: Option<&str>,
) -> anyhow::Result<&'k Action> {
    let actions = kernel.actions.iter().map(|offered| &offered.action);
    let actions: Vec<&Action> = actions.filter(|a| a.optimization == optimization).collect();
    let (name, id, slug) = (&kernel.kernel, optimization.id, optimization.slug);
    let variants = || {
        let all: Vec<&str> = actions.iter().map(|a| a.variant.as_str()).collect();
        all.join(", ")
    };
    match (actions.as_slice(), variant) {
        ([], _) => bail!(
            "{id} ({slug}) does not apply to {name}; `tileperf explain {id}` says when it does. {}",
            offered(kernel)
        ),
        ([only], None) => Ok(only),
        (_, None) => bail!(
            "{id} ({slug}) can be done in several ways: give --variant, one of {}",
            variants()
        ),
        (all, Some(wanted)) => {
            let found = all.iter().find(|a| a.variant == wanted);
            found.copied().with_context(|| {
                format!(
                    "{id} ({slug}) has no variant {wanted} for {name}; there is {}",
                    variants()
                )
            })
        }
    }
}

/// What there is for a kernel, as a sentence.
fn offered(kernel: &KernelActions) -> String {
    let names = kernel.actions.iter().map(|offered| offered.action.name());
    let names: Vec<String> = names.collect();
    match names.is_empty() {
        true => format!("Nothing of the playbook applies to {}", kernel.kernel),
        false => format!("Offered: {}", names.join(", ")),
    }
}

/// The files that an action changes, with their new texts: the kernel's first. `shown`: what the user
/// calls a file.
///
/// # Errors
/// One is no file, or would not parse any more.
pub(super) fn applied(
    kernel: &KernelActions,
    action: &Action,
    shown: &dyn Fn(&DocId) -> PathBuf,
) -> anyhow::Result<Vec<Edited>> {
    let mut changed = vec![(&kernel.doc, &kernel.text, &action.edits)];
    for elsewhere in &action.elsewhere {
        let file = kernel.elsewhere.get(elsewhere.file);
        let file = file.context("a file that launches the kernel is gone")?;
        changed.push((&file.doc, &file.text, &elsewhere.edits));
    }
    let mut out = Vec::new();
    for (doc, text, edits) in changed {
        if edits.is_empty() {
            continue;
        }
        let before = text.as_str();
        let after = rewrite::apply(before, edits)?;
        let broken = !tileperf_syntax::parse(&after).is_clean();
        if broken && tileperf_syntax::parse(before).is_clean() {
            bail!("{} would leave a file that does not parse", action.name());
        }
        out.push(Edited {
            path: doc.path().context("the kernel is in no file")?,
            shown: shown(doc),
            before: before.to_owned(),
            after,
        });
    }
    Ok(out)
}
