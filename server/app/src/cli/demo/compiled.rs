//! The parts of the demo for which kernels are compiled: what the compiler made of the samples, and
//! a change that is decided by it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::Difference;
use tileperf_analysis::views::compiled::lens;
use tileperf_engine::{Compared, CompiledRow, DocId, Engine, Order, Signatures};
use tileperf_proc::CancelToken;

use super::super::compile_text;

/// One of each generation.
const ARCHS: [Arch; 4] = [Arch::Sm80, Arch::Sm90, Arch::Sm100, Arch::Sm120];
/// The sample whose lines are shown, on the last but one of these architectures.
const SHOWN: (&str, &str) = ("matmul.py", "matmul_kernel");

/// A change that somebody might try.
pub(super) struct Idea {
    pub(super) about: &'static str,
    pub(super) file: &'static str,
    old: &'static str,
    new: &'static str,
}

impl Idea {
    /// A text with the change.
    pub(super) fn applied(&self, text: &str) -> String {
        text.replacen(self.old, self.new, 1)
    }
}

pub(super) const IDEAS: [Idea; 2] = [
    Idea {
        about: "let softmax have a multiprocessor for itself (occupancy=1)",
        file: "softmax.py",
        old: "@ct.kernel\n",
        new: "@ct.kernel(occupancy=1)\n",
    },
    Idea {
        about: "load the left matrix without the tensor memory accelerator (allow_tma=False)",
        file: "matmul.py",
        old: "shape=(TILE_M, TILE_K), padding_mode=ct.PaddingMode.ZERO)",
        new: "shape=(TILE_M, TILE_K), padding_mode=ct.PaddingMode.ZERO, allow_tma=False)",
    },
];

/// Compiles the samples and says what came out; why not, if they cannot be compiled.
pub(super) fn show(out: &mut impl Write, engine: &Engine, root: &Path) -> io::Result<()> {
    writeln!(
        out,
        "## What the compiler makes of them, on four architectures, without a GPU\n"
    )?;
    let cancel = CancelToken::new();
    for (file, kernel) in [SHOWN, ("softmax.py", "softmax_kernel")] {
        let path = root.join(file);
        let doc = DocId::file(&path);
        let text = engine.source_text(&doc);
        let mut rows: Vec<CompiledRow> = Vec::new();
        let wanted = |name: &str| name == kernel;
        let order = Order {
            wanted: &wanted,
            archs: &ARCHS,
            signatures: &Signatures::Best,
        };
        let compiled = engine.compile_now(&doc, &order, &cancel, &mut |row| rows.push(row));
        if let Err(why) = compiled {
            return writeln!(out, "Nothing is compiled: {why}.\n");
        }
        for row in &rows {
            match &row.facts {
                Ok(facts) if (file, kernel) == SHOWN && facts.arch == Arch::Sm90 => {
                    compile_text::write(out, Path::new(file), &text, row)?;
                }
                Ok(facts) => {
                    let line = lens(std::slice::from_ref(facts)).unwrap_or_default();
                    writeln!(out, "{file}:{} {kernel} {line}", row.line)?;
                }
                Err(why) => writeln!(out, "{file}:{} {kernel}: {why}", row.line)?,
            }
        }
    }
    writeln!(out)
}

/// Tries two changes as an iteration of the experiment loop does before it measures.
pub(super) fn iterate(out: &mut impl Write, engine: &Engine, root: &Path) -> io::Result<()> {
    writeln!(out, "## Two ideas, decided by compiled code\n")?;
    for idea in &IDEAS {
        writeln!(out, "Idea: {}", idea.about)?;
        let path: PathBuf = root.join(idea.file);
        let before = engine.source_text(&DocId::file(&path)).as_str().to_owned();
        let after = idea.applied(&before);
        let version = |text: &str| vec![(path.clone(), Some(text.to_owned()))];
        let archs = [Arch::Sm90, Arch::Sm100];
        let cancel = CancelToken::new();
        match engine.compare(&version(&before), &version(&after), &archs, &cancel) {
            Ok(compared) => decide(out, &compared)?,
            Err(why) => writeln!(out, "  not decided: {why}")?,
        }
    }
    Ok(())
}

fn decide(out: &mut impl Write, compared: &[Compared]) -> io::Result<()> {
    for one in compared {
        write!(out, "  ")?;
        compile_text::compared(out, one)?;
    }
    let is_same = |one: &Compared| one.difference() == Difference::Same;
    let verdict = match !compared.is_empty() && compared.iter().all(is_same) {
        true => "NO-CHANGE: reverted, there is nothing to measure",
        false => "CHANGED: to be measured",
    };
    writeln!(out, "  => {verdict}\n")
}
