//! Values chosen by architecture: `ct.ByTarget(sm_100=2, default=1)`.

use crate::arch::Arch;

/// The choices of a `ByTarget(...)` call, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByTarget<'t>(Vec<(&'t str, &'t str)>);

impl<'t> ByTarget<'t> {
    /// Reads the source text of a call; nothing if it is another expression.
    pub fn read(text: &'t str) -> Option<ByTarget<'t>> {
        let (_, arguments) = text.split_once("ByTarget(")?;
        let inner = arguments.trim_end().strip_suffix(')')?;
        let mut choices = Vec::new();
        let mut depth = 0;
        let mut start = 0;
        let ends = inner.char_indices().filter_map(|(at, c)| {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 => return Some(at),
                _ => {}
            }
            None
        });
        let ends: Vec<usize> = ends.chain([inner.len()]).collect();
        for end in ends {
            let written = inner.get(start..end).and_then(|w| w.split_once('='));
            choices.extend(written.map(|(key, value)| (key.trim(), value.trim())));
            start = end + 1;
        }
        Some(ByTarget(choices))
    }

    /// The value for an architecture: its own, else the default.
    pub fn on(&self, arch: Arch) -> Option<&'t str> {
        let of = |name: &str| self.0.iter().find(|(key, _)| *key == name);
        of(arch.name())
            .or_else(|| of("default"))
            .map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_architecture() {
        let choices = ByTarget::read("ct.ByTarget(sm_100=min(2, n), default=[1, 2][0])").unwrap();
        assert_eq!(choices.on(Arch::Sm100), Some("min(2, n)"));
        assert_eq!(choices.on(Arch::Sm90), Some("[1, 2][0]"));
        assert_eq!(
            ByTarget::read("ByTarget(sm_100=2)").unwrap().on(Arch::Sm90),
            None
        );
        for other in ["2", "ByTarget", "ByTarget(", "pick(2)"] {
            assert_eq!(ByTarget::read(other), None, "{other}");
        }
        assert_eq!(ByTarget::read("ByTarget()").unwrap().on(Arch::Sm90), None);
    }
}
