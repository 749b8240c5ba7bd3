//! A workspace of several files: links across them, what is read from disk and when.
#![allow(
    clippy::unwrap_used,
    reason = "a test's own files; failing is the message"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tileperf_engine::{Change, DocId, Engine, Location, State};
use tileperf_syntax::{Encoding, Position};

const FILES: &[(&str, &str)] = &[
    (".gitignore", "build/\n"),
    ("src/gym/__init__.py", ""),
    (
        "src/gym/ops/__init__.py",
        "from .soft import soft_kernel as exported\n",
    ),
    (
        "src/gym/ops/soft.py",
        "import cuda.tile as ct
from gym.spaces import soft_space
from gym.backend import register_impl
from cuda.tile.tune import exhaustive_search

@ct.kernel
def soft_kernel(x, N: ct.Constant[int]):
    pass

def make():
    return soft_kernel

def launch_any(stream, kernel, x):
    ct.launch(stream, (1,), kernel, (x,))

@register_impl('softmax', backend='cutile')
def softmax(x):
    exhaustive_search(list(soft_space(4)), 0, lambda c: (1,), soft_kernel, lambda c: (x,))
    launch_any(0, soft_kernel, x)
",
    ),
    (
        "src/gym/spaces.py",
        "import torch

def soft_space(n):
    if torch.cuda.get_device_capability()[0] >= 9:
        for a in (1, 2, 3):
            yield a
    yield 0
",
    ),
    (
        "src/gym/other.py",
        "import cuda.tile as ct
from gym.ops import exported
from gym.ops.soft import make, launch_any

@ct.kernel
def mine(x):
    pass

def run(s, x):
    ct.launch(s, (1,), exported, (x,))
    ct.launch(s, (1,), make(), (x,))
    launch_any(s, mine, x)
",
    ),
    (
        "tests/ops/test_softmax.py",
        "def test_softmax():\n    pass\n\nclass TestMore:\n    def test_again(self):\n        pass\n",
    ),
    (
        "build/generated.py",
        "import cuda.tile as ct\n@ct.kernel\ndef ignored(x): pass\n",
    ),
];

/// Kernels and a space, and a file that uses them wrongly: by line what is found there.
const USED_WRONGLY: &[(&str, &str)] = &[
    (
        "src/use/__init__.py",
        "from .kernels import square as exported\nfrom .lengths import longest\n",
    ),
    // Nobody's `types` but that of scripts beside it.
    ("stubs/types.py", "class SimpleNamespace:\n    pass\n"),
    // Without a word of cuTile.
    (
        "src/use/lengths.py",
        "import torch

def longest(lens):
    return int(torch.max(lens).item())
",
    ),
    (
        "src/use/kernels.py",
        "import cuda.tile as ct

@ct.kernel
def square(x, N: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (1, N))
    ct.store(x, (i, 0), t * t)
",
    ),
    (
        "src/use/spaces.py",
        "from types import SimpleNamespace
import torch

def configs():
    if torch.cuda.get_device_capability()[0] == 9:
        yield SimpleNamespace(n=64, occupancy=64)
",
    ),
    (
        "src/use/run.py",
        "import cuda.tile as ct
from cuda.tile.tune import exhaustive_search
import torch
from use import exported, longest
from . import kernels
from .spaces import configs as space

def helper(t):
    return exported(ct.load(t, (0,), (8,)), 8)  # TP210

def run(x, s, g):
    n_rows, n_cols = x.shape
    ct.launch(s, (n_rows,), kernels.square, (x, 64))  # TP402
    ct.launch(s, (1,), kernels.square, (x,))  # TP208
    ct.launch(s, (1,), kernels.square, (None, 64))  # TP201
    exhaustive_search(list(space()), s, g, exported, lambda c: (x.clone(), c.n), lambda c: {'occupancy': c.occupancy})  # TP102 TP103 TP226
    return exhaustive_search([1], s, g, exported, lambda c: (x, c))  # TP103

def run_ragged(x, lens, s):
    out = torch.empty_like(x)
    n = longest(lens)  # TP304
    ct.launch(s, (n, 1), kernels.square, (out, 64))
",
    ),
];

struct Workspace {
    root: PathBuf,
    engine: Engine,
    _folder: TempDir,
}

impl Workspace {
    fn new() -> Self {
        Self::of(FILES)
    }

    fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let engine = Engine::new();
        let problems = engine.configure(
            vec![root.clone()],
            serde_json::Value::Null,
            Vec::new(),
            false,
        );
        assert!(problems.is_empty(), "{problems:?}");
        Self {
            root,
            engine,
            _folder: folder,
        }
    }

    fn indexed() -> Self {
        Self::new().read()
    }

    /// Reads all files.
    fn read(self) -> Self {
        let workspace = self;
        workspace.engine.index_now();
        workspace
    }

    fn doc(&self, path: &str) -> DocId {
        DocId::file(&self.root.join(path))
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// The n-th place of `needle` in a file.
    fn offset(&self, path: &str, needle: &str, n: usize) -> usize {
        self.text(path).match_indices(needle).nth(n).unwrap().0
    }

    /// `soft.py:7 soft_kernel` for each place.
    fn shown(&self, places: &[Location]) -> Vec<String> {
        let mut out: Vec<String> = places
            .iter()
            .map(|l| {
                let path = l.doc.path().unwrap();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                format!(
                    "{name}:{} {}",
                    l.text.line_column(l.span.start as usize).0,
                    l.text.slice(l.span)
                )
            })
            .collect();
        out.sort();
        out
    }
}

fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn launches_are_linked_across_files() {
    let w = Workspace::indexed();
    let other = "src/gym/other.py";
    let go = |needle: &str, n| {
        w.shown(
            &w.engine
                .definition(&w.doc(other), w.offset(other, needle, n)),
        )
    };
    assert_eq!(
        go("exported", 1),
        ["soft.py:7 soft_kernel"],
        "through a re-export"
    );
    assert_eq!(
        go("make()", 0),
        ["soft.py:7 soft_kernel"],
        "through a function of another file"
    );
    // What `launch_any` launches is what its callers pass, here and there.
    let soft = "src/gym/ops/soft.py";
    let launched = w
        .engine
        .definition(&w.doc(soft), w.offset(soft, "kernel, (x,)", 0));
    assert_eq!(
        w.shown(&launched),
        ["other.py:6 mine", "soft.py:7 soft_kernel"]
    );
}

#[test]
fn references_span_launches_searches_registrations_and_tests() {
    let w = Workspace::indexed();
    let soft = "src/gym/ops/soft.py";
    let at = w.offset(soft, "soft_kernel(x", 0);
    let all = w.shown(&w.engine.references(&w.doc(soft), at, true));
    assert_eq!(
        all,
        [
            "other.py:10 exported",
            "other.py:11 make",
            "soft.py:14 kernel",
            "soft.py:17 softmax",
            "soft.py:18 soft_kernel",
            "soft.py:7 soft_kernel",
            "test_softmax.py:1 test_softmax",
            "test_softmax.py:5 test_again",
        ]
    );
    let without = w.engine.references(&w.doc(soft), at, false);
    assert_eq!(without.len(), all.len() - 1);
    let here = w.shown(&w.engine.highlights(&w.doc(soft), at));
    assert!(
        here.iter().all(|l| l.starts_with("soft.py:")) && here.len() == 4,
        "{here:?}"
    );
}

#[test]
fn a_space_of_another_module_is_counted_and_follows_its_edits() {
    let w = Workspace::indexed();
    let spaces = "src/gym/spaces.py";
    let facts = || w.engine.facts(&w.doc(spaces), "spaces.py").unwrap();
    let counts = |f: &tileperf_engine::FileFacts| -> Vec<String> {
        f.spaces[0]
            .configs
            .iter()
            .map(|(arch, c)| format!("{arch} {c}"))
            .collect()
    };
    assert_eq!(facts().spaces[0].name, "soft_space");
    assert!(counts(&facts()).contains(&"sm_80 1".to_owned()));
    assert!(counts(&facts()).contains(&"sm_90 4".to_owned()));
    // Typed, not saved: the open document counts.
    w.engine.open(w.doc(spaces), 1, w.text(spaces));
    let at = Position {
        line: 4,
        character: 18,
    };
    let change = Change {
        range: Some((at, at)),
        text: "9, ".to_owned(),
    };
    w.engine
        .change(&w.doc(spaces), 2, vec![change], Encoding::Utf16)
        .unwrap();
    assert!(
        counts(&facts()).contains(&"sm_90 5".to_owned()),
        "{:?}",
        counts(&facts())
    );
    // Closed without saving: the disk counts again.
    w.engine.close(&w.doc(spaces));
    wait("the disk's count does not come back", || {
        counts(&facts()).contains(&"sm_90 4".to_owned())
    });
}

