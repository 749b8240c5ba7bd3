use tileperf_syntax::FileParser;

use super::*;
use crate::compiled::testing::{noted, tried};
use crate::model::{FileModel, ModelCache};
use crate::rules::{CompiledContext, RuleCache, check, compiled};
use crate::target::Target;

/// What is said of a text, after what was said of earlier ones.
fn judged_after(text: &str, last: &mut Judgements) -> Vec<Finding> {
    let text = format!("import cuda.tile as ct\n\n{text}");
    let target = Target::default();
    let file = FileParser::default().parse(&text);
    let model = FileModel::build(&file, &text, "", &mut ModelCache::default());
    let facts = noted(&model, &text);
    let checked = check(&file, &text, &model, &target, &mut RuleCache::default());
    let mut findings = checked.findings.to_vec();
    let trials = tried(&file, &model, &text, &findings);
    let kernels: Vec<CompiledKernel<'_>> = (model.kernels.iter().zip(&facts).zip(&trials))
        .map(|((kernel, facts), trials)| CompiledKernel {
            kernel,
            facts,
            trials,
        })
        .collect();
    findings.extend(compiled(&CompiledContext {
        file: &file,
        text: &text,
        model: &model,
        target: &target,
        kernels: &kernels,
    }));
    findings.sort_by_key(|f| (f.span.start, f.span.end, f.rule.code));
    let evidence = Evidence {
        file: &file,
        text: &text,
        kernels: &kernels,
        archs: &target.archs,
    };
    let judged = judge(findings, &evidence, last);
    judged.iter().map(|f| Finding::clone(f)).collect()
}

fn judged(text: &str) -> Vec<Finding> {
    judged_after(text, &mut Judgements::default())
}

fn codes(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|f| f.rule.code).collect()
}

/// The findings of some rules, each with its message.
fn of<'f>(findings: &'f [Finding], codes: &[&str]) -> Vec<(&'f str, &'f str)> {
    let mine = findings.iter().filter(|f| codes.contains(&f.rule.code));
    mine.map(|f| (f.rule.code, f.message.as_str())).collect()
}

fn product(head: &str, made: &str) -> String {
    format!(
        "@ct.kernel\n\
         def k(a, b, c, T: ct.Constant[int]):{head}\n    \
             x = ct.load(a, (0, 0), (T, T))\n    \
             y = ct.load(b, (0, 0), (T, T))\n    \
             acc = ct.mma(x, y, ct.zeros((T, T), dtype=ct.float32)){made}\n    \
             ct.store(c, (0, 0), acc)\n"
    )
}

const MAY: &str = "`mma` may not use tensor cores: not if `a` is float32; cast both operands to \
                   tfloat32 then";
const DOES: &str = "`mma` does not use tensor cores; cast both operands to tfloat32 where `a` is \
                    float32";

#[test]
fn an_access_is_confirmed_refuted_or_neither() {
    let confirmed = |on: &str| vec![format!("{DOES} (compiled for {on})")];
    let may = || vec![MAY.to_owned()];
    for (head, made, expected) in [
        ("", "", may()),
        ("", "  # sm_90: FMA", confirmed("sm_90")),
        ("", "  # sm_80 sm_90: FMA", confirmed("sm_80 and sm_90")),
        ("", "  # sm_90: tensor core SM90 64x128x16", vec![]),
        (
            "  # signature: literals",
            "  # sm_90: tensor core SM90 64x128x16",
            may(),
        ),
        (
            "  # signature: guess",
            "  # sm_90: tensor core SM90 64x128x16",
            may(),
        ),
        (
            "  # signature: guess",
            "  # sm_90: FMA",
            confirmed("sm_90 with a guessed signature"),
        ),
        // Refuted where it was compiled, but for sm_100 nothing is said.
        (
            "  # sm_100: 64 registers",
            "  # sm_90: tensor core SM90 64x128x16",
            may(),
        ),
        // A helper's line is one of each caller.
        (
            "",
            "  # sm_90: tensor core SM90 64x128x16 # sm_90: FMA",
            confirmed("sm_90"),
        ),
        ("", "  # sm_90: refused: Something", may()),
        ("", "  # sm_90: accepted", may()),
        ("", "  # sm_90: failed: out of memory", may()),
    ] {
        let findings = judged(&product(head, made));
        let said: Vec<&str> = of(&findings, &["TP404"]).iter().map(|(_, m)| *m).collect();
        assert_eq!(said, expected, "{head} {made}");
        // The compiler's own remark is not a second finding.
        let again = of(&findings, &["TP503"]);
        assert!(again.is_empty(), "{again:?}");
    }
}

