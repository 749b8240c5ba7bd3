//! Which kernel a command means, and what is known of it.

use std::path::PathBuf;
use std::sync::Arc;

use tileperf_engine::runs::RunNote;
use tileperf_engine::{DocId, PerfTarget};
use tileperf_perf::session::Phase;

use super::{Argument, Desk, Refusal, file_name};
use crate::lsp::convert;

/// The kernel of a command.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// Its file, by the editor's path.
    pub(super) file: PathBuf,
    /// Its qualified name.
    pub(super) kernel: String,
    /// The files that a change may touch.
    pub(super) files: Vec<PathBuf>,
    /// Its session that is not over, else its last one.
    pub(super) note: Option<Arc<RunNote>>,
}

impl Subject {
    /// As the command line takes it.
    pub(super) fn argument(&self) -> std::ffi::OsString {
        let mut out = self.file.clone().into_os_string();
        out.push(":");
        out.push(&self.kernel);
        out
    }

    /// Its session, if that is not over.
    pub(super) fn alive(&self) -> Option<&Arc<RunNote>> {
        self.note.as_ref().filter(|note| !note.phase.is_over())
    }

    /// Refuses if somebody runs the session, or another one on the same device.
    pub(super) fn expect_idle(&self, desk: &Desk, device: Option<&str>) -> Result<(), Refusal> {
        let by = |note: &RunNote| {
            let holder = note.holder.as_deref().filter(|holder| !holder.is_empty());
            holder.map_or(String::new(), |holder| format!(" ({holder})"))
        };
        if let Some(note) = self.alive().filter(|note| note.running) {
            return Err(Refusal::new(format!(
                "a run of {} goes on{}: wait for it, or stop it",
                self.kernel,
                by(note)
            )));
        }
        let settings = desk.engine.settings();
        let own = match self.alive() {
            Some(note) => note.device.clone(),
            None => (device.map(str::to_owned))
                .or_else(|| settings.perf.device.clone())
                .unwrap_or_else(|| "auto".to_owned()),
        };
        let runs = desk.engine.runs(None);
        let other = runs
            .iter()
            .find(|note| note.running && note.device == own && note.kernel != self.kernel);
        match other {
            Some(note) => Err(Refusal::new(format!(
                "a run of {} goes on{}: one at a time on a device, or both measure noise",
                note.kernel,
                by(note)
            ))),
            None => Ok(()),
        }
    }

