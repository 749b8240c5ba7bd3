//! One optimization in the form "Optimization Applied".

use std::fmt::Write as _;

use crate::event::{RunEnd, Tests};
use crate::records::Status;
use crate::session::{Run, Session};
use crate::stats::Variant;
use crate::verdict::{Identity, Why};

use super::briefly;
use super::escape::{code, text};
use super::markdown::short;
use super::measured_on;
use super::quantity::Quantity;
use super::result::{kept_before, run_total};
use super::words;

/// The oldest architecture that cuTile compiles for.
const OLDEST_ARCH: u32 = 80;

/// The report of one iteration; none if the session has no iteration of that number, or if it is the
/// baseline, which is no optimization.
pub fn applied(session: &Session, iteration: u32) -> Option<String> {
    let run = (session.runs.iter().rev())
        .find(|r| r.iteration == iteration && iteration > 0 && r.row.is_some())?;
    applied_in(session, run.run)
}

/// The report of one run, also if it came to no iteration; none if the session has no run of that
/// number, or if it tried nothing.
pub fn applied_in(session: &Session, run: u32) -> Option<String> {
    let run = session.runs.iter().find(|r| r.run == run)?;
    let name = &run.tried.as_ref()?.optimization;
    let mut out = format!("## Optimization Applied: {}\n\n", text(name));
    out.push_str("### Prerequisites Checked\n");
    prerequisite(
        &mut out,
        "Code compatibility verified",
        &code_works(session, run),
    );
    prerequisite(&mut out, "Hardware requirements met", &hardware(run));
    out.push_str("\n### Implementation\n");
    if let Some(tried) = &run.tried {
        let _ = writeln!(out, "- Specialist: {}", text(&words::origin(&tried.origin)));
    }
    let _ = writeln!(out, "- Changes: {}", changes(session, run));
    out.push_str("\n### Validation\n");
    out.push_str(
        "| Metric | Before | After | Change |\n\
         |--------|--------|-------|--------|\n",
    );
    out.push_str(&metrics(session, run));
    let _ = writeln!(out, "\n{}.", text(&measured_on::where_and_when(run)));
    out.push_str("\n### Result\n");
    let _ = writeln!(out, "{}", text(&result(session, run)));
    Some(out)
}

/// A box, ticked or not, and what it rests on.
fn prerequisite(out: &mut String, name: &str, checked: &Result<String, String>) {
    let (tick, why) = match checked {
        Ok(why) => ('x', why),
        Err(why) => (' ', why),
    };
    let _ = writeln!(out, "- [{tick}] {name}: {}", text(why));
}

fn code_works(session: &Session, run: &Run) -> Result<String, String> {
    let of_candidate = |t: &&Tests| t.variant == Variant::Candidate;
    let tests: Vec<&Tests> = run.tests.iter().filter(of_candidate).collect();
    let failed: usize = tests.iter().map(|t| t.failures.len()).sum();
    if let Some((candidate, _)) = &run.decision
        && candidate.correctness != crate::verdict::Correctness::Passed
    {
        return Err(words::correctness(&candidate.correctness));
    }
    if failed > 0 {
        return Err(format!("{} failed", words::count(failed, "test", "tests")));
    }
    let compiled = match &run.identity {
        Some(Identity::Same { proof }) => return Ok(format!("it compiles, {proof}")),
        Some(Identity::Different) => "the compiled code is another, ",
        Some(Identity::Unknown { .. }) | None => "",
    };
    let passed: usize = tests.iter().map(|t| t.passed.len()).sum();
    if passed == 0 {
        return Err(format!("no test result: {}", briefly::end(session, run)));
    }
    let twice = match tests.iter().any(|t| t.search_off) {
        true => ", searching and with the search switched off",
        false => "",
    };
    let passed = words::count(passed, "test passed", "tests passed");
    Ok(format!("{compiled}{passed} with the change{twice}"))
}

fn hardware(run: &Run) -> Result<String, String> {
    let device = words::device(&run.device);
    let Some(arch) = &run.device.arch else {
        return Err(format!("not checked: {device} has no GPU architecture"));
    };
    let number: String = arch.chars().filter(char::is_ascii_digit).collect();
    match number.parse::<u32>() {
        Ok(number) if number >= OLDEST_ARCH => Ok(device),
        Ok(_) => Err(format!("{device} is older than sm_{OLDEST_ARCH}")),
        Err(_) => Err(format!("not checked: {device} has an unknown architecture")),
    }
}

