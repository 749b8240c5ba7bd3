//! `tileperf perf init`: write a kernel's settings, with a benchmark where the project has none.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use tileperf_perf::command;

use super::session::{Named, RunArgs};

/// Write the settings of a kernel to tileperf.toml, for you to change.
///
/// Where its tests hold no benchmark, launches are timed that the correctness tests make.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    run: RunArgs,

    /// Print the settings instead of writing them.
    #[arg(long)]
    dry_run: bool,
}

/// Runs `tileperf perf init`.
pub(crate) fn run(args: &InitArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.run.kernel.kernel.as_deref())?;
    let engine = named.engine(&args.run.kernel.settings, args.run.trust);
    let target = named.target(&engine)?;
    let bare = target.kernel.rsplit('.').next().unwrap_or(&target.kernel);
    let settings = engine.settings();
    if settings.perf.kernels.contains_key(bare) {
        bail!("perf.kernels.{bare} is set already, see `tileperf config show`");
    }
    let Some(test) = target.tests.first() else {
        bail!(
            "no tests of {} were found; name them in tests.files or tests.patterns, or write \
             perf.kernels.{bare}.correctness and .benchmark yourself",
            target.kernel
        );
    };
    let text =
        std::fs::read_to_string(test).with_context(|| format!("cannot read {}", test.display()))?;
    let test_file = test.strip_prefix(&named.root).unwrap_or(test);
    let table = table(bare, test_file, &text);
    let path = named.root.join("tileperf.toml");
    if args.dry_run {
        io::stdout().write_all(table.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    // The settings are without what an untrusted file says; and a second table of the same name would
    // make the whole file unreadable.
    let present: toml::Table =
        (all.parse()).with_context(|| format!("{} is no TOML", path.display()))?;
    if present
        .get("perf")
        .and_then(|p| p.get("kernels")?.get(bare))
        .is_some()
    {
        bail!("perf.kernels.{bare} is set already in {}", path.display());
    }
    if !all.is_empty() && !all.ends_with('\n') {
        all.push('\n');
    }
    if !all.is_empty() {
        all.push('\n');
    }
    all.push_str(&table);
    std::fs::write(&path, all).with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(io::stdout(), "written to {}:\n\n{table}", path.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The settings of a kernel as TOML.
fn table(kernel: &str, test_file: &Path, tests: &str) -> String {
    let has_benchmark = tests.contains("def test_perf");
    let many_backends = tests.contains("cutile");
    let correctness = match (many_backends, has_benchmark) {
        (true, _) => command::default_correctness(),
        (false, true) => command::pytest("not test_perf"),
        (false, false) => command::pytest(""),
    };
    let benchmark = match (has_benchmark, many_backends) {
        (true, true) => None,
        (true, false) => Some(command::pytest("test_perf")),
        // Each launch that the tests make is repeated and timed, with its own arguments.
        (false, _) => Some(command::timed_tests(&correctness)),
    };
    let mut out = String::new();
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let list = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
        format!("[{}]", items.join(", "))
    };
    out.push_str(&format!("[perf.kernels.{}]\n", quoted(kernel)));
    out.push_str(&format!(
        "test-file = {}\n",
        quoted(&test_file.to_string_lossy())
    ));
    if correctness != command::default_correctness() {
        out.push_str(&format!("correctness = {}\n", list(&correctness)));
    }
    match benchmark {
        Some(benchmark) => {
            if !has_benchmark {
                out.push_str(
                    "# The tests hold no benchmark: the launches that they make are timed instead. \
                     Small tests give\n# short launches; a benchmark of real shapes is better.\n",
                );
            }
            out.push_str(&format!("benchmark = {}\n", list(&benchmark)));
        }
        None => out.push_str("# benchmark: TileGym's, the default\n"),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_tests_hold_decides() {
        let of = |text: &str| table("scale", Path::new("tests/test_scale.py"), text);
        let tilegym = of("backend = 'cutile'\ndef test_perf(): ...");
        assert!(!tilegym.contains("benchmark ="), "{tilegym}");
        let own = of("def test_perf(): ...");
        assert!(
            own.contains("\"test_perf\"") && own.contains("\"not test_perf\""),
            "{own}"
        );
        let none = of("def test_it(): ...");
        assert!(none.contains("\"tileperf_bench\""), "{none}");
        for text in [tilegym, own, none] {
            let parsed: toml::Table = text.parse().unwrap();
            let kernel = &parsed["perf"]["kernels"]["scale"];
            assert_eq!(kernel["test-file"].as_str(), Some("tests/test_scale.py"));
        }
    }
}
