use std::collections::HashSet;

use tileperf_analysis::rules;

use super::symptoms::{find, markdown, of_compile, recognise};
use super::*;
use crate::environment::tests::{SAME, World};

fn names(symptoms: &[&Symptom]) -> Vec<&'static str> {
    symptoms.iter().map(|symptom| symptom.name).collect()
}

#[test]
fn names_are_unique_and_rules_exist() {
    let mut seen = HashSet::new();
    for symptom in SYMPTOMS {
        assert!(seen.insert(symptom.name), "{} twice", symptom.name);
        for code in symptom.rules {
            assert!(rules::find(code).is_some(), "{}: {code}", symptom.name);
        }
        for word in symptom.signs.iter().flat_map(|sign| *sign) {
            assert_eq!(*word, word.to_lowercase(), "{}", symptom.name);
        }
        assert_eq!(names(&find(symptom.name)), [symptom.name]);
    }
}

/// The words of cuda-tile 1.7, tileiras 13.4 and pip.
#[test]
fn errors_lead_to_their_symptom_first() {
    for (text, expected) in [
        (
            "Return code 5\nfailed to compile Tile IR program\nUnknown location",
            "return-code-5",
        ),
        (
            "FileNotFoundError: 'tileiras' compiler not found, make sure",
            "tileiras-not-found",
        ),
        (
            "Installed NVIDIA pip packages have mismatched versions (a 1, b 2)",
            "mixed-releases",
        ),
        ("ValueError: Search space is empty.", "empty-search-space"),
        (
            "ValueError: No valid config found in search space.\nConfig: 1",
            "empty-search-space",
        ),
        (
            "TypeError: object of type 'generator' has no len()",
            "generator-space",
        ),
        (
            "Dimension #1 of shape (4, 100) is not a power of two",
            "power-of-two",
        ),
        (
            "Index size 1 does not match the array rank 2",
            "rank-mismatch",
        ),
        ("Expected shape length to be 2, got 1", "rank-mismatch"),
        (
            "Shapes are not broadcastable: (4, 8), (4,)",
            "not-broadcastable",
        ),
        (
            "`tileiras` compiler exceeded timeout 30s. Using a smaller tile",
            "hang-while-compiling",
        ),
        ("TMA only supports zero padding", "no-tma"),
        ("stride not 16-byte aligned", "no-tma"),
        (
            "MMA operation failed to optimize to use Tensor Cores, it is using FMA instructions instead",
            "no-tensor-cores",
        ),
    ] {
        assert_eq!(names(&recognise(text)).first(), Some(&expected), "{text}");
    }
    assert!(recognise("everything is fine").is_empty());
}

/// Messages of cuda-tile 1.7's frontend, of tileiras 13.4 and of the process that runs them.
#[test]
fn the_message_of_a_compile_leads_to_what_can_cause_it_only() {
    for (message, expected) in [
        (
            "Shapes are not broadcastable: (64,), (32,)",
            Some("not-broadcastable"),
        ),
        (
            "Tile shape (4,) is not broadcastable to the index shape",
            Some("not-broadcastable"),
        ),
        (
            "Invalid argument \"index\" of load(): Index size 1 does not match the array rank 2",
            Some("rank-mismatch"),
        ),
        (
            "Expected an integer constant, but given value is not constant",
            Some("constant-expected"),
        ),
        (
            "Result tile shape must be power of 2, got: (96,)",
            Some("power-of-two"),
        ),
        ("Unsupported syntax", Some("unsupported-syntax")),
        (
            "tileiras took longer than 300 s",
            Some("hang-while-compiling"),
        ),
        (
            "Return code 5: failed to compile Tile IR program",
            Some("return-code-5"),
        ),
        // Each has a word by which some symptom is looked for.
        ("Undefined variable nan_mask used", None),
        ("No such attribute 'stack' for object of type Module", None),
        ("No such attribute 'fma' for object of type Tile", None),
        ("Cannot call an object of type no_tma_load", None),
    ] {
        let found = of_compile(message).map(|symptom| symptom.name);
        assert_eq!(found, expected, "{message}");
    }
}

#[test]
fn words_of_a_user_find_something() {
    for (query, expected) in [
        ("return code 5", "return-code-5"),
        ("255 registers", "registers-255"),
        ("NaN", "nan"),
        ("no TMA", "no-tma"),
        ("wrong after the first call", "wrong-after-first-call"),
        ("slow first call", "slow-first-call"),
        ("empty space", "empty-search-space"),
        ("rank mismatch", "rank-mismatch"),
        ("3.5 KB stack", "no-tensor-cores"),
        ("FMA", "no-tensor-cores"),
        ("hangs 73 s", "hang-while-compiling"),
        ("columns rows", "wrong-at-the-edge"),
    ] {
        assert!(
            names(&find(query)).contains(&expected),
            "{query}: {:?}",
            names(&find(query))
        );
    }
    assert!(find("zebra").is_empty() && find(" ").is_empty());
}

#[test]
fn the_page_has_everything() {
    let page = markdown();
    for symptom in SYMPTOMS {
        assert!(page.contains(&format!("\n## {}\n", symptom.title)));
    }
    assert!(
        page.ends_with(".\n") && !page.contains("  "),
        "no doubled blanks"
    );
}

const SITE: &str = ".venv/lib/python3.11/site-packages/nvidia/cu13";

/// A tool that says its release, as NVIDIA's do.
fn tool(world: &World, path: &str, release: &str) {
    let text = format!("\0Cuda compilation tools, release {release}\n");
    world.file(path, &text);
}

