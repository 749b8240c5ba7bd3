//! What is asked when nothing is typed: the rules that rest on other files and on whole spaces, then
//! the compiler.

use std::time::Duration;

use tileperf_engine::{Depth, DocId, Engine};

use super::pool;

/// How long nothing must be typed.
const PAUSE: Duration = Duration::from_millis(200);
/// How much longer until machine code is made of a text that is not saved.
const REST: Duration = Duration::from_secs(2);

/// Asks them about a document once its text has rested for a moment, then about the other open
/// documents, whose findings may rest on what was typed there, and calls `changed` with each of which
/// they say something else than before. An edit in between leaves it to whoever answers that edit.
pub(super) fn check_links(engine: Engine, id: DocId, changed: impl Fn(DocId) + Send + 'static) {
    let Some((version, _)) = engine.text(&id).filter(|_| engine.is_awake()) else {
        return;
    };
    tokio::spawn(async move {
        let rests = || engine.text(&id).is_some_and(|(now, _)| now == version);
        tokio::time::sleep(PAUSE).await;
        if rests() && check(&engine, &id).await {
            changed(id.clone());
        }
        for other in engine.outdated_links() {
            if !rests() {
                return;
            }
            // Someone else may have asked meanwhile.
            if engine.has_outdated_links(&other) && check(&engine, &other).await {
                changed(other);
            }
        }
        if rests() {
            compile(engine.clone(), id.clone(), Depth::Frontend).await;
        }
        tokio::time::sleep(REST).await;
        if rests() {
            compile(engine.clone(), id.clone(), Depth::Machine).await;
        }
    });
}

/// Has a document's kernels compiled, and those of other open documents that call its functions.
pub(super) async fn compile(engine: Engine, id: DocId, depth: Depth) {
    let work = move || {
        // The last that is asked for comes first.
        for other in engine.compiled_with(&id) {
            engine.compile_soon(&other, depth);
        }
        engine.compile_soon(&id, depth);
    };
    pool::caught("compiling", work).await;
}

/// Whether the rules say something else of a document than before.
async fn check(engine: &Engine, id: &DocId) -> bool {
    let (engine, id) = (engine.clone(), id.clone());
    let work = move || engine.check_links(&id);
    let news = pool::caught("rules that rest on other files", work).await;
    news.unwrap_or(false)
}
