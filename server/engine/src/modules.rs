//! Python module names of files, and back.
//!
//! A file inside a package is `package.module`, counted from the topmost folder with an
//! `__init__.py`. Namespace packages and scripts have no such mark, so a file is also known by its
//! path from the workspace folder, with and without a leading `src`.

use std::path::{Path, PathBuf};

use smol_str::SmolStr;

/// What a file is called.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ModuleNames {
    /// Every dotted name, the most likely first.
    pub(crate) names: Vec<SmolStr>,
    /// The package that relative imports in it start from.
    pub(crate) package: SmolStr,
}

/// Names a file. `is_package` says whether a folder has an `__init__.py`.
pub(crate) fn names(
    path: &Path,
    roots: &[PathBuf],
    is_package: &dyn Fn(&Path) -> bool,
) -> ModuleNames {
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
    let is_init = stem == "__init__";
    // A `types.py` among scripts anywhere would be the `types` of every file.
    let is_shadowed = !is_init && is_standard(stem);
    let mut packages: Vec<&str> = Vec::new();
    let mut folder = path.parent();
    while let Some(dir) = folder.filter(|d| is_package(d)) {
        let Some(name) = dir.file_name().and_then(|n| n.to_str()) else {
            break;
        };
        packages.push(name);
        folder = dir.parent();
    }
    packages.reverse();
    let mut out = ModuleNames {
        names: Vec::new(),
        package: packages.join(".").into(),
    };
    let mut push = |parts: &[&str]| {
        let mut parts = parts.to_vec();
        if !is_init {
            parts.push(stem);
        }
        let name: SmolStr = parts.join(".").into();
        let means_another = is_shadowed && !name.contains('.');
        if !name.is_empty() && !means_another && !out.names.contains(&name) {
            out.names.push(name);
        }
    };
    push(&packages);
    let inside = roots
        .iter()
        .filter_map(|r| path.parent()?.strip_prefix(r).ok());
    if let Some(inside) = inside.min_by_key(|p| p.as_os_str().len()) {
        let parts: Vec<&str> = inside.iter().filter_map(|p| p.to_str()).collect();
        push(&parts);
        if let Some(("src" | "python" | "lib", rest)) = parts.split_first().map(|(a, b)| (*a, b)) {
            push(rest);
        }
        if out.package.is_empty() {
            out.package = parts
                .strip_prefix(&["src"])
                .unwrap_or(&parts)
                .join(".")
                .into();
        }
    }
    out
}

/// Whether the standard library of every Python that cuTile runs on has a module of that name.
fn is_standard(name: &str) -> bool {
    STANDARD.split_whitespace().any(|known| known == name)
}

/// `sys.stdlib_module_names` of Python 3.11, without private ones and without what 3.13 dropped.
const STANDARD: &str = "\
    abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 cProfile \
    calendar cmath cmd code codecs codeop collections colorsys compileall concurrent \
    configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses datetime dbm \
    decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp \
    fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob \
    graphlib grp gzip hashlib heapq hmac html http imaplib importlib inspect io ipaddress \
    itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap \
    modulefinder multiprocessing netrc ntpath nturl2path numbers opcode operator optparse os \
    pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint \
    profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re \
    readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex \
    shutil signal site smtplib socket socketserver sqlite3 sre_compile sre_constants sre_parse \
    ssl stat statistics string stringprep struct subprocess symtable sys sysconfig syslog \
    tabnanny tarfile tempfile termios textwrap threading time timeit tkinter token tokenize \
    tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uuid \
    venv warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib \
    zoneinfo";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names() {
        let packages = ["/w/src/gym", "/w/src/gym/ops", "/w/tests"];
        let is_package = |dir: &Path| packages.iter().any(|p| Path::new(p) == dir);
        let roots = [PathBuf::from("/w")];
        let of = |path: &str| names(Path::new(path), &roots, &is_package);
        let deep = of("/w/src/gym/ops/soft.py");
        assert_eq!(deep.names, ["gym.ops.soft", "src.gym.ops.soft"]);
        assert_eq!(deep.package, "gym.ops");
        assert_eq!(of("/w/src/gym/ops/__init__.py").names[0], "gym.ops");
        assert_eq!(of("/w/src/gym/ops/__init__.py").package, "gym.ops");
        let script = of("/w/bench/run.py");
        assert_eq!(script.names, ["run", "bench.run"]);
        assert_eq!(script.package, "bench");
    }

    #[test]
    fn the_standard_library_keeps_its_names() {
        let packages = ["/w/src/gym", "/w/platform"];
        let is_package = |dir: &Path| packages.iter().any(|p| Path::new(p) == dir);
        let roots = [PathBuf::from("/w")];
        let of = |path: &str| names(Path::new(path), &roots, &is_package).names;
        assert_eq!(of("/w/stubs/lang/types.py"), ["stubs.lang.types"]);
        assert!(of("/w/dataclasses.py").is_empty());
        // In a package it has a name of its own, and a package may have any name.
        assert_eq!(of("/w/src/gym/types.py"), ["gym.types", "src.gym.types"]);
        assert_eq!(of("/w/platform/__init__.py"), ["platform"]);
        assert_eq!(of("/w/bench/chunk.py"), ["chunk", "bench.chunk"]);
    }
}
