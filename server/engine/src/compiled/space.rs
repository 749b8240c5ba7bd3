//! The configurations of a kernel's searches, each compiled: what they take of the machine, and which
//! of them are the same program.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::CompiledFacts;
use tileperf_analysis::model::Kernel;
use tileperf_analysis::signature::{Configuration, Configurations, Constant, configurations};
use tileperf_compiler::CancelToken;

use super::now::{Order, choose, compile};
use super::queue::Depth;
use super::subject::{Subject, subjects};
use super::toolchain::Toolchain;
use crate::snapshot::Snapshot;
use crate::{DocId, Engine, UseKind};

/// Compiled at once. Each takes a core, and some hundred MiB of memory.
const MOST_AT_ONCE: usize = 8;

/// A space that is about to be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceBegun {
    /// The kernel's qualified name.
    pub kernel: String,
    /// The line of its `def`, from 1.
    pub line: u32,
    /// For which architecture.
    pub arch: Arch,
    /// How many configurations are compiled.
    pub compiled: usize,
    /// How many more are known.
    pub left_out: usize,
    /// How many there are of which something is not known.
    pub unknown: usize,
    /// There are no others.
    pub complete: bool,
}

/// A configuration, compiled.
#[derive(Debug, Clone)]
pub struct SpaceRow {
    /// Its place in the space, from 1.
    pub number: usize,
    /// Its fields.
    pub config: Vec<(String, Constant)>,
    /// What came out.
    pub facts: CompiledFacts,
    /// The wall time now, seconds.
    pub seconds: f64,
}

/// What compiling a space tells.
pub trait SpaceListener {
    /// A kernel with a space, on an architecture.
    fn begin(&mut self, space: &SpaceBegun);
    /// One of its configurations, in no order.
    fn row(&mut self, row: SpaceRow);
    /// There is no more of it.
    fn end(&mut self);
    /// A kernel that cannot be compiled, and why.
    fn failed(&mut self, kernel: &str, line: u32, why: &str);
}

