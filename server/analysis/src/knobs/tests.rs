//! The table against cuda-tile's own list of names, and how entries read.

use std::collections::{BTreeMap, BTreeSet};

use super::omitted::OMITTED;
use super::*;
use crate::arch::Arch;
use crate::target::Version;

/// Written by names.py. Each line after the first is a name, and after a tab its default.
const NAMES: &str = include_str!("names.txt");

fn listed() -> BTreeMap<&'static str, Option<&'static str>> {
    NAMES
        .lines()
        .skip(1)
        .map(|line| match line.split_once('\t') {
            Some((name, default)) => (name, Some(default)),
            None => (line, None),
        })
        .collect()
}

fn omitted(name: &str) -> bool {
    OMITTED
        .iter()
        .any(|omitted| match omitted.name.split_once('*') {
            Some((beginning, "")) => name.starts_with(beginning),
            _ => name == omitted.name,
        })
}

/// `load(latency)` is the parameter `latency` of `load`.
fn entry_of(listed: &str) -> Option<&'static Knob> {
    match listed
        .strip_suffix(')')
        .and_then(|name| name.split_once('('))
    {
        Some((function, parameter)) => lookup_keyword(function, parameter),
        None => lookup(listed),
    }
}

/// How names.txt writes what an entry is about.
fn listed_names(knob: &Knob) -> Vec<String> {
    match knob.owners {
        [] => vec![knob.name.to_owned()],
        owners => owners
            .iter()
            .map(|owner| format!("{owner}({})", knob.name))
            .collect(),
    }
}

#[test]
fn every_public_name_has_an_entry_or_a_reason() {
    let missing: Vec<&str> = listed()
        .into_keys()
        .filter(|name| entry_of(name).is_none() && !omitted(name))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn no_omission_is_idle_or_without_a_reason() {
    let listed = listed();
    for omitted in OMITTED {
        assert!(!omitted.reason.is_empty(), "{}", omitted.name);
        let covers = |name: &&&str| match omitted.name.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => **name == omitted.name,
        };
        let covered: Vec<_> = listed.keys().filter(covers).collect();
        assert!(!covered.is_empty(), "{} omits nothing", omitted.name);
        for name in covered {
            assert!(
                entry_of(name).is_none(),
                "{name} is omitted and has an entry"
            );
        }
    }
}

#[test]
fn every_entry_is_a_public_name_and_names_its_default() {
    let listed = listed();
    for knob in all() {
        for name in listed_names(knob) {
            let elsewhere = name.starts_with("tile_experimental.");
            // `replace_hints(**hints)` takes what `kernel` takes.
            let listed_as = name.replace("kernel.replace_hints(", "kernel(");
            let Some(default) = listed.get(listed_as.as_str()) else {
                assert!(elsewhere, "{name} is not public");
                continue;
            };
            assert!(!elsewhere, "{name} is public after all");
            assert_eq!(
                default.unwrap_or_default(),
                knob.default,
                "default of {name}"
            );
        }
    }
}

#[test]
fn nothing_is_explained_twice() {
    let mut seen = BTreeSet::new();
    for knob in all() {
        for name in listed_names(knob) {
            assert!(seen.insert(name.clone()), "{name} has two entries");
        }
    }
}

#[test]
fn entries_are_sentences_that_can_be_joined() {
    for knob in all() {
        let parts = [knob.text, knob.range, knob.caveat];
        let changes = knob.changes.iter().map(|change| change.text);
        for part in parts.into_iter().chain(changes) {
            assert!(!part.ends_with('.'), "{}: {part}", knob.name);
            assert!(
                !part.contains(['\n', '\t']) && !part.contains("  "),
                "{}: {part:?}",
                knob.name
            );
        }
        assert!(!knob.text.is_empty(), "{}", knob.name);
        assert!(knob.since <= Version::NEWEST_KNOWN, "{}", knob.name);
        let versions: Vec<Version> = knob.changes.iter().map(|change| change.version).collect();
        assert!(versions.is_sorted(), "{}", knob.name);
        assert!(
            versions.iter().all(|&version| version > knob.since),
            "{}",
            knob.name
        );
        let line = explain(knob, None);
        assert!(!line.contains('\n'), "{line}");
        assert!(
            line.len() < 700,
            "{} is no line any more: {}",
            knob.name,
            line.len()
        );
    }
}

#[test]
fn names_are_found_however_they_are_written() {
    for (dotted, heading) in [
        ("load", "ct.load("),
        ("cuda.tile.load", "ct.load("),
        ("PaddingMode.ZERO", "ct.PaddingMode.ZERO"),
        (
            "cuda.tile.tune.exhaustive_search",
            "ct.tune.exhaustive_search(",
        ),
        (
            "cuda.tile_experimental.autotune_launch",
            "cuda.tile_experimental.autotune_launch(",
        ),
        ("Array.tiled_view", "array.tiled_view("),
        ("Array.dtype", "Array.dtype"),
        ("float16", "ct.float16"),
    ] {
        let knob = lookup(dotted).unwrap_or_else(|| panic!("{dotted}"));
        assert!(
            knob.heading().starts_with(heading),
            "{dotted}: {}",
            knob.heading()
        );
    }
    for unknown in [
        "",
        "cuda.tile",
        "loads",
        "latency",
        "load.latency",
        "torch.load",
        "ct.load",
    ] {
        assert_eq!(lookup(unknown), None, "{unknown}");
    }
}

