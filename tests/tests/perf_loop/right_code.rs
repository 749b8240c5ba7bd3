//! That what is measured is what was changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tileperf_tests::gym::{Gym, Harness, KERNEL, python};

use crate::{FASTER, begin, changes};

/// A virtual environment in which the project is installed editable: its own tree is on the path.
fn editable(gym: &Gym) -> PathBuf {
    let python = python().expect("it was there before");
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program)
            .args(args)
            .output()
            .expect("Python runs");
        assert!(output.status.success(), "{args:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let folder = gym.folder().join("venv");
    run(
        python,
        &["-m", "venv", "--without-pip", &folder.display().to_string()],
    );
    let own = folder.join("bin/python");
    let site = [
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    ];
    let lines = format!(
        "{}\n{}\n",
        gym.root().join("src").display(),
        run(python, &site)
    );
    fs::write(Path::new(&run(&own, &site)).join("gym.pth"), lines).expect("a .pth file");
    own
}

/// The last place of the variants, and why there.
fn place(gym: &Gym) -> (String, String) {
    let event = gym.last("placed");
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    (text("place"), text("why"))
}

#[test]
fn an_editable_install_does_not_get_before_the_trees() {
    let Some(gym) = Gym::new(Harness::Lines) else {
        return;
    };
    gym.use_python(&editable(&gym));
    begin(&gym);
    gym.edit(&FASTER);
    gym.perf_ok(&["iterate"]);
    assert_eq!(place(&gym).0, "trees");
    assert!(
        changes(&gym).iter().all(|change| *change < -0.25),
        "{:?}",
        changes(&gym)
    );
}

#[test]
fn code_that_insists_on_its_own_tree_is_measured_there_or_not_at_all() {
    let Some(gym) = Gym::new(Harness::Lines) else {
        return;
    };
    let source = format!(
        "import sys\nsys.path.insert(0, {:?})\n",
        gym.root().join("src").display().to_string()
    );
    for file in ["tests/check.py", "bench/bench_scale.py"] {
        let text = gym.read(file);
        let at = text
            .find("\nfrom gym")
            .or(text.find("\nimport"))
            .expect("an import");
        gym.write(file, format!("{}\n{source}{}", &text[..at], &text[at..]));
    }
    let settings = gym.read("pyproject.toml");
    gym.write(
        "pyproject.toml",
        format!("{settings}perf.place = \"trees\"\n"),
    );
    gym.commit("Insist");
    gym.perf_ok(&["setup", "--yes"]);
    let refused = gym.perf(&["baseline"]);
    refused.says(2, "both variants would be the same code");
    gym.perf_ok(&["abandon"]);

    gym.write("pyproject.toml", settings);
    gym.commit("Leave the place open");
    begin(&gym);
    let (where_, why) = place(&gym);
    assert_eq!(where_, "in_place");
    assert!(
        why.contains("both variants would be the same code"),
        "{why}"
    );
    gym.edit(&FASTER);
    gym.perf_ok(&["iterate"]);
    assert!(
        changes(&gym).iter().all(|change| *change < -0.25),
        "{:?}",
        changes(&gym)
    );
}

#[test]
fn old_bytecode_of_a_same_size_edit_is_never_run() {
    for settings in ["perf.place = \"trees\"\n", "perf.place = \"in-place\"\n"] {
        let Some(gym) = Gym::with_settings(Harness::Lines, settings) else {
            return;
        };
        let path = gym.root().join(KERNEL);
        let stamp = fs::metadata(&path)
            .and_then(|m| m.modified())
            .expect("a time");
        // The user's own run leaves bytecode beside the source.
        let cache = path.with_file_name("__pycache__");
        let compiled = Command::new(python().expect("it was there before"))
            .args(["-B", "-m", "py_compile"])
            .arg(&path)
            .env_remove("PYTHONPYCACHEPREFIX")
            .output()
            .expect("Python runs");
        assert!(compiled.status.success() && cache.is_dir());
        begin(&gym);
        for (number, edit) in [
            FASTER,
            [("SMALL = 20", "SMALL = 10"), ("LARGE = 40", "LARGE = 20")],
        ]
        .iter()
        .enumerate()
        {
            gym.edit(edit);
            // Python takes bytecode for that of a source of this size and second.
            fs::File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_modified(stamp))
                .expect("a file");
            gym.perf_ok(&["iterate"]);
            assert_eq!(gym.last_row(), format!("{} PASS keep", number + 1));
            assert!(
                changes(&gym).iter().all(|change| *change < -0.25),
                "{:?}",
                changes(&gym)
            );
        }
    }
}
