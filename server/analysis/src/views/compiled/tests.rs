use tileperf_syntax::FileParser;

use super::*;
use crate::compiled::CompiledKernel;
use crate::compiled::testing::noted;
use crate::model::{FileModel, ModelCache};

/// What is made of a text's kernels and their facts.
fn shown<T>(text: &str, view: impl FnOnce(&str, &[CompiledKernel<'_>]) -> T) -> T {
    let text = format!("import cuda.tile as ct\n\n{text}");
    let file = FileParser::default().parse(&text);
    let model = FileModel::build(&file, &text, "", &mut ModelCache::default());
    let facts = noted(&model, &text);
    let kernels: Vec<CompiledKernel<'_>> = (model.kernels.iter().zip(&facts))
        .map(|(kernel, facts)| CompiledKernel {
            kernel,
            facts,
            trials: &[],
        })
        .collect();
    view(&text, &kernels)
}

fn kernel(head: &str, line: &str) -> String {
    format!("@ct.kernel\ndef k(x, y):{head}\n    {line}\n    ct.store(y, (0, 0), tile)\n")
}

const LOAD: &str = "tile = ct.load(x, (0, 0), (64, 128))";

#[test]
fn labels() {
    let gather = "tile = ct.gather(x, at)";
    let mma = "tile = ct.mma(x, y, z)";
    for (code, facts, label) in [
        (LOAD, "# sm_90: TMA 64x128", Some("TMA 64x128")),
        (LOAD, "# sm_90 sm_100: TMA 64x128", Some("TMA 64x128")),
        (LOAD, "# sm_90: plain", Some("plain load")),
        (
            LOAD,
            "# sm_90: plain: stride not 16-byte aligned",
            Some("plain load: stride not 16-byte aligned"),
        ),
        (
            LOAD,
            "# sm_80: plain # sm_90: TMA 64x128",
            Some("sm_80: plain load · sm_90: TMA 64x128"),
        ),
        (
            LOAD,
            "# sm_80: plain # sm_90 sm_100: TMA 64",
            Some("sm_80: plain load · sm_90 sm_100: TMA 64"),
        ),
        (
            LOAD,
            "# sm_90: TMA 64 # sm_90: plain",
            Some("TMA 64 / plain load"),
        ),
        (LOAD, "# sm_90: hint default: latency", None),
        (
            LOAD,
            "# sm_90: hint out of range: latency",
            Some("latency out of range"),
        ),
        (LOAD, "# sm_90: says: 3 stages", Some("3 stages")),
        (LOAD, "# sm_90: accepted", None),
        (LOAD, "# sm_90: refused: no", None),
        (LOAD, "", None),
        (
            mma,
            "# sm_90: tensor core SM90 64x128x16",
            Some("tensor core SM90 64x128x16"),
        ),
        (mma, "# sm_90: FMA", Some("FMA, no tensor core")),
        (gather, "# sm_90: says: x", Some("x")),
    ] {
        let text = kernel("", &format!("{code}  {facts}"));
        let labels = shown(&text, |text, kernels| {
            let inlays = inlays(kernels);
            let written = |inlay: &Inlay| text.get(inlay.span.range()).unwrap().to_owned();
            inlays
                .iter()
                .map(|i| (written(i), i.label.clone()))
                .collect::<Vec<_>>()
        });
        let call = code.strip_prefix("tile = ").unwrap().to_owned();
        let expected: Vec<_> = label.map(|l| (call, l.to_owned())).into_iter().collect();
        assert_eq!(labels, expected, "{code} {facts}");
    }
}

#[test]
fn a_label_is_as_short_as_an_editor_shows_and_the_tooltip_has_all() {
    let base = "base pointer not 16-byte aligned";
    let row = "leading tile dimension not 16-byte aligned";
    let order = "memory semantic must be weak for TMA operations";
    for (head, facts, label) in [
        (
            "",
            format!("# sm_90: plain: {base}"),
            "plain load: base not 16-byte aligned",
        ),
        (
            "",
            format!("# sm_90: plain: {row}"),
            "plain load: tile row under 16 bytes",
        ),
        (
            "",
            format!("# sm_90: plain: {order}"),
            "plain load: memory order not weak",
        ),
        // With the mark of an edit no more than fits.
        (
            "  # stale",
            "# sm_90: plain: TMA only supports zero padding".to_owned(),
            "plain load: padding not zero (stale)",
        ),
        (
            "",
            format!("# sm_90: plain: {row} # sm_90: TMA 64x128 # sm_90: plain: {base}"),
            "plain load: tile row under 16 bytes / +2",
        ),
        (
            "",
            format!("# sm_90: plain: {row} # sm_100: plain: {base} # sm_80: plain"),
            "sm_90: plain load: tile row un… · +2 archs",
        ),
        (
            "",
            "# sm_90: says: something that a later release of the compiler has to say".to_owned(),
            "something that a later release of the com…",
        ),
    ] {
        let text = kernel(head, &format!("{LOAD}  {facts}"));
        let said = shown(&text, |_, kernels| inlays(kernels)).remove(0);
        assert_eq!(said.label, label);
        assert!(said.label.chars().count() <= 42, "{label}");
        for fact in facts.split("# ") {
            let what = fact.split_once(": ").map_or("", |(_, what)| what);
            let reason = what
                .split_once(": ")
                .map_or(what, |(_, reason)| reason)
                .trim();
            assert!(
                said.tooltip.contains(reason),
                "{reason} in {}",
                said.tooltip
            );
        }
    }
}

#[test]
fn where_only_some_architectures_speak_they_are_named() {
    let text = kernel("  # sm_80 sm_90: 64 registers", "tile = ct.gather(x, at)");
    let said = shown(&text, |_, kernels| inlays(kernels));
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].label, "sm_90: no TMA");
    let text = kernel("  # sm_80 sm_90: silent", "tile = ct.gather(x, at)");
    assert!(shown(&text, |_, kernels| inlays(kernels)).is_empty());
}

