//! The measurements as a table that says of each number whether it is where it should be.

use std::fmt::Write;
use std::time::Duration;

use super::compiled::Compiled;
use super::edits::Kind;
use super::files::{Files, Sample};
use super::lightbulb::Lightbulb;
use super::machine;
use super::measure::{Results, Typing};
use super::running::Running;
use super::samples::Samples;
use super::servers::{COUNT, Server};
use super::sessions::SESSIONS;

/// Everything that the report tells.
pub(super) struct Report<'a> {
    pub(super) servers: &'a [Server; COUNT],
    pub(super) files: &'a Files,
    pub(super) results: &'a Results,
    pub(super) running: &'a Running,
    pub(super) compiled: &'a Compiled,
    pub(super) lightbulb: &'a Lightbulb,
    pub(super) date: String,
    pub(super) commit: String,
    /// Before and after.
    pub(super) load: (Option<f64>, Option<f64>),
}

/// What a value must stay below.
#[derive(Clone, Copy)]
enum Target {
    /// Times ruff's.
    OfRuff(f64),
    /// In the row's own unit.
    Below(f64),
    None,
}

impl Report<'_> {
    /// The report as Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        self.typing(&mut out, &self.files.small, &self.results.small, 0.5);
        self.typing(&mut out, &self.files.large, &self.results.large, 0.25);
        self.workspace(&mut out);
        self.running(&mut out);
        self.compiled(&mut out);
        out.push_str(&lightbulb(self.lightbulb));
        self.kinds(&mut out);
        out
    }

    fn head(&self, out: &mut String) {
        let [tileperf, ruff, ty] = self.servers;
        let load = |load: Option<f64>| load.map_or("unknown".to_owned(), |l| format!("{l:.1}"));
        let _ = write!(
            out,
            "# How fast the language server is\n\n\
             Written by `cargo xtask bench` on {}. tileperf {} ({}), ruff {}, ty {}.\n\
             Machine: {}; load average {} before and {} after.\n\n\
             One run: at every edit the three servers take turns, each with the same single-character \
             edit (letters, digits, new lines, brackets all over the file, typed and taken back), and \
             each is waited for until the diagnostics of that version have arrived. All three push \
             them. Each sequence of edits is typed in several sessions, and of each edit the best time counts, \
             for all three alike: a pause of the machine is none of the server's. A last row has every \
             time as it was. The ratios are what counts.\n\n",
            self.date,
            tileperf.version,
            self.commit,
            ruff.version,
            ty.version,
            machine::describe(),
            load(self.load.0),
            load(self.load.1),
        );
    }

    fn typing(&self, out: &mut String, file: &Sample, by: &[Typing; COUNT], share: f64) {
        let edits = by[0].all_edits().len();
        let sessions = by[0].open.len();
        let _ = writeln!(
            out,
            "## {} lines: {sessions} sessions and {edits} different edits each server\n",
            file.lines(),
        );
        columns(out);
        let initialize = by.each_ref().map(|t| ms(t.initialize.median()));
        row(
            out,
            "start to `initialize` answered, p50, ms",
            initialize,
            Target::Below(30.0),
        );
        let open = by.each_ref().map(|t| ms(t.open.median()));
        row(
            out,
            "open to first diagnostics, p50, ms",
            open,
            Target::None,
        );
        for (q, name) in [(0.5, "p50"), (0.99, "p99")] {
            let edit = by.each_ref().map(|t| ms(t.all_edits().quantile(q)));
            row(
                out,
                &format!("edit to diagnostics, {name}, ms"),
                edit,
                Target::OfRuff(share),
            );
        }
        let taken = by.each_ref().map(|t| ms(t.taken.quantile(0.99)));
        let name = "the machine's noise included: p99, ms";
        row(out, name, taken, Target::None);
        let resident = by.each_ref().map(|t| mib(median(&t.resident)));
        row(out, "resident memory after it, MiB", resident, Target::None);
        out.push('\n');
    }

    fn workspace(&self, out: &mut String) {
        let results = self.results;
        let _ = writeln!(
            out,
            "## A whole package: the {} Python files of tilegym, read {} times\n",
            self.files.package_files,
            results.index.len(),
        );
        out.push_str("| | p50 | best | worst | target |\n|---|---:|---:|---:|---|\n");
        let times = |samples: &Samples| [0.5, 0.0, 1.0].map(|q| samples.quantile(q).as_secs_f64());
        spread(
            out,
            "session start to first index done, s",
            times(&results.index),
            Some(1.0),
        );
        spread(out, "`tileperf facts`, s", times(&results.facts), None);
        let [own, ruff] = &results.check;
        spread(out, "`tileperf check`, s", times(own), None);
        let name = "`ruff check --select=ALL --no-cache`, s";
        spread(out, name, times(ruff), None);
        let share = own.median().as_secs_f64() / ruff.median().as_secs_f64();
        let _ = writeln!(
            out,
            "| the one of the other | {share:.2} | | | <= 1: {} |",
            met(share <= 1.0)
        );
        let mut resident = results.index_resident.clone();
        resident.sort_unstable();
        let ends = [resident.first(), resident.last()].map(|r| mib(r.copied().unwrap_or(0)));
        let memory = [mib(median(&resident)), ends[0], ends[1]];
        spread(out, "resident memory after it, MiB", memory, Some(60.0));
        out.push_str("\n## A file without cuTile\n\n");
        columns(out);
        row(
            out,
            "resident memory, MiB",
            results.plain.map(mib),
            Target::Below(15.0),
        );
        out.push('\n');
    }

    /// The loop, by the tests that run it.
    fn running(&self, out: &mut String) {
        let Running {
            overhead,
            idle,
            during,
        } = self.running;
        let share = during / idle;
        let _ = writeln!(
            out,
            "## While an experiment runs\n\n\
             A project whose kernels are work of the processor, pytest and a benchmark: with \
             everything on this machine's cores, also what a GPU would do.\n\n\
             | | | target |\n|---|---:|---|\n\
             | an iteration beside its test and benchmark processes, s | {overhead:.2} | < 0.5: {} |\n\
             | edit to diagnostics, idle, p50, ms | {idle:.2} | |\n\
             | the same while a run goes on, p50, ms | {during:.2} | |\n\
             | the one of the other | {share:.2} | <= 1.2: {} |\n",
            met(*overhead < 0.5),
            met(share <= 1.2),
        );
    }

    /// The compiler, by the test that has an editor show it.
    fn compiled(&self, out: &mut String) {
        let Compiled {
            shown,
            alone,
            unchanged,
            known,
            killed,
            idle,
            beside,
        } = self.compiled;
        let (over, share) = (shown / alone, beside / idle);
        let _ = writeln!(
            out,
            "## Compiled code\n\n\
             A product of float16 matrices, saved with another constant each time, and the same text \
             compiled by cuTile's frontend and tileiras alone.\n\n\
             | | | target |\n|---|---:|---|\n\
             | from save to remarks, p50, s | {shown:.2} | |\n\
             | frontend and tileiras alone, p50, s | {alone:.2} | |\n\
             | the one of the other | {over:.2} | <= 1.15: {} |\n\
             | an unchanged kernel, after an edit above it, ms | {unchanged:.1} | < 50: {} |\n\
             | a program of before, ms | {known:.1} | |\n\
             | until a stale compile is gone, ms | {killed:.1} | < 100: {} |\n\
             | edit to diagnostics, idle, p50, ms | {idle:.2} | |\n\
             | the same beside a compile, p50, ms | {beside:.2} | |\n\
             | the one of the other | {share:.2} | <= 1.2: {} |\n",
            met(over <= 1.15),
            met(*unchanged < 50.0),
            met(*killed < 100.0),
            met(share <= 1.2),
        );
    }

    /// What is typed matters: a bracket breaks the text until it is closed.
    fn kinds(&self, out: &mut String) {
        out.push_str("## By what is typed\n\nEdit to diagnostics, p50 in ms.\n\n");
        let sizes = [
            (&self.files.small, &self.results.small),
            (&self.files.large, &self.results.large),
        ];
        out.push_str("| lines | typed | tileperf | ruff | ty | of ruff |\n");
        out.push_str("|---:|---|---:|---:|---:|---:|\n");
        for (file, by) in sizes {
            for kind in Kind::ALL {
                let [a, b, c] = by.each_ref().map(|t| ms(t.edits[kind as usize].median()));
                let _ = writeln!(
                    out,
                    "| {} | {} | {a:.2} | {b:.2} | {c:.2} | {:.2} |",
                    file.lines(),
                    kind.title(),
                    a / b,
                );
            }
        }
    }
}

