//! A kernel of each kind, its space on each architecture, and what must not be taken for it.

use tileperf_syntax::FileParser;

use super::Template;
use crate::model::{FileModel, ModelCache};
use crate::playbook::Action;
use crate::playbook::testing::offered;
use crate::rewrite;
use crate::rules::testing::findings;
use crate::rules::{RuleCache, check};
use crate::target::Target;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("samples/", $name, ".py"))
    };
}

/// What the first kernel of a text is.
fn kind(text: &str) -> &'static str {
    let parsed = FileParser::default().parse(text);
    assert!(parsed.is_clean(), "{text}");
    let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
    let target = Target::default();
    let checked = check(&parsed, text, &model, &target, &mut RuleCache::default());
    checked.kind(&parsed, text, &model, 0).unwrap_or("none")
}

fn searched(text: &str) -> Action {
    let mut actions = offered(text, &Target::default());
    actions.retain(|a| a.optimization.id == "C");
    assert_eq!(actions.len(), 1, "{text}");
    actions.remove(0)
}

/// A sample, its kind, the tiles that its search has, the shortest and longest space.
const SAMPLES: &[(&str, Template, &str, usize, usize)] = &[
    (sample!("elementwise"), Template::Elementwise, "", 0, 0),
    (sample!("reduction"), Template::Reduction, "", 0, 0),
    (sample!("in_place"), Template::InPlace, "", 0, 0),
    (sample!("matmul"), Template::Matmul, "tm, tn, tk, ", 5, 8),
    (
        sample!("persistent_matmul"),
        Template::PersistentMatmul,
        "tm, tn, tk, ",
        5,
        8,
    ),
    (
        sample!("attention"),
        Template::Attention,
        "TILE_M, TILE_N, ",
        4,
        7,
    ),
    (sample!("fp8_matmul"), Template::Fp8Matmul, "tm, ", 4, 7),
    (
        sample!("grouped_gemm"),
        Template::GroupedGemm,
        "tm, tn, tk, ",
        5,
        7,
    ),
    (
        sample!("variable_length_attention"),
        Template::VariableLengthAttention,
        "TILE_M, TILE_N, ",
        4,
        7,
    ),
    (
        sample!("dual_gemm"),
        Template::DualGemm,
        "tm, tn, tk, ",
        5,
        8,
    ),
    (
        sample!("fused_matmul"),
        Template::FusedMatmul,
        "tm, tn, tk, ",
        4,
        7,
    ),
];

/// The configurations of each branch of a file's space.
fn spaces(text: &str) -> Vec<Vec<Vec<i64>>> {
    let mut out: Vec<Vec<Vec<i64>>> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line == "space = [" {
            out.push(Vec::new());
        }
        let row = line.strip_prefix('(').and_then(|l| l.strip_suffix("),"));
        let numbers = row.map(|row| row.split(", ").map(str::parse).collect::<Result<_, _>>());
        if let (Some(space), Some(Ok(row))) = (out.last_mut(), numbers) {
            space.push(row);
        }
    }
    out
}

#[test]
fn each_kind_gets_its_space() {
    for (text, template, tiles, fewest, most) in SAMPLES {
        assert_eq!(kind(text), template.name(), "{text}");
        let action = searched(text);
        let named = format!("({}): search ", template.name());
        assert!(action.title.contains(&named), "{}", action.title);
        assert!(
            action.title.contains(&format!("Tune {tiles}")),
            "{}",
            action.title
        );
        let applied = rewrite::apply(text, &action.edits).unwrap();
        assert!(
            FileParser::default().parse(&applied).is_clean(),
            "{applied}"
        );
        let found = |text: &str| {
            findings(text)
                .iter()
                .map(|f| f.rule.code)
                .collect::<Vec<_>>()
        };
        let before = found(text);
        assert!(
            found(&applied).iter().all(|c| before.contains(c)),
            "{applied}"
        );
        let spaces = spaces(&applied);
        assert_eq!(
            spaces.len(),
            if tiles.is_empty() { 0 } else { 4 },
            "{applied}"
        );
        for (number, rows) in spaces.iter().enumerate() {
            assert!(
                (*fewest..=*most).contains(&rows.len()),
                "{} in\n{applied}",
                rows.len()
            );
            // Blocks of a cluster only on sm_100.
            let mut ctas: Vec<i64> = rows.iter().filter_map(|r| r.last().copied()).collect();
            ctas.sort_unstable();
            ctas.dedup();
            assert_eq!(
                ctas,
                if number == 0 { vec![1, 2] } else { vec![1] },
                "{applied}"
            );
            // Rows, columns and occupancy have two values at least.
            let width = rows[0].len();
            let has_sum = tiles.contains("tk") as usize;
            for column in (0..width - 2 - has_sum).chain([width - 2]) {
                let first = rows[0][column];
                assert!(
                    rows.iter().any(|r| r[column] != first),
                    "{column} of\n{applied}"
                );
            }
            let limit = [256, 256, 128, 128][number];
            let fields = rows.iter().flat_map(|r| &r[..width - 2]);
            let mut fields = fields.copied();
            assert!(
                fields.all(|t| (32..=limit).contains(&t) && t.count_ones() == 1),
                "{applied}"
            );
        }
    }
}

