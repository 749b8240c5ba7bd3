//! Python files as the user names them: which project each belongs to, and what it is called there.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use tileperf_engine::{DocId, Engine};

use super::workspace::{self, SettingsArgs};
use crate::dirs;

/// A path as the user wrote it and where it leads.
pub(super) struct Given {
    pub(super) written: PathBuf,
    pub(super) real: PathBuf,
}

/// A file below one of the paths.
pub(super) struct Found {
    /// An engine that has read its project.
    pub(super) engine: Engine,
    /// The file.
    pub(super) doc: DocId,
    /// Its name as seen from the path that the user gave.
    pub(super) shown: PathBuf,
}

impl Found {
    /// What another file is called beside this one: as seen from the nearest folder above both, as the
    /// user wrote that.
    pub(super) fn shown_beside(&self, doc: &DocId) -> PathBuf {
        if *doc == self.doc {
            return self.shown.clone();
        }
        let path = doc.path().unwrap_or_default();
        let own = self.doc.path().unwrap_or_default();
        let mut above = own.ancestors().zip(self.shown.ancestors()).skip(1);
        above
            .find_map(|(real, shown)| Some(shown.join(path.strip_prefix(real).ok()?)))
            .unwrap_or(path)
    }
}

/// Something that was asked for and cannot be read, or not as it is written.
#[derive(Debug)]
pub(super) struct Unread {
    /// Its name as the user sees it.
    shown: PathBuf,
    why: String,
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot read {}: {}", self.shown.display(), self.why)
    }
}

/// The files to look at, and what cannot be looked at.
#[derive(Default)]
pub(super) struct Files {
    pub(super) found: Vec<Found>,
    pub(super) unread: Vec<Unread>,
    /// Those that have read the projects: one, and one for each folder that it leaves out.
    pub(super) engines: Vec<Engine>,
}

/// The paths as given, and those that do not exist.
pub(super) fn given(paths: &[PathBuf]) -> (Vec<Given>, Vec<Unread>) {
    let (mut given, mut unread) = (Vec::new(), Vec::new());
    for written in paths {
        match written.canonicalize() {
            Ok(real) => given.push(Given {
                written: written.clone(),
                real,
            }),
            Err(error) => unread.push(Unread {
                shown: written.clone(),
                why: error.to_string(),
            }),
        }
    }
    (given, unread)
}

/// The files below the paths that have facts of cuTile; what cannot be read is logged.
///
/// # Errors
/// A path does not exist.
pub(super) fn with_facts(paths: &[PathBuf], settings: &SettingsArgs) -> anyhow::Result<Files> {
    let (given, missing) = self::given(paths);
    if let Some(missing) = missing.first() {
        anyhow::bail!("{missing}");
    }
    let files = find(&given, settings, &Engine::files_with_facts);
    for unread in &files.unread {
        tracing::error!("{unread}");
    }
    // What was compiled earlier is known without a compiler; without a folder for it nothing is.
    if let Ok(cache) = dirs::cache() {
        let engines = files.engines.iter();
        engines.for_each(|engine| engine.keep_compiled_in(cache.clone()));
    }
    Ok(files)
}

/// Reads the projects of the paths and gives the files that `choose` picks and that lie below one.
pub(super) fn find(
    given: &[Given],
    settings: &SettingsArgs,
    choose: &dyn Fn(&Engine) -> Vec<DocId>,
) -> Files {
    let mut roots: Vec<PathBuf> = given.iter().map(|g| workspace::root_of(&g.real)).collect();
    roots.sort();
    // A project within a project is read with the outer one.
    roots.dedup_by(|inner, outer| inner.starts_with(outer));
    let mut files = Files::default();
    if given.is_empty() {
        return files;
    }
    let engine = index(roots, settings, given, &mut files.unread);
    let docs = choose(&engine);
    files.found = shown(&engine, &docs, given);
    files.engines.push(engine);
    // What the project's own rules leave out, such as an ignored folder, was asked for by name.
    for g in given.iter().filter(|g| g.real.is_dir()) {
        if !docs.iter().any(|doc| below(doc, g).is_some()) {
            let one = std::slice::from_ref(g);
            let engine = index(vec![g.real.clone()], settings, one, &mut files.unread);
            let docs = choose(&engine);
            files.found.extend(shown(&engine, &docs, one));
            files.engines.push(engine);
        }
    }
    files
}

