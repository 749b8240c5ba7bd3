//! Every Python file of the workspace, with its model where it has one.
//!
//! The walk respects `.gitignore` and runs in the background on all cores. Files that do not mention
//! cuTile are known by name only and parsed when something imports them; of the others the model and
//! the text stay, trees do not.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use dashmap::DashMap;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;
use tileperf_analysis::model::{FileModel, ModelCache};
use tileperf_syntax::{ParsedFile, Text};

use crate::modules::{self, ModuleNames};
use crate::settings;

/// A file's text and model, as last read from disk.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) text: Text,
    pub(crate) model: Arc<FileModel>,
    /// Its items, where there is no need to save memory.
    pub(crate) parsed: Option<Arc<ParsedFile>>,
}

/// A file of the workspace.
pub(crate) struct Entry {
    pub(crate) path: Arc<Path>,
    pub(crate) module: ModuleNames,
    /// Filled at once for files that mention cuTile, on demand for others.
    indexed: OnceLock<Option<Arc<Indexed>>>,
    keeps: bool,
    /// Mentions cuTile: counted and searched by workspace-wide questions.
    pub(crate) relevant: bool,
}

impl Entry {
    /// The model, parsed now if it was not yet. Nothing if the file cannot be read.
    pub(crate) fn indexed(&self, limit: u64) -> Option<&Arc<Indexed>> {
        self.indexed
            .get_or_init(|| {
                let source = read(&self.path, limit).ok().flatten()?;
                Some(Arc::new(analyse(
                    source.text,
                    &self.module.package,
                    self.keeps,
                )))
            })
            .as_ref()
    }
}

/// The files of the workspace by path.
#[derive(Default)]
pub(crate) struct Index {
    pub(crate) files: DashMap<PathBuf, Arc<Entry>, FxBuildHasher>,
    modules: DashMap<SmolStr, Vec<Arc<Path>>, FxBuildHasher>,
    /// What could not be read, or not as it is written, and why.
    pub(crate) unread: DashMap<PathBuf, String, FxBuildHasher>,
    /// Items stay with their files: for a command that looks at every file once and ends.
    pub(crate) keeps: AtomicBool,
}

/// What the index should read.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) exclude: GlobSet,
    pub(crate) max_file_size: u64,
}

impl Scope {
    pub(crate) fn new(roots: Vec<PathBuf>, settings: &settings::Index) -> Self {
        let mut globs = GlobSetBuilder::new();
        for pattern in &settings.exclude {
            // Validated when the settings were read.
            for pattern in [
                pattern.clone(),
                format!("{}/**", pattern.trim_end_matches('/')),
            ] {
                if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
                    globs.add(glob);
                }
            }
        }
        Self {
            roots,
            exclude: globs.build().unwrap_or_default(),
            max_file_size: settings.max_file_size,
        }
    }

    fn excludes(&self, path: &Path) -> bool {
        let inside = self
            .roots
            .iter()
            .find_map(|r| path.strip_prefix(r).ok())
            .unwrap_or(path);
        self.exclude.is_match(inside)
    }

    /// Every Python file, in no particular order; stops when `stop` is set.
    pub(crate) fn walk(
        &self,
        stop: &AtomicBool,
        visit: &mut dyn FnMut(PathBuf),
        failed: &mut dyn FnMut(ignore::Error),
    ) {
        let Some((first, rest)) = self.roots.split_first() else {
            return;
        };
        let mut builder = ignore::WalkBuilder::new(first);
        rest.iter().for_each(|r| {
            builder.add(r);
        });
        // Links are not followed: a loop of them has no end, and a link's target is indexed itself.
        builder.follow_links(false).require_git(false).hidden(true);
        let scope = self.clone();
        builder.filter_entry(move |entry| !scope.excludes(entry.path()));
        for entry in builder.build() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            match entry {
                Ok(entry)
                    if entry.file_type().is_some_and(|t| t.is_file())
                        && is_python(entry.path()) =>
                {
                    visit(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!("not indexed: {error}");
                    failed(error);
                }
            }
        }
    }
}

pub(crate) fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "py" || e == "pyi")
}

/// Whether a text mentions cuTile: a cheap look at the bytes, which may say yes too often.
pub(crate) fn mentions_cutile(bytes: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    // The last one is a wrong name for it, and a rule says so.
    has(b"tile") && (has(b"cuda") || has(b"register_impl") || has(b"import cutile"))
}

/// A folder that could not be searched, and why.
fn folder(error: ignore::Error) -> Option<(PathBuf, String)> {
    match error {
        ignore::Error::WithPath { path, err } => Some((path, err.to_string())),
        ignore::Error::WithDepth { err, .. } => folder(*err),
        _ => None,
    }
}

/// What is said of a text with bytes that are not UTF-8.
pub const NOT_UTF8: &str = "it is not UTF-8, bytes that are not were replaced";

/// A file as text.
pub(crate) struct Source {
    pub(crate) text: String,
    /// It is that text: no byte was replaced.
    pub(crate) is_exact: bool,
}

