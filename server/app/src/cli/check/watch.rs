//! Looking again whenever a file changes.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::mpsc;

use tileperf_engine::{Engine, Event};

use super::{CheckArgs, Files, check, paths, print, tell, without_baseline};

/// Prints what is found now and after every change, until the process is ended.
pub(super) fn run(args: &CheckArgs, files: &Files) -> anyhow::Result<ExitCode> {
    if files.engines.is_empty() {
        tell(&files.unread)?;
        anyhow::bail!("nothing to watch: none of the paths given can be read");
    }
    let changes = changes(&files.engines);
    look(args, files)?;
    while changes.recv().is_ok() {
        // Of a burst only the outcome is of interest.
        while changes.try_recv().is_ok() {}
        look(args, &again(&files.engines, args))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A message whenever one of the engines sees a change on disk.
fn changes(engines: &[Engine]) -> mpsc::Receiver<()> {
    let (sender, changes) = mpsc::channel();
    for engine in engines {
        engine.watch();
        let (engine, sender) = (engine.clone(), sender.clone());
        std::thread::spawn(move || {
            while let Ok(event) = engine.events().recv() {
                if event == Event::Refresh && sender.send(()).is_err() {
                    return;
                }
            }
        });
    }
    changes
}

fn look(args: &CheckArgs, files: &Files) -> anyhow::Result<()> {
    if io::stdout().is_terminal() {
        // Clears the screen and what was scrolled out of it.
        io::stdout().write_all(b"\x1b[2J\x1b[3J\x1b[H")?;
    }
    let checked = without_baseline(args, check(&files.found, args.compile)?)?;
    print(args.format, &checked)?;
    Ok(tell(&files.unread)?)
}

/// The files to check now, some of them new, and what cannot be read now.
fn again(engines: &[Engine], args: &CheckArgs) -> Files {
    let (given, missing) = paths::given(&args.paths);
    let mut files = paths::again(engines, &given, &Engine::files_to_check);
    files.unread.splice(..0, missing);
    files
}
