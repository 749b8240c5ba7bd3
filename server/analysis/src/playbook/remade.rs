//! Changes of one hint of a kernel that were measured, each on one architecture.

use smol_str::SmolStr;
use tileperf_syntax::{FileParser, Span};

use crate::arch::Arch;
use crate::model::{FileModel, Kernel, ModelCache};

/// A measured change of one hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remade {
    /// What it ran on.
    pub arch: Arch,
    /// The hint: `occupancy`.
    pub name: SmolStr,
    /// Its value before, as written; nothing if it was not there.
    pub before: Option<String>,
    /// Its value after.
    pub after: Option<String>,
    /// The kernel's code and other hints: what was measured says nothing of others.
    pub code: String,
    /// Faster by the loop's rules; otherwise slower, or faster in some configurations only.
    pub is_faster: bool,
    /// Which measurement says so: `run 3 of 2026-11-30`.
    pub run: String,
}

impl Remade {
    /// What changed from one text of a kernel's file to another, if that is one hint of the kernel and
    /// nothing else.
    pub fn of(
        (before, after): (&str, &str),
        kernel: &str,
        arch: Arch,
        is_faster: bool,
        run: String,
    ) -> Option<Remade> {
        let (old, new) = (found(before, kernel)?, found(after, kernel)?);
        let around = |text: &'_ str, span: Span| -> Option<(String, String)> {
            let (start, end) = (span.start as usize, span.end as usize);
            Some((text.get(..start)?.to_owned(), text.get(end..)?.to_owned()))
        };
        if around(before, old.decorator_span)? != around(after, new.decorator_span)? {
            return None;
        }
        let value = |kernel: &Kernel, name: &SmolStr| {
            let hint = kernel.hints.iter().find(|hint| hint.name == *name);
            hint.map(|hint| hint.text.clone())
        };
        let mut names = old.hints.iter().chain(&new.hints).map(|hint| &hint.name);
        let name = names.find(|name| value(&old, name) != value(&new, name))?;
        let code = code_without(&old, before, name);
        (code == code_without(&new, after, name)).then(|| Remade {
            arch,
            name: name.clone(),
            before: value(&old, name),
            after: value(&new, name),
            code,
            is_faster,
            run,
        })
    }
}

fn found(text: &str, qualified: &str) -> Option<Kernel> {
    let parsed = FileParser::default().parse(text);
    let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
    let mut own = model
        .kernels
        .into_iter()
        .filter(|k| k.qualified == qualified);
    own.next()
        .filter(|kernel| !kernel.stale && own.next().is_none())
}

/// A kernel's code with its hints but for one.
pub(super) fn code_without(kernel: &Kernel, text: &str, name: &str) -> String {
    let mut out = String::new();
    for hint in kernel.hints.iter().filter(|hint| hint.name != name) {
        out.push_str(&format!("{}={}\n", hint.name, hint.text));
    }
    out.push_str(text.get(kernel.span.range()).unwrap_or_default().trim_end());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "import cuda.tile as ct\n\n@ct.kernel(occupancy=2, num_ctas=1)\ndef k(x):\n    ct.store(x, (0,), ct.load(x, (0,), (8,)))\n";

    fn change(after: &str) -> Option<(SmolStr, Option<String>, Option<String>)> {
        let remade = Remade::of((KERNEL, after), "k", Arch::Sm90, true, String::new())?;
        Some((remade.name, remade.before, remade.after))
    }

    #[test]
    fn one_hint_and_nothing_else() {
        let some = |text: &str| Some(text.to_owned());
        for (from, to, wanted) in [
            (
                "occupancy=2",
                "occupancy=8",
                Some(("occupancy", some("2"), some("8"))),
            ),
            (", num_ctas=1", "", Some(("num_ctas", some("1"), None))),
            (
                "num_ctas=1",
                "num_ctas=1, opt_level=2",
                Some(("opt_level", None, some("2"))),
            ),
            // Two hints, code besides, another file.
            ("occupancy=2, num_ctas=1", "occupancy=4, num_ctas=2", None),
            (
                "occupancy=2, num_ctas=1)\ndef k(x):",
                "occupancy=4, num_ctas=1)\ndef k(x, y=1):",
                None,
            ),
            (
                "import cuda.tile as ct\n\n@ct.kernel(occupancy=2",
                "import cuda.tile as ct\nN = 1\n@ct.kernel(occupancy=4",
                None,
            ),
            ("def k", "def other", None),
            ("(8,)", "(8,", None),
            ("x", "x", None),
        ] {
            let after = KERNEL.replacen(from, to, 1);
            let wanted = wanted.map(|(name, before, after)| (SmolStr::new(name), before, after));
            assert_eq!(change(&after), wanted, "{after}");
        }
    }
}