#[test]
fn the_index_follows_the_disk_and_leaves_ignored_files_alone() {
    let w = Workspace::indexed();
    let names = |query: &str| -> Vec<String> {
        w.engine
            .workspace_symbols(query)
            .into_iter()
            .map(|s| s.name)
            .collect()
    };
    assert_eq!(names("mine"), ["mine"]);
    assert!(names("ignored").is_empty());
    assert_eq!(w.engine.status().kernels, 2);
    let new = w.root.join("src/gym/fresh.py");
    fs::write(
        &new,
        "import cuda.tile as ct\n@ct.kernel\ndef fresh_one(x): pass\n",
    )
    .unwrap();
    w.engine.files_changed(vec![new.clone()]);
    assert_eq!(names("fresh_one"), ["fresh_one"]);
    assert_eq!(w.engine.status().kernels, 3);
    fs::remove_file(&new).unwrap();
    w.engine.files_changed(vec![new]);
    assert!(names("fresh_one").is_empty());
}

#[test]
fn asleep_until_a_document_mentions_cutile() {
    let w = Workspace::new();
    let plain = w.doc("plain.py");
    w.engine
        .open(plain.clone(), 1, "import torch\nx = 1\n".to_owned());
    assert!(!w.engine.is_awake());
    assert!(w.engine.analyzed(&plain).is_none());
    assert_eq!(w.engine.status().state, State::Dormant);
    let start = Position::default();
    let change = Change {
        range: Some((start, start)),
        text: "import cuda.tile as ct\n".to_owned(),
    };
    w.engine
        .change(&plain, 2, vec![change], Encoding::Utf8)
        .unwrap();
    assert!(w.engine.is_awake());
    wait("the index is never ready", || {
        w.engine.status().state == State::Ready
    });
    assert_eq!(w.engine.status().kernels, 2);
}

#[test]
fn the_probe_wakes_for_a_workspace_with_kernels_only() {
    let w = Workspace::new();
    w.engine.probe();
    wait("the probe finds nothing", || {
        w.engine.status().state == State::Ready
    });
    let empty = tempfile::tempdir().unwrap();
    fs::write(empty.path().join("a.py"), "print('tile, cuda')\n").unwrap();
    let engine = Engine::new();
    engine.configure(
        vec![empty.path().to_path_buf()],
        serde_json::Value::Null,
        Vec::new(),
        false,
    );
    engine.probe();
    std::thread::sleep(Duration::from_millis(200));
    assert!(!engine.is_awake());
}

#[test]
fn odd_files_do_no_harm() {
    let w = Workspace::new();
    let write = |path: &str, bytes: &[u8]| fs::write(w.root.join(path), bytes).unwrap();
    write("binary.py", b"import cuda.tile\0\xff\xfe");
    write("latin.py", b"import cuda.tile as ct\n@ct.kernel\ndef caf\xe9(x): pass\n@ct.kernel\ndef good(x): pass\n");
    write(
        "long_line.py",
        format!("import cuda.tile\nx = [{}]\n", "1, ".repeat(350_000)).as_bytes(),
    );
    write(
        "deep.py",
        format!(
            "import cuda.tile\nx = {}1{}\n",
            "(".repeat(3_000),
            ")".repeat(3_000)
        )
        .as_bytes(),
    );
    write(
        "cut.py",
        b"import cuda.tile as ct\n@ct.kernel\ndef k(x):\n    y = '''open",
    );
    write(
        "huge.py",
        "import cuda.tile\nx = 1\n".repeat(500_000).as_bytes(),
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&w.root, w.root.join("src/loop")).unwrap();
        std::os::unix::fs::symlink("nowhere.py", w.root.join("dangling.py")).unwrap();
    }
    w.engine.index_now();
    let names: Vec<String> = w
        .engine
        .workspace_symbols("")
        .into_iter()
        .map(|s| s.name)
        .collect();
    assert!(
        names.contains(&"good".to_owned()) && names.contains(&"soft_kernel".to_owned()),
        "{names:?}"
    );
    assert_eq!(
        names.iter().filter(|n| *n == "mine").count(),
        1,
        "a link loop shows nothing twice"
    );
}

