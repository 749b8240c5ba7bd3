//! Looking again whenever a file changes.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use tileperf_engine::{Engine, Event};

use super::{CheckArgs, Found, check, paths, print, without_baseline};

/// Prints what is found now and after every change, until the process is ended.
pub(super) fn run(args: &CheckArgs, found: &[Found]) -> anyhow::Result<ExitCode> {
    let Some(engine) = found.first().map(|f| f.engine.clone()) else {
        anyhow::bail!("no file of cuTile to watch in the paths given");
    };
    engine.watch();
    look(args, found)?;
    while let Ok(event) = engine.events().recv() {
        let mut changed = event == Event::Refresh;
        // Of a burst only the outcome is of interest.
        while let Ok(event) = engine.events().try_recv() {
            changed |= event == Event::Refresh;
        }
        if changed {
            look(args, &again(&engine, args, found))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn look(args: &CheckArgs, found: &[Found]) -> anyhow::Result<()> {
    if io::stdout().is_terminal() {
        // Clears the screen and what was scrolled out of it.
        io::stdout().write_all(b"\x1b[2J\x1b[3J\x1b[H")?;
    }
    let checked = without_baseline(args, check(found)?)?;
    print(args.format, &checked)
}

/// The files to check now: some may be new.
fn again(engine: &Engine, args: &CheckArgs, found: &[Found]) -> Vec<Found> {
    let (given, _) = paths::given(&args.paths);
    let mut now = paths::shown(engine, &engine.files_to_check(), &given);
    if now.is_empty() {
        now.extend(found.iter().map(|f| Found {
            engine: f.engine.clone(),
            doc: f.doc.clone(),
            shown: f.shown.clone(),
        }));
    }
    now
}
