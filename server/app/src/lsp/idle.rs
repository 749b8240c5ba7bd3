//! What is asked when nothing is typed: the rules that rest on other files and on whole spaces.

use std::time::Duration;

use tileperf_engine::{DocId, Engine};

use super::pool;

/// How long nothing must be typed.
const PAUSE: Duration = Duration::from_millis(200);

/// Asks them about a document once its text has rested for a moment, and calls `changed` if they say
/// something else than before. An edit in between leaves it to whoever answers that edit.
pub(super) fn check_links(engine: Engine, id: DocId, changed: impl FnOnce() + Send + 'static) {
    let Some((version, _)) = engine.text(&id).filter(|_| engine.is_awake()) else {
        return;
    };
    tokio::spawn(async move {
        tokio::time::sleep(PAUSE).await;
        if engine.text(&id).is_none_or(|(now, _)| now != version) {
            return;
        }
        let news = pool::caught("rules that rest on other files", move || {
            engine.check_links(&id)
        });
        if news.await.unwrap_or(false) {
            changed();
        }
    });
}
