//! That the user's tree is theirs: wherever it lies, whatever else is in it, and while they type.

use std::fs;

use tileperf_tests::gym::{Gym, Harness, KERNEL};

use crate::{FASTER, SLOWER, begin, ended};

/// What the user types while a run goes on.
const TYPED: &str = "\n# typed while it was measured\n";

/// Starts an iteration and types into the kernel's file once it is being measured.
fn type_while_measuring(gym: &Gym) -> (tileperf_tests::gym::Done, String) {
    let saved = gym.kernel();
    let started = gym.start(&["iterate"]);
    gym.wait_until("the measuring of an iteration", |event| {
        event["stage"] == "warming" && event["run"] == 1
    });
    gym.write(KERNEL, format!("{saved}{TYPED}"));
    (started.wait(), saved)
}

#[test]
fn typing_on_while_a_change_is_kept() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.edit(&FASTER);
    let (done, saved) = type_while_measuring(&gym);
    done.says(0, "Kept: ");
    assert_eq!(gym.kernel(), format!("{saved}{TYPED}"));
    assert_eq!(
        gym.git(&["show", &format!("HEAD:{KERNEL}")]),
        saved.trim_end()
    );
    assert_eq!(gym.status(), [format!(" M {KERNEL}")]);
}

#[test]
fn typing_on_while_a_change_is_taken_back() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    gym.edit(&SLOWER);
    let (done, saved) = type_while_measuring(&gym);
    done.says(1, "changed meanwhile and is left as it is");
    assert_eq!(gym.last_row(), "1 PASS revert");
    let typed = format!("{saved}{TYPED}");
    assert_eq!(gym.kernel(), typed);
    let conflict = gym.last("conflict");
    let kept = std::path::Path::new(conflict["kept_at"].as_str().expect("a folder")).join(KERNEL);
    let version = |ending: &str| {
        fs::read_to_string(format!("{}.{ending}", kept.display())).expect("a version")
    };
    assert_eq!((version("tried"), version("found")), (saved, typed));
    // It is the next change, and the session goes on with it.
    gym.perf(&["iterate"]).says(1, "Reverted: slower");
    assert_eq!(gym.last_row(), "2 PASS revert");
    assert!(gym.kernel().contains("SMALL = 40"));
}

#[test]
fn typing_on_while_files_are_exchanged_in_place() {
    let settings = "perf.place = \"in-place\"\n";
    let Some(gym) = Gym::with_settings(Harness::Model, settings) else {
        return;
    };
    begin(&gym);
    gym.edit(&FASTER);
    let (done, saved) = type_while_measuring(&gym);
    done.says(2, "changed meanwhile and is left as it is");
    assert_eq!(gym.kernel(), format!("{saved}{TYPED}"));
    assert_eq!(ended(&gym), "refused");
    gym.perf_ok(&["iterate"]);
    assert_eq!(gym.last_row(), "1 PASS keep");
    assert_eq!(gym.kernel(), format!("{saved}{TYPED}"));
}

/// A session with something kept, something taken back and something undone; ends with the result
/// of [`FASTER`] in the kernel's file.
fn whole_session(gym: &Gym, place: &str) {
    begin(gym);
    assert_eq!(gym.last("placed")["place"], place, "{}", gym.last("placed"));
    gym.edit(&FASTER);
    let faster = gym.kernel();
    gym.perf_ok(&["iterate"]);
    gym.edit(&[("SMALL = 20", "SMALL = 60")]);
    gym.perf(&["iterate"]).says(1, "Reverted: slower");
    assert_eq!(gym.kernel(), faster);
    gym.edit(&[("SMALL = 20", "SMALL = 10")]);
    gym.perf_ok(&["iterate"]);
    gym.perf_ok(&["undo"]);
    assert_eq!(gym.kernel(), faster);
    let statuses: Vec<String> = gym.rows().into_iter().map(|[.., status]| status).collect();
    assert_eq!(statuses, ["keep", "keep", "revert", "keep"]);
}

#[test]
fn without_git() {
    let Some(gym) = Gym::without_git(Harness::Model, "") else {
        return;
    };
    let start = gym.kernel();
    whole_session(&gym, "in_place");
    gym.perf_ok(&["finish"]);
    assert!(gym.kernel().contains("SMALL = 20"));
    begin(&gym);
    gym.edit(&[("SMALL = 20", "SMALL = 10")]);
    gym.perf_ok(&["iterate"]);
    gym.perf_ok(&["abandon"]);
    assert_eq!(
        gym.kernel(),
        start
            .replace("SMALL = 40", "SMALL = 20")
            .replace("LARGE = 80", "LARGE = 40")
    );
}

#[test]
fn a_file_that_git_ignores() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    gym.git(&["rm", "--quiet", "--cached", KERNEL]);
    let ignored = gym.read(".gitignore");
    gym.write(".gitignore", format!("{ignored}/{KERNEL}\n"));
    gym.commit("Keep the kernel to ourselves");
    whole_session(&gym, "in_place");
    gym.perf_ok(&["finish"]);
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert_eq!(gym.git(&["rev-list", "--count", "HEAD"]), "2");
}

