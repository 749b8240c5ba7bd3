//! Triton lists of other files.

use std::sync::Arc;

use tileperf_syntax::ParsedFile;

use super::*;
use crate::eval::{Env, EnvItem, ModuleId};
use crate::model::{FileModel, ModelCache};
use crate::playbook::{Original, Originals, Surroundings, own_uses};
use crate::rules::{RuleCache, check};

/// Files by the name that others import them by; the first is the kernel's.
struct Files(Vec<(&'static str, Arc<ParsedFile>, Arc<FileModel>)>);

impl Files {
    fn new(texts: &[(&'static str, &str)]) -> Files {
        let files = texts.iter().map(|(name, text)| {
            let parsed = FileParser::default().parse(text);
            assert!(parsed.is_clean(), "does not parse:\n{text}");
            let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
            (*name, Arc::new(parsed), Arc::new(model))
        });
        Files(files.collect())
    }
}

impl Env for Files {
    fn items(&self, module: ModuleId) -> Vec<EnvItem<'_>> {
        let items = self.0[module.0 as usize].1.items.iter().enumerate();
        items
            .map(|(number, item)| EnvItem {
                item: number as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, _: ModuleId, _: u32, dotted: &str) -> Option<ModuleId> {
        let place = self.0.iter().position(|(name, ..)| *name == dotted)?;
        Some(ModuleId(place as u32))
    }
}

/// What is offered of a list in `others`, applied; those whose name begins with `beside` lie beside the
/// kernel's file, those that begin with `lib` only serve others.
fn searched(text: &str, others: &[(&'static str, &str)]) -> Option<(Action, String)> {
    let mut all = vec![("own", text)];
    all.extend(others);
    let files = Files::new(&all);
    let (_, parsed, model) = &files.0[0];
    let target = Target::default();
    let checked = check(parsed, text, model, &target, &mut RuleCache::default());
    let originals: Vec<Original> = (files.0.iter().enumerate().skip(1))
        .filter(|(_, (name, ..))| !name.starts_with("lib"))
        .map(|(number, (name, parsed, model))| Original {
            module: ModuleId(number as u32),
            name: format!("ops/{name}.py"),
            parsed: Arc::clone(parsed),
            model: Arc::clone(model),
            beside: name.starts_with("beside"),
        })
        .collect();
    let look = |show: &mut dyn FnMut(&Originals<'_>)| {
        show(&Originals {
            env: &files,
            own: ModuleId(0),
            files: &originals,
        });
    };
    let uses = own_uses(model, 0);
    let around = Surroundings {
        uses: &uses,
        named: None,
        mixed: &[],
        searched: &[],
        compiled: &[],
        remade: &[],
        elsewhere: &[],
        originals: Some(&look),
    };
    let actions = checked.actions_within(parsed, text, model, 0, Some(around));
    let action = actions.into_iter().find(|a| a.variant == "triton")?;
    let applied = rewrite::apply(text, &action.edits).unwrap();
    assert!(
        FileParser::default().parse(&applied).is_clean(),
        "{applied}"
    );
    Some((action, applied))
}

/// A file with a list.
fn listed(kernel: &str, tile: u32) -> String {
    format!(
        "import triton\n\n\n@triton.autotune([triton.Config({{'BLOCK_M': {tile}, 'BLOCK_N': 64, 'BLOCK_K': 32}})], key=['M'])\n@triton.jit\ndef {kernel}(a, b, c, BLOCK_M, BLOCK_N, BLOCK_K):\n    pass\n"
    )
}

#[test]
fn the_nearest_that_has_one() {
    let own = listed("gemm_triton", 16);
    let (one, two) = (listed("gemm_kernel", 64), listed("_matmul", 32));
    let both = format!("{}\n\n{}", one, two.replace("import triton\n", ""));
    for (others, wanted) in [
        (vec![("beside", one.as_str())], Some(("gemm_kernel", 64))),
        (vec![("far", one.as_str())], Some(("gemm_kernel", 64))),
        // Beside it any name does, elsewhere the kernel's.
        (vec![("beside", two.as_str())], Some(("_matmul", 32))),
        (vec![("far", two.as_str())], None),
        (
            vec![("far", one.as_str()), ("beside", two.as_str())],
            Some(("_matmul", 32)),
        ),
        // Of several the one with its name; of several of those, none.
        (vec![("beside", both.as_str())], Some(("gemm_kernel", 64))),
        (
            vec![("beside", one.as_str()), ("beside2", one.as_str())],
            None,
        ),
        (vec![("far", one.as_str()), ("far2", one.as_str())], None),
        (vec![], None),
        (vec![("beside", "import triton\n")], None),
    ] {
        let found = searched(GEMM, &others);
        let Some((kernel, tile)) = wanted else {
            assert!(found.is_none(), "{others:?}");
            continue;
        };
        let (action, applied) = found.unwrap_or_else(|| panic!("nothing of {others:?}"));
        let note = format!("    # The tiles of the Triton list of `{kernel}` in ops/");
        assert!(applied.contains(&note), "{applied}");
        assert!(
            applied.contains(&format!("            ({tile}, 64, 32, 1, 1),\n")),
            "{applied}"
        );
        let title = format!("Tune `gemm_kernel` over the Triton list of `{kernel}` in ops/");
        assert!(action.title.starts_with(&title), "{}", action.title);
    }
    // Its own file comes first, also where its list does not fit.
    let text = |own: &str| format!("{own}\n\n{GEMM}");
    let (_, applied) = searched(&text(&own), &[("beside", &one)]).unwrap();
    assert!(applied.contains("list of `gemm_triton`, each"), "{applied}");
    let unfit = own.replace("'BLOCK_M': 16", "'BLOCK_M': 96");
    assert!(searched(&text(&unfit), &[("beside", &one)]).is_none());
}

#[test]
fn lists_that_are_imported() {
    let list = "import triton\nGEMM = [triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32})]\ndef get_configs():\n    return GEMM\n";
    for import in [
        "from lib import GEMM as LIST\n",
        "import lib\nLIST = lib.get_configs()\n",
        "from lib import *\nLIST = get_configs()\n",
    ] {
        let other = format!(
            "import triton\n{import}\n\n@triton.autotune(configs=LIST, key=['M'])\n@triton.jit\ndef gemm(a, BLOCK_M):\n    pass\n"
        );
        let found = searched(GEMM, &[("beside", &other), ("lib", list)]);
        let (_, applied) = found.unwrap_or_else(|| panic!("nothing for\n{other}"));
        assert!(
            applied.contains("            (64, 64, 32, 1, 1),\n"),
            "{applied}"
        );
        // The kernel's own file imports it as well as another does.
        let own = format!("{other}\n\n{GEMM}");
        assert!(searched(&own, &[("lib", list)]).is_some(), "{own}");
        // What is not of the workspace nobody knows.
        assert!(searched(GEMM, &[("beside", &other)]).is_none(), "{other}");
    }
}