    /// Refuses if its session was stopped.
    pub(super) fn expect_going(&self) -> Result<(), Refusal> {
        match self.alive().map(|note| note.phase) {
            Some(Phase::Stopped { stop }) => Err(Refusal::new(format!(
                "{} Resume the session to go on all the same",
                stop.sentence()
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses if the editor has one of the files open with another text than is on the disk, which is
    /// what would be measured. Reads the disk.
    pub(super) fn expect_saved(&self, desk: &Desk) -> Result<(), Refusal> {
        match desk.engine.unsaved(&self.files) {
            Some(file) => Err(Refusal::new(format!(
                "save {} first: what is on the disk is measured",
                file_name(&file)
            ))),
            None => Ok(()),
        }
    }
}

/// The kernel that is meant: of the session named, of that name, at the position, else of the only
/// session that is not over.
pub(super) fn find(desk: &Desk, argument: &Argument) -> Result<Subject, Refusal> {
    let runs = desk.engine.runs(None);
    if let Some(session) = &argument.session {
        let note = runs.iter().find(|note| note.session == *session);
        return match note {
            Some(note) => Ok(of_note(note)),
            None => Err(Refusal::new(format!("there is no session {session}"))),
        };
    }
    let doc = argument.uri.as_ref().and_then(convert::document_id);
    if let Some(kernel) = &argument.kernel {
        return named(desk, doc.as_ref(), kernel, &runs);
    }
    if let Some(doc) = &doc {
        if let Some(subject) = at(desk, argument, doc)? {
            return Ok(subject);
        }
        // A wrapper or a test: the session that it belongs to.
        let path = doc.path();
        let belongs = |note: &&Arc<RunNote>| {
            let mut files = note.files.iter().chain(&note.test_file);
            !note.phase.is_over() && files.any(|file| Some(file) == path.as_ref())
        };
        let here: Vec<_> = runs.iter().filter(belongs).collect();
        if let [note] = here.as_slice() {
            return Ok(of_note(note));
        }
    }
    let alive: Vec<_> = runs.iter().filter(|note| !note.phase.is_over()).collect();
    match alive.as_slice() {
        [note] => Ok(of_note(note)),
        [] => Err(Refusal::new(match doc {
            Some(_) => "there is no kernel here, and no session that could be meant",
            None => "there is no session; put the cursor on a kernel to start one",
        })),
        several => {
            let names: Vec<&str> = several.iter().map(|note| note.kernel.as_str()).collect();
            Err(Refusal::new(format!(
                "there is no kernel here; the sessions are of {}",
                names.join(", ")
            )))
        }
    }
}

/// The note of the session that is meant.
pub(super) fn session(desk: &Desk, argument: &Argument) -> Result<Arc<RunNote>, Refusal> {
    let subject = find(desk, argument)?;
    subject.note.ok_or_else(|| {
        Refusal::new(format!(
            "there is no session for {}; \"Run perf iteration\" starts one",
            subject.kernel
        ))
    })
}

fn of_note(note: &Arc<RunNote>) -> Subject {
    Subject {
        file: note.doc.path().unwrap_or_default(),
        kernel: note.kernel.to_string(),
        files: note.files.clone(),
        note: Some(Arc::clone(note)),
    }
}

fn of_target(desk: &Desk, target: PerfTarget) -> Subject {
    let note = desk
        .engine
        .run_of(&DocId::file(&target.file), &target.kernel);
    if let Some(note) = &note
        && !matches!(note.phase, Phase::Finished | Phase::Abandoned)
    {
        return of_note(note);
    }
    let mut files = vec![target.file.clone()];
    files.extend(target.wrappers);
    Subject {
        file: target.file,
        kernel: target.kernel.to_string(),
        files,
        note,
    }
}

fn named(
    desk: &Desk,
    doc: Option<&DocId>,
    kernel: &str,
    runs: &[Arc<RunNote>],
) -> Result<Subject, Refusal> {
    let mut targets = desk.engine.perf_targets(doc, Some(kernel));
    // Branches define a name twice: one subject of experiments.
    targets.dedup_by(|a, b| (&a.file, &a.kernel) == (&b.file, &b.kernel));
    if targets.len() == 1 {
        return Ok(of_target(desk, targets.remove(0)));
    }
    // One that the index does not know, or no more.
    let fits = |note: &&Arc<RunNote>| {
        note.kernel == kernel && doc.is_none_or(|doc| note.doc == *doc) && !note.phase.is_over()
    };
    let known: Vec<_> = runs.iter().filter(fits).collect();
    match (known.as_slice(), targets.as_slice()) {
        ([note], _) => Ok(of_note(note)),
        (_, []) => Err(Refusal::new(format!("there is no kernel {kernel}"))),
        (_, several) => {
            let names: Vec<String> = several.iter().map(|t| file_name(&t.file)).collect();
            Err(Refusal::new(format!(
                "which {kernel}? There is one in {}",
                names.join(", ")
            )))
        }
    }
}

/// The kernel at the position, or the only one of the file. None if the file has no kernel.
fn at(desk: &Desk, argument: &Argument, doc: &DocId) -> Result<Option<Subject>, Refusal> {
    if let (Some(position), Some(convert), Some((_, text))) =
        (argument.position, &desk.convert, desk.engine.text(doc))
    {
        let offset = convert.offset(&text, position);
        let target = desk.engine.perf_target_at(doc, offset);
        return Ok(target.map(|target| of_target(desk, target)));
    }
    let mut targets = desk.engine.perf_targets(Some(doc), None);
    targets.dedup_by(|a, b| a.kernel == b.kernel);
    match targets.len() {
        0 => Ok(None),
        1 => Ok(Some(of_target(desk, targets.remove(0)))),
        _ => {
            let names: Vec<&str> = targets.iter().map(|t| t.kernel.as_str()).collect();
            Err(Refusal::new(format!("which kernel? {}", names.join(", "))))
        }
    }
}
