//! Whether the launches of a kernel are all that uses it.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{ExprKind, Stmt, StmtKind};

use super::Refused;
use crate::model::Candidate;
use crate::playbook::{KernelContext, Launched};
use crate::rules::FileContext;

/// The launches of a kernel, if they are all that uses it: no other file, search or remade kernel does,
/// and nobody is handed it.
pub(in crate::playbook) fn only_launches<'a>(
    at: &KernelContext<'a>,
) -> Result<Vec<Launched<'a>>, Refused> {
    let launches = own_launches(at)?;
    if launches.is_empty() || at.uses.launches > launches.len() {
        return Err("other files launch it, or nothing does");
    }
    Ok(launches)
}

/// The same, where other files may launch it too, if all that they do with it is known.
pub(in crate::playbook) fn all_launches<'a>(
    at: &KernelContext<'a>,
) -> Result<Vec<Launched<'a>>, Refused> {
    let mut launches = own_launches(at)?;
    let elsewhere = at.launches_elsewhere();
    for launched in &elsewhere {
        let here = elsewhere
            .iter()
            .filter(|l| l.elsewhere == launched.elsewhere);
        if named_there(launched, &at.kernel.name) != here.count() {
            return Err("another file does more than launch it");
        }
    }
    launches.extend(elsewhere);
    if launches.is_empty() || at.uses.launches > launches.len() {
        return Err("nothing launches it, or a file that is not read");
    }
    Ok(launches)
}

fn own_launches<'a>(at: &KernelContext<'a>) -> Result<Vec<Launched<'a>>, Refused> {
    let (file, kernel) = (at.file, at.kernel);
    if at.uses.searches > 0 || at.uses.remade > 0 {
        return Err("a search or a remade kernel launches it too");
    }
    let of_that_name = file.model.kernels.iter().filter(|k| k.name == kernel.name);
    if kernel.qualified != kernel.name || of_that_name.count() > 1 {
        return Err("it is not a function of the module, defined once");
    }
    let launches = at.launches();
    if named_in(file, &kernel.name) != launches.len() {
        return Err("it is not only launched");
    }
    Ok(launches)
}

/// How often a file names something; defining it is not naming it.
fn named_in(file: &FileContext<'_>, name: &SmolStr) -> usize {
    let mut count = 0;
    for item in &file.file.items {
        mentions(&item.facts.body, name, None, &mut count);
    }
    count
}

/// How often a file that imports the kernel names it: by any name that it has for it, and as a part of
/// a module.
fn named_there(launched: &Launched<'_>, kernel: &SmolStr) -> usize {
    let [Candidate::Imported(path)] = launched.launch.candidates.as_slice() else {
        return 0;
    };
    let imports = launched.file.module.imports.iter();
    let mut names: Vec<&SmolStr> = imports
        .filter(|(_, p)| *p == path)
        .map(|(n, _)| n)
        .collect();
    // An import within a function is not the module's.
    names.push(kernel);
    names.sort();
    names.dedup();
    let mut count: usize = names.iter().map(|n| named_in(&launched.file, n)).sum();
    for item in &launched.file.file.items {
        parts(&item.facts.body, kernel, &mut count);
    }
    count
}

/// Counts `module.name`.
fn parts(body: &[Stmt], name: &SmolStr, count: &mut usize) {
    for stmt in body {
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                let is_part =
                    matches!(&e.kind, ExprKind::Attribute { attr, .. } if attr.name == *name);
                *count += usize::from(is_part);
            });
        });
        for inner in stmt.blocks() {
            parts(inner, name, count);
        }
    }
}

/// Counts the mentions of a name, those in the function that stands at `skip` left out.
pub(super) fn mentions(body: &[Stmt], name: &SmolStr, skip: Option<Span>, count: &mut usize) {
    for stmt in body {
        if let StmtKind::FunctionDef(def) = &stmt.kind
            && Some(def.def_span) == skip
        {
            continue;
        }
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| *count += usize::from(e.name() == Some(name)));
        });
        for inner in stmt.blocks() {
            mentions(inner, name, skip, count);
        }
    }
}