/// Changes of a sample after which it is something else, or its tiles stay.
#[test]
fn what_it_rests_on() {
    let attention = sample!("attention");
    let varlen = sample!("variable_length_attention");
    let grouped = sample!("grouped_gemm");
    let fp8 = sample!("fp8_matmul");
    let dual = sample!("dual_gemm");
    let persistent = sample!("persistent_matmul");
    for (text, changes, template, is_full) in [
        // Nothing is taken off before the exponential: a gate between two products.
        (
            attention,
            &[("scores - new", "scores")][..],
            Template::FusedMatmul,
            true,
        ),
        // One length for all.
        (
            varlen,
            &[("(sequence,)", "(0,)"), ("(sequence + 1,)", "(0,)")],
            Template::Attention,
            true,
        ),
        // The table has a sequence for each tile of rows.
        (
            varlen,
            &[(
                "block, sequence = ct.bid(0), ct.bid(1)",
                "block, sequence = ct.bid(0), ct.bid(0)",
            )],
            Template::VariableLengthAttention,
            false,
        ),
        // The group is counted, not looked up.
        (
            grouped,
            &[
                ("ct.load(offsets, (g,), (1,)).item()", "g * 64"),
                ("ct.load(offsets, (g + 1,), (1,)).item()", "g * 64 + 64"),
            ],
            Template::PersistentMatmul,
            true,
        ),
        // Its row scales are one for a tile: another tile would read others.
        (
            fp8,
            &[(
                "(i, k), (tm, 1), padding_mode=ct.PaddingMode.ZERO",
                "(i, k), (1, 1)",
            )],
            Template::Fp8Matmul,
            false,
        ),
        // The operands are wider: no FP8, but the tiles are still those of the scales.
        (
            fp8,
            &[("ct.mma(x, ", "ct.mma(ct.astype(x, ct.bfloat16), ")],
            Template::Matmul,
            true,
        ),
        // What it is multiplied by is a tile of its own, not a scale.
        (
            fp8,
            &[("(tm, 1)", "(tm, tn)"), ("rows * block", "rows")],
            Template::Matmul,
            false,
        ),
        // Each has an operand of its own.
        (
            dual,
            &[(
                "raised = ct.mma(rows",
                "raised = ct.mma(ct.load(up, (i, k), (tm, tk))",
            )],
            Template::FusedMatmul,
            true,
        ),
        // Both parts of one sum.
        (
            dual,
            &[
                ("raised = ct.mma(", "opened = ct.mma("),
                (", raised)", ", opened)"),
            ],
            Template::Matmul,
            true,
        ),
        // A block for each tile.
        (
            persistent,
            &[(
                "range(ct.bid(0), rows * columns, ct.num_blocks(0))",
                "range(ct.bid(0), ct.bid(0) + 1)",
            )],
            Template::Matmul,
            true,
        ),
    ] {
        let mut code = text.to_owned();
        for (from, to) in changes {
            assert!(code.contains(from), "{from}");
            code = code.replace(from, to);
        }
        assert_eq!(kind(&code), template.name(), "{code}");
        let variant = if is_full { "full" } else { "occupancy" };
        assert_eq!(searched(&code).variant, variant, "{code}");
    }
}

#[test]
fn rows_that_there_are() {
    let text = sample!("fp8_matmul");
    let applied = rewrite::apply(text, &searched(text).edits).unwrap();
    for part in [
        "def _scaled_configs(rows):\n",
        "        if tm <= max(rows, 64):\n            yield SimpleNamespace(tm=tm, ",
        "list(_scaled_configs(M)),\n",
        "(a, b, by_row, by_block, c, cfg.tm, 128, 128)",
        "(ct.cdiv(M, cfg.tm), ct.cdiv(N, 128))",
    ] {
        assert!(applied.contains(part), "no {part:?} in\n{applied}");
    }
}