#[test]
fn keywords_are_found_by_what_has_them() {
    for (function, keyword) in [
        ("load", "latency"),
        ("cuda.tile.load", "latency"),
        ("gather", "latency"),
        ("kernel", "occupancy"),
        ("kernel.replace_hints", "occupancy"),
        ("tune.exhaustive_search", "hints_fn"),
        ("ArrayAnnotation", "static_shape_dims"),
        ("TiledView.load", "check_bounds"),
    ] {
        let knob =
            lookup_keyword(function, keyword).unwrap_or_else(|| panic!("{function}({keyword})"));
        assert!(knob.name.ends_with(keyword));
    }
    for (function, keyword) in [
        ("load", "mask"),
        ("gather", "allow_tma"),
        ("Array", "dtype2"),
        ("", ""),
    ] {
        assert_eq!(
            lookup_keyword(function, keyword),
            None,
            "{function}({keyword})"
        );
    }
    assert_ne!(
        lookup_keyword("load", "check_bounds"),
        lookup_keyword("gather", "check_bounds"),
        "the same word, two meanings"
    );
}

#[test]
fn explanations_follow_the_version() {
    let explained = |function: &str, keyword: &str, version: Option<&str>| {
        let knob = lookup_keyword(function, keyword).unwrap();
        explain(knob, version.map(|version| version.parse().unwrap()))
    };
    let told = explained("kernel", "num_worker_warps", Some("1.3"));
    assert!(
        told.starts_with("**Not in cuda-tile 1.3: since 1.4.** `num_worker_warps=None`: "),
        "{told}"
    );
    assert!(
        told.contains(" Not before 1.7: values other than 4 and 8. "),
        "{told}"
    );

    let told = explained("kernel", "num_worker_warps", Some("1.6"));
    assert!(told.starts_with("`num_worker_warps=None`: "), "{told}");
    assert!(
        told.contains(" Since cuda-tile 1.4. Not before 1.7: values "),
        "{told}"
    );

    for version in [Some("1.7.0"), Some("2.0"), None] {
        let told = explained("kernel", "num_worker_warps", version);
        assert!(
            told.contains(" Since cuda-tile 1.4. Since 1.7: values "),
            "{told}"
        );
        assert!(told.contains(" Needs tileiras 13.3. "), "{told}");
    }
    let told = explain(lookup("cdiv").unwrap(), None);
    assert_eq!(
        told,
        "`ct.cdiv(x, y)`: Quotient of integers rounded up: how many tiles cover an extent. \
         Host and kernel code."
    );
}

#[test]
fn a_shared_parameter_is_no_older_than_its_function() {
    let told = |function: &str| {
        let version = Some("1.2".parse().unwrap());
        explain_keyword(function, "latency", version).unwrap()
    };
    assert!(told("load").starts_with("`latency=None`: "));
    let told = told("load_advanced_indexing");
    assert!(
        told.starts_with("**Not in cuda-tile 1.2: since 1.4.** "),
        "{told}"
    );
    assert_eq!(explain_keyword("load", "nonsense", None), None);
}

#[test]
fn effects_per_architecture() {
    let on = |function: &str, keyword: &str| -> Vec<u32> {
        let effect = lookup_keyword(function, keyword).unwrap().effect;
        Arch::ALL
            .into_iter()
            .filter(|&arch| effect.on(arch))
            .map(Arch::sm)
            .collect()
    };
    assert_eq!(on("mma", "use_fast_acc"), [90]);
    assert_eq!(on("kernel", "num_ctas"), [90, 100, 103, 107, 110, 120, 121]);
    assert_eq!(on("load", "allow_tma").len(), Arch::ALL.len());
}

#[test]
fn the_document_is_up_to_date() {
    let committed = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/knobs.md"));
    assert!(
        committed == markdown(),
        "docs/knobs.md is not what the table says: run `cargo xtask docs`"
    );
}

/// Asks a real cuda-tile, where the environment names a Python that has one.
#[test]
#[allow(clippy::disallowed_methods)] // The analysis itself starts nothing; this is its test.
fn the_list_of_names_is_that_of_the_installed_cuda_tile() {
    let Some(python) = std::env::var_os("TILEPERF_TEST_PYTHON") else {
        eprintln!("TILEPERF_TEST_PYTHON names no Python with cuda-tile: not compared");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/knobs/names.py");
    let output = std::process::Command::new(python)
        .arg(script)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let installed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        installed.lines().next(),
        NAMES.lines().next(),
        "another cuda-tile than the one in names.txt: review its changes, then write the file anew"
    );
    assert!(installed == NAMES, "names.txt is not what names.py prints");
}
