//! Kernels whose launches are in another file.

use tileperf_syntax::{FileParser, ParsedFile, Span};

use super::Elsewhere;
use crate::model::{Candidate, FileModel, ModelCache};
use crate::playbook::{Action, Naming, Surroundings};
use crate::rewrite;
use crate::rules::{Checked, KernelUses, RuleCache, check, unchecked};
use crate::target::Target;

const KERNELS: &str = "\
import cuda.tile as ct

@ct.kernel(occupancy=4)
def scale(x, y, TILE: ct.Constant[int]):
    row = ct.bid(0)
    ct.store(y, (row, 0), ct.load(x, (row, 0), (1, TILE)) * 2)
";

const PRODUCT: &str = "\
import cuda.tile as ct

@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), ct.astype(acc, c.dtype))
";

const WRAPPER: &str = "\
import cuda.tile as ct
import torch
from kernels import scale

def doubled(x):
    y = torch.empty_like(x)
    n_rows = x.shape[0]
    grid = (n_rows,)
    ct.launch(torch.cuda.current_stream(), grid, scale, (x, y, 1024))
    return y
";

/// A file as it was read.
struct Read {
    text: String,
    parsed: ParsedFile,
    model: FileModel,
    checked: Checked,
}

fn read(text: &str, module: &str, ask: bool) -> Read {
    let parsed = FileParser::default().parse(text);
    assert!(parsed.is_clean(), "does not parse:\n{text}");
    let model = FileModel::build(&parsed, text, module, &mut ModelCache::default());
    let target = Target::default();
    let checked = match ask {
        true => check(&parsed, text, &model, &target, &mut RuleCache::default()),
        false => unchecked(&parsed, text, &model, &target.into()),
    };
    Read {
        text: text.to_owned(),
        parsed,
        model,
        checked,
    }
}

/// What the playbook offers for the kernel of a file `kernels` that others launch. `uses`: how many
/// launches the workspace has.
fn offered(kernels: &str, others: &[&str], named: bool, uses: Option<usize>) -> Vec<Action> {
    let own = read(kernels, "kernels", true);
    let kernel = format!("kernels.{}", own.model.kernels[0].name);
    let others: Vec<Read> = others
        .iter()
        .map(|text| read(text, "wrapper", false))
        .collect();
    let calls = others.iter().map(|other| {
        let launches = other.model.launches.iter();
        let of_it =
            launches.filter(|l| l.candidates == [Candidate::Imported(kernel.as_str().into())]);
        of_it.map(|l| l.span).collect()
    });
    let calls: Vec<Vec<Span>> = calls.collect();
    let elsewhere: Vec<Elsewhere<'_>> = (others.iter().zip(&calls))
        .map(|(other, launches)| Elsewhere {
            file: (other.checked).context(&other.parsed, &other.text, &other.model),
            launches,
        })
        .collect();
    let all = calls.iter().map(Vec::len).sum::<usize>() + own.model.launches.len();
    let uses = KernelUses {
        launches: uses.unwrap_or(all),
        ..KernelUses::default()
    };
    let named = |_: Naming<'_>| named;
    let around = Surroundings {
        uses: &uses,
        named: Some(&named),
        elsewhere: &elsewhere,
        mixed: &[],
        searched: &[],
        compiled: &[],
        remade: &[],
        originals: None,
    };
    let (parsed, text, model) = (&own.parsed, own.text.as_str(), &own.model);
    (own.checked).actions_within(parsed, text, model, 0, Some(around))
}

/// The texts that an action makes: the kernel's file, and those of others.
fn applied(action: &Action, kernels: &str, others: &[&str]) -> (String, Vec<String>) {
    let own = rewrite::apply(kernels, &action.edits).unwrap();
    let mut texts: Vec<String> = others.iter().map(|text| (*text).to_owned()).collect();
    for change in &action.elsewhere {
        texts[change.file] = rewrite::apply(&texts[change.file], &change.edits).unwrap();
    }
    for text in texts.iter().chain([&own]) {
        assert!(FileParser::default().parse(text).is_clean(), "{text}");
    }
    (own, texts)
}

