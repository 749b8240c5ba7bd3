//! Changes of the playbook that a session measured with a mixed result: faster in some configurations,
//! slower in others. The playbook makes them where they win.

use std::path::Path;

use tileperf_analysis::playbook::Mixed;
use tileperf_perf::event::{Origin, RunKind};
use tileperf_perf::readings::Key;
use tileperf_perf::session::Run;
use tileperf_perf::store::Store;
use tileperf_perf::verdict::Why;
use tileperf_perf::{Session, journal};

/// Those of a session, the last one first. What was tried on other code than what is kept now is left
/// out: a later change may have turned it.
pub(super) fn of_session(session: &Session) -> Vec<Mixed> {
    let mut out: Vec<Mixed> = Vec::new();
    for run in session.runs.iter().rev() {
        let Some(mixed) = of_run(session, run) else {
            continue;
        };
        let again = |known: &Mixed| (&known.id, &known.variant) == (&mixed.id, &mixed.variant);
        if !out.iter().any(again) {
            out.push(mixed);
        }
    }
    out
}

/// Those of all sessions of a kernel, from the disk: for the command line. A journal that cannot be read
/// counts as none.
pub(crate) fn on_disk(root: &Path, file: &Path, kernel: &str) -> Vec<Mixed> {
    let sessions = Store::sessions(root).into_iter().filter_map(|name| {
        let entries = journal::read(&Store::new(root, &name).journal()).ok()?;
        Session::fold(&entries)
    });
    let of_kernel = sessions.filter(|s| s.plan.kernel == kernel && s.plan.file == file);
    let mut all: Vec<Session> = of_kernel.collect();
    all.sort_by(|a, b| began(a).cmp(began(b)));
    all.last().map(of_session).unwrap_or_default()
}

fn began(session: &Session) -> &str {
    session.runs.last().map_or("", |run| run.began.as_str())
}

fn of_run(session: &Session, run: &Run) -> Option<Mixed> {
    if run.kind != RunKind::Iteration || run.kept {
        return None;
    }
    let tried = run.tried.as_ref()?;
    let Origin::Playbook { id, variant } = &tried.origin else {
        return None;
    };
    let (_, decision) = run.decision.as_ref()?;
    if decision.why != Why::Mixed || tried.base != session.base {
        return None;
    }
    let names = |keys: &[Key]| {
        keys.iter()
            .map(|key| key.configuration.to_string())
            .collect()
    };
    Some(Mixed {
        id: id.clone(),
        variant: variant.clone(),
        faster: names(&decision.faster),
        slower: names(&decision.slower),
        run: format!(
            "run {} of {}",
            run.run,
            run.began.get(..10).unwrap_or(&run.began)
        ),
    })
}
