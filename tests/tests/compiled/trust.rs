//! What is never run.

use std::time::Duration;

use tileperf_tests::process;

use super::{KERNELS, editor, hints, lenses, project, python};

/// Statements that somebody is typing, at the top of a file and in a function.
const HALF_TYPED: &str = "\
import shutil
shutil.rmtree('precious')
open('mark', 'w').close()
if True:
    shutil.rmtree('precious')
for name in ('precious',):
    shutil.rmtree(name)
FILES = shutil.rmtree('precious')
";

#[test]
fn half_typed_code_at_the_top_of_a_file_is_never_executed() {
    let Some(python) = python() else { return };
    let project = project();
    project.write("precious/file", "");
    let uri = project.uri("pkg/kernels.py");
    let mut client = editor(&project, &python, true);
    let text = format!("{HALF_TYPED}{KERNELS}");
    client.open(&uri, &text);
    let started = std::time::Instant::now();
    // The kernels are compiled all the same.
    while !lenses(&mut client, &uri)
        .iter()
        .any(|title| title.contains("sm_90: "))
    {
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "{}",
            client.log_text()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(project.folder().join("precious/file").exists());
    assert!(!project.folder().join("mark").exists());
    client.finish();
}

#[test]
fn a_workspace_that_is_not_trusted_is_shown_but_not_compiled() {
    let Some(python) = python() else { return };
    let project = project();
    let uri = project.uri("pkg/kernels.py");
    let mut client = editor(&project, &python, false);
    client.open(&uri, KERNELS);
    client.notification("textDocument/publishDiagnostics");
    // As long as compiling would take to begin.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(process::children(client.pid()), [] as [u32; 0]);
    assert!(!project.folder().join(".cache/frontend").exists());
    assert!(
        lenses(&mut client, &uri)
            .iter()
            .all(|title| !title.contains("sm_90: "))
    );
    assert!(
        hints(&mut client, &uri)
            .iter()
            .all(|(_, label)| !label.contains("TMA"))
    );
    client.finish();
}
