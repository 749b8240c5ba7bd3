//! The part of the demo that needs a GPU: an iteration of the experiment loop, as a user starts it.
//!
//! It is this program with `perf iterate` in a repository of its own, made for it and gone afterwards.
//! The samples' test and benchmark use the driver alone, so that no framework has to be there.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc;

use anyhow::{Context, bail};
use tileperf_proc::{Ended, Guarded, Stream};

use super::super::workspace::SettingsArgs;
use super::compiled::Idea;
use super::{Folder, write_all};

/// What is added to the samples: how to test one and time it.
const FILES: [(&str, &str); 4] = [
    (
        "device.py",
        include_str!("../../../samples/measured/device.py"),
    ),
    (
        "test_matmul.py",
        include_str!("../../../samples/measured/test_matmul.py"),
    ),
    (
        "tileperf.toml",
        include_str!("../../../samples/measured/tileperf.toml"),
    ),
    (".gitignore", "__pycache__/\n.pytest_cache/\n"),
];

/// The kernel that they are about.
const KERNEL: &str = "matmul.py:matmul_kernel";

/// Measures an idea about that kernel; says why not, where that cannot be done.
pub(super) fn iterate(
    out: &mut impl Write,
    python: Option<&Path>,
    settings: &SettingsArgs,
    idea: &Idea,
) -> anyhow::Result<()> {
    if let Err(why) = ready(python) {
        writeln!(
            out,
            "No latency was measured: {why}. Where there is a GPU, `tileperf perf iterate FILE:KERNEL` tests\n\
             and times a change that is left, and keeps or reverts it by rule.\n"
        )?;
        return Ok(());
    }
    writeln!(out, "## What is left, measured on this machine\n")?;
    writeln!(out, "Idea: {}\n", idea.about)?;
    out.flush()?;
    let folder = Folder::temporary()?;
    if let Err(why) = measure(out, &folder.path, settings, idea) {
        writeln!(out, "No latency was measured: {why:#}.")?;
    }
    writeln!(out)?;
    Ok(())
}

/// Whether there is what it takes.
fn ready(python: Option<&Path>) -> anyhow::Result<()> {
    let gpus = tileperf_gpu::devices().map_err(|none| anyhow::anyhow!("{none}"))?;
    if gpus.is_empty() {
        bail!("there is no GPU");
    }
    let python = python.context("no Python was found")?;
    let asked = Guarded::new(python)
        .args(["-c", "import cuda.tile, pytest"])
        .run()?;
    if !asked.ended.success() {
        bail!("{} has not both cuda-tile and pytest", python.display());
    }
    Ok(())
}

/// One iteration, with its output as it comes.
fn measure(
    out: &mut impl Write,
    folder: &Path,
    settings: &SettingsArgs,
    idea: &Idea,
) -> anyhow::Result<()> {
    let samples = super::SAMPLES
        .iter()
        .map(|sample| (sample.name, sample.text));
    write_all(folder, samples.chain(FILES))?;
    let author = [
        "-c",
        "user.name=tileperf demo",
        "-c",
        "user.email=demo@localhost",
    ];
    let commit = ["commit", "--quiet", "--message", "Samples"];
    for args in [
        &["init", "--quiet"][..],
        &["add", "--all"],
        &[author, commit].concat(),
    ] {
        let done = Guarded::new("git").args(args).current_dir(folder).run()?;
        if !done.ended.success() {
            bail!("git: {}\n{}", done.ended, done.stderr.to_text());
        }
    }
    let path = folder.join(idea.file);
    std::fs::write(&path, idea.applied(&std::fs::read_to_string(&path)?))?;

    let itself = std::env::current_exe().context("this program cannot be found")?;
    let perf = |args: &[&str]| {
        let command = Guarded::new(&itself).arg("perf").args(args);
        command.args(settings.as_args()).current_dir(folder)
    };
    let (sender, lines) = mpsc::channel();
    let running = perf(&["iterate", KERNEL, "--trust", "-m", idea.about])
        .on_line(move |stream, line| {
            let shown = stream == Stream::Stdout;
            let _ = sender.send((shown, line.to_owned()));
        })
        .spawn()?;
    let mut complaint = String::new();
    for (is_output, line) in lines {
        if is_output {
            writeln!(out, "  {line}")?;
            out.flush()?;
        } else {
            complaint = line;
        }
    }
    let done = running.wait()?;
    // The work trees that the session has in the cache go with it.
    let _ = perf(&["abandon", KERNEL]).run();
    match done.ended {
        // Kept or reverted: both are a result.
        Ended::Exited { code: 0 | 1 } => Ok(()),
        _ => bail!("the iteration could not work: {complaint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_fits_together() {
        let of = |name: &str| {
            FILES
                .iter()
                .find(|(file, _)| *file == name)
                .map(|(_, text)| *text)
        };
        let settings: toml::Table = of("tileperf.toml").unwrap().parse().unwrap();
        let (file, kernel) = KERNEL.split_once(':').unwrap();
        let of_kernel = &settings["perf"]["kernels"][kernel];
        let test = of(of_kernel["test-file"].as_str().unwrap()).unwrap();
        let sample = super::super::SAMPLES
            .iter()
            .find(|sample| sample.name == file)
            .unwrap();
        let module = file.trim_end_matches(".py");
        assert!(test.contains(&format!("from {module} import {kernel}")));
        assert!(sample.text.contains(&format!("def {kernel}(")));
    }

    #[test]
    fn what_is_missing_is_said() {
        let mut out = Vec::new();
        let settings = SettingsArgs::default();
        iterate(&mut out, None, &settings, &super::super::compiled::IDEAS[1]).unwrap();
        let said = String::from_utf8(out).unwrap();
        assert!(said.starts_with("No latency was measured: "), "{said}");
    }
}
