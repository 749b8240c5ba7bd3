//! What compiling a space drops from it, and what it does not.

use crate::playbook::g_tile_sizes::OPTIMIZATION;
use crate::playbook::testing::{after, none};

/// A kernel that is searched over `t` and `occupancy`, what compiling showed, and the callbacks.
fn code(compiled: &[&str], configs: &[(u32, u32)], callbacks: &str) -> String {
    let compiled: String = compiled
        .iter()
        .map(|c| format!("# Compiled: {c}\n"))
        .collect();
    let configs: String = configs
        .iter()
        .map(|(t, occupancy)| format!("    yield SimpleNamespace(t={t}, occupancy={occupancy})\n"))
        .collect();
    format!(
        "{compiled}from types import SimpleNamespace\nimport cuda.tile as ct\nimport torch\nfrom cuda.tile.tune import exhaustive_search\n\n\
         @ct.kernel\ndef k(x, y, t: ct.Constant[int]):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (t,)))\n\n\
         def configs():\n    if torch.cuda.get_device_capability()[0] != 9:\n        yield SimpleNamespace(t=7, occupancy=1)\n        return\n{configs}\n\
         def tune(x, y, s):\n    {callbacks}\n"
    )
}

const CALLBACKS: &str = "return exhaustive_search(list(configs()), s, lambda cfg: (x.shape[0] // cfg.t,), k, lambda cfg: (x, y, cfg.t), lambda cfg: {'occupancy': cfg.occupancy})";
const ALL: [(u32, u32); 4] = [(64, 1), (64, 2), (128, 1), (128, 2)];
const TWINS: &str =
    "sm_90 f16, t=64 occupancy=1 a, t=64 occupancy=2 a, t=128 occupancy=1 b, t=128 occupancy=2 c";

#[test]
fn twins_and_what_does_not_compile_go() {
    let refused = "sm_90 f16, t=64 occupancy=1 a, t=64 occupancy=2 b, t=128 occupancy=1 refused, t=128 occupancy=2 refused";
    let both = "sm_90 f16, t=64 occupancy=1 a, t=64 occupancy=2 a, t=128 occupancy=1 b, t=128 occupancy=2 refused";
    for (compiled, left, title) in [
        (
            TWINS,
            &[(64, 1), (128, 1), (128, 2)][..],
            "Search on sm_90 without t=64 occupancy=2, 1 of 4 configurations in `configs`: the same machine code as others",
        ),
        (
            refused,
            &[(64, 1), (64, 2)],
            "Search on sm_90 without t=128 occupancy=1 and t=128 occupancy=2, 2 of 4 configurations in `configs`: do not compile",
        ),
        (
            both,
            &[(64, 1), (128, 1)],
            "Search on sm_90 without t=64 occupancy=2 and t=128 occupancy=2, 2 of 4 configurations in `configs`: 1 the same machine code as others, 1 do not compile",
        ),
    ] {
        let wanted = code(&[compiled], left, CALLBACKS);
        let before = code(&[compiled], &ALL, CALLBACKS);
        let action = after(&OPTIMIZATION, &before, "compiled", &wanted);
        let shown = action
            .title
            .replace(
                "t=128 occupancy=2 and t=64 occupancy=2",
                "t=64 occupancy=2 and t=128 occupancy=2",
            )
            .replace(
                "t=128 occupancy=2 and t=128 occupancy=1",
                "t=128 occupancy=1 and t=128 occupancy=2",
            );
        assert_eq!(shown, title);
        assert!(action.premises[0].contains("f16"), "{:?}", action.premises);
        assert!(!action.shows_in_code());
    }
}

#[test]
fn what_stays() {
    let own = "sm_90 f16, t=64 occupancy=1 a, t=64 occupancy=2 b, t=128 occupancy=1 c, t=128 occupancy=2 d";
    let tiles = "sm_90 f16, t=64 occupancy=1 a, t=64 occupancy=2 b, t=128 occupancy=1 a, t=128 occupancy=2 b";
    let elsewhere = TWINS.replace("sm_90", "sm_80");
    let partly = "sm_90 f16, t=64 occupancy=2 a, t=128 occupancy=1 a";
    for compiled in [
        &[own][..],
        // The grid is another one.
        &[tiles],
        // For other types it is a program of its own.
        &[
            TWINS,
            "sm_90 f32, t=64 occupancy=1 a, t=64 occupancy=2 b, t=128 occupancy=1 c, t=128 occupancy=2 d",
        ],
        &[&elsewhere],
        &[partly],
        &[],
    ] {
        none(&OPTIMIZATION, &code(compiled, &ALL, CALLBACKS));
    }
    for callbacks in [
        // As many blocks as fit; a configuration that is handed on; a callback of elsewhere.
        CALLBACKS.replace("// cfg.t", "// cfg.t * cfg.occupancy"),
        CALLBACKS.replace("// cfg.t", "// size(cfg)"),
        CALLBACKS.replace("lambda cfg: (x, y, cfg.t)", "args_fn"),
        CALLBACKS.replace("lambda cfg: (x, y, cfg.t)", "lambda cfg: (x, y, cfg.t * 2)"),
        CALLBACKS.replace("lambda cfg: {'occupancy': cfg.occupancy}", "hints_fn"),
        format!(
            "def grid(cfg):\n        n = cfg.occupancy\n        return (n,)\n    {}",
            CALLBACKS.replace("lambda cfg: (x.shape[0] // cfg.t,)", "grid")
        ),
        format!(
            "def grid(cfg):\n        def n():\n            return cfg.occupancy\n        return (n(),)\n    {}",
            CALLBACKS.replace("lambda cfg: (x.shape[0] // cfg.t,)", "grid")
        ),
    ] {
        none(&OPTIMIZATION, &code(&[TWINS], &ALL, &callbacks));
    }
    // The first one stays, and so does one that stands for another.
    let first = "sm_90 f16, t=64 occupancy=1 refused, t=64 occupancy=2 a, t=128 occupancy=1 b, t=128 occupancy=2 c";
    none(&OPTIMIZATION, &code(&[first], &ALL, CALLBACKS));
}

/// What several architectures get goes if it is of no use on each of them.
#[test]
fn what_is_shared() {
    let shared = |compiled: &[&str], configs: &[(u32, u32)]| {
        let text = code(compiled, configs, CALLBACKS);
        let branch = "    if torch.cuda.get_device_capability()[0] != 9:\n        yield SimpleNamespace(t=7, occupancy=1)\n        return\n";
        assert!(text.contains(branch));
        text.replace(branch, "")
    };
    let on = |arch: &str| TWINS.replace("sm_90", arch);
    let all: Vec<String> = ["sm_80", "sm_90", "sm_100", "sm_120"].map(on).to_vec();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    none(&OPTIMIZATION, &shared(&all[..3], &ALL));
    let left = [(64, 1), (128, 1), (128, 2)];
    let action = after(
        &OPTIMIZATION,
        &shared(&all, &ALL),
        "compiled",
        &shared(&all, &left),
    );
    assert!(
        action
            .title
            .starts_with("Search on sm_80, sm_90, sm_100, sm_120 without "),
        "{}",
        action.title
    );
}