#[test]
fn what_is_stale_or_guessed_is_said() {
    let head = "  # stale # signature: guess";
    let text = kernel(head, &format!("{LOAD}  # sm_90: plain: only zero padding"));
    let (inlay, card, part, hovered) = shown(&text, |text, kernels| {
        let inlay = inlays(kernels).remove(0);
        let hovered = hover(kernels, inlay.span).unwrap();
        let card = section(&kernels[0], text);
        (inlay, card, lens(kernels[0].facts).unwrap(), hovered)
    });
    assert_eq!(inlay.label, "plain load: only zero padding (stale)");
    assert_eq!(
        inlay.tooltip,
        "- **sm_90** plain load: only zero padding (stale: edited since)  \n  \
         for `x: float16[2], y: float16[2]`, guessed\n  - Load instruction selected\n"
    );
    assert_eq!(hovered, format!("**Compiled**\n\n{}", inlay.tooltip));
    assert!(
        card.ends_with("- **stale**: edited since it was compiled\n"),
        "{card}"
    );
    assert!(part.ends_with("(stale)"), "{part}");
}

#[test]
fn a_helper_is_told_for_every_kernel_that_calls_it() {
    let text = "def helper(x):\n    return ct.load(x, (0, 0), (8, 8))  # sm_90: TMA 8x8\n\n\
                @ct.kernel\ndef one(x, y):\n    ct.store(y, (0, 0), helper(x))  # sm_90: plain\n\n\
                @ct.kernel\ndef two(x, y):\n    ct.store(y, (0, 0), helper(x))  # sm_90: plain\n";
    let said = shown(text, |_, kernels| inlays(kernels));
    let labels: Vec<&str> = said.iter().map(|i| i.label.as_str()).collect();
    assert_eq!(labels, ["TMA 8x8", "plain store", "plain store"]);
    assert_eq!(said[0].tooltip.matches("**sm_90**").count(), 2);
}

