//! A session for a kernel: the one there is, else one that begins now.

use tileperf_engine::Engine;
use tileperf_perf::flow::{self, Loop, Options};
use tileperf_perf::plan::Plan;
use tileperf_perf::store::Store;
use tileperf_perf::{Error, Session, journal};

use super::plan::{Wishes, plan};
use super::session::{Format, Measured, Named, with_options, with_session};

/// Where a session is, and what is in it.
type Begun = (Store, Session);

/// Calls `work` with the session that is meant. Where there is none, one begins, unless `before` has
/// something against its plan.
///
/// # Errors
/// What stands in the way, or `work` says.
pub(super) fn with_begun<T>(
    named: &Named,
    engine: &Engine,
    format: Format,
    wishes: &Wishes,
    before: impl FnOnce(&Plan, &Options<'_>) -> Result<(), Error>,
    work: impl FnOnce(&mut Loop<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (store, session) = match named.session(false) {
        Err(error) if is_missing(&error) => begin(named, engine, format, wishes, before)?,
        found => found?,
    };
    with_session(&store, &session, format, Some(engine), work)
}

fn is_missing(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Error>(), Some(Error::NoSession { .. }))
}

fn begin(
    named: &Named,
    engine: &Engine,
    format: Format,
    wishes: &Wishes,
    before: impl FnOnce(&Plan, &Options<'_>) -> Result<(), Error>,
) -> anyhow::Result<Begun> {
    let target = named.target(engine)?;
    let plan = plan(engine, &target, &named.root, wishes)?;
    let measured = plan.clone();
    let store = with_options(&Measured::of(&measured), format, None, None, |options| {
        before(&plan, options)?;
        Ok(flow::set_up(&named.root, plan, options)?.store().clone())
    })?;
    let session = Session::fold(&journal::read(&store.journal())?);
    let session = session.ok_or_else(|| anyhow::anyhow!("the session has vanished"))?;
    Ok((store, session))
}