fn one(actions: &[Action], name: &str) -> Action {
    let found = actions.iter().find(|a| a.name() == name);
    found.cloned().unwrap_or_else(|| {
        let all: Vec<String> = actions.iter().map(Action::name).collect();
        panic!("{name} is not among {all:?}")
    })
}

#[test]
fn the_search_goes_where_the_launch_is_and_the_hint_from_where_the_kernel_is() {
    let action = one(&offered(KERNELS, &[WRAPPER], true, None), "C occupancy");
    let (own, texts) = applied(&action, KERNELS, &[WRAPPER]);
    assert_eq!(own, KERNELS.replace("(occupancy=4)", ""));
    let wanted = "\
import os
from types import SimpleNamespace

import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search
from kernels import scale

def _scale_configs():
    for occupancy in (1, 2, 4, 8):
        yield SimpleNamespace(occupancy=occupancy)


# The best configuration and the kernel made with it, by what it depends on.
_scale_tuned = {}


def doubled(x):
    y = torch.empty_like(x)
    n_rows = x.shape[0]
    grid = (n_rows,)
    disabled = os.environ.get(\"DISABLE_AUTOTUNE\", \"0\") == \"1\"
    cache_key = (x.shape, x.dtype, str(x.device), disabled)
    if cache_key not in _scale_tuned:
        if disabled:
            cfg = SimpleNamespace(occupancy=4)
        else:
            cfg = exhaustive_search(
                list(_scale_configs()),
                torch.cuda.current_stream(),
                grid_fn=lambda _: grid,
                kernel=scale,
                args_fn=lambda _: (x, y, 1024),
                hints_fn=lambda cfg: {\"occupancy\": cfg.occupancy},
            ).best.config
        _scale_tuned[cache_key] = (cfg, scale.replace_hints(occupancy=cfg.occupancy))
    cfg, tuned_kernel = _scale_tuned[cache_key]
    ct.launch(torch.cuda.current_stream(), grid, tuned_kernel, (x, y, 1024))
    return y
";
    assert_eq!(texts[0], wanted);
}

#[test]
fn the_kernel_has_the_name_that_the_launch_has_for_it() {
    for (import, name) in [
        ("from kernels import scale as twice", "twice"),
        ("import kernels", "kernels.scale"),
    ] {
        let wrapper = (WRAPPER.replace("from kernels import scale", import))
            .replace("grid, scale,", &format!("grid, {name},"));
        for action in ["C occupancy", "B per-sm=4"] {
            let action = one(&offered(KERNELS, &[&wrapper], false, None), action);
            let (_, texts) = applied(&action, KERNELS, &[&wrapper]);
            let model = read(&texts[0], "wrapper", false).model;
            let candidates = (model.launches.iter().map(|l| &l.candidates))
                .chain(model.searches.iter().map(|s| &s.candidates));
            for candidates in candidates {
                let is_it = candidates.contains(&Candidate::Imported("kernels.scale".into()));
                assert!(is_it, "{candidates:?} in\n{}", texts[0]);
            }
        }
    }
}

#[test]
fn blocks_walk_in_one_file_and_are_launched_in_another() {
    let kernels = KERNELS.replace("(occupancy=4)", "");
    let other = WRAPPER
        .replace("doubled", "again")
        .replace("n_rows", "count");
    let action = one(
        &offered(&kernels, &[WRAPPER, &other], false, None),
        "B per-sm=2",
    );
    let (own, texts) = applied(&action, &kernels, &[WRAPPER, &other]);
    assert!(
        own.contains("def scale(x, y, TILE: ct.Constant[int], n_rows):"),
        "{own}"
    );
    assert!(
        own.contains("for row in range(ct.bid(0), n_rows, ct.num_blocks(0)):"),
        "{own}"
    );
    for (text, count) in texts.iter().zip(["n_rows", "count"]) {
        assert!(
            text.contains(&format!("grid = (min(num_sms * 2, {count}),)")),
            "{text}"
        );
        assert!(
            text.contains(&format!("scale, (x, y, 1024, {count}))")),
            "{text}"
        );
    }
}

#[test]
fn tiles_are_other_numbers_where_the_launch_is() {
    let wrapper = "\
import cuda.tile as ct
import torch
from kernels import matmul

TILE_N = 128

def product(a, b):
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    tile_m = 128
    grid = (ct.cdiv(a.shape[0], tile_m), ct.cdiv(b.shape[1], TILE_N))
    ct.launch(torch.cuda.current_stream(), grid, matmul, (a, b, c, tile_m, TILE_N, 64))
    return c
";
    let all = offered(PRODUCT, &[wrapper], false, None);
    let action = one(&all, "G tm=64,tn=64,tk=64");
    let (own, texts) = applied(&action, PRODUCT, &[wrapper]);
    assert_eq!(own, PRODUCT);
    let wanted = wrapper.replace("tile_m = 128", "tile_m = 64");
    assert_eq!(texts[0], wanted.replace("TILE_N = 128", "TILE_N = 64"));
    // Somebody else may read the constant: not a third file alone, the kernel's too.
    let all = offered(PRODUCT, &[wrapper], true, None);
    assert!(all.iter().all(|a| a.optimization.id != "G"));
}

#[test]
fn what_is_not_sure_of_other_files_is_not_offered() {
    let count =
        |id: &str, actions: &[Action]| actions.iter().filter(|a| a.optimization.id == id).count();
    let plain = KERNELS.replace("(occupancy=4)", "");
    let test = format!("import pytest\n{WRAPPER}");
    let handed = format!("{WRAPPER}\nTABLE = [scale]\n");
    let in_loop = WRAPPER.replace("    ct.launch", "    for _ in x:\n        ct.launch");
    let passed = WRAPPER.replace("def doubled(x)", "def doubled(x, scale)");
    for (what, kernels, others, named, uses, left) in [
        (
            "all",
            KERNELS,
            &[WRAPPER][..],
            false,
            None,
            ["B", "C"].as_slice(),
        ),
        (
            "a third file names it",
            &plain,
            &[WRAPPER],
            true,
            None,
            &["C"],
        ),
        (
            "a third file launches it",
            KERNELS,
            &[WRAPPER],
            false,
            Some(2),
            &[],
        ),
        (
            "the same without hints",
            &plain,
            &[WRAPPER],
            false,
            Some(2),
            &["C"],
        ),
        (
            "a test launches it too",
            KERNELS,
            &[WRAPPER, &test],
            false,
            None,
            &[],
        ),
        (
            "only a test launches it",
            &plain,
            &[&test],
            false,
            None,
            &[],
        ),
        (
            "it is handed to somebody",
            &plain,
            &[&handed],
            false,
            None,
            &["C"],
        ),
        (
            "two files launch it",
            &plain,
            &[WRAPPER, WRAPPER],
            false,
            None,
            &["B"],
        ),
        ("a loop is around it", &plain, &[&in_loop], false, None, &[]),
        (
            "a parameter of that name",
            &plain,
            &[&passed],
            false,
            Some(1),
            &[],
        ),
    ] {
        let actions = offered(kernels, others, named, uses);
        for id in ["B", "C"] {
            let is_left = left.contains(&id);
            assert_eq!(count(id, &actions) > 0, is_left, "{what}: {id}");
        }
        // These look at one file.
        assert_eq!(
            count("K", &actions) + count("M", &actions) + count("N", &actions),
            0,
            "{what}"
        );
    }
    let named = KERNELS.replace("occupancy=4", "occupancy=BLOCKS");
    let named = named.replace("@ct", "BLOCKS = 4\n\n@ct");
    let action = one(&offered(&named, &[WRAPPER], false, None), "C occupancy");
    let (_, texts) = applied(&action, &named, &[WRAPPER]);
    assert!(
        texts[0].contains("cfg = SimpleNamespace(occupancy=4)"),
        "{}",
        texts[0]
    );
    let by_target = KERNELS.replace("occupancy=4", "occupancy=ct.ByTarget(sm_90=2)");
    assert_eq!(count("C", &offered(&by_target, &[WRAPPER], false, None)), 0);
}
