//! Intervals by configuration: a table whose middle column is a drawing.
//!
//! The rows share one axis, so their drawings together are a forest plot; as a table it keeps long
//! test ids readable, breaks on a narrow screen, and is read out like any other.

use crate::readings::Key;
use crate::report::quantity::Quantity;
use crate::report::result::Line;
use crate::report::words;
use crate::stats::Noise;
use crate::verdict::{ConfigurationVerdict, FASTER, SAME};

use super::chart::line;
use super::marks::Mark;
use super::markup::Markup;
use super::numeric;
use super::scale::{Scale, at};

/// The axis always shows at least this much, so that the bounds of the verdicts are on it.
const LEAST: f64 = 0.03;
/// Beyond this an interval runs off the axis; one wild configuration must not flatten the others.
const MOST: f64 = 0.6;

/// The intervals of configurations.
pub(super) fn forest(page: &mut Markup, lines: &[Line], caption: &str, names: (&str, &str)) {
    let scale = scale(lines.iter().map(|line| &line.verdict));
    let common = common_prefix(lines.iter().map(|line| &line.key));
    page.within("table", &[("class", "forest stack")], |page| {
        page.leaf("caption", &[], &with_prefix(caption, common));
        head(
            page,
            &scale,
            &[names.0, names.1],
            "change of time",
            "verdict",
        );
        page.within("tbody", &[], |page| {
            for line in lines {
                page.within("tr", &[], |page| {
                    configuration(page, &line.key, common);
                    let quantity = Quantity::one(line.is_time);
                    number(page, names.0, &quantity.exact(line.before));
                    number(page, names.1, &quantity.exact(line.after));
                    effect(page, &scale, &line.key, &line.verdict);
                    change(page, &line.verdict);
                    let mark = Mark::of_verdict(line.verdict.verdict);
                    let class = format!("word {}", mark.class);
                    page.within("td", &[("class", &class)], |page| {
                        mark.sign(page);
                        page.text(mark.name);
                    });
                    number(page, "pairs", &line.verdict.estimate.pairs.to_string());
                });
            }
        });
    });
}

/// The base against itself.
pub(super) fn noise(page: &mut Markup, noise: &[(Key, Noise)], caption: &str) {
    let verdicts: Vec<ConfigurationVerdict> = noise.iter().map(|(_, n)| as_verdict(n)).collect();
    let scale = scale(verdicts.iter());
    let common = common_prefix(noise.iter().map(|(key, _)| key));
    page.within("table", &[("class", "forest stack")], |page| {
        page.leaf("caption", &[], &with_prefix(caption, common));
        let numbers = ["spread of a pair", "between processes"];
        head(page, &scale, &numbers, "change", "detectable");
        page.within("tbody", &[], |page| {
            for ((key, noise), verdict) in noise.iter().zip(&verdicts) {
                page.within("tr", &[], |page| {
                    configuration(page, key, common);
                    number(page, numbers[0], &words::share(noise.per_pair));
                    number(page, numbers[1], &words::between_processes(noise));
                    effect(page, &scale, key, verdict);
                    change(page, verdict);
                    number(page, "detectable", &words::share(noise.detectable));
                    number(page, "pairs", &noise.estimate.pairs.to_string());
                });
            }
        });
    });
}

/// Only to be drawn: an effect of nothing has no verdict of its own.
fn as_verdict(noise: &Noise) -> ConfigurationVerdict {
    ConfigurationVerdict {
        verdict: crate::verdict::Verdict::Same,
        estimate: noise.estimate,
        reason: crate::verdict::Reason::WithinOnePercent,
    }
}

fn scale<'v>(verdicts: impl Iterator<Item = &'v ConfigurationVerdict>) -> Scale {
    let ends = verdicts.flat_map(|verdict| {
        let (low, high) = verdict.estimate.change_interval();
        [low.max(-MOST), high.min(MOST)]
    });
    let (low, high) = (ends.filter(|end| end.is_finite()))
        .fold((-LEAST, LEAST), |(low, high), end| {
            (low.min(end), high.max(end))
        });
    Scale::between(low, high)
}

fn head(page: &mut Markup, scale: &Scale, numbers: &[&str], change: &str, last: &str) {
    page.within("thead", &[], |page| {
        page.within("tr", &[], |page| {
            page.leaf("th", &[("scope", "col")], "configuration");
            for name in numbers {
                page.leaf("th", &[("scope", "col"), ("class", "number")], name);
            }
            page.within("th", &[("scope", "col"), ("class", "effect")], |page| {
                axis(page, scale);
            });
            page.leaf("th", &[("scope", "col"), ("class", "number")], change);
            let class = if last == "verdict" { "word" } else { "number" };
            page.leaf("th", &[("scope", "col"), ("class", class)], last);
            page.leaf("th", &[("scope", "col"), ("class", "number")], "pairs");
        });
    });
}

