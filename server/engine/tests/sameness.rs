//! What is the same program without asking a compiler, and what can never be proven so.
#![allow(
    clippy::unwrap_used,
    reason = "a test's own files; failing is the message"
)]

use std::fs;

use tempfile::TempDir;
use tileperf_analysis::arch::Arch;
use tileperf_compiler::CancelToken;
use tileperf_engine::{Engine, FileVersion, Sameness};

const KERNELS: &str = "\
import cuda.tile as ct
import torch

from .helpers import row

SCALE = 2


@ct.kernel
def scale(x, y, N: ct.Constant[int]):
    # Twice.
    ct.store(y, (ct.bid(0), 0), row(x, ct.bid(0), N) * SCALE)


def run(x, y, stream):
    ct.launch(stream, (64,), scale, (x, y, 128))
";

const HELPERS: &str = "\
import cuda.tile as ct


def row(x, i, N):
    return ct.load(x, (i, 0), (1, N))
";

/// What is said of a change of both files in a workspace that is not trusted: nothing is compiled.
fn changed(kernels: &str, helpers: &str) -> Sameness {
    of_two([KERNELS, HELPERS], [kernels, helpers])
}

/// The same of two versions of both files.
fn of_two([old_kernels, old_helpers]: [&str; 2], [kernels, helpers]: [&str; 2]) -> Sameness {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("pkg")).unwrap();
    let mut before = Vec::new();
    let mut after = Vec::new();
    for (name, old, new) in [
        ("__init__.py", "", ""),
        ("kernels.py", old_kernels, kernels),
        ("helpers.py", old_helpers, helpers),
    ] {
        let path = root.join("pkg").join(name);
        fs::write(&path, new).unwrap();
        if old != new {
            before.push((path.clone(), Some(old.to_owned())));
            after.push((path, Some(new.to_owned())));
        }
    }
    same(root, &before, &after)
}

fn same(root: std::path::PathBuf, before: &[FileVersion], after: &[FileVersion]) -> Sameness {
    let engine = Engine::new();
    engine.configure(vec![root], serde_json::Value::Null, Vec::new(), false);
    engine.index_now();
    engine.sameness(before, after, Arch::Sm90, &CancelToken::new())
}

