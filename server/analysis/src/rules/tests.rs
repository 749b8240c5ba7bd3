//! What holds for every rule.

use super::*;

#[test]
fn documentation_holds() {
    for rule in RULES {
        testing::documented(rule);
    }
}

#[test]
fn rules_have_codes_and_names_of_their_own_in_order() {
    for pair in RULES.windows(2) {
        assert!(pair[0].code < pair[1].code, "{:?} {:?}", pair[0], pair[1]);
    }
    let mut slugs: Vec<&str> = RULES.iter().map(|r| r.slug).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), RULES.len());
    for rule in RULES {
        let doc = Doc::of(rule);
        assert!(doc.summary.len() > 20, "{rule:?}: {}", doc.summary);
        assert!(doc.summary.len() < 200, "{rule:?}: {}", doc.summary);
        assert_eq!(find(rule.code), Some(*rule));
        assert_eq!(find(rule.slug), Some(*rule));
    }
}