/// A project whose tools are all there and of one release.
fn healthy() -> World {
    let world = World::new();
    world.venv(".venv", "");
    world.cutile(".venv", SAME);
    for path in ["bin/tileiras", "bin/ptxas", "lib/libnvvm.so.4"] {
        tool(&world, &format!("{SITE}/{path}"), "13.4, V13.4.92");
    }
    world
}

fn examined(world: &World) -> Vec<Check> {
    let managed = Managed::in_cache(&world.at("cache"));
    let devices = Err("there is no driver".to_owned());
    examine(&world.look(), &managed, &devices, &|name| {
        world.variable(name)
    })
}

/// Status and cure of each check that is not as it should be, and not a mere note.
fn faults(world: &World) -> Vec<(&'static str, Status, String)> {
    let checks = examined(world).into_iter();
    let bad = checks.filter(|check| check.status > Status::Note);
    bad.map(|check| (check.name, check.status, check.cure.unwrap_or_default()))
        .collect()
}

#[test]
fn a_healthy_environment_has_no_fault_even_without_a_gpu() {
    assert_eq!(faults(&healthy()), []);
    let checks = examined(&healthy());
    let gpu = checks.last().unwrap();
    assert_eq!((gpu.name, gpu.status), ("GPU", Status::Note));
    assert!(checks.iter().any(|check| check.found.contains("13.4.92")));
}

#[test]
fn a_root_of_another_release_is_traced_to_its_variable() {
    let mut world = healthy();
    tool(&world, "toolkit/nvvm/lib64/libnvvm.so", "13.1, V13.1.80");
    tool(&world, "toolkit/bin/ptxas", "13.1, V13.1.80");
    world.set("CUDA_HOME", "toolkit");
    assert_eq!(
        faults(&world),
        [],
        "cuTile takes it away from its own compiler"
    );
    world.set("CUDA_ROOT", "toolkit");
    let found = faults(&world);
    let named: Vec<_> = found
        .iter()
        .map(|(name, status, _)| (*name, *status))
        .collect();
    assert_eq!(
        named,
        [("libnvvm", Status::Problem), ("ptxas", Status::Problem)]
    );
    let cure = &found[0].2;
    for part in ["13.1.80", "13.4.92", "unset CUDA_ROOT", "Return code 5"] {
        assert!(cure.contains(part), "{cure}");
    }
    world.set("CUDA_ROOT", "nowhere");
    assert!(faults(&world)[0].2.contains("unset CUDA_ROOT"));
}

#[test]
fn packages_that_do_not_fit_are_named() {
    let world = healthy();
    world.package(".venv/lib/python3.11/site-packages", "cuda-tile", "1.7.0");
    let world_with = |releases| {
        let world = World::new();
        world.venv(".venv", "");
        world.cutile(".venv", releases);
        world
    };
    let mixed = faults(&world_with(["13.5.1", "13.4.92", "13.4.92"]));
    assert_eq!(mixed[0].0, "compiler packages");
    assert!(mixed[0].2.contains("different CUDA releases"));
    assert!(mixed.iter().any(|(name, ..)| *name == "tileiras"));
    let silent = faults(&world_with(SAME));
    assert!(
        silent
            .iter()
            .all(|(_, status, _)| *status == Status::Warning),
        "{silent:?}"
    );
    assert!(faults(&world).is_empty());
}

#[test]
fn what_is_newer_than_known_is_a_warning() {
    let world = World::new();
    world.venv(".venv", "");
    world.cutile(".venv", ["13.5.1", "13.5.1", "13.5.1"]);
    let site = ".venv/lib/python3.11/site-packages";
    std::fs::remove_dir_all(world.at(&format!("{site}/cuda_tile-1.7.0.dist-info"))).unwrap();
    world.package(site, "cuda-tile", "1.9.0");
    for path in ["bin/tileiras", "bin/ptxas", "lib/libnvvm.so.4"] {
        tool(&world, &format!("{SITE}/{path}"), "13.5, V13.5.1");
    }
    let named: Vec<_> = faults(&world)
        .iter()
        .map(|(name, status, _)| (*name, *status))
        .collect();
    assert_eq!(
        named,
        [
            ("cuda-tile", Status::Warning),
            ("tileiras", Status::Warning)
        ]
    );
}

#[test]
fn nothing_installed_leads_to_the_managed_one() {
    let world = World::new();
    let names: Vec<_> = faults(&world).iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["Python", "managed tool chain"]);
    world.venv(".venv", "");
    world.file("usr/bin/python3", "");
    world.file("usr/lib/python3/os.py", "");
    let settings = format!(
        "home = {}\nversion = 3.11.7\n",
        world.at("usr/bin").display()
    );
    world.file(".venv/pyvenv.cfg", &settings);
    let cures: Vec<_> = faults(&world)
        .into_iter()
        .map(|(name, _, cure)| (name, cure))
        .collect();
    let cure_of = |name: &str| {
        let found = cures.iter().find(|(known, _)| *known == name);
        found.map(|(_, cure)| cure.as_str()).unwrap_or_default()
    };
    assert!(cure_of("cuda-tile").contains("pip install"));
    assert_eq!(cure_of("managed tool chain"), "tileperf toolchain install");
    assert!(cure_of("virtual environments").contains("python3-venv"));
}

#[test]
fn a_cache_that_cannot_be_read_has_a_cure() {
    let mut world = healthy();
    world.set("CUDA_TILE_CACHE_DIR", "cutile");
    assert_eq!(faults(&world), [], "none yet is no fault");
    world.file("cutile/cache.db", &"no database ".repeat(200));
    let found = faults(&world);
    assert_eq!(
        (found[0].0, found[0].1),
        ("cuTile's cache", Status::Warning)
    );
    assert!(found[0].2.contains("delete"));
}
