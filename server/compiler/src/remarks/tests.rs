use proptest::prelude::*;

use super::*;

/// A document as tileiras 13.4 writes it.
fn document(tag: &str, pass: &str, name: &str, place: (u32, u32), args: &[(&str, &str)]) -> String {
    let (line, column) = place;
    let mut text = format!(
        "--- !{tag}\nPass:            {pass}\nName:            {name}\n\
         DebugLoc:        {{ File: '/a b/it''s.py', Line: {line}, Column: {column} }}\n\
         Function:        mm\nArgs:\n"
    );
    for (key, value) in args {
        text += &format!("  - {key}:    {value}\n");
    }
    text + "...\n"
}

fn loaded(place: (u32, u32), id: &str, instruction: &str) -> String {
    let args = [
        ("RemarkId", id),
        ("Remark", "Load instruction selected"),
        ("Instruction", instruction),
        ("Shape", "'[32, 4]'"),
    ];
    document(
        "Passed",
        "Memory",
        "RemarkMemoryLoadInstructionSelected",
        place,
        &args,
    )
}

fn failed(place: (u32, u32), reason: &str) -> String {
    let reason = format!("'loc(\"/a/k.py\":7:8): {reason}'");
    let args = [
        ("RemarkId", "9"),
        ("Remark", "Failed to select TMA load instruction"),
        ("Reason", reason.as_str()),
        ("Reason", reason.as_str()),
    ];
    document(
        "Failure",
        "Memory",
        "RemarkMemoryTmaLoadFailed",
        place,
        &args,
    )
}

fn multiplied(tag: &str, args: &[(&str, &str)]) -> String {
    document(tag, "Tensor-core", "RemarkTensorCoreMMA", (19, 14), args)
}

fn only(yaml: &str) -> Remark {
    let mut remarks = parse(yaml);
    assert_eq!(
        (remarks.all.len(), remarks.unreadable),
        (1, 0),
        "{remarks:?}"
    );
    remarks.all.remove(0)
}

fn kinds(yaml: &str) -> Vec<Kind> {
    let remarks = parse(yaml).all;
    remarks.into_iter().map(|remark| remark.kind).collect()
}

fn plain(reasons: &[&str]) -> Kind {
    Kind::Plain {
        access: Access::Load,
        reasons: reasons.iter().map(|&reason| reason.to_owned()).collect(),
    }
}

#[test]
fn a_tma_load_with_its_place() {
    let remark = only(&loaded((7, 8), "1", "TMA Load instruction"));
    let shape = vec![32, 4];
    let access = Access::Load;
    assert_eq!(remark.kind, Kind::Tma { access, shape });
    let site = remark.site.unwrap();
    assert_eq!(
        (site.file.as_str(), site.line, site.column),
        ("/a b/it's.py", 7, 8)
    );
    assert_eq!(
        (remark.text.as_str(), remark.count),
        ("Load instruction selected", 1)
    );
}

#[test]
fn the_multiplications() {
    let args = [
        (
            "Remark",
            "MMA operation successfully optimized to use Tensor Cores",
        ),
        ("Instruction", "Tensor-core SM100"),
        ("Shape", "'[128, 128, 16]'"),
        ("NumCTAs", "2"),
    ];
    let kind = Kind::TensorCore {
        instruction: "SM100".to_owned(),
        shape: vec![128, 128, 16],
        ctas: Some(2),
    };
    assert_eq!(only(&multiplied("Passed", &args)).kind, kind);
    let args = [
        ("Remark", "it is using FMA"),
        ("Instruction", "FMA"),
        ("Shape", "'[1, 1, 1]'"),
    ];
    let remark = only(&multiplied("Failure", &args));
    assert_eq!(
        (remark.kind, remark.passed),
        (Kind::Fma { reasons: vec![] }, false)
    );
}

#[test]
fn the_hints() {
    for (name, text, expected) in [
        (
            "RemarkHintDefault",
            "OptimizationHint used default latency",
            Some((HintState::Default, "latency")),
        ),
        (
            "RemarkHint",
            "OptimizationHint used allow_tma",
            Some((HintState::Used, "allow_tma")),
        ),
        (
            "RemarkHint",
            "OptimizationHint incorrect x",
            Some((HintState::Incorrect, "x")),
        ),
        (
            "RemarkHintOutOfRange",
            "OptimizationHint value out of range y",
            Some((HintState::OutOfRange, "y")),
        ),
        ("RemarkHint", "OptimizationHint is a new thing", None),
    ] {
        let kind = only(&document(
            "Passed",
            "Hints",
            name,
            (1, 0),
            &[("Remark", text)],
        ))
        .kind;
        match (kind, expected) {
            (Kind::Hint { state, hint }, Some(expected)) => {
                assert_eq!((state, hint.as_str()), expected);
            }
            (Kind::Other { .. }, None) => {}
            (kind, _) => panic!("{text}: {kind:?}"),
        }
    }
}

