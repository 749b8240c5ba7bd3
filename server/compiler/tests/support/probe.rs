//! The program that the tests and proofs of this crate start: a guard that is not `tileperf`, and a
//! reader of files.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let mode = args.next().unwrap_or_default();
    if mode == "guard" {
        let code = tileperf_proc::guard_main(args);
        return ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX));
    }
    let arguments: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let done = match mode.to_str() {
        Some("cubin") => cubins(&arguments),
        Some("symbols") => symbols(),
        _ => Err(io::Error::other(
            "compiler-probe cubin FILE... | symbols < NAMES",
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// One line of JSON a file: its facts, or why there are none.
fn cubins(files: &[String]) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for file in files {
        let line = match tileperf_compiler::cubin::read(&std::fs::read(file)?) {
            Ok(cubin) => json!({"file": file, "cubin": cubin}),
            Err(error) => json!({"file": file, "error": error.to_string()}),
        };
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// One line of JSON for each name of standard input.
fn symbols() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for name in io::stdin().lines() {
        let name = name?;
        let line = match tileperf_compiler::symbol::Symbol::parse(&name) {
            Ok(symbol) => json!({"symbol": symbol, "again": symbol.to_string()}),
            Err(error) => json!({"error": error.to_string()}),
        };
        writeln!(out, "{line}")?;
    }
    out.flush()
}
