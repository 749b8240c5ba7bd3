//! Wrong keys, values and files: what is said, and that nothing else is lost.

use super::*;

#[test]
fn mistakes_are_named_with_their_place_and_cost_only_themselves() {
    for (text, message) in [
        (
            "[tool.tileperf.inlay-hint]\nenable = false",
            "unknown setting `inlay-hint.enable` in pyproject.toml:2, \
             did you mean `inlay-hints.enable`?",
        ),
        (
            "[tool.tileperf]\ninlayHints.enable = false",
            "unknown setting `inlayHints.enable` in pyproject.toml:2, \
             did you mean `inlay-hints.enable`?",
        ),
        (
            "[tool.tileperf]\nhovre.enable = false",
            "unknown setting `hovre.enable` in pyproject.toml:2, did you mean `hover.enable`?",
        ),
        (
            "[tool.tileperf]\nsomething-else = 1",
            "unknown setting `something-else` in pyproject.toml:2; \
             `tileperf config show` lists all settings",
        ),
        (
            "[tool.tileperf]\n\nhover = false",
            "`hover` in pyproject.toml:3 is a group of settings, \
             write for instance `hover.enable`",
        ),
        (
            "[tool.tileperf]\nhover.enable = 'no'",
            "`hover.enable` in pyproject.toml:2 must be true or false, \
             not the string \"no\": ignored",
        ),
        (
            "[tool.tileperf]\nhover.enable.x = 1",
            "`hover.enable` in pyproject.toml:2 must be true or false, not a table: ignored",
        ),
        (
            "[tool.tileperf]\nindex.max-file-size = 12",
            "`index.max-file-size` in pyproject.toml:2 must be a whole number from 1024 to \
             1073741824, not the number 12: ignored",
        ),
        (
            "[tool.tileperf]\nindex.max-file-size = -1",
            "`index.max-file-size` in pyproject.toml:2 must be a whole number from 1024 to \
             1073741824, not the number -1: ignored",
        ),
        (
            "[tool.tileperf]\ncuda-tile = 1.6",
            "`cuda-tile` in pyproject.toml:2 must be a version in quotes, such as \"1.6\", \
             not the number 1.6: ignored",
        ),
        (
            "[tool.tileperf]\ncuda-tile = '>=1.6'",
            "`cuda-tile` in pyproject.toml:2 must be a version such as \"1.6\", \
             not the string \">=1.6\": ignored",
        ),
        (
            "[tool.tileperf]\narchs = ['sm_90', 'sm_75']",
            "`archs` in pyproject.toml:2 names an unknown architecture: `sm_75` is not a target \
             of cuTile; known are sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_103, \
             sm_107, sm_110, sm_120, sm_121: ignored",
        ),
        (
            "[tool.tileperf]\narchs = 'sm_90'",
            "`archs` in pyproject.toml:2 must be a list of architectures, \
             not the string \"sm_90\": ignored",
        ),
        (
            "[tool.tileperf]\narchs = [90]",
            "`archs` in pyproject.toml:2 must be a list of architectures, \
             but one of them is the number 90: ignored",
        ),
        (
            "[tool.tileperf]\narchs = []",
            "`archs` in pyproject.toml:2 must name at least one architecture: ignored",
        ),
        (
            "[tool.tileperf]\nindex.exclude = ['a[']",
            "`index.exclude` in pyproject.toml:2 has a glob that cannot be read: error parsing \
             glob 'a[': unclosed character class; missing ']': ignored",
        ),
        (
            "[tool.tileperf]\ntests.patterns = ['tests/test.py']",
            "`tests.patterns` in pyproject.toml:2 needs {op} in \"tests/test.py\": ignored",
        ),
        (
            "[tool.tileperf]\ntests.patterns = ['tests/{kernel}/test_{op}.py']",
            "`tests.patterns` in pyproject.toml:2 knows {op} and {suite}, \
             but \"tests/{kernel}/test_{op}.py\" has another placeholder: ignored",
        ),
        (
            "[tool.tileperf]\ntests.patterns = ['../test_{op}.py']",
            "`tests.patterns` in pyproject.toml:2 must stay inside the workspace folder, \
             which \"../test_{op}.py\" does not: ignored",
        ),
        (
            "[tool.tileperf.tests]\nfiles = { softmax = 3 }",
            "`tests.files` in pyproject.toml:2 must be a list of test files, not the number 3 \
             (at \"softmax\"): ignored",
        ),
        (
            "[tool]\ntileperf = 3",
            "`tool.tileperf` in pyproject.toml:2 must be a table: ignored",
        ),
        (
            "[tool.tileperf]\nhover.enable = tru\n",
            "pyproject.toml:2 is not valid TOML, the settings of this file are ignored: \
             invalid boolean, expected `true`",
        ),
    ] {
        let layers = [user("watch.enable = false"), pyproject(text)];
        assert_eq!(messages(&layers, false), [message], "{text}");
        let (settings, _) = Settings::resolve(&layers, false);
        assert!(!settings.watch, "the other layer counts: {text}");
        let expected = Settings::resolve(&layers[..1], false).0;
        assert_eq!(settings, expected, "nothing of it may have applied: {text}");
    }
}

#[test]
fn a_wrong_value_leaves_the_lower_layer_in_place() {
    let (settings, problems) = Settings::resolve(
        &[
            pyproject("[tool.tileperf]\nindex.max-file-size = 4096"),
            tileperf("index.max-file-size = 'big'\nhover.enable = false"),
        ],
        false,
    );
    assert_eq!(settings.index.max_file_size, 4096);
    assert!(!settings.surfaces.hover, "the rest of the file counts");
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].key.as_deref(), Some("index.max-file-size"));
    assert_eq!(problems[0].place.as_ref().unwrap().line, Some(1));
}

#[test]
fn other_tools_in_pyproject_are_none_of_our_business() {
    for text in [
        "",
        "[tool.ruff]\nline-length = 100",
        "tool = 3",
        "[project]\nname = 'x'",
    ] {
        assert_eq!(resolved(&[pyproject(text)]), Settings::default(), "{text}");
    }
}

#[test]
fn a_header_copied_from_pyproject_is_recognised() {
    assert_eq!(
        messages(&[tileperf("[tool.tileperf.hover]\nenable = false")], false),
        [
            "unknown setting `tool.tileperf.hover.enable` in tileperf.toml:2, \
          did you mean `hover.enable`?"
        ]
    );
}

#[test]
fn a_file_that_is_all_wrong_does_not_flood() {
    let text: String = (0..500).map(|n| format!("nonsense-{n} = 1\n")).collect();
    let messages = messages(&[tileperf(&text)], false);
    assert_eq!(messages.len(), 21);
    assert_eq!(messages[20], "480 more problems in tileperf.toml");
}

#[test]
fn long_strings_are_shortened_in_messages() {
    let text = format!("hover.enable = '{}'", "ä".repeat(1000));
    let [message] = messages(&[tileperf(&text)], false).try_into().unwrap();
    assert!(message.chars().count() < 150, "{message}");
    assert!(message.contains('…'));
}
/// A settings file comes from strangers; how deep it nests must not decide whether we live.
#[test]
fn deep_nesting_is_survived() {
    let deep = 20_000;
    for text in [
        format!("{}b = 1\n", "a.".repeat(deep)),
        format!("[{}b]\n", "a.".repeat(deep)),
        format!("a = {}{}\n", "[".repeat(deep), "]".repeat(deep)),
        format!("a = {}1{}\n", "{ a = ".repeat(deep), " }".repeat(deep)),
    ] {
        assert_eq!(messages(&[tileperf(&text)], false).len(), 1);
    }
}
