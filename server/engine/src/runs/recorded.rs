//! What sessions of a kernel left behind that the playbook builds on, read again only when a journal has
//! changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// What each kernel's sessions left, with the journals that it was read from.
#[derive(Debug, Default)]
pub(super) struct Recorded(Stamped<Of, Arc<[OfSession]>>);

/// Root, file and qualified name of a kernel.
type Of = (PathBuf, PathBuf, String);

#[derive(Debug)]
struct OfSession {
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
        let now = sessions.iter().filter(|s| s.base.iter().all(is_now));
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

    /// The sessions of a kernel. A journal or record that cannot be read counts as none. While a session
    /// runs its journal changes all the time: what was read last is good enough then.
    fn of(&self, (root, file, kernel): (&Path, &Path, &str), is_running: bool) -> Arc<[OfSession]> {
        let key = (root.to_owned(), file.to_owned(), kernel.to_owned());
        if let Some(sessions) = self.0.last(&key).filter(|_| is_running) {
            return sessions;
        }
        let names = Store::sessions(root);
        let stores: Vec<Store> = names.iter().map(|name| Store::new(root, name)).collect();
        let journals = stores.iter().map(Store::journal);
        let stamps = journals.filter_map(|path| Stamp::of(&path).ok()).collect();
        self.0.get(key, stamps, |_| {
            let read = stores.iter().filter_map(|store| read(store, file, kernel));
            read.collect()
        })
    }
}

/// What a session left, if it is about the kernel and left anything.
fn read(store: &Store, file: &Path, kernel: &str) -> Option<OfSession> {
    let session = Session::fold(&journal::read(&store.journal()).ok()?)?;
    if session.plan.kernel != kernel || session.plan.file != file {
        return None;
    }
    let searches = searches::of_session(store, &session);
    let remade = remade::of_session(store, &session);
    (!searches.is_empty() || !remade.is_empty()).then_some(OfSession {
        base: session.base,
        searches,
        remade,
    })
}

/// What a run ran on.
pub(super) fn arch(run: &Run) -> Option<Arch> {
    run.device.arch.as_deref()?.parse().ok()
}
