//! The documentation of every optimization, tried; what holds for all of them.

use std::collections::BTreeSet;

use super::testing::{after, none, offered};
use super::{Effect, OPTIMIZATIONS, Optimization, Proof, present};
use crate::rules::testing::{findings, whole};
use crate::rules::{BlockKind, Doc};
use crate::target::Target;

#[test]
fn documentation() {
    for optimization in OPTIMIZATIONS {
        let mut before: Option<String> = None;
        let mut seen = [false; 3];
        for block in Doc::parse(optimization.doc).blocks {
            match block.kind {
                BlockKind::Before => {
                    seen[0] = true;
                    before = Some(block.code);
                }
                BlockKind::After(variant) => {
                    seen[1] = true;
                    let code = before.as_ref().expect("a block before");
                    after(optimization, code, &variant, &block.code);
                }
                BlockKind::Good => {
                    seen[2] = true;
                    none(optimization, &block.code);
                }
                _ => {}
            }
        }
        assert_eq!(seen, [true; 3], "{optimization:?}: before, after and good");
    }
}

#[test]
fn no_rule_finds_anything_new_in_what_is_documented() {
    let slugs = |code: &str| -> BTreeSet<&str> {
        let found = findings(&whole(code));
        found.iter().map(|f| f.rule.slug).collect()
    };
    for optimization in OPTIMIZATIONS {
        let mut before = BTreeSet::new();
        for block in Doc::parse(optimization.doc).blocks {
            match block.kind {
                BlockKind::Before => before = slugs(&block.code),
                BlockKind::After(_) => {
                    let after = slugs(&block.code);
                    let new: Vec<&&str> = after.difference(&before).collect();
                    assert!(
                        new.is_empty(),
                        "{optimization:?}: {new:?} in\n{}",
                        block.code
                    );
                }
                _ => {}
            }
        }
    }
}

#[test]
fn names_are_in_order_and_found() {
    let ids: Vec<&str> = OPTIMIZATIONS.iter().map(|o| o.id).collect();
    assert!(ids.is_sorted());
    for optimization in OPTIMIZATIONS {
        let lower = optimization.id.to_lowercase();
        assert_eq!(Optimization::named(&lower), Some(*optimization));
        assert_eq!(Optimization::named(optimization.slug), Some(*optimization));
        assert!(!optimization.gains.is_empty());
    }
    assert_eq!(Optimization::named("Z"), None);
    assert_eq!(Optimization::named(""), None);
}

#[test]
fn the_kernel_s_class_orders_them() {
    let ids = |text: &str| {
        let mut ids: Vec<&str> = offered(text, &Target::default())
            .iter()
            .map(|a| a.optimization.id)
            .collect();
        ids.dedup();
        ids
    };
    let memory = "import cuda.tile as ct\n@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    for i in range(n):\n        t = ct.astype(ct.load(x, (i,), (T,)), ct.float32)\n        ct.store(y, (i,), ct.exp(t))\n";
    assert_eq!(ids(memory), ["F", "E", "H"]);
    let compute = "import cuda.tile as ct\n@ct.kernel\ndef k(a, b, c):\n    acc = ct.zeros((128, 128), ct.float32)\n    for i in range(64):\n        x = ct.load(a, (0, i), (128, 64))\n        y = ct.load(b, (i, 0), (64, 128))\n        acc = ct.mma(x, y, acc)\n    ct.store(c, (0, 0), acc)\n";
    assert_eq!(ids(compute), ["D", "E", "F"]);
}

#[test]
fn what_compiled_code_proves() {
    use crate::compiled::testing::noted;
    use crate::compiled::{CompiledFacts, Outcome, Refusal};
    let facts = |mma: &str, hash: &str| -> CompiledFacts {
        let text = format!(
            "import cuda.tile as ct\n@ct.kernel\ndef k(x, y):  # sm_90: 128 registers, 256 threads, 0 stack, 1024 shared\n    a = ct.load(x, (0, 0), (8, 8))  # sm_90: plain\n    b = ct.mma(a, a, a)  # sm_90: {mma}\n"
        );
        let parsed = tileperf_syntax::parse(&text);
        let mut cache = crate::model::ModelCache::default();
        let model = crate::model::FileModel::build(&parsed, &text, "", &mut cache);
        let mut facts = noted(&model, &text).remove(0).remove(0);
        if let Outcome::Machine(machine) = &mut facts.outcome {
            machine.code_hash = hash.to_owned();
        }
        facts
    };
    let text = "import cuda.tile as ct\n@ct.kernel\ndef k(a, c):\n    x = ct.load(a, (0, 0), (64, 64))\n    ct.store(c, (0, 0), ct.mma(x, x, ct.zeros((64, 64), ct.float32)))\n";
    let actions = offered(text, &Target::default());
    let action = actions.iter().find(|a| a.optimization.id == "D").unwrap();
    assert_eq!(action.effects, [Effect::Code, Effect::TensorCores]);
    let before = facts("FMA", "a");
    let refuted = |proof| matches!(proof, Proof::Refuted(_));
    assert!(refuted(present(action, &before, &before)));
    // Another program, but not the one hoped for.
    assert!(refuted(present(action, &before, &facts("FMA", "b"))));
    let Proof::Proven(words) = present(action, &before, &facts("tensor core SM90 64x8x8", "b"))
    else {
        panic!()
    };
    assert_eq!(words[0], "FMA instead of tensor core: 0, was 1");
    // Of what is in host code it only says that the kernel still compiles.
    let mut host = action.clone();
    host.effects.clear();
    assert_eq!(present(&host, &before, &before), Proof::Unknown);
    assert_eq!(present(&host, &before, &facts("FMA", "b")), Proof::Unknown);
    let mut broken = before.clone();
    broken.outcome = Outcome::Refused(Refusal {
        message: "no such hint".to_owned(),
        span: None,
        chain: Vec::new(),
    });
    assert!(refuted(present(&host, &before, &broken)));
}