#[test]
fn where_it_is_refuted_is_left_out() {
    let made = "  # sm_80: FMA # sm_90: tensor core SM90 64x128x16";
    let findings = judged(&product("", made));
    let found = findings.iter().find(|f| f.rule.code == "TP404").unwrap();
    assert!(
        found.message.ends_with("(compiled for sm_80)"),
        "{}",
        found.message
    );
    assert!(!found.archs.is_empty() && !found.archs.contains(&Arch::Sm90));
    assert!(found.archs.contains(&Arch::Sm100));
    let (_, words) = found.related.last().unwrap();
    assert!(words.contains("multiply-adds on sm_80"), "{words}");
}

#[test]
fn gathers_are_told_by_silence() {
    let copy = |load: &str, head: &str| {
        format!(
            "@ct.kernel\ndef k(x, y, BLOCK: ct.Constant[int]):{head}\n    \
             at = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\n    \
             tile = ct.gather(x, at){load}\n    \
             ct.store(y, (0,), tile)  # sm_80 sm_90: plain\n"
        )
    };
    let said = |text: &str| {
        let findings = judged(text);
        let said = of(&findings, &["TP401"]);
        said.iter()
            .map(|(_, message)| message.contains("(compiled for sm_90)"))
            .collect::<Vec<_>>()
    };
    assert_eq!(said(&copy("", "")), [true]);
    // A release that says nothing at all.
    assert_eq!(said(&copy("", "  # sm_80 sm_90: silent")), [false]);
    assert_eq!(said(&copy("  # sm_90: TMA 128", "")), [] as [bool; 0]);
}

fn extent(head: &str, before: &str, line: &str) -> String {
    format!(
        "@ct.kernel\ndef k(x, F: ct.Constant[bool]):{head}\n    i = ct.bid(0)\n{before}    \
         t = ct.load(x, (i, 0), (1, 96)){line}\n    ct.store(x, (i, 0), t)\n"
    )
}

#[test]
fn errors() {
    let branch = "    if F:\n        i = i + 1\n";
    let confirmed = "a tile's extent is 96, which is no power of two (compiled for sm_90)";
    let plain = "a tile's extent is 96, which is no power of two";
    for (head, before, line, expected) in [
        ("", "", "", vec![plain]),
        (
            "",
            "",
            "  # sm_90: refused: Expected a power of two",
            vec![confirmed],
        ),
        ("", "", "  # sm_90: accepted", vec![]),
        ("", "", "  # sm_90: plain", vec![]),
        ("", "", "  # sm_90: failed: killed", vec![plain]),
        ("", branch, "  # sm_90: accepted", vec![]),
        ("  # signature: guess", "", "  # sm_90: accepted", vec![]),
        // A guess may have left the place out.
        (
            "  # signature: guess",
            branch,
            "  # sm_90: accepted",
            vec![plain],
        ),
        (
            "  # sm_100: accepted",
            "",
            "  # sm_90: refused: Expected",
            vec![confirmed],
        ),
    ] {
        let findings = judged(&extent(head, before, line));
        let said: Vec<&str> = of(&findings, &["TP204"]).iter().map(|(_, m)| *m).collect();
        assert_eq!(said, expected, "{head} {before} {line}");
        assert_eq!(of(&findings, &["TP501"]), [], "said twice");
    }
    let findings = judged(&extent(
        "",
        "",
        "  # sm_90: refused: Expected a power of two.",
    ));
    let found = findings.iter().find(|f| f.rule.code == "TP204").unwrap();
    let (_, words) = found.related.last().unwrap();
    assert_eq!(
        words,
        "`k` does not compile on sm_90: Expected a power of two"
    );
}

#[test]
fn the_compilers_place_can_be_all_of_a_call() {
    let of_line = |line: &str| {
        let text = format!("@ct.kernel\ndef k(x):\n    {line}\n");
        codes(&judged(&text))
            .iter()
            .map(|c| (*c).to_owned())
            .collect::<Vec<_>>()
    };
    // A refused line is the whole statement here: what is in a call within was found right before.
    let refused = "# sm_90: refused: Expected";
    let line = format!("ct.load(x, (0, 0), (1, 96))  {refused}");
    assert_eq!(of_line(&line), ["TP204"]);
    let line = format!("ct.store(x, (0, 0), ct.load(x, (0, 0), (1, 96)))  {refused}");
    assert_eq!(of_line(&line), ["TP501", "TP204"]);
}

