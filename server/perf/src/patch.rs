//! A change as people read it: a unified diff.

use similar::TextDiff;
use tileperf_vcs::FileVersion;

/// The diff of pairs of versions of files.
pub(crate) fn unified(base: &[FileVersion], candidate: &[FileVersion]) -> String {
    let mut out = String::new();
    for new in candidate {
        let Some(old) = base.iter().find(|f| f.path == new.path) else {
            continue;
        };
        if old.content == new.content {
            continue;
        }
        let text = |file: &FileVersion| {
            let bytes = file.content.as_ref().map(|c| c.bytes.as_slice());
            String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
        };
        let name = new.path.display();
        let side = |file: &FileVersion, letter: &str| match file.content {
            Some(_) => format!("{letter}/{name}"),
            None => "/dev/null".to_owned(),
        };
        let (before, after) = (text(old), text(new));
        let diff = TextDiff::from_lines(&before, &after);
        out.push_str(
            &diff
                .unified_diff()
                .header(&side(old, "a"), &side(new, "b"))
                .to_string(),
        );
    }
    out
}

/// The lines that a diff removes and adds.
pub(crate) fn lines(patch: &str) -> (Vec<&str>, Vec<&str>) {
    let of = |sign: char, head: &str| {
        (patch.lines())
            .filter(|line| line.starts_with(sign) && !line.starts_with(head))
            .map(|line| &line[1..])
            .collect()
    };
    (of('-', "---"), of('+', "+++"))
}

/// A name for a change that nobody has named: what it does to the first line that it touches.
pub(crate) fn describe(patch: &str) -> String {
    const LONGEST: usize = 60;
    let (removed, added) = lines(patch);
    let first = (added.iter().chain(&removed))
        .map(|l| l.trim())
        .find(|l| !l.is_empty());
    let Some(first) = first else {
        return "edit".to_owned();
    };
    let mut text: String = first.chars().take(LONGEST).collect();
    if text.len() < first.len() {
        text.push('…');
    }
    let more = removed.len().max(added.len()).saturating_sub(1);
    match (added.is_empty(), more) {
        (true, _) => format!("without {text}"),
        (_, 0) => text,
        (_, more) => format!("{text} (+{more} lines)"),
    }
}

#[cfg(test)]
mod tests {
    use tileperf_vcs::Content;

    use super::*;

    #[test]
    fn a_change_is_shown_and_named() {
        let file = |text: &str| FileVersion::new("a.py", Content::plain(text));
        let patch = unified(&[file("x = 1\ny = 2\n")], &[file("x = 1\ny = 3\n")]);
        assert!(patch.starts_with("--- a/a.py\n+++ b/a.py\n@@"), "{patch}");
        assert_eq!(lines(&patch), (vec!["y = 2"], vec!["y = 3"]));
        assert_eq!(describe(&patch), "y = 3");
        let gone = unified(&[file("x = 1\ny = 2\n")], &[file("x = 1\n")]);
        assert_eq!(describe(&gone), "without y = 2");
        let new = unified(&[FileVersion::absent("a.py")], &[file("a\nb\n")]);
        assert!(new.starts_with("--- /dev/null\n"), "{new}");
        assert_eq!(describe(&new), "a (+1 lines)");
        assert_eq!(unified(&[file("a")], &[file("a")]), "");
        assert_eq!(describe(""), "edit");
    }
}