impl Engine {
    /// Compiles kernels of a file for the configurations of the searches that tune them, at most so
    /// many for a kernel and architecture. Kernels that no search tunes are left out. Ends early when
    /// cancelled.
    ///
    /// # Errors
    /// Nothing can be compiled: no trust, no compiler.
    pub fn compile_space(
        &self,
        doc: &DocId,
        order: &Order<'_>,
        most: usize,
        cancel: &CancelToken,
        out: &mut dyn SpaceListener,
    ) -> Result<(), String> {
        let toolchain = self.shared.toolchain()?;
        let Some(file) = self.shared.file(doc) else {
            return Ok(());
        };
        let snapshot = Snapshot::new(&self.shared);
        let cached = &self.shared.compiled.cached;
        for arch in order.archs {
            let all = subjects(&snapshot, cached, doc, &file.model.kernels, *arch);
            for (number, (_, subject)) in all.into_iter().enumerate() {
                let kernel = &file.model.kernels[number];
                if !(order.wanted)(&kernel.qualified) {
                    continue;
                }
                let Some(space) = self.space_of(&snapshot, doc, number, kernel, *arch) else {
                    continue;
                };
                let name = kernel.qualified.to_string();
                let line = file.text.line_column(kernel.name_span.start as usize).0;
                let subject = match subject.map_err(|why| why.to_string()) {
                    Ok(subject) => subject,
                    Err(why) => {
                        out.failed(&name, line, &why);
                        continue;
                    }
                };
                for (_, chosen) in choose(&subject, kernel, order.signatures) {
                    let subject = match chosen {
                        Ok(subject) => subject,
                        Err(why) => {
                            out.failed(&name, line, &why);
                            continue;
                        }
                    };
                    let configs = &space.all[..space.all.len().min(most)];
                    let begun = SpaceBegun {
                        kernel: name.clone(),
                        line,
                        arch: *arch,
                        compiled: configs.len(),
                        left_out: space.all.len() - configs.len(),
                        unknown: space.unknown,
                        complete: space.complete,
                    };
                    out.begin(&begun);
                    let work = Work {
                        toolchain: &toolchain,
                        subject: &subject,
                        configs,
                        arch: *arch,
                        cancel,
                    };
                    let mut rows = Vec::new();
                    work.run(&mut |row| {
                        rows.push(row.clone());
                        out.row(row);
                    });
                    rows.sort_by_key(|row| row.number);
                    let by = toolchain.versions();
                    self.shared.keep_space(&subject, &begun, &rows, by);
                    out.end();
                    if cancel.is_cancelled() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// The configurations of all searches that tune a kernel; `None` if none does.
    fn space_of(
        &self,
        snapshot: &Snapshot<'_>,
        doc: &DocId,
        number: usize,
        kernel: &Kernel,
        arch: Arch,
    ) -> Option<Configurations> {
        let links = self.shared.links();
        let uses = links.uses.get(&(doc.clone(), number))?;
        let searches = uses
            .iter()
            .filter(|used| matches!(used.kind, UseKind::Search(_)));
        let mut found: Option<Configurations> = None;
        for used in searches {
            let there = &used.location.doc;
            let (Some(file), Some(module)) = (self.shared.file(there), snapshot.number(there))
            else {
                continue;
            };
            let all = file.model.searches.iter();
            for search in all.filter(|search| search.span == used.call) {
                let Some(more) = configurations(snapshot, module, search, kernel, arch) else {
                    continue;
                };
                let known = found.get_or_insert_with(|| Configurations {
                    complete: true,
                    ..Configurations::default()
                });
                known.unknown += more.unknown;
                known.complete &= more.complete;
                for one in more.all {
                    if !known.all.contains(&one) {
                        known.all.push(one);
                    }
                }
            }
        }
        found
    }
}

/// The configurations of one kernel on one architecture.
struct Work<'w> {
    toolchain: &'w Toolchain,
    subject: &'w Subject,
    configs: &'w [Configuration],
    arch: Arch,
    cancel: &'w CancelToken,
}

impl Work<'_> {
    /// The first by itself: what had to be put right of a guessed signature need not be tried again for
    /// the others.
    fn run(&self, out: &mut dyn FnMut(SpaceRow)) {
        let Some((first, _)) = self.configs.split_first() else {
            return;
        };
        let mut subject = self.subject.clone();
        let Some(row) = self.one(&subject, 0, first) else {
            return;
        };
        if row.facts.machine().is_some() {
            subject.signatures = vec![row.facts.signature.clone()];
        }
        out(row);
        let next = AtomicUsize::new(1);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (sender, rows) = mpsc::channel();
        std::thread::scope(|threads| {
            for _ in 0..cores.min(MOST_AT_ONCE).min(self.configs.len()) {
                let (sender, next, subject) = (sender.clone(), &next, &subject);
                threads.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(config) = self.configs.get(number) else {
                            return;
                        };
                        let Some(row) = self.one(subject, number, config) else {
                            return;
                        };
                        if sender.send(row).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for row in rows {
                out(row);
            }
        });
    }

    /// Compiles a configuration. `None` if it was cancelled.
    fn one(&self, subject: &Subject, number: usize, config: &Configuration) -> Option<SpaceRow> {
        let started = std::time::Instant::now();
        let mut subject = subject.clone();
        subject.configure(&config.constants, &config.hints);
        let kept = compile(
            self.toolchain,
            &subject,
            self.arch,
            Depth::Machine,
            self.cancel,
        )?;
        let own = subject.sources.first()?;
        Some(SpaceRow {
            number: number + 1,
            config: (config.fields.iter())
                .map(|(name, value)| (name.to_string(), *value))
                .collect(),
            facts: kept.now(&own.text, &own.parsed, false),
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}
