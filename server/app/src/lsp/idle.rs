//! What is asked when nothing is typed: the rules that rest on other files and on whole spaces, then
//! the compiler.

use std::time::Duration;

use tileperf_engine::{Depth, DocId, Engine};

use super::pool;

/// How long nothing must be typed.
const PAUSE: Duration = Duration::from_millis(200);
/// How much longer until machine code is made of a text that is not saved.
const REST: Duration = Duration::from_secs(2);

/// Asks them about a document once its text has rested for a moment, and calls `changed` if they say
/// something else than before. An edit in between leaves it to whoever answers that edit.
pub(super) fn check_links(engine: Engine, id: DocId, changed: impl FnOnce() + Send + 'static) {
    let Some((version, _)) = engine.text(&id).filter(|_| engine.is_awake()) else {
        return;
    };
    tokio::spawn(async move {
        let rests =
            |engine: &Engine, id: &DocId| (engine.text(id)).is_some_and(|(now, _)| now == version);
        tokio::time::sleep(PAUSE).await;
        if !rests(&engine, &id) {
            return;
        }
        let (asked, of) = (engine.clone(), id.clone());
        let news = pool::caught("rules that rest on other files", move || {
            let news = asked.check_links(&of);
            asked.compile_soon(&of, Depth::Frontend);
            news
        });
        if news.await.unwrap_or(false) {
            changed();
        }
        tokio::time::sleep(REST).await;
        if rests(&engine, &id) {
            compile(engine, id).await;
        }
    });
}

/// Has machine code made of a document's kernels.
pub(super) async fn compile(engine: Engine, id: DocId) {
    pool::caught("compiling", move || {
        engine.compile_soon(&id, Depth::Machine)
    })
    .await;
}