/// Reads a file as UTF-8 text. `None` for what is no Python text: too large, binary.
pub(crate) fn read(path: &Path, limit: u64) -> std::io::Result<Option<Source>> {
    let size = std::fs::metadata(path)?.len();
    if size > limit {
        tracing::info!(
            "not indexed: {} is {size} bytes, over index.max-file-size",
            path.display()
        );
        return Ok(None);
    }
    let bytes = std::fs::read(path)?;
    if memchr::memchr(0, &bytes).is_some() {
        tracing::info!("not indexed: {} is binary", path.display());
        return Ok(None);
    }
    Ok(Some(match String::from_utf8(bytes) {
        Ok(text) => Source {
            text,
            is_exact: true,
        },
        Err(error) => {
            tracing::info!(
                "{} is not UTF-8: bytes that are not are replaced",
                path.display()
            );
            Source {
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                is_exact: false,
            }
        }
    }))
}

pub(crate) fn analyse(source: String, package: &str, keeps: bool) -> Indexed {
    let parsed = tileperf_syntax::parse(&source);
    let model = FileModel::build(&parsed, &source, package, &mut ModelCache::default());
    Indexed {
        text: Text::new(source),
        model: Arc::new(model),
        parsed: keeps.then(|| Arc::new(parsed)),
    }
}

impl Index {
    /// Reads the whole workspace anew. What was known stays known until it is read again or found to
    /// be gone: questions asked meanwhile get the answer of before, not none.
    pub(crate) fn fill(&self, scope: &Scope, stop: &AtomicBool) {
        let mut paths = Vec::new();
        scope.walk(stop, &mut |path| paths.push(path), &mut |error| {
            if let Some((path, why)) = folder(error) {
                self.unread.insert(path, why);
            }
        });
        let packages: rustc_hash::FxHashSet<&Path> = paths
            .iter()
            .filter(|p| p.file_stem().is_some_and(|s| s == "__init__"))
            .filter_map(|p| p.parent())
            .collect();
        let is_package = |dir: &Path| {
            packages.contains(dir)
                || (!scope.roots.iter().any(|r| dir.starts_with(r))
                    && dir.join("__init__.py").is_file())
        };
        let next = AtomicUsize::new(0);
        let workers = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(8);
        std::thread::scope(|threads| {
            for _ in 0..workers {
                threads.spawn(|| {
                    while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let module = modules::names(path, &scope.roots, &is_package);
                        self.insert(path, module, scope.max_file_size);
                    }
                });
            }
        });
        if !stop.load(Ordering::Relaxed) {
            let found: rustc_hash::FxHashSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
            let known = self.files.iter().map(|e| e.key().clone());
            let gone: Vec<PathBuf> = known.filter(|p| !found.contains(p.as_path())).collect();
            gone.iter().for_each(|path| self.remove(path));
        }
    }

    /// Reads one file anew, or forgets it if it is gone.
    pub(crate) fn update(&self, path: &Path, scope: &Scope) {
        if is_python(path) && path.is_file() && !scope.excludes(path) {
            let module =
                modules::names(path, &scope.roots, &|dir| dir.join("__init__.py").is_file());
            self.insert(path, module, scope.max_file_size);
        } else {
            self.remove(path);
        }
    }

    /// Reads a file and puts it in the place of what was known of it, in one step.
    fn insert(&self, path: &Path, module: ModuleNames, limit: u64) {
        let source = match read(path, limit) {
            Ok(source) => source,
            Err(error) => {
                tracing::info!("not indexed: {}: {error}", path.display());
                self.unread.insert(path.to_path_buf(), error.to_string());
                return self.remove(path);
            }
        };
        let relevant = source
            .as_ref()
            .is_some_and(|s| mentions_cutile(s.text.as_bytes()));
        if relevant && source.as_ref().is_some_and(|s| !s.is_exact) {
            self.unread.insert(path.to_path_buf(), NOT_UTF8.to_owned());
        } else {
            self.unread.remove(path);
        }
        let keeps = self.keeps.load(Ordering::Relaxed);
        let indexed = OnceLock::new();
        if let Some(source) = source.filter(|_| relevant) {
            let known = analyse(source.text, &module.package, keeps);
            let _ = indexed.set(Some(Arc::new(known)));
        }
        let path: Arc<Path> = path.into();
        for name in &module.names {
            let mut paths = self.modules.entry(name.clone()).or_default();
            if !paths.contains(&path) {
                paths.push(Arc::clone(&path));
            }
        }
        let names = module.names.clone();
        let before = self.files.insert(
            path.to_path_buf(),
            Arc::new(Entry {
                path: Arc::clone(&path),
                module,
                indexed,
                keeps,
                relevant,
            }),
        );
        if let Some(before) = before {
            let old = before.module.names.iter();
            self.forget_modules(&path, old.filter(|n| !names.contains(n)));
        }
    }

    fn forget_modules<'a>(&self, path: &Path, names: impl Iterator<Item = &'a SmolStr>) {
        for name in names {
            if let Some(mut paths) = self.modules.get_mut(name) {
                paths.retain(|p| **p != *path);
            }
        }
    }

    fn remove(&self, path: &Path) {
        if let Some((_, entry)) = self.files.remove(path) {
            self.forget_modules(path, entry.module.names.iter());
        }
    }

    /// The files that are the module of that dotted name.
    pub(crate) fn module(&self, name: &str) -> Vec<Arc<Path>> {
        self.modules
            .get(name)
            .map_or_else(Vec::new, |paths| paths.clone())
    }
}