fn unknown(sameness: &Sameness) -> &str {
    match sameness {
        Sameness::Unknown(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn comments_and_layout_change_no_program() {
    for kernels in [
        KERNELS.replace("# Twice.", "# Two times."),
        KERNELS.replace("    # Twice.\n", ""),
        KERNELS.replace("(ct.bid(0), 0), row", "(ct.bid(0),  0),\n        row"),
        KERNELS.replace('\n', "\r\n"),
    ] {
        let said = changed(&kernels, HELPERS);
        assert!(matches!(said, Sameness::Same(_)), "{said:?} of\n{kernels}");
    }
}

#[test]
fn what_is_outside_kernels_proves_nothing() {
    for (from, to, why) in [
        (
            "(64,), scale",
            "(32,), scale",
            "differs outside its kernels",
        ),
        ("SCALE = 2", "SCALE = 3", "differs outside its kernels"),
        (
            "import torch\n",
            "import torch\nimport os\n",
            "differs outside its kernels",
        ),
        ("def scale(", "def scaled(", "has other kernels"),
        ("@ct.kernel\n", "", "has other kernels"),
        ("* SCALE)", "* SCALE", "does not parse"),
    ] {
        let kernels = KERNELS.replacen(from, to, 1);
        assert_ne!(kernels, KERNELS, "{from}");
        let said = changed(&kernels, HELPERS);
        assert!(unknown(&said).contains(why), "{from} to {to}: {said:?}");
    }
}

#[test]
fn another_kernel_is_not_the_same_until_it_is_compiled() {
    let kernels = KERNELS.replace("* SCALE", "* SCALE + 0");
    let said = changed(&kernels, HELPERS);
    assert!(unknown(&said).contains("not trusted"), "{said:?}");
}

#[test]
fn a_function_that_only_kernels_call_is_compiled_with_them() {
    // Compiled, which is not allowed here: the kernel is in another file than the change.
    let added = "\n\ndef twice(x):\n    return x + x\n";
    for helpers in [
        HELPERS.replace("(i, 0)", "(i, 1)"),
        HELPERS.replace(
            "ct.load(x, (i, 0), (1, N))",
            "twice(ct.load(x, (i, 0), (1, N)))",
        ) + added,
    ] {
        let said = changed(KERNELS, &helpers);
        assert!(unknown(&said).contains("not trusted"), "{said:?}");
    }
    let commented = HELPERS.replace("    return", "    # A row.\n    return");
    let said = changed(KERNELS, &commented);
    assert!(matches!(said, Sameness::Same(_)), "{said:?}");
    // One that no kernel calls is host code.
    let said = changed(KERNELS, &(HELPERS.to_owned() + added));
    assert!(
        unknown(&said).contains("helpers.py differs outside"),
        "{said:?}"
    );
    // Its decorators and defaults are its code; constants beside it may be the host's.
    let said = changed(
        KERNELS,
        &HELPERS.replace("\n\n\ndef", "\n\nROWS = 1\n\n\ndef"),
    );
    assert!(
        unknown(&said).contains("helpers.py differs outside"),
        "{said:?}"
    );
}

#[test]
fn a_function_that_the_host_may_call_proves_nothing() {
    let changed_row = HELPERS.replace("(i, 0)", "(i, 1)");
    for (kernels, helpers) in [
        // Named in a function, in a string, by another helper that the host calls.
        (
            KERNELS.replace("(x, y, 128)", "(x, row(x, 0, 1), 128)"),
            HELPERS.to_owned(),
        ),
        (
            KERNELS.to_owned() + "\nNAMES = ['row']\n",
            HELPERS.to_owned(),
        ),
        (
            KERNELS
                .replace("row(x, ct.bid(0), N)", "rows(x, N)")
                .replace("import row", "import rows")
                + "\nrows(1, 2)\n",
            HELPERS.to_owned() + "\n\ndef rows(x, N):\n    return row(x, ct.bid(0), N)\n",
        ),
    ] {
        let is_in_kernel = helpers.replace("(i, 0)", "(i, 1)");
        assert_ne!(is_in_kernel, helpers);
        let said = of_two([&kernels, &helpers], [&kernels, &is_in_kernel]);
        assert!(
            unknown(&said).contains("helpers.py differs outside"),
            "{kernels}: {said:?}"
        );
    }
    // A third file that imports it from a package that passes it on.
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("pkg")).unwrap();
    fs::write(root.join("pkg/__init__.py"), "from .helpers import row\n").unwrap();
    fs::write(root.join("pkg/kernels.py"), KERNELS).unwrap();
    let path = root.join("pkg/helpers.py");
    fs::write(&path, &changed_row).unwrap();
    let version = |text: &str| vec![(path.clone(), Some(text.to_owned()))];
    let ask = || same(root.clone(), &version(HELPERS), &version(&changed_row));
    assert!(unknown(&ask()).contains("not trusted"));
    fs::write(root.join("host.py"), "from pkg import *\nprint(row)\n").unwrap();
    assert!(unknown(&ask()).contains("helpers.py differs outside"));
}

#[test]
fn a_kernel_that_reaches_the_change_by_others_is_compiled_too() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("pkg")).unwrap();
    let between = "from .helpers import row\n\n\ndef top(x, i, N):\n    return row(x, i, N)\n";
    let kernels = KERNELS
        .replace("import row", "import top")
        .replace("row(x,", "top(x,");
    let kernels = kernels.replace(".helpers", ".between");
    assert!(!kernels.contains("helpers"));
    fs::write(root.join("pkg/__init__.py"), "").unwrap();
    fs::write(root.join("pkg/between.py"), between).unwrap();
    fs::write(root.join("pkg/kernels.py"), kernels).unwrap();
    let path = root.join("pkg/helpers.py");
    let after = HELPERS.replace("(i, 0)", "(i, 1)");
    fs::write(&path, &after).unwrap();
    let version = |text: &str| vec![(path.clone(), Some(text.to_owned()))];
    let said = same(root.clone(), &version(HELPERS), &version(&after));
    assert!(unknown(&said).contains("not trusted"), "{said:?}");
}

#[test]
fn a_file_that_is_no_python_proves_nothing() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("settings.json");
    let version = |text: &str| vec![(path.clone(), Some(text.to_owned()))];
    let said = same(root.clone(), &version("{\"a\": [1"), &version("{\"a\": [2"));
    assert!(matches!(said, Sameness::Unknown(_)), "{said:?}");
    let said = same(root.clone(), &version("{\"a\": 1}"), &version("{\"a\": 2}"));
    assert!(matches!(said, Sameness::Unknown(_)), "{said:?}");
}
