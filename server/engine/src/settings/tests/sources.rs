//! Where settings come from: editors, the command line, files.

use super::*;

#[test]
fn what_editors_send() {
    for json in [
        json!({"tileperf": {"inlayHints": {"resolvedKernel": false}}, "trusted": true}),
        json!({"tileperf": {"inlayHints.resolvedKernel": false, "serverless": null}}),
        json!({"inlay-hints": {"resolved-kernel": false}, "trusted": true}),
        json!({"inlay-hints.resolved-kernel": false}),
    ] {
        let settings = resolved(&[Layer::editor(&json)]);
        assert!(!settings.inlay_hints.resolved_kernel, "{json}");
        assert!(settings.inlay_hints.configurations, "{json}");
    }
    for json in [
        json!(null),
        json!({}),
        json!({"tileperf": {}}),
        json!({"cudaTile": null}),
    ] {
        assert_eq!(
            resolved(&[Layer::editor(&json)]),
            Settings::default(),
            "{json}"
        );
    }
    let files = json!({"tests": {"files": {"layerNorm": "tests/a.py", "x.y": ["b.py", "c.py"]}}});
    let settings = resolved(&[Layer::editor(&files)]);
    assert_eq!(settings.tests.files["layerNorm"], ["tests/a.py"]);
    assert_eq!(settings.tests.files["x.y"], ["b.py", "c.py"]);

    for (json, message) in [
        (
            json!({"tileperf": {"inlayHint": {"enable": false}}}),
            "unknown setting `tileperf.inlayHint.enable` in the editor's settings, \
             did you mean `tileperf.inlayHints.enable`?",
        ),
        (
            json!({"tileperf": {"index": {"maxFileSize": 1e30}}}),
            "`tileperf.index.maxFileSize` in the editor's settings must be a whole number from \
             1024 to 1073741824, not the number 1e+30: ignored",
        ),
        (
            json!({"tileperf": {"trust": ["/"]}}),
            "`tileperf.trust` in the editor's settings is ignored: \
             only the user's own tileperf.toml can set it",
        ),
        (
            json!({"tileperf": {"trusted": true}}),
            "unknown setting `tileperf.trusted` in the editor's settings; \
             `tileperf config show` lists all settings",
        ),
        (
            json!([1]),
            "the editor's settings for tileperf are ignored: they are no object",
        ),
    ] {
        assert_eq!(messages(&[Layer::editor(&json)], true), [message]);
    }
}

#[test]
fn every_editor_key_is_read_back() {
    for setting in TABLE {
        let key = setting.editor_key();
        let bare = key.strip_prefix("tileperf.").unwrap();
        let layer = Layer::editor(&json!({ bare: (setting.default)().to_json() }));
        let problems = messages(&[layer], true);
        match setting.scope {
            Scope::User => assert_eq!(problems.len(), 1, "{key}: {problems:?}"),
            _ => assert_eq!(problems, Vec::<String>::new(), "{key}"),
        }
    }
}

#[test]
fn the_command_line() {
    let settings = resolved(&[Layer::command_line(&[
        "archs=sm_100, sm_90,sm_90",
        "cuda-tile = 1.6",
        "hover.enable=false",
        "index.exclude=a/**,b",
        "index.max-file-size=2048",
    ])]);
    assert_eq!(settings.archs, [Arch::Sm90, Arch::Sm100]);
    assert_eq!(settings.cuda_tile, Some(Version::new(1, 6, 0)));
    assert!(!settings.surfaces.hover);
    assert_eq!(settings.index.exclude, ["a/**", "b"]);
    assert_eq!(settings.index.max_file_size, 2048);
    let whole = resolved(&[Layer::command_line(&[
        "index.exclude=[ab]*.py",
        r#"perf.correctness=["{python}", "t.py", "a b"]"#,
        r#"environment={ A = "x=y" }"#,
        r#"perf.device="cpu""#,
    ])]);
    assert_eq!(whole.index.exclude, ["[ab]*.py"]);
    assert_eq!(whole.perf.correctness, ["{python}", "t.py", "a b"]);
    assert_eq!(whole.environment["A"], "x=y");
    assert_eq!(whole.perf.device.as_deref(), Some("cpu"));
    assert_eq!(
        messages(
            &[Layer::command_line(&[
                "hover",
                "=x",
                "hover.enabled=false",
                "hover.enable=no"
            ])],
            false
        ),
        [
            "\"hover\" on the command line is no setting: write key=value",
            "\"=x\" on the command line is no setting: write key=value",
            "unknown setting `hover.enabled` on the command line, did you mean `hover.enable`?",
            "`hover.enable` on the command line must be true or false, not the string \"no\": \
             ignored",
        ]
    );
}

#[test]
fn files_are_read_from_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("workspace");
    std::fs::create_dir(&root).unwrap();
    assert_eq!(load::file_layers(Some(&root), None), []);

    let config = folder.path().join("config");
    let variable = |name: &str| (name == "XDG_CONFIG_HOME").then(|| config.clone().into());
    let user_file = load::user_file(variable).unwrap();
    assert_eq!(user_file, config.join("tileperf/tileperf.toml"));
    std::fs::create_dir_all(user_file.parent().unwrap()).unwrap();
    std::fs::write(&user_file, "hover.enable = false\nwatch.enable = false").unwrap();
    std::fs::write(
        root.join("pyproject.toml"),
        "[tool.tileperf]\nwatch.enable = true",
    )
    .unwrap();
    std::fs::write(root.join("tileperf.toml"), b"cuda-tile = '\xff'").unwrap();

    let layers = load::file_layers(Some(&root), Some(&user_file));
    let (settings, problems) = Settings::resolve(&layers, false);
    assert!(!settings.surfaces.hover && settings.watch);
    assert_eq!(row(&settings, "watch.enable").1, "pyproject.toml:2");
    assert_eq!(
        row(&settings, "hover.enable").1,
        format!("{}:1", user_file.display())
    );
    let [problem] = problems.try_into().unwrap();
    assert!(
        problem
            .message
            .starts_with("tileperf.toml cannot be read, its settings are ignored: "),
        "{problem}"
    );

    std::fs::remove_file(root.join("tileperf.toml")).unwrap();
    std::fs::create_dir(root.join("tileperf.toml")).unwrap();
    assert_eq!(
        messages(&load::file_layers(Some(&root), None), false),
        ["tileperf.toml cannot be read, its settings are ignored: it is no regular file"]
    );
}

#[test]
fn the_users_folder() {
    for (variables, expected) in [
        (
            vec![("HOME", "/home/u")],
            Some("/home/u/.config/tileperf/tileperf.toml"),
        ),
        (
            vec![("HOME", "/home/u"), ("XDG_CONFIG_HOME", "relative")],
            Some("/home/u/.config/tileperf/tileperf.toml"),
        ),
        (
            vec![("HOME", "/home/u"), ("XDG_CONFIG_HOME", "/x")],
            Some("/x/tileperf/tileperf.toml"),
        ),
        (vec![], None),
    ] {
        let variable = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| value.into())
        };
        assert_eq!(
            load::user_file(variable).as_deref(),
            expected.map(Path::new)
        );
    }
}
