//! What sessions of a kernel left behind that the playbook builds on. Each journal is read again only when
//! it has changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::playbook::{Remade, Search};
use tileperf_perf::event::Stored;
use tileperf_perf::session::Run;
use tileperf_perf::store::Store;
use tileperf_perf::{Session, journal};

use super::{remade, searches};
use crate::engine::Shared;
use crate::stamped::{Stamp, Stamped};

/// Searches looked at: a benchmark of many shapes makes one for each, twice in a run.
const MOST: usize = 500;

/// What each session left, by its journal; nothing of a journal that cannot be read.
#[derive(Debug, Default)]
pub(super) struct Recorded(Stamped<PathBuf, Option<Arc<OfSession>>>);

/// What a session left.
#[derive(Debug)]
pub(super) struct OfSession {
    kernel: SmolStr,
    file: PathBuf,
    /// The files that were searched with.
    base: Vec<Stored>,
    searches: Vec<Search>,
    /// With when each run began (RFC 3339, UTC).
    remade: Vec<(String, Remade)>,
}

impl Recorded {
    /// Searches of a kernel as it is now.
    pub(super) fn searches(
        &self,
        shared: &Shared,
        of: (&Path, &Path, &str),
        is_running: bool,
    ) -> Vec<Search> {
        let sessions = self.of(of, is_running);
        let is_now = |stored: &Stored| {
            let now = shared.hash_now(&of.0.join(&stored.path));
            stored.hash.as_deref() == now.as_deref()
        };
        let found = sessions.iter().filter(|s| !s.searches.is_empty());
        let now = found.filter(|s| s.base.iter().all(is_now));
        let searches = now.flat_map(|session| &session.searches);
        searches.take(MOST).cloned().collect()
    }

    /// Changes of one hint of a kernel that were measured, the newest first.
    pub(super) fn remade(&self, of: (&Path, &Path, &str), is_running: bool) -> Vec<Remade> {
        let sessions = self.of(of, is_running);
        let mut all: Vec<&(String, Remade)> = sessions.iter().flat_map(|s| &s.remade).collect();
        all.sort_by(|(a, _), (b, _)| b.cmp(a));
        all.into_iter().map(|(_, remade)| remade.clone()).collect()
    }

    /// Reads what a session left, if it has changed: who asks later need not wait for it.
    pub(super) fn learn(&self, store: &Store) -> Option<Arc<OfSession>> {
        let journal = store.journal();
        let stamp = Stamp::of(&journal).ok()?;
        let read = |_: &[Stamp]| read(store).map(Arc::new);
        self.0.get(journal, vec![stamp], read)
    }

    /// The sessions of a kernel. A record that cannot be read counts as none. While a session runs its
    /// journal changes all the time: what was read last is good enough then.
    fn of(&self, of: (&Path, &Path, &str), is_running: bool) -> Vec<Arc<OfSession>> {
        let (root, file, kernel) = of;
        let is_own = |session: &OfSession| session.kernel == kernel && session.file == file;
        let names = Store::sessions(root);
        let sessions = names.iter().filter_map(|name| {
            let store = Store::new(root, name);
            // A session stays with its kernel: that of another need not be looked at again.
            let last = self.0.last(&store.journal()).flatten();
            let known = last.filter(|last| is_running || !is_own(last));
            let session = known.or_else(|| self.learn(&store))?;
            is_own(&session).then_some(session)
        });
        sessions.collect()
    }
}

fn read(store: &Store) -> Option<OfSession> {
    let session = Session::fold(&journal::read(&store.journal()).ok()?)?;
    Some(OfSession {
        searches: searches::of_session(store, &session),
        remade: remade::of_session(store, &session),
        kernel: session.plan.kernel,
        file: session.plan.file,
        base: session.base,
    })
}

/// What a run ran on.
pub(super) fn arch(run: &Run) -> Option<Arch> {
    run.device.arch.as_deref()?.parse().ok()
}
