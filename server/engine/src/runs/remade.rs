//! Changes of one hint of a kernel that a session measured: the playbook makes them for the architecture
//! that they were measured on.

use tileperf_analysis::playbook::Remade;
use tileperf_perf::Session;
use tileperf_perf::event::{RunKind, Stored};
use tileperf_perf::session::Run;
use tileperf_perf::store::Store;
use tileperf_perf::verdict::Why;

use super::recorded::arch;

/// Those of a session, with when each run began.
pub(super) fn of_session(store: &Store, session: &Session) -> Vec<(String, Remade)> {
    let runs = session.runs.iter();
    runs.filter_map(|run| Some((run.began.clone(), of_run(store, session, run)?)))
        .collect()
}

fn of_run(store: &Store, session: &Session, run: &Run) -> Option<Remade> {
    if run.kind != RunKind::Iteration || run.undone {
        return None;
    }
    let tried = run.tried.as_ref().filter(|t| t.environment.is_empty())?;
    let (_, decision) = run.decision.as_ref()?;
    let is_faster = match decision.why {
        Why::LargeGain | Why::MediumGain | Why::SmallGain => run.kept,
        Why::Slower | Why::Mixed | Why::SlowerThanStart { .. } => false,
        // Wrong results, another program or nothing that could be told apart say nothing of speed.
        _ => return None,
    };
    let (file, kernel) = (&session.plan.file, &session.plan.kernel);
    let text = |files: &[Stored]| -> Option<String> {
        let own = files.iter().find(|stored| stored.path == *file)?;
        String::from_utf8(store.get(own).ok()?.content?.bytes).ok()
    };
    let others = |files: &[Stored]| -> Vec<Stored> {
        (files.iter().filter(|stored| stored.path != *file).cloned()).collect()
    };
    if others(&tried.base) != others(&tried.candidate) {
        return None;
    }
    let texts = (text(&tried.base)?, text(&tried.candidate)?);
    let day = run.began.get(..10).unwrap_or(&run.began);
    let name = format!("run {} of {day}", run.run);
    Remade::of((&texts.0, &texts.1), kernel, arch(run)?, is_faster, name)
}