#[test]
fn tests_are_found_by_settings_too() {
    let w = Workspace::new();
    let settings = "[tests.files]\nsoftmax = [\"checks/soft_check.py\"]\n";
    fs::write(w.root.join("tileperf.toml"), settings).unwrap();
    fs::create_dir(w.root.join("checks")).unwrap();
    fs::write(
        w.root.join("checks/soft_check.py"),
        "def test_by_hand(): pass\n",
    )
    .unwrap();
    assert_eq!(w.engine.reload_settings(), []);
    w.engine.index_now();
    let soft = "src/gym/ops/soft.py";
    let places = w
        .engine
        .references(&w.doc(soft), w.offset(soft, "'softmax'", 0) + 1, true);
    let shown = w.shown(&places);
    assert!(
        shown.contains(&"soft_check.py:1 test_by_hand".to_owned()),
        "{shown:?}"
    );
    assert!(
        shown.contains(&"test_softmax.py:1 test_softmax".to_owned()),
        "{shown:?}"
    );
}

#[test]
fn hover_tells_of_kernels_spaces_ops_and_words() {
    let w = Workspace::indexed();
    let soft = "src/gym/ops/soft.py";
    let hover = |needle: &str, n, inside: usize| {
        let hover = w
            .engine
            .hover(&w.doc(soft), w.offset(soft, needle, n) + inside);
        hover.map(|h| h.markdown).unwrap_or_default()
    };
    let card = hover("soft_kernel(x", 0, 3);
    for part in [
        "cuTile kernel `soft_kernel`",
        "compile-time constants: `N`",
        "op `softmax`",
        "test_softmax.py",
        "1 on sm_80",
    ] {
        assert!(card.contains(part), "no {part:?} in\n{card}");
    }
    assert!(hover("soft_space(4)", 0, 2).contains("search space `soft_space`"));
    assert!(hover("'softmax'", 0, 2).contains("implemented by `softmax`"));
    assert!(
        hover("ct.Constant", 0, 5)
            .to_lowercase()
            .contains("constant")
    );
    assert!(hover("pass", 0, 1).is_empty());
    let missing = w.engine.hover(&DocId::file(Path::new("/nowhere.py")), 0);
    assert!(missing.is_none());
}

#[test]
fn what_is_known_stays_known_while_it_is_read_again() {
    let w = Workspace::indexed();
    let (other, soft) = ("src/gym/other.py", w.root.join("src/gym/ops/soft.py"));
    let at = w.offset(other, "exported", 1);
    let asked = |w: &Workspace| w.shown(&w.engine.definition(&w.doc(other), at));
    assert_eq!(asked(&w), ["soft.py:7 soft_kernel"]);
    // One file again and again, then everything: each time the answer is there at every moment.
    let busy = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for _ in 0..300 {
                w.engine.files_changed(vec![soft.clone()]);
            }
            (0..20).for_each(|_| w.engine.index_now());
            busy.store(false, std::sync::atomic::Ordering::Release);
        });
        while busy.load(std::sync::atomic::Ordering::Acquire) {
            assert_eq!(asked(&w), ["soft.py:7 soft_kernel"]);
        }
    });
    // What is gone is forgotten all the same.
    fs::remove_file(&soft).unwrap();
    w.engine.index_now();
    assert!(asked(&w).is_empty(), "{:?}", asked(&w));
}

#[test]
fn rules_see_what_other_files_define() {
    let w = Workspace::of(USED_WRONGLY).read();
    let checked = w.engine.check(&w.doc("src/use/run.py")).unwrap();
    let text = checked.text.as_str();
    let mut found: Vec<(usize, &str)> = (checked.findings.iter())
        .map(|f| {
            let line = text[..f.span.start as usize].matches('\n').count();
            (line, f.rule.code)
        })
        // Asked of all files alike.
        .filter(|(_, code)| !matches!(*code, "TP109" | "TP110" | "TP115"))
        .collect();
    found.sort_unstable();
    let marked = text.lines().enumerate().flat_map(|(number, line)| {
        let codes = line.split_once("  # ").map_or("", |(_, codes)| codes);
        codes
            .split(' ')
            .filter(|c| !c.is_empty())
            .map(move |c| (number, c))
    });
    assert_eq!(found, marked.collect::<Vec<_>>());
}