fn axis(page: &mut Markup, scale: &Scale) {
    let attributes = [("role", "img"), ("width", "100%"), ("height", "34")];
    page.within("svg", &attributes, |page| {
        page.leaf("title", &[], "Axis of the change in percent");
        page.leaf(
            "desc",
            &[],
            "Left is faster. The grey band is ±1 %, within which times count as the same; the dashed \
             line is 2 % faster, the least that is called faster.",
        );
        let label = |page: &mut Markup, x: &str, anchor: &str, y: &str, text: &str| {
            let attributes = [("x", x), ("y", y), ("text-anchor", anchor)];
            page.leaf("text", &attributes, text);
        };
        label(page, "0%", "start", "11", "← faster");
        label(page, "100%", "end", "11", "slower →");
        let (ticks, decimals) = scale.ticks(5);
        // A label at the very end would stand outside.
        let inside = |tick: &f64| (5.0..=95.0).contains(&scale.percent(*tick));
        for tick in ticks.into_iter().filter(inside) {
            let text = format!("{:+.*} %", decimals.saturating_sub(2), tick * 100.0);
            let text = match tick.abs() < 1e-9 {
                true => "0 %".to_owned(),
                false => numeric(&text),
            };
            label(page, &at(scale.percent(tick)), "middle", "28", &text);
        }
    });
}

fn effect(page: &mut Markup, scale: &Scale, key: &Key, verdict: &ConfigurationVerdict) {
    let mark = Mark::of_verdict(verdict.verdict);
    page.within("td", &[("class", "effect wide")], |page| {
        let attributes = [("role", "img"), ("width", "100%"), ("height", "100%")];
        page.within("svg", &attributes, |page| {
            page.leaf("title", &[], &key.to_string());
            page.leaf("desc", &[], &numeric(&verdict.sentence()));
            let place = |change: f64| scale.percent(change);
            let (left, right) = (place(-SAME), place(SAME));
            let (x, width) = (at(left), at(right - left));
            let attributes = [
                ("class", "band"),
                ("x", x.as_str()),
                ("y", "0"),
                ("width", width.as_str()),
                ("height", "100%"),
            ];
            page.empty("rect", &attributes);
            let upright = |page: &mut Markup, class: &str, change: f64| {
                let x = at(place(change));
                line(page, class, (&x, "0%"), (&x, "100%"));
            };
            upright(page, "zero", 0.0);
            upright(page, "two", -FASTER);
            let (low, high) = verdict.estimate.change_interval();
            page.within("g", &[("class", mark.class)], |page| {
                line(
                    page,
                    "interval",
                    (&at(place(low)), "50%"),
                    (&at(place(high)), "50%"),
                );
                mark.draw(page, &at(place(verdict.estimate.change())), "50%");
            });
        });
    });
}

fn configuration(page: &mut Markup, key: &Key, common: &str) {
    page.within("th", &[("scope", "row")], |page| {
        let name = key.configuration.strip_prefix(common);
        let attributes = [("title", key.configuration.as_str())];
        page.leaf("code", &attributes, name.unwrap_or(&key.configuration));
        let which = format!(" {} {}", key.backend, key.direction);
        page.leaf("span", &[("class", "quiet")], &which);
    });
}

fn number(page: &mut Markup, label: &str, text: &str) {
    let attributes = [("class", "number"), ("data-label", label)];
    page.leaf("td", &attributes, text);
}

fn change(page: &mut Markup, verdict: &ConfigurationVerdict) {
    page.within("td", &[("class", "number")], |page| {
        let estimate = &verdict.estimate;
        let change = numeric(&words::percent(estimate.change()));
        page.leaf("span", &[("class", "strong")], &change);
        page.empty("br", &[]);
        let interval = numeric(&words::interval(estimate));
        page.leaf("span", &[("class", "quiet")], &interval);
    });
}

fn with_prefix(caption: &str, common: &str) -> String {
    match common.trim_end_matches(':') {
        "" => caption.to_owned(),
        prefix => format!("{caption} All configurations are of {prefix}."),
    }
}

/// What all test ids begin with, up to the last `::` before their parameters; shown once instead of in
/// each row.
fn common_prefix<'k>(mut keys: impl Iterator<Item = &'k Key>) -> &'k str {
    let Some(first) = keys.next() else { return "" };
    let first = first.configuration.as_str();
    let mut length = first.find('[').unwrap_or(first.len());
    for key in keys {
        let same = (first.bytes().zip(key.configuration.bytes())).take_while(|(a, b)| a == b);
        length = length.min(same.count());
    }
    // A boundary of bytes that are equal need not be one of characters; `::` is.
    let bytes = &first.as_bytes()[..length];
    let end = bytes.windows(2).rposition(|two| two == b"::");
    end.map_or("", |at| &first[..at + 2])
}