#[test]
fn a_detached_head() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    gym.git(&["checkout", "--quiet", "--detach"]);
    let start = gym.git(&["rev-parse", "HEAD"]);
    whole_session(&gym, "trees");
    gym.perf_ok(&["finish"]);
    assert!(
        !gym.git_output(&["symbolic-ref", "--quiet", "HEAD"])
            .status
            .success()
    );
    assert_eq!(
        gym.git(&["rev-parse", "HEAD^", "main"]),
        format!("{start}\n{start}")
    );
    assert!(gym.status().is_empty());
}

#[test]
fn a_linked_work_tree() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let main = gym.root().to_owned();
    let linked = main.with_file_name("linked");
    gym.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "topic",
        &linked.display().to_string(),
    ]);
    let gym = gym.at(linked);
    whole_session(&gym, "trees");
    gym.perf_ok(&["finish", "--commits"]);
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "topic");
    assert!(gym.status().is_empty());
    let gym = gym.at(main);
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert!(gym.status().is_empty() && gym.kernel().contains("SMALL = 40"));
    assert!(!gym.root().join("sandbox").exists());
}

#[test]
fn a_repository_with_a_submodule() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    let other = gym.folder().join("other");
    let path = other.display().to_string();
    gym.git(&["init", "--quiet", &path]);
    fs::write(other.join("data.txt"), "1\n").expect("a file");
    gym.git(&["-C", &path, "add", "data.txt"]);
    gym.git(&["-C", &path, "commit", "--quiet", "--message", "Data"]);
    gym.git(&["submodule", "--quiet", "add", &path, "third_party/other"]);
    gym.commit("Take in data");
    whole_session(&gym, "in_place");
    let why = gym.last("placed")["why"].clone();
    assert!(
        why.as_str()
            .is_some_and(|w| w.contains("third_party/other")),
        "{why}"
    );
    gym.perf_ok(&["abandon"]);
    assert!(gym.status().is_empty() && gym.kernel().contains("SMALL = 40"));
    assert!(gym.root().join("third_party/other/data.txt").is_file());
}

#[test]
fn hooks_that_fail_and_a_tree_full_of_other_work() {
    use std::os::unix::fs::PermissionsExt;

    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-checkout",
        "reference-transaction",
        "pre-rebase",
    ] {
        let path = gym.root().join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, "#!/bin/sh\necho hooked >> hooks.log\nexit 1\n").expect("a hook");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a hook");
    }
    let work = |gym: &Gym| {
        let read = |name| gym.read(name);
        let staged = gym.git(&["diff", "--cached"]);
        (
            read("notes.txt"),
            read("src/gym/backend.py"),
            read("staged.txt"),
            read("mine.secret"),
            staged,
        )
    };
    gym.write("staged.txt", "staged\n");
    gym.git(&["add", "staged.txt"]);
    gym.write("staged.txt", "staged, and changed since\n");
    gym.write("notes.txt", "not added\n");
    gym.write("mine.secret", "ignored\n");
    gym.write(
        "src/gym/backend.py",
        gym.read("src/gym/backend.py") + "# changed\n",
    );
    let (before, status) = (work(&gym), gym.status());
    whole_session(&gym, "trees");
    assert_eq!((work(&gym), gym.status()), (before.clone(), status.clone()));
    let ignored = gym.last("run_started")["tried"]["ignored"].clone();
    assert_eq!(
        ignored,
        serde_json::json!(["notes.txt", "src/gym/backend.py", "staged.txt"])
    );
    gym.perf_ok(&["finish", "--commits"]);
    assert_eq!((work(&gym), gym.status()), (before, status));
    assert_eq!(gym.git(&["rev-list", "--count", "main"]), "4");
    assert!(!gym.root().join("hooks.log").exists());
}

#[test]
fn abandoning_with_commits_of_the_users_own() {
    let Some(gym) = Gym::new(Harness::Model) else {
        return;
    };
    begin(&gym);
    // On the session's branch: it keeps them, and the branch of the beginning has none of it.
    let branch = gym.git(&["symbolic-ref", "--short", "HEAD"]);
    gym.write("notes.txt", "worth keeping\n");
    gym.commit("Take notes");
    gym.perf(&["iterate"]).says(2, "`perf abandon`");
    gym.perf_ok(&["abandon"]);
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "main");
    assert!(gym.status().is_empty() && !gym.root().join("notes.txt").exists());
    assert_eq!(
        gym.git(&["show", &format!("{branch}:notes.txt")]),
        "worth keeping"
    );

    // Elsewhere: nothing is touched.
    begin(&gym);
    gym.git(&["checkout", "--quiet", "-b", "topic", "main"]);
    gym.edit(&FASTER);
    let edited = gym.kernel();
    gym.perf(&["iterate"])
        .says(2, "is checked out; the session");
    gym.perf_ok(&["abandon"]);
    assert_eq!(gym.git(&["symbolic-ref", "--short", "HEAD"]), "topic");
    assert_eq!(gym.kernel(), edited);
}
