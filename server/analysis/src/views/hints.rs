//! Inlay hints: what an expression comes to, at the place where it is written.

use super::counts::{Count, line};
use crate::arch::Arch;

/// Characters of a hint that VS Code shows of a line's hints (`editor.inlayHints.maximumLength`, 43),
/// without the blank before it. All of it is in the tooltip.
pub(crate) const ROOM: usize = 42;

/// Whether no editor cuts a hint.
pub(crate) fn fits(label: &str) -> bool {
    label.chars().count() <= ROOM
}

/// The beginning of a label, marked as cut, if it is longer than that.
pub(crate) fn cut(label: &str, room: usize) -> String {
    if label.chars().count() <= room {
        return label.to_owned();
    }
    let start: String = label.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", start.trim_end_matches([' ', ':', ',', '·']))
}

/// At a space: how many configurations it gives; where that is too long, at least and at most.
pub fn configurations(counts: &[(Arch, Count)]) -> String {
    match counts.first() {
        None => String::new(),
        Some((
            _,
            Count {
                min: 1,
                max: Some(1),
            },
        )) if counts.iter().all(|(_, c)| c.min == 1 && c.max == Some(1)) => {
            "1 configuration".to_owned()
        }
        Some((_, first)) => {
            let all = format!("{} configurations", line(counts));
            // It stands two blanks from the code.
            if fits(&format!(" {all}")) {
                return all;
            }
            let least = counts.iter().min_by_key(|(_, count)| count.min);
            let most = counts.iter().rev().max_by_key(|(_, count)| count.max);
            if let (Some((a, least)), Some((b, most))) = (least, most)
                && counts.iter().all(|(_, count)| count.max == Some(count.min))
            {
                let ends = format!("{least} ({a}) to {most} ({b}) configurations");
                if fits(&format!(" {ends}")) {
                    return ends;
                }
            }
            let whole = counts.iter().fold(*first, |all, (_, count)| Count {
                min: all.min.min(count.min),
                max: all.max.zip(count.max).map(|(a, b)| a.max(b)),
            });
            format!("{whole} configurations, by architecture")
        }
    }
}

/// At a launch whose kernel argument does not name a kernel itself: the kernels it can be.
pub fn resolved_kernels(names: &[&str]) -> String {
    let others = |n: usize| match n {
        1 => " or 1 other".to_owned(),
        n => format!(" or {n} others"),
    };
    match names {
        [] => String::new(),
        // It follows a colon.
        [one] => cut(one, ROOM - 1),
        [a, b] if fits(&format!(" {a} or {b}")) => format!("{a} or {b}"),
        [a, rest @ ..] => {
            let more = others(rest.len());
            format!("{}{more}", cut(a, ROOM - 1 - more.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_is_longer_than_an_editor_shows() {
        let exact = |n| Count {
            min: n,
            max: Some(n),
        };
        let counts = [
            (Arch::Sm80, exact(3)),
            (Arch::Sm90, exact(1024)),
            (Arch::Sm100, exact(12)),
            (Arch::Sm120, exact(3)),
        ];
        assert_eq!(
            configurations(&counts[..2]),
            "3 on sm_80, 1024 on sm_90 configurations"
        );
        assert_eq!(
            configurations(&counts),
            "3 (sm_80) to 1024 (sm_90) configurations"
        );
        let large = counts.map(|(arch, count)| (arch, exact(1000 * count.min)));
        assert_eq!(
            configurations(&large),
            "3000-1024000 configurations, by architecture"
        );
        let long = "a_kernel_whose_name_says_all_that_there_is_to_say";
        for names in [
            &[long][..],
            &["short", long],
            &[long, "short"],
            &[long, long, long],
        ] {
            let label = resolved_kernels(names);
            assert!(label.chars().count() < ROOM, "{label}");
        }
        assert_eq!(resolved_kernels(&["short", long]), "short or 1 other");
        assert_eq!(resolved_kernels(&["a", "b", "c"]), "a or 2 others");
        assert_eq!(cut("plain load: stride", 13), "plain load…");
        assert_eq!(cut("plain", 5), "plain");
    }
}
