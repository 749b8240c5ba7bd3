//! Correcting what was found, or showing what that would change.
//!
//! Fixes are applied one round after another: those of a round do not touch each other, and the next
//! round looks at the text they left. A text that would not parse is never written.

use std::io::{self, Write};
use std::process::ExitCode;

use tileperf_analysis::rewrite;
use tileperf_analysis::rules::{self, Safety};

use super::super::edited::{diff, save};
use super::finding::Checked;
use super::{CheckArgs, Found, code, print, without_baseline};

/// A fix can bring another finding to light, but not forever.
const ROUNDS: usize = 20;

pub(super) fn run(args: &CheckArgs, found: &[Found], from_stdin: bool) -> anyhow::Result<ExitCode> {
    let most = if args.review_fixes {
        Safety::Review
    } else {
        Safety::Safe
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut left = Vec::new();
    let mut corrected = 0;
    let mut failed = false;
    for file in found {
        let Some(before) = file.engine.check(&file.doc) else {
            tracing::error!("cannot read {}", file.shown.display());
            continue;
        };
        let before = before.text.as_str().to_owned();
        let (after, fixes) = correct(file, &before, most);
        corrected += fixes;
        if args.diff {
            diff(&mut out, &file.shown, &before, &after)?;
        } else if from_stdin {
            out.write_all(after.as_bytes())?;
        } else if after != before
            && let Err(error) = save(file, &before, &after)
        {
            // The other files are corrected all the same.
            tracing::error!("{error:#}");
            failed = true;
        }
        left.extend(Checked::of(file));
    }
    out.flush()?;
    drop(out);
    let left = without_baseline(args, left)?;
    if args.diff {
        return Ok(ExitCode::from(u8::from(corrected > 0)));
    }
    if !from_stdin {
        print(args.format, &left)?;
    }
    writeln!(io::stderr(), "tileperf: {corrected} corrected")?;
    Ok(if failed {
        ExitCode::from(2)
    } else {
        code(&left)
    })
}

/// The text with its findings corrected, and how many were; the engine has that text then.
fn correct(file: &Found, before: &str, most: Safety) -> (String, usize) {
    let mut text = before.to_owned();
    let mut corrected = 0;
    for round in 1..=ROUNDS {
        let Some(checked) = file.engine.check(&file.doc) else {
            break;
        };
        let (edits, fixes) = rules::compatible(&checked.findings, most);
        let Ok(next) = rewrite::apply(&text, &edits) else {
            break;
        };
        let broken =
            !tileperf_syntax::parse(&next).is_clean() && tileperf_syntax::parse(&text).is_clean();
        if fixes == 0 || next == text || broken {
            break;
        }
        text = next;
        corrected += fixes;
        file.engine
            .open(file.doc.clone(), round as i32, text.clone());
    }
    (text, corrected)
}