/// Code actions, where there are some.
pub(super) fn lightbulb(taken: &Lightbulb) -> String {
    let [half, most] = [0.5, 0.99].map(|q| ms(taken.plain.quantile(q)));
    let [half_beside, most_beside] = [0.5, 0.99].map(|q| ms(taken.beside.quantile(q)));
    let more = half_beside - half;
    format!(
        "## The lightbulb\n\n\
         Code actions at {} places of the first file, in its package, while its kernels are compiled and \
         the playbook's changes proven. The same where {SESSIONS} sessions on its kernels have left their \
         journals and records.\n\n\
         | | | with sessions | target |\n|---|---:|---:|---|\n\
         | p50, ms | {half:.2} | {half_beside:.2} | {more:.2} more, < 1: {} |\n\
         | p99, ms | {most:.2} | {most_beside:.2} | < 20: {} |\n\n",
        taken.plain.len(),
        met(more < 1.0),
        met(most.max(most_beside) < 20.0),
    )
}

fn columns(out: &mut String) {
    out.push_str("| | tileperf | ruff | ty | of ruff | target |\n|---|---:|---:|---:|---:|---|\n");
}

fn row(out: &mut String, name: &str, [a, b, c]: [f64; COUNT], target: Target) {
    let verdict = match target {
        Target::OfRuff(share) => format!("{share} of ruff: {}", met(a / b <= share)),
        Target::Below(limit) => format!("< {limit}: {}", met(a < limit)),
        Target::None => String::new(),
    };
    let _ = writeln!(
        out,
        "| {name} | {a:.2} | {b:.2} | {c:.2} | {:.2} | {verdict} |",
        a / b
    );
}

fn spread(out: &mut String, name: &str, [median, best, worst]: [f64; 3], below: Option<f64>) {
    let verdict = below.map_or(String::new(), |limit| {
        format!("< {limit}: {}", met(median < limit))
    });
    let _ = writeln!(
        out,
        "| {name} | {median:.2} | {best:.2} | {worst:.2} | {verdict} |"
    );
}

fn met(yes: bool) -> &'static str {
    if yes { "met" } else { "**missed**" }
}

fn ms(taken: Duration) -> f64 {
    taken.as_secs_f64() * 1e3
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}
