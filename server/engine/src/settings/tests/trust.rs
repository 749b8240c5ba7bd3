//! What the files of a workspace may not decide, and who the user trusts.

use super::*;

#[test]
fn a_workspace_that_is_not_trusted_cannot_say_what_to_run() {
    let text = "python.path = './evil'\nenvironment = { LD_PRELOAD = './evil.so' }\n\
                server.path = './evil'\ntrust = ['/']\n";
    let layers = [tileperf(text)];
    assert_eq!(
        messages(&layers, false),
        [
            "`python.path` in tileperf.toml:1 is ignored: it decides what is run, \
             and this workspace is not trusted",
            "`environment` in tileperf.toml:2 is ignored: it decides what is run, \
             and this workspace is not trusted",
            "`server.path` in tileperf.toml:3 is ignored: only the editor's settings can set it",
            "`trust` in tileperf.toml:4 is ignored: \
             only the user's own tileperf.toml can set it",
        ]
    );
    assert_eq!(Settings::resolve(&layers, false).0, Settings::default());

    let (settings, problems) = Settings::resolve(&layers, true);
    assert_eq!(settings.python_path.as_deref(), Some("./evil"));
    assert_eq!(settings.environment["LD_PRELOAD"], "./evil.so");
    assert_eq!(
        problems.len(),
        2,
        "server.path and trust are never taken: {problems:?}"
    );
    assert!(settings.trust.is_empty());

    // The user may, in the user's own places.
    for layer in [
        user("python.path = '/usr/bin/python3'"),
        Layer::editor(&json!({"python": {"path": "/usr/bin/python3"}})),
        Layer::command_line(&["python.path=/usr/bin/python3"]),
    ] {
        let settings = resolved(&[layer]);
        assert_eq!(settings.python_path.as_deref(), Some("/usr/bin/python3"));
    }
}

#[test]
fn the_trust_list_names_folders() {
    let settings = resolved(&[user("trust = ['~/src', '/opt/kernels', '~']")]);
    let home = Some(Path::new("/home/u"));
    for (root, home, trusted) in [
        ("/opt/kernels", None, true),
        ("/opt/kernels/deep/er", home, true),
        ("/opt/kernels2", home, false),
        ("/opt", home, false),
        ("/home/u/src/x", home, true),
        ("/home/u/src/x", None, false),
        ("/home/v", home, false),
        ("/home/u", home, true),
    ] {
        assert_eq!(settings.trusts(Path::new(root), home), trusted, "{root}");
    }
    assert!(!Settings::default().trusts(Path::new("/opt/kernels"), home));
    assert_eq!(
        messages(&[user("trust = ['src']")], true),
        [
            "`trust` in ~/.config/tileperf/tileperf.toml:1 must list absolute folders or ones below \
          ~, which \"src\" is not: ignored"
        ]
    );
}

#[test]
fn trust_of_the_editor_is_not_read_from_settings() {
    for (json, expected) in [
        (json!({"trusted": true, "tileperf": {}}), Some(true)),
        (json!({"trusted": false}), Some(false)),
        (json!({"tileperf": {"trusted": true}}), None),
        (json!({"trusted": "yes"}), None),
        (json!(null), None),
    ] {
        assert_eq!(editor_trust(&json), expected, "{json}");
    }
}