#[test]
fn an_error_elsewhere_is_one_of_its_own() {
    let text = extent("", "    j = i + 'a'  # sm_90: refused: No strings\n", "");
    let findings = judged(&text);
    assert_eq!(
        of(&findings, &["TP204", "TP501"]),
        [
            ("TP501", "`k` does not compile on sm_90: No strings"),
            ("TP204", "a tile's extent is 96, which is no power of two"),
        ]
    );
    // Without a place it is at the kernel.
    let findings = judged(&extent("  # sm_90: refused: Bad", "", ""));
    assert_eq!(of(&findings, &["TP204", "TP501"]).len(), 2);
}

#[test]
fn errors_of_rules_without_claims_are_not_said_twice_either() {
    let text = |refused: &str| {
        format!(
            "@ct.kernel\ndef k(\n    x,\n    MODE: ct.Constant[str],{refused}\n):\n    \
             ct.store(x, (0,), ct.load(x, (0,), (8,)))\n"
        )
    };
    let plain = judged(&text(""));
    let findings = judged(&text("  # sm_90: refused: No such constant"));
    assert_eq!(codes(&findings), codes(&plain));
    let found = findings.iter().find(|f| f.rule.code == "TP202").unwrap();
    assert!(found.claims.is_empty());
    let (_, words) = found.related.last().unwrap();
    assert_eq!(words, "`k` does not compile on sm_90: No such constant");
}

#[test]
fn a_helpers_access_is_that_of_the_kernels_that_call_it() {
    let text = |made: &str| {
        format!(
            "def helper(a, b, acc):\n    return ct.mma(ct.load(a, (0, 0), (16, 16)), ct.load(b, (0, 0), (16, 16)), acc){made}\n\n\
             @ct.kernel\ndef k(a, b, c):\n    acc = helper(a, b, ct.zeros((16, 16), dtype=ct.float32))\n    \
             ct.store(c, (0, 0), acc)  # sm_90: plain\n"
        )
    };
    let said = |made: &str| {
        let findings = judged(&text(made));
        of(&findings, &["TP404"])
            .iter()
            .map(|(_, m)| m.contains("(compiled for"))
            .collect::<Vec<_>>()
    };
    assert_eq!(said("  # sm_90: FMA"), [true]);
    assert_eq!(said("  # sm_90: tensor core SM80 16x8x8"), [] as [bool; 0]);
    assert_eq!(said(""), [false]);
}

#[test]
fn the_last_judgement_stays_while_the_kernel_is_typed_in() {
    let mut last = Judgements::default();
    let is_said = |findings: &[Finding]| !of(findings, &["TP404"]).is_empty();
    let made = "  # sm_90: tensor core SM90 64x128x16";
    assert!(!is_said(&judged_after(&product("", made), &mut last)));
    // Typed elsewhere in the kernel: still withdrawn.
    let typed = product("  # stale", made).replace("acc)\n", "acc + 1)\n");
    assert!(!is_said(&judged_after(&typed, &mut last)));
    // A product that was not compiled is not judged by what stood there before.
    let another = typed.replace("ct.mma(x, y,", "ct.mma(y, x,");
    assert!(is_said(&judged_after(&another, &mut last)));
    // Compiled again.
    assert!(is_said(&judged_after(
        &product("", "  # sm_90: FMA"),
        &mut last
    )));
    let typed = product("  # stale", "").replace("acc)\n", "acc + 1)  # sm_90: plain\n");
    let findings = judged_after(&typed, &mut last);
    assert!(
        of(&findings, &["TP404"])[0]
            .1
            .ends_with("(compiled for sm_90)")
    );
    // Facts that are gone leave the judgement as well.
    let findings = judged_after(&product("", ""), &mut last);
    assert!(
        of(&findings, &["TP404"])[0]
            .1
            .ends_with("(compiled for sm_90)")
    );
    // Another kernel has never been judged.
    let renamed = product("", "").replace("def k(", "def other(");
    assert!(of(&judged_after(&renamed, &mut last), &["TP404"])[0].1 == MAY);
    assert!(
        last.0
            .keys()
            .all(|owner| owner.as_ref().is_none_or(|(name, _)| name == "other"))
    );
}

