//! What holds for every rule.

use tileperf_syntax::{Edit, FileParser};

use super::*;
use crate::model::{FileModel, ModelCache};
use crate::target::Target;

/// Names that stand for others, helpers that become device code, kernels that rest on both.
const LINKED: &str = "\
import cuda.tile as ct
import torch

SIZE = 48
ALIAS = SIZE
ConstInt = ct.Constant[int]
PAD = ct.PaddingMode.NEG_INF
Named = ConstInt

def helper(x, n: ConstInt):
    tile = ct.load(x, index=(0,), shape=(n,), padding_mode=PAD)
    return twice(tile)

def twice(tile):
    return tile.to(ct.float16) + ALIAS

@ct.kernel
def double(x, y, n: Named, unused):
    tile = helper(x, n)
    half = ct.full((SIZE,), 1, ct.float16)
    ct.store(y, index=(ct.bid(0),), tile=tile * 2 + half)

def run(x, y):
    fast = double.replace_hints(occupancy=2)
    ct.launch(torch.cuda.current_stream(), (1,), fast, (x, y, ALIAS, None))
";

/// Whatever is typed, what is found with what was found before is what is found from scratch.
#[test]
fn edits_leave_nothing_behind() {
    let mut seed = 7_u64;
    let mut random = move |below: usize| {
        seed =
            (seed.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let target = Target::default();
    let (mut models, mut rules) = (ModelCache::default(), RuleCache::default());
    let mut parser = FileParser::default();
    let mut text = LINKED.to_owned();
    let mut file = parser.parse(&text);
    let mut found = 0;
    for round in 0..600 {
        let (start, end, new) = match round % 4 {
            // Typed and taken back, so that the text stays one that means something.
            0 => (
                random(text.len()),
                0,
                ["1", "x", "(", "\n", ".", "S"][random(6)],
            ),
            1 | 3 => (0, text.len(), LINKED),
            _ => {
                let start = random(text.len() - 12);
                (start, start + 1 + random(12), "")
            }
        };
        let old_end = end.max(start);
        text.replace_range(start..old_end, new);
        let edit = Edit {
            start,
            old_end,
            new_end: start + new.len(),
        };
        file = parser.update(&file, &text, edit);
        let model = FileModel::build(&file, &text, "", &mut models);
        let kept = check(&file, &text, &model, &target, &mut rules);
        let fresh = check(&file, &text, &model, &target, &mut RuleCache::default());
        assert_eq!(kept.findings, fresh.findings, "round {round}:\n{text}");
        found += kept.findings.len();
    }
    assert!(found > 1_000, "{found}");
}

#[test]
fn documentation_holds() {
    for rule in RULES {
        testing::documented(rule);
    }
}

#[test]
fn rules_have_codes_and_names_of_their_own_in_order() {
    for pair in RULES.windows(2) {
        assert!(pair[0].code < pair[1].code, "{:?} {:?}", pair[0], pair[1]);
    }
    let mut slugs: Vec<&str> = RULES.iter().map(|r| r.slug).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), RULES.len());
    for rule in RULES {
        let doc = Doc::parse(rule.doc);
        assert!(doc.summary.len() > 20, "{rule:?}: {}", doc.summary);
        assert!(doc.summary.len() < 200, "{rule:?}: {}", doc.summary);
        assert_eq!(find(rule.code), Some(*rule));
        assert_eq!(find(rule.slug), Some(*rule));
    }
}
