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
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("pkg")).unwrap();
    let mut before = Vec::new();
    let mut after = Vec::new();
    for (name, old, new) in [
        ("__init__.py", "", ""),
        ("kernels.py", KERNELS, kernels),
        ("helpers.py", HELPERS, helpers),
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
    // A function that it calls may be host code as well.
    for helpers in [
        HELPERS.replace("(i, 0)", "(i, 1)"),
        HELPERS.replace("    return", "    # A row.\n    return"),
    ] {
        let said = changed(KERNELS, &helpers);
        assert!(
            unknown(&said).contains("helpers.py differs outside"),
            "{said:?}"
        );
    }
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