#[test]
fn some_architectures_are_compiled_again_before_others() {
    let core = |on: &str| format!("  # {on}: tensor core SM90 64x128x16");
    let said = |head: &str, made: &str, last: &mut Judgements| {
        let findings = judged_after(&product(head, made), last);
        of(&findings, &["TP404"])
            .iter()
            .map(|(_, m)| (*m).to_owned())
            .collect::<Vec<_>>()
    };
    let mut last = Judgements::default();
    let both = core("sm_90 sm_100");
    // Never judged: one of two is not enough to withdraw it.
    assert_eq!(said("  # stale sm_100", &both, &mut last), [MAY]);
    assert!(said("", &both, &mut last).is_empty());
    // Judged before: it stays.
    assert!(said("  # stale sm_100", &both, &mut last).is_empty());
    // What the new code shows counts at once.
    let mixed = format!("  # sm_90: FMA{}", core("sm_100"));
    let confirmed = format!("{DOES} (compiled for sm_90)");
    for head in ["  # stale sm_100", "  # stale"] {
        assert_eq!(
            said(head, &mixed, &mut last),
            [confirmed.as_str()],
            "{head}"
        );
    }
}

#[test]
fn what_looks_alike_and_is_judged_differently_is_not_remembered() {
    let twice = |head: &str, one: &str, two: &str| {
        format!(
            "@ct.kernel\ndef k(a, b, c, T: ct.Constant[int]):{head}\n    \
             x = ct.load(a, (0, 0), (T, T))\n    \
             y = ct.load(b, (0, 0), (T, T))\n    \
             acc = ct.zeros((T, T), dtype=ct.float32)\n    \
             acc = ct.mma(x, y, acc){one}\n    \
             acc = ct.mma(x, y, acc){two}\n    \
             ct.store(c, (0, 0), acc)\n"
        )
    };
    let core = "  # sm_90: tensor core SM90 64x64x16";
    let mut last = Judgements::default();
    let findings = judged_after(&twice("", "  # sm_90: FMA", core), &mut last);
    assert_eq!(of(&findings, &["TP404"]).len(), 1);
    let findings = judged_after(&twice("  # stale", "  # sm_90: FMA", core), &mut last);
    assert_eq!(of(&findings, &["TP404"]), [("TP404", MAY), ("TP404", MAY)]);
}

#[test]
fn order_is_kept() {
    let text = extent("", "    j = i + 'a'  # sm_90: refused: No strings\n", "");
    let mut starts: Vec<u32> = judged(&text).iter().map(|f| f.span.start).collect();
    let found = starts.len();
    starts.sort_unstable();
    let again: Vec<u32> = judged(&text).iter().map(|f| f.span.start).collect();
    assert_eq!((again, found >= 2), (starts, true));
}

/// A tile of constants made in a loop.
fn hoistable(head: &str, made: &str) -> String {
    format!(
        "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):{head}\n    \
         for i in range(ct.cdiv(n, T)):\n        \
         offsets = i * T + ct.arange(T, dtype=ct.int32){made}\n        \
         ct.scatter(y, offsets, ct.gather(x, offsets))  # sm_90: says: hello\n"
    )
}

#[test]
fn where_it_does_not_matter_how_it_is_written_nothing_is_said() {
    let said = |text: &str| -> Vec<String> {
        let found = judged(text);
        of(&found, &["TP409"])
            .iter()
            .map(|(_, m)| (*m).to_owned())
            .collect()
    };
    let plain = said(&hoistable("", ""));
    assert_eq!(plain.len(), 1);
    assert!(said(&hoistable("", "  # sm_90: same moved")).is_empty());
    let known = said(&hoistable("", "  # sm_90: other moved"));
    let with = format!("{} (compiled for sm_90: other code comes out)", plain[0]);
    assert_eq!(known, [with]);
    // Constants that nobody passes prove nothing, nor does what could not be compiled.
    let guess = "  # signature: guess";
    assert_eq!(said(&hoistable(guess, "  # sm_90: same moved")), plain);
    assert_eq!(said(&hoistable("", "  # sm_90: unknown moved")), plain);
    // One architecture of two, where the other was tried as well and differs.
    let both = "  # sm_90: same moved # sm_100: other moved";
    let known = said(&hoistable("", both));
    assert!(known[0].ends_with("(compiled for sm_100: other code comes out)"));
}

#[test]
fn a_second_compile_is_awaited_with_what_the_last_one_showed() {
    let mut last = Judgements::default();
    let mut is_said = |head: &str, made: &str| {
        let found = judged_after(&hoistable(head, made), &mut last);
        !of(&found, &["TP409"]).is_empty()
    };
    assert!(is_said("", ""));
    assert!(!is_said("", "  # sm_90: same moved"));
    // Typed, compiled again, and tried again: three states, none of which blinks.
    assert!(!is_said("  # stale", "  # sm_90: same moved"));
    assert!(!is_said("", ""));
    assert!(is_said("", "  # sm_90: other moved"));
    assert!(is_said("", ""));
    // A trial that cannot be made ends it.
    assert!(!is_said("", "  # sm_90: same moved"));
    assert!(is_said("", "  # sm_90: unknown moved"));
}
