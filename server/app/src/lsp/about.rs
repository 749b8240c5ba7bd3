//! How a request asks the engine about a document.
//!
//! Every answer belongs to one version of the text: the one in which the client's position was
//! turned into bytes has to be the one in which the answer's bytes are turned back. An edit that
//! arrives in between makes the question be asked again about the new text.

use tileperf_engine::settings::Surfaces;
use tileperf_engine::{DocId, Engine};
use tileperf_syntax::Text;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::Uri;

use super::convert::Converter;
use super::server::Server;
use super::{convert, pool};

/// How often a question is asked again before the client is told that it types too fast.
const ATTEMPTS: usize = 3;

/// An open document at one version, and whom to ask about it.
#[derive(Debug)]
pub(super) struct About {
    pub(super) engine: Engine,
    pub(super) id: DocId,
    pub(super) text: Text,
    pub(super) convert: Converter,
}

impl Server {
    /// Answers a question about a document on the pool. `None`, at once, if the document is not
    /// open, nothing mentions cuTile, or the settings switch the surface off.
    ///
    /// # Errors
    /// `ContentModified` if the document keeps changing.
    pub(super) async fn about<T: Send + 'static>(
        &self,
        uri: &Uri,
        surface: fn(&Surfaces) -> bool,
        answer: impl Fn(&About) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let (Some(id), Some(convert)) = (convert::document_id(uri), self.converter()) else {
            return Ok(None);
        };
        if !self.shows(surface) || self.engine.text(&id).is_none() {
            return Ok(None);
        }
        let engine = self.engine.clone();
        pool::run(move || {
            for _ in 0..ATTEMPTS {
                let Some((version, text)) = engine.text(&id) else {
                    return Ok(None);
                };
                let about = About {
                    engine: engine.clone(),
                    id: id.clone(),
                    text,
                    convert: convert.clone(),
                };
                let answer = answer(&about);
                if engine.text(&id).is_some_and(|(now, _)| now == version) {
                    return Ok(Some(answer));
                }
            }
            Err(Error::content_modified())
        })
        .await?
    }

    /// Whether there is anything to show on a surface.
    pub(super) fn shows(&self, surface: fn(&Surfaces) -> bool) -> bool {
        self.engine.is_awake() && surface(&self.engine.settings().surfaces)
    }
}
