//! A file on its own, for the evaluator.

use tileperf_syntax::ParsedFile;

use crate::eval::{Env, EnvItem, ModuleId};

/// The one file: what it imports is not followed.
pub(super) struct Alone<'a>(pub(super) &'a ParsedFile);

impl Env for Alone<'_> {
    fn items(&self, _: ModuleId) -> Vec<EnvItem<'_>> {
        let items = self.0.items.iter().enumerate();
        items
            .map(|(number, item)| EnvItem {
                item: number as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, _: ModuleId, _: u32, _: &str) -> Option<ModuleId> {
        None
    }
}
