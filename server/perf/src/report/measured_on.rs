//! Where, when and how numbers were measured.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::Device;
use crate::session::{Run, Session};
use crate::stats::{Estimate, Method, Plan};
use crate::verdict::{FASTER, SAME};

use super::words;

/// A run's place and time as a sentence without its full stop, as it stands under its numbers.
pub(super) fn where_and_when(run: &Run) -> String {
    words::capital(&when_and_where_inside(run))
}

/// The same inside a sentence.
pub(super) fn when_and_where_inside(run: &Run) -> String {
    format!(
        "{} on {}, {}, in {}",
        if run.measured.is_empty() {
            "ran"
        } else {
            "measured"
        },
        words::device(&run.device),
        words::moment(&run.began),
        words::duration(run.seconds)
    )
}

/// Names and values of everything known of the machine, for a table. A fact that changed from run to
/// run (a temperature, usually) is given at the first and at the last.
pub(super) fn machine(session: &Session) -> Vec<(String, String)> {
    let Some(first) = session.baseline().or(session.runs.first()) else {
        return Vec::new();
    };
    let mut table = vec![
        ("device".to_owned(), words::device(&first.device)),
        ("device id".to_owned(), first.device.id.clone()),
        ("host".to_owned(), first.by.1.clone()),
    ];
    let last = session.runs.iter().rev().find(|r| !r.measured.is_empty());
    let none = BTreeMap::new();
    let later = last.map_or(&none, |r| &r.device.facts);
    for (name, value) in &first.device.facts {
        let value = match later.get(name) {
            Some(other) if other != value => format!("{value} at first, {other} in the last run"),
            _ => value.clone(),
        };
        table.push((name.clone(), value));
    }
    // Of all runs that measured: two different versions in one session are worth seeing.
    let mut versions: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for (name, version) in session.runs.iter().flat_map(|r| &r.versions) {
        versions.entry(name).or_default().insert(version);
    }
    for (name, found) in versions {
        let found: Vec<&str> = found.into_iter().map(String::as_str).collect();
        table.push((name.clone(), found.join(", then ")));
    }
    if first.device.facts.is_empty() {
        table.push((
            "driver and clocks".to_owned(),
            "not known: the device does not tell".to_owned(),
        ));
    }
    table
}

/// What may make the numbers of a session worth less: another device or machine in between, other
/// processes on it.
pub(super) fn cautions(session: &Session) -> Vec<String> {
    let Some(first) = session.baseline() else {
        return Vec::new();
    };
    let mut cautions = Vec::new();
    let same = |a: &Device, b: &Device| a.id == b.id && a.name == b.name;
    for run in &session.runs {
        if !same(&run.device, &first.device) || run.by.1 != first.by.1 {
            cautions.push(format!(
                "Run {} was on another machine than iteration 0: {} on {}.",
                run.run,
                words::device(&run.device),
                run.by.1
            ));
        }
        if !run.device.others.is_empty() {
            cautions.push(format!(
                "Other processes used the device when run {} began: {}.",
                run.run,
                words::names(&run.device.others)
            ));
        }
    }
    cautions
}

/// How it was measured, one sentence a line.
pub(super) fn method(session: &Session) -> Vec<String> {
    let estimates: Vec<&Estimate> = (session.runs.iter().flat_map(|r| &r.measured))
        .map(|m| &m.verdict.estimate)
        .filter(|e| e.method != Method::Proven)
        .collect();
    let mut said = vec![
        "Base and candidate are timed in turns (A B B A), so that slow drift favours neither; a pair \
         of samples gives one ratio, and the change is the median of the ratios. Latencies are \
         medians of all samples of a side, so their quotient can differ from the change in the last \
         digits."
            .to_owned(),
    ];
    for plan in [Plan::Samples, Plan::WholeRuns] {
        // The plan is told from its level, which no other has.
        let of = |e: &&&Estimate| (e.level - plan.level()).abs() < 1e-9;
        if !estimates.iter().any(|e| of(&e)) {
            continue;
        }
        let looks: Vec<String> = plan.looks().iter().map(usize::to_string).collect();
        let each = match plan {
            Plan::Samples => "repeated inside one process for each side",
            Plan::WholeRuns => "one sample for each run of the benchmark command",
        };
        said.push(format!(
            "Samples: {each}. Looks at {} pairs, each with an interval at {:.2} %; a configuration \
             takes no more pairs once it is decided.",
            looks.join(", "),
            plan.level() * 100.0
        ));
    }
    let methods: BTreeSet<&str> = estimates.iter().map(|e| words::method(e.method)).collect();
    if !methods.is_empty() {
        let methods: Vec<&str> = methods.into_iter().collect();
        said.push(format!("Intervals: {}.", methods.join(", ")));
    }
    let spread = |run: &Run| run.noise.iter().any(|(_, noise)| noise.between > 0.0);
    if session.runs.iter().any(spread) {
        said.push(
            "They are widened by what two processes that run the same code differ by, as known from \
             the base against itself."
                .to_owned(),
        );
    }
    let dropped: usize = estimates.iter().map(|e| e.dropped).sum();
    if dropped > 0 {
        said.push(format!(
            "{} dropped because the device's clock was low.",
            words::count(dropped, "pair was", "pairs were")
        ));
    }
    said.push(format!(
        "FASTER: the interval is below 0 and the change at least {:.0} %. SLOWER: the interval is \
         above +{:.0} %. SAME: it is inside ±{:.0} %. MAYBE: below 0, but small or noisy. AMBIGUOUS: \
         none of these after the last look; counts as unchanged.",
        FASTER * 100.0,
        SAME * 100.0,
        SAME * 100.0
    ));
    said.push(
        "Totals are weighted geometric means over configurations. One configuration that is slower \
         for certain reverts a change."
            .to_owned(),
    );
    if let Some(run) = session.baseline()
        && let Some(place) = run.place
    {
        let why = match &run.place_reason {
            Some(why) => format!(" ({why})"),
            None => String::new(),
        };
        said.push(format!("Where it ran: {}{why}.", words::place(place)));
    }
    if !session.plan.weights.is_empty() {
        let weights: Vec<String> = (session.plan.weights.iter())
            .map(|(part, weight)| format!("{part}: {weight}"))
            .collect();
        said.push(format!("Weights: {}.", weights.join(", ")));
    }
    said
}

/// The two commands, placeholders as configured, for whoever wants to repeat it.
pub(super) fn commands(session: &Session) -> [(&'static str, String); 2] {
    let shown = |command: &[String]| {
        let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    };
    [
        ("correctness", shown(&session.plan.correctness)),
        ("benchmark", shown(&session.plan.benchmark)),
    ]
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,{}@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
