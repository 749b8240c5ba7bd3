//! What the user's own runs compiled kernels for: the names in cuTile's cache on this machine.
//!
//! A name tells dtypes, ranks, alignment and constants of what was really launched; nothing that is
//! read off the code is as good. A kernel of another project can have the same name, so one whose
//! parameters do not fit is left alone.

use std::path::PathBuf;
use std::time::SystemTime;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tileperf_analysis::model::Kernel;
use tileperf_analysis::signature::Signature;
use tileperf_compiler::cache_db::{self, CacheDb};
use tileperf_compiler::symbol::Symbol;

use super::names::of_symbol;

/// Programs looked at: the last used ones.
const MOST_PROGRAMS: u32 = 500;

/// Names by function, the last used first.
type ByFunction = FxHashMap<String, Vec<Symbol>>;

/// The cache as it was read last.
#[derive(Default)]
pub(super) struct Cached(Mutex<Option<(PathBuf, SystemTime, ByFunction)>>);

impl Cached {
    /// What a kernel was compiled for, the last used first, and whether that is all: some names say
    /// what no signature here can.
    pub(super) fn of(&self, kernel: &Kernel) -> (Vec<Signature>, bool) {
        let mut read = self.0.lock();
        let Ok(path) = cache_db::file(&|name| std::env::var_os(name)) else {
            return (Vec::new(), true);
        };
        // SQLite appends to its log before it writes the file itself.
        let modified = [path.clone(), path.with_extension("db-wal")]
            .iter()
            .filter_map(|path| path.metadata().ok()?.modified().ok())
            .max();
        let Some(modified) = modified else {
            return (Vec::new(), true);
        };
        let is_current =
            |(of, at, _): &(PathBuf, SystemTime, ByFunction)| *of == path && *at == modified;
        if !read.as_ref().is_some_and(is_current) {
            *read = Some((path.clone(), modified, by_function(&path)));
        }
        let known = read
            .as_ref()
            .and_then(|(.., known)| known.get(kernel.name.as_str()));
        let mut signatures: Vec<Signature> = Vec::new();
        let mut is_all = true;
        for symbol in known.into_iter().flatten() {
            match of_symbol(symbol, kernel) {
                Some(signature) if signatures.contains(&signature) => {}
                Some(signature) => signatures.push(signature),
                None => is_all = false,
            }
        }
        (signatures, is_all)
    }
}

fn by_function(path: &std::path::Path) -> ByFunction {
    let symbols = CacheDb::open(path).and_then(|db| db.symbols(MOST_PROGRAMS));
    let symbols = symbols.unwrap_or_else(|error| {
        tracing::debug!("cuTile's cache is not read: {error}");
        Vec::new()
    });
    let mut all = ByFunction::default();
    for symbol in symbols {
        if let Ok(symbol) = Symbol::parse(&symbol) {
            all.entry(symbol.function.clone()).or_default().push(symbol);
        }
    }
    all
}