/// What lies below the paths now, for engines that were told of every change on disk.
pub(super) fn again(
    engines: &[Engine],
    given: &[Given],
    choose: &dyn Fn(&Engine) -> Vec<DocId>,
) -> Files {
    let mut files = Files::default();
    for engine in engines {
        for doc in engine.open_documents() {
            if doc.path().is_none_or(|path| !path.is_file()) {
                engine.close(&doc);
            }
        }
    }
    // Named files are read into the first; the others are there for a folder each.
    for (number, engine) in engines.iter().enumerate() {
        let named = if number == 0 { given } else { &[] };
        read(engine, named, given, &mut files.unread);
        files.found.extend(shown(engine, &choose(engine), given));
    }
    files
}

/// Those of an engine's files that lie below one of the paths.
fn shown(engine: &Engine, docs: &[DocId], given: &[Given]) -> Vec<Found> {
    (docs.iter())
        .filter_map(|doc| {
            Some(Found {
                engine: engine.clone(),
                doc: doc.clone(),
                shown: given.iter().find_map(|g| below(doc, g))?,
            })
        })
        .collect()
}

/// An engine that has read the folders, and the files that were named as well as if they were open
/// in an editor: whatever the index would leave out.
fn index(
    roots: Vec<PathBuf>,
    settings: &SettingsArgs,
    given: &[Given],
    unread: &mut Vec<Unread>,
) -> Engine {
    let (engine, problems) = workspace::engine(roots, settings, false);
    for problem in problems {
        tracing::warn!("{problem}");
    }
    engine.index_now();
    read(&engine, given, given, unread);
    engine
}

/// Opens the files that were named, and adds what lies below a path and cannot be read.
fn read(engine: &Engine, named: &[Given], given: &[Given], unread: &mut Vec<Unread>) {
    let mut add = |shown: PathBuf, why: String| {
        if !unread.iter().any(|known| known.shown == shown) {
            unread.push(Unread { shown, why });
        }
    };
    for g in named.iter().filter(|g| g.real.is_file()) {
        match std::fs::read(&g.real) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                if matches!(text, Cow::Owned(_)) {
                    add(g.written.clone(), tileperf_engine::NOT_UTF8.to_owned());
                }
                engine.open(DocId::file(&g.real), 0, text.into_owned());
            }
            Err(error) => add(g.written.clone(), error.to_string()),
        }
    }
    for (path, why) in engine.unread() {
        let doc = DocId::file(&path);
        if let Some(shown) = given.iter().find_map(|g| below(&doc, g)) {
            add(shown, why);
        }
    }
}

/// The name of a document as seen from a path the user gave, if it lies there.
fn below(doc: &DocId, given: &Given) -> Option<PathBuf> {
    let path = doc.path()?;
    let rest = path.strip_prefix(&given.real).ok()?;
    if rest == Path::new("") {
        return Some(given.written.clone());
    }
    Some(if given.written == Path::new(".") {
        rest.to_owned()
    } else {
        given.written.join(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_the_user_sees_them() {
        let given = |written: &str, real: &str| Given {
            written: written.into(),
            real: real.into(),
        };
        let doc = DocId::file(Path::new("/p/src/a.py"));
        let shown = |g| below(&doc, &g).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(shown(given(".", "/p")).as_deref(), Some("src/a.py"));
        assert_eq!(
            shown(given("../p/src", "/p/src")).as_deref(),
            Some("../p/src/a.py")
        );
        assert_eq!(shown(given("a.py", "/p/src/a.py")).as_deref(), Some("a.py"));
        assert_eq!(shown(given("lib", "/p/lib")), None);
    }

    #[test]
    fn a_file_beside_another_is_named_as_that_is() {
        let shown = |shown: &str, doc: &str| {
            let found = Found {
                engine: Engine::new(),
                doc: DocId::file(Path::new("/p/src/ops/a.py")),
                shown: shown.into(),
            };
            let shown = found.shown_beside(&DocId::file(Path::new(doc)));
            shown.to_string_lossy().into_owned()
        };
        for (written, doc, wanted) in [
            ("src/ops/a.py", "/p/src/ops/b.py", "src/ops/b.py"),
            ("src/ops/a.py", "/p/src/b.py", "src/b.py"),
            ("src/ops/a.py", "/p/src/ops/a.py", "src/ops/a.py"),
            ("../ops/a.py", "/p/src/ops/b.py", "../ops/b.py"),
            ("a.py", "/p/src/ops/b.py", "b.py"),
            // Above what was written there is no name.
            ("a.py", "/p/src/b.py", "/p/src/b.py"),
        ] {
            assert_eq!(shown(written, doc), wanted, "{written}");
        }
    }
}
