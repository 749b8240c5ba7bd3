//! The hints that a kernel was compiled with, from the TileIR text in its cubin:
//! `entry @name(...) optimization_hints=<default = {occupancy = 2}, sm_90 = {...}> {`.

use serde::{Deserialize, Serialize};

/// One hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// `default`, or the architecture that it is for.
    pub target: String,
    /// As TileIR calls it: `occupancy`, `num_cta_in_cga`.
    pub name: String,
    /// As it is written.
    pub value: String,
}

const MARK: &str = "optimization_hints=<";

/// The hints on the entry of this name.
pub(super) fn of_entry(texts: &[&str], name: &str) -> Vec<Hint> {
    let start = format!("entry @{name}(");
    let line = (texts.iter()).flat_map(|text| text.lines());
    let line = line.filter_map(|line| line.split_once(&start)).next();
    let hints = line.and_then(|(_, rest)| rest.split_once(MARK));
    hints.map_or_else(Vec::new, |(_, rest)| parse(rest))
}

/// `default = {a = 1, b = 2}, sm_90 = {c = 3}> ...`
fn parse(mut rest: &str) -> Vec<Hint> {
    let mut hints = Vec::new();
    while let Some((target, after)) = rest.split_once("= {") {
        let target = target.trim_matches([' ', ',']);
        // The list has ended, and what was found belongs to something else.
        if target.contains('>') {
            break;
        }
        let Some((group, after)) = after.split_once('}') else {
            break;
        };
        for pair in group.split(',') {
            if let Some((name, value)) = pair.split_once('=') {
                hints.push(Hint {
                    target: target.to_owned(),
                    name: name.trim().to_owned(),
                    value: value.trim().to_owned(),
                });
            }
        }
        rest = after;
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let hints = of_entry(&[text], "k_Kt1");
        let shown = |hint: &Hint| format!("{} {} {}", hint.target, hint.name, hint.value);
        hints.iter().map(shown).collect()
    }

    #[test]
    fn hints_of_the_entry_asked_for() {
        let text = "entry @k_Kt1_I2(%a: tile<i32>) optimization_hints=<default = {x = 1}> {\n\
                    }\n\
                    entry @k_Kt1(%a: tile<i32>) optimization_hints=<default = {num_cta_in_cga = 2, \
                    occupancy = 4}, sm_90 = {occupancy = 1}> {\n  %0 = load <sm_90 = {latency = 3}>";
        let expected = [
            "default num_cta_in_cga 2",
            "default occupancy 4",
            "sm_90 occupancy 1",
        ];
        assert_eq!(read(text), expected);
    }

    #[test]
    fn none_where_there_are_none() {
        for text in [
            "",
            "entry @k_Kt1(%a) {",
            "entry @k_Kt1(%a) optimization_hints=<default = {}> {\n x = {y = 1}",
            "entry @k_Kt1(%a) optimization_hints=<default = {x = ",
        ] {
            assert_eq!(read(text), [""; 0], "{text}");
        }
    }
}
