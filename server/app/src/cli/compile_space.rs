//! `tileperf compile --space`: every configuration that a search may try, side by side.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use tileperf_engine::{Order, SpaceBegun, SpaceListener, SpaceRow};
use tileperf_proc::CancelToken;
use tileperf_syntax::Text;

use super::compile::{CompileArgs, Format};
use super::paths::Found;
use super::{compile_json, compile_table};

/// Compiles the spaces of a file's kernels; returns how many results there are, and how many of them
/// are failures of all configurations.
pub(super) fn file(
    args: &CompileArgs,
    found: &Found,
    wanted: &dyn Fn(&str) -> bool,
) -> anyhow::Result<(usize, usize)> {
    let archs = args.archs(&found.engine);
    let order = Order {
        wanted,
        archs: &archs,
        signatures: &args.signature,
    };
    let cancel = CancelToken::new();
    let mut printer = Printer {
        format: args.format,
        shown: &found.shown,
        text: found.engine.source_text(&found.doc),
        space: None,
        rows: Vec::new(),
        all: 0,
        failed: 0,
        broken: Ok(()),
        cancel: &cancel,
    };
    let compiled =
        (found.engine).compile_space(&found.doc, &order, args.most, &cancel, &mut printer);
    printer.broken?;
    compiled.map_err(|why| anyhow::anyhow!(why))?;
    Ok((printer.all, printer.failed))
}

struct Printer<'a> {
    format: Format,
    shown: &'a Path,
    text: Text,
    space: Option<SpaceBegun>,
    rows: Vec<SpaceRow>,
    all: usize,
    failed: usize,
    /// The first error of printing; what was compiled is kept on disk all the same.
    broken: io::Result<()>,
    cancel: &'a CancelToken,
}

impl Printer<'_> {
    fn print(&mut self, text: &str) {
        let mut stdout = io::stdout().lock();
        let printed = stdout.write_all(text.as_bytes());
        if let Err(error) = printed.and_then(|()| stdout.flush()) {
            self.cancel.cancel();
            self.broken = Err(error);
        }
    }

    /// Says how far it is, on a terminal at each configuration, else once for each space.
    fn progress(&self, ended: bool) {
        let Some(space) = &self.space else { return };
        let mut err = io::stderr().lock();
        let is_terminal = err.is_terminal();
        if !is_terminal && !ended {
            return;
        }
        let (done, of) = (self.rows.len(), space.compiled);
        let line = format!(
            "tileperf: {} on {}: {done} of {of} configurations compiled",
            space.kernel, space.arch
        );
        // Nobody is the worse off without it.
        let _ = match (is_terminal, ended) {
            (true, false) => write!(err, "\r{line}"),
            (true, true) => writeln!(err, "\r{line}"),
            (false, _) => writeln!(err, "{line}"),
        };
    }
}

impl SpaceListener for Printer<'_> {
    fn begin(&mut self, space: &SpaceBegun) {
        self.space = Some(space.clone());
        self.rows.clear();
        self.progress(false);
    }

    fn row(&mut self, row: SpaceRow) {
        self.all += 1;
        if let (Format::Json, Some(space)) = (self.format, &self.space) {
            let line = compile_json::configuration(self.shown, &self.text, space, &row);
            self.print(&format!("{line}\n"));
        }
        self.rows.push(row);
        self.progress(false);
    }

    fn end(&mut self) {
        self.progress(true);
        self.rows.sort_by_key(|row| row.number);
        let compiles = |row: &SpaceRow| row.facts.machine().is_some();
        self.failed += usize::from(!self.rows.iter().any(compiles));
        let Some(space) = self.space.take() else {
            return;
        };
        if self.format == Format::Text {
            let text = compile_table::space(self.shown, &space, &self.rows);
            self.print(&text);
        }
    }

    fn failed(&mut self, kernel: &str, line: u32, why: &str) {
        self.all += 1;
        self.failed += 1;
        match self.format {
            Format::Json => {
                let line = compile_json::failed(self.shown, kernel, line, why);
                self.print(&format!("{line}\n"));
            }
            Format::Text => {
                let shown = self.shown.display();
                self.print(&format!("{shown}:{line} {kernel}: not compiled: {why}\n"));
            }
        }
    }
}