#[test]
fn a_plain_load_has_the_reasons_of_the_failure() {
    let (load, why) = (
        loaded((7, 8), "1", "Global-memory load instruction"),
        failed((7, 8), "only zero"),
    );
    for yaml in [format!("{load}{why}"), format!("{why}{load}{why}{load}")] {
        assert_eq!(kinds(&yaml), [plain(&["only zero"])]);
    }
    let elsewhere = failed((8, 8), "only zero");
    assert_eq!(
        kinds(&format!("{load}{elsewhere}")),
        [plain(&[]), plain(&["only zero"])]
    );
    let another = failed((7, 8), "another");
    assert_eq!(
        kinds(&format!("{load}{why}{another}")),
        [plain(&["another", "only zero"])]
    );
}

#[test]
fn two_calls_of_a_helper_are_counted_and_repeats_are_not() {
    let one = loaded((5, 11), "1", "TMA Load instruction");
    let two = loaded((5, 11), "2", "TMA Load instruction");
    assert_eq!(only(&format!("{one}{two}{one}{two}")).count, 2);
}

#[test]
fn order_is_that_of_the_text() {
    let at = |line, column| loaded((line, column), "1", "TMA Load instruction");
    let yaml = at(12, 3) + &at(2, 30) + &at(2, 4);
    let sites = parse(&yaml).all.into_iter().filter_map(|r| r.site);
    let places: Vec<_> = sites.map(|site| (site.line, site.column)).collect();
    assert_eq!(places, [(2, 4), (2, 30), (12, 3)]);
}

#[test]
fn what_is_new_is_kept_in_its_words() {
    let args = [
        ("RemarkId", "3"),
        ("Remark", "'Software pipeline applied: 3 stages'"),
        ("Stages", "3"),
    ];
    let remark = only(&document(
        "Analysis",
        "Loop",
        "RemarkLoopPipeline",
        (0, 0),
        &args,
    ));
    let kind = Kind::Other {
        pass: "Loop".to_owned(),
        name: "RemarkLoopPipeline".to_owned(),
        details: vec![("Stages".to_owned(), "3".to_owned())],
    };
    assert_eq!((remark.kind, remark.site), (kind, None));
    assert_eq!(remark.text, "Software pipeline applied: 3 stages");
    let strange = loaded((1, 0), "1", "Quantum load instruction");
    assert!(matches!(only(&strange).kind, Kind::Other { .. }));
}

#[test]
fn a_damaged_document_costs_itself_only() {
    let good = loaded((7, 8), "1", "TMA Load instruction");
    for bad in [
        "--- !Passed\nName: {\n",
        "--- \n",
        "---\n- [\n...\n",
        "\"\n",
        "--- *a\n",
        "%x\n",
    ] {
        let remarks = parse(&format!("{bad}{good}"));
        assert_eq!((remarks.all.len(), remarks.unreadable), (1, 1), "{bad:?}");
    }
    let cut = &good[..good.len() - 30];
    assert!(parse(&format!("{good}{cut}")).all.len() <= 2);
    assert_eq!(parse(""), Remarks::default());
    assert_eq!(parse("\n \n"), Remarks::default());
}

#[test]
fn they_survive_being_written_down() {
    let yaml = loaded((7, 8), "1", "Global-memory load instruction") + &failed((7, 8), "why");
    let remarks = parse(&yaml);
    let json = serde_json::to_string(&remarks).unwrap();
    assert!(json.contains(r#""kind":"plain","access":"load""#), "{json}");
    assert_eq!(serde_json::from_str::<Remarks>(&json).unwrap(), remarks);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(?s)[-!{}\\[\\]:,'\" \n&*a-c%#|>?.]{0,80}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_damage_makes_it_panic(place in any::<prop::sample::Index>(), with in "(?s).{0,3}") {
        let mut yaml = loaded((7, 8), "1", "x") + &failed((7, 8), "why");
        let at = place.index(yaml.len());
        if yaml.is_char_boundary(at) {
            yaml.replace_range(at..at, &with);
        }
        let _ = parse(&yaml);
    }
}
