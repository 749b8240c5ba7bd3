//! Scans kept from one edit to the next: an edit changes one item of a file, and what an item's own
//! text says is the larger part of the work.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tileperf_syntax::{ItemFacts, ParsedFile};

use crate::model::scan::{self, Scan};

/// The scan of one item, opaque to others.
#[derive(Debug, Clone)]
pub struct ItemScan(pub(super) Arc<Scan>);

/// Keeps the scans of a file's items from one edit to the next, by the identity of their facts.
#[derive(Debug, Default)]
pub struct ModelCache {
    /// The facts are held so that no others can take their address.
    scans: FxHashMap<usize, (Arc<ItemFacts>, ItemScan)>,
    /// Those of items that are no more, until somebody has time to free them.
    gone: FxHashMap<usize, (Arc<ItemFacts>, ItemScan)>,
}

impl ModelCache {
    /// Frees what is no longer of use. Takes a part of the time that a reading takes, so that it is better
    /// done when nobody waits.
    pub fn tidy(&mut self) {
        self.gone = FxHashMap::default();
    }

    /// Scans of all items, those of unchanged items from before.
    pub(super) fn scans(&mut self, file: &ParsedFile) -> Vec<ItemScan> {
        let mut next = FxHashMap::default();
        let out = file
            .all()
            .map(|item| {
                let key = Arc::as_ptr(&item.facts) as usize;
                let entry = self
                    .scans
                    .remove(&key)
                    .or_else(|| next.get(&key).cloned())
                    .unwrap_or_else(|| {
                        let scan = ItemScan(Arc::new(scan::scan(&item.facts)));
                        (Arc::clone(&item.facts), scan)
                    });
                let scan = entry.1.clone();
                next.insert(key, entry);
                scan
            })
            .collect();
        self.gone = std::mem::replace(&mut self.scans, next);
        out
    }
}
