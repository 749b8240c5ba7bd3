//! Which rules are asked, and how severe their findings are.

use std::collections::BTreeMap;

use tileperf_analysis::rules::{Rule, Severity};

/// The choice of rules. Names are codes, beginnings of codes, slugs, or `all`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Asked.
    pub select: Vec<String>,
    /// Not asked all the same.
    pub ignore: Vec<String>,
    /// `error`, `warning` or `hint` by name.
    pub severity: BTreeMap<String, String>,
}

impl Rules {
    /// Whether a rule is asked.
    pub fn chooses(&self, rule: &Rule) -> bool {
        let named = |names: &[String]| names.iter().any(|name| rule.is_called(name));
        named(&self.select) && !named(&self.ignore)
    }

    /// The severity set for a rule: that of the longest name that means it.
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        (self.severity.iter())
            .filter(|(name, _)| rule.is_called(name))
            .max_by_key(|(name, _)| name.len())
            .and_then(|(_, word)| severity(word))
    }
}

/// A severity by its name.
pub(super) fn severity(word: &str) -> Option<Severity> {
    [Severity::Error, Severity::Warning, Severity::Hint]
        .into_iter()
        .find(|severity| severity.name() == word)
}

#[cfg(test)]
mod tests {
    use tileperf_analysis::rules;

    use super::*;

    #[test]
    fn rules_are_chosen_by_code_by_group_and_by_name() {
        let rule = rules::find("TP101").unwrap();
        let choice = |select: &str, ignore: &str| Rules {
            select: vec![select.to_owned()],
            ignore: vec![ignore.to_owned()],
            severity: BTreeMap::new(),
        };
        for (select, ignore, chosen) in [
            ("all", "TP2", true),
            ("TP1", "TP2", true),
            ("tp101", "", true),
            ("replace-hints-hot-path", "", true),
            ("TP2", "", false),
            ("all", "TP101", false),
            ("all", "replace-hints-hot-path", false),
        ] {
            assert_eq!(
                choice(select, ignore).chooses(rule),
                chosen,
                "{select} {ignore}"
            );
        }
    }

    #[test]
    fn the_longest_name_decides_on_the_severity() {
        let rule = rules::find("TP101").unwrap();
        let severities = [("TP1", "hint"), ("TP101", "error"), ("TP2", "hint")];
        let rules = Rules {
            severity: severities.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
            ..Rules::default()
        };
        assert_eq!(rules.severity(rule), Some(Severity::Error));
    }
}