fn changes(session: &Session, run: &Run) -> String {
    let Some(tried) = &run.tried else {
        return "not known".to_owned();
    };
    let files: Vec<String> = (tried.candidate.iter())
        .filter(|new| !tried.base.contains(new))
        .map(|new| code(&words::inside(&session.root, &new.path)))
        .collect();
    let mut said = format!("{} in {}", text(&tried.optimization), words::names(&files));
    if let Some(commit) = &run.commit {
        let _ = write!(said, ", commit {}", code(short(commit)));
    }
    said
}

/// The two rows of the table. The total before is that of the last kept code.
fn metrics(session: &Session, run: &Run) -> String {
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    match totals(session, run) {
        Some(totals) => metric_rows(quantity, Some(totals), ""),
        None => metric_rows(quantity, None, &unmeasured(session, run)),
    }
}

/// The totals before and after, where they were measured and are to be compared.
fn totals(session: &Session, run: &Run) -> Option<(f64, f64)> {
    run_total(run)?;
    let before = kept_before(session, run)?.row.as_ref()?;
    Some((before.latency_ms, run.row.as_ref()?.latency_ms))
}

/// The rows "Throughput" and "Latency". The one that the benchmark does not report says so.
pub(super) fn metric_rows(quantity: Quantity, totals: Option<(f64, f64)>, why: &str) -> String {
    let missing = |metric: &str, why: &str| {
        format!(
            "| {metric} | not measured | not measured | {} |\n",
            text(why)
        )
    };
    let Some((before, after)) = totals else {
        return missing("Throughput", why) + &missing("Latency", why);
    };
    let row = |metric: &str| {
        let change = quantity.value(after) / quantity.value(before) - 1.0;
        format!(
            "| {metric} | {} | {} | {} |\n",
            quantity.exact(before),
            quantity.exact(after),
            compact_percent(change)
        )
    };
    match quantity {
        Quantity::Time => missing("Throughput", "the benchmark reports times") + &row("Latency"),
        Quantity::Rate => row("Throughput") + &missing("Latency", "the benchmark reports rates"),
        Quantity::Mixed => {
            let why = "the benchmark reports times and rates";
            missing("Throughput", why) + &missing("Latency", why)
        }
    }
}

/// `-9.51%`, as the form has it.
pub(super) fn compact_percent(change: f64) -> String {
    words::percent(change).replace(" %", "%")
}

fn unmeasured(session: &Session, run: &Run) -> String {
    match &run.decision {
        Some((_, decision)) if decision.why == Why::Fixed => {
            "speed is not compared with that of wrong results".to_owned()
        }
        Some((candidate, _)) => words::correctness(&candidate.correctness),
        None => briefly::end(session, run),
    }
}

fn result(session: &Session, run: &Run) -> String {
    let status = run.row.as_ref().map(|row| row.status);
    let Some((_, decision)) = &run.decision else {
        if run.end == Some(RunEnd::NoChange) {
            return "NO CHANGE: the compiled code is the same; nothing was measured or kept"
                .to_owned();
        }
        return format!("FAILED: {}; rolled back", briefly::end(session, run));
    };
    if status == Some(Status::Crash) || !decision.keeps() {
        let said = words::decision(decision);
        return format!(
            "ROLLED BACK: {}",
            said.strip_prefix("Reverted: ").unwrap_or(&said)
        );
    }
    let undone = if run.undone { "; undone later" } else { "" };
    if decision.why == Why::Fixed {
        return format!("SUCCESS: The results are right now; speed was not compared{undone}");
    }
    let quantity = Quantity::of(session).unwrap_or(Quantity::Time);
    let change = match totals(session, run) {
        Some((before, after)) => quantity.value(after) / quantity.value(before) - 1.0,
        None => f64::NAN,
    };
    let improvement = words::share(change.abs()).replace(" %", "%");
    format!("SUCCESS: Achieved {improvement} improvement{undone}")
}