#[test]
fn lenses() {
    for (head, expected) in [
        ("", None),
        (
            "  # sm_90: 128 registers, 256 threads, 110592 shared",
            Some("sm_90: 128 regs, no stack, 108 KiB shared, 256 threads -> 2 CTAs/SM"),
        ),
        (
            "  # sm_90: 255 registers, 128 threads, 96 stack, 2 cluster # sm_100 sm_103: 168 registers, 384 threads # sm_120: refused: no",
            Some(
                "sm_90: 255 regs, 96 B stack, no shared, 128 threads, cluster of 2 -> 2 CTAs/SM · \
                 sm_100 sm_103: 168 regs -> 1 CTA/SM · sm_120: does not compile",
            ),
        ),
        ("  # sm_90: refused: no", Some("sm_90: does not compile")),
        ("  # sm_90: accepted", Some("sm_90: no errors")),
        (
            "  # sm_90: failed: killed",
            Some("sm_90: could not be compiled"),
        ),
        (
            "  # sm_120: 255 registers, 384 threads",
            Some("sm_120: 255 regs, no stack, no shared, 384 threads -> does not fit an SM"),
        ),
        (
            "  # sm_90: accepted # sm_80: 1 registers # sm_86: 2 registers # sm_89: 3 registers # sm_120: 4 registers, 9 stack",
            Some(
                "sm_90: no errors · sm_80: 1 regs -> 16 CTAs/SM · sm_86: 2 regs -> 12 CTAs/SM · \
                 sm_89: 3 regs -> 12 CTAs/SM · 1 more",
            ),
        ),
    ] {
        let part = shown(&kernel(head, LOAD), |_, kernels| lens(kernels[0].facts));
        assert_eq!(part.as_deref(), expected, "{head}");
    }
}

#[test]
fn several_signatures_are_counted_in_the_lens() {
    let text = kernel("  # sm_90: 64 registers", LOAD);
    let part = shown(&text, |_, kernels| {
        let mut facts = kernels[0].facts.to_vec();
        let mut other = facts[0].clone();
        other.signature.params.clear();
        facts.push(other);
        lens(&facts)
    });
    let part = part.unwrap();
    assert!(part.ends_with("-> 8 CTAs/SM (1 more signature)"), "{part}");
}

#[test]
fn the_card() {
    let head =
        "  # sm_90: 128 registers, 256 threads, 110592 shared # sm_100: refused: No such | thing";
    let text = kernel(head, &format!("{LOAD}  # sm_90: TMA 64x128"));
    let card = shown(&text, |text, kernels| section(&kernels[0], text));
    assert_eq!(
        card,
        "\n**Compiled** for `x: float16[2], y: float16[2]`, from a recorded launch\n\n\
         | | registers | stack | shared | threads | cluster | CTAs/SM |\n\
         |:--|--:|--:|--:|--:|--:|:--|\n\
         | sm_90 | 128 | 0 B | 108 KiB | 256 | 1 | 2, limited by registers and shared memory |\n\
         \n- **sm_100**: does not compile: No such \\| thing\n\
         \nsm_90: 2 CTAs/SM, 25 % of its warps:\n\n\
         - registers: 4,096 of 65,536 for each of 8 warps: **2 blocks**\n\
         - shared memory: 108 KiB of 228 KiB: **2 blocks**\n\
         - warps: 8 of 64: 8 blocks\n\
         - the most that an SM holds: 32 blocks\n\
         \n- line 5, `ct.load`: TMA 64x128\n"
    );
    assert_eq!(
        shown(&kernel("", LOAD), |text, kernels| section(
            &kernels[0],
            text
        )),
        ""
    );
    let refused = kernel("  # sm_90: refused: no", LOAD);
    let card = shown(&refused, |text, kernels| section(&kernels[0], text));
    assert!(
        card.ends_with("recorded launch\n\n- **sm_90**: does not compile: no\n"),
        "{card}"
    );
}
