//! Where a Python's packages are and which versions they have.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Variables;

/// An installed package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Package {
    /// As its index calls it: `cuda-tile`.
    pub name: String,
    /// As its metadata has it.
    pub version: String,
    /// The folder it was found in.
    pub folder: PathBuf,
}

/// The first package of this name in these folders, as an import would find it.
pub(super) fn find(name: &str, folders: &[PathBuf]) -> Option<Package> {
    let wanted = plain(name);
    folders.iter().find_map(|folder| {
        let entries = fs::read_dir(folder).ok()?;
        entries.flatten().find_map(|entry| {
            let file = entry.file_name();
            let (found, version) = file.to_str()?.strip_suffix(".dist-info")?.split_once('-')?;
            (plain(found) == wanted).then(|| Package {
                name: name.to_owned(),
                version: stated(&entry.path()).unwrap_or_else(|| version.to_owned()),
                folder: folder.clone(),
            })
        })
    })
}

/// The version in a package's metadata.
fn stated(info: &Path) -> Option<String> {
    let text = fs::read_to_string(info.join("METADATA")).ok()?;
    let headers = text.lines().take_while(|line| !line.is_empty());
    let version = headers.into_iter().find_map(|l| l.strip_prefix("Version:"));
    version.map(|version| version.trim().to_owned())
}

/// Package names are compared without case, and `-`, `_` and `.` are one.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '.'], "_")
}

/// The folders that an interpreter imports packages from, in its order.
pub(super) fn folders(python: &Path, variables: Variables<'_>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = match variables("PYTHONPATH") {
        Some(path) if !path.is_empty() => std::env::split_paths(&path).collect(),
        _ => Vec::new(),
    };
    let Some(prefix) = python.parent().and_then(Path::parent) else {
        return folders;
    };
    match fs::read_to_string(prefix.join("pyvenv.cfg")) {
        Ok(settings) => folders.extend(of_venv(prefix, &settings, variables)),
        Err(_) => folders.extend(of_installation(python, variables)),
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

fn of_venv(prefix: &Path, settings: &str, variables: Variables<'_>) -> Vec<PathBuf> {
    let setting = |names: &[&str]| setting(settings, names);
    let version = setting(&["version", "version_info"]).and_then(|v| major_minor(&v));
    let mut folders = below(prefix, version.as_deref());
    let with_system = setting(&["include-system-site-packages"]);
    if with_system.is_some_and(|value| value.eq_ignore_ascii_case("true"))
        && let Some(home) = setting(&["home"])
    {
        folders.extend(of_installation(
            &Path::new(&home).join("python3"),
            variables,
        ));
    }
    folders
}

/// Whether the module with which virtual environments get their pip is there: Debian has it in a
/// package of its own.
pub(super) fn has_ensurepip(python: &Path) -> Option<bool> {
    let prefix = python.parent()?.parent()?;
    // A virtual environment has no library of its own.
    let base = match fs::read_to_string(prefix.join("pyvenv.cfg")) {
        Ok(settings) => PathBuf::from(setting(&settings, &["home"])?).join("python3"),
        Err(_) => python.to_owned(),
    };
    let real = fs::canonicalize(&base).unwrap_or(base);
    let name = real.file_name()?.to_string_lossy().into_owned();
    let library = real.parent()?.parent()?.join("lib").join(name);
    (library.join("os.py").is_file()).then(|| library.join("ensurepip").is_dir())
}

/// A setting of `pyvenv.cfg`, under any of its names.
fn setting(settings: &str, names: &[&str]) -> Option<String> {
    settings.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        names.contains(&key.trim()).then(|| value.trim().to_owned())
    })
}

/// A Python that is no virtual environment: its own packages, the user's, and Debian's folders.
fn of_installation(python: &Path, variables: Variables<'_>) -> Vec<PathBuf> {
    let real = fs::canonicalize(python).unwrap_or_else(|_| python.to_owned());
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let version = name.strip_prefix("python").and_then(major_minor);
    let mut folders = Vec::new();
    if let (Some(home), Some(version)) = (variables("HOME"), &version) {
        let user = Path::new(&home).join(".local/lib");
        folders.push(user.join(format!("python{version}/site-packages")));
    }
    let prefixes = [python, &real].map(|python| python.parent().and_then(Path::parent));
    for prefix in prefixes.into_iter().flatten() {
        if let Some(version) = &version {
            let local = prefix.join("local/lib");
            folders.push(local.join(format!("python{version}/dist-packages")));
        }
        folders.extend(below(prefix, version.as_deref()));
        folders.push(prefix.join("lib/python3/dist-packages"));
    }
    folders
}

/// `lib/python3.11/site-packages` of a prefix; of every version there, if it is not known.
fn below(prefix: &Path, version: Option<&str>) -> Vec<PathBuf> {
    let libraries = ["lib", "lib64"].map(|name| prefix.join(name));
    let mut pythons: Vec<PathBuf> = Vec::new();
    for library in &libraries {
        match version {
            Some(version) => pythons.push(library.join(format!("python{version}"))),
            None => {
                let entries = fs::read_dir(library).into_iter().flatten().flatten();
                pythons.extend(entries.map(|entry| entry.path()).filter(|path| {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    name.starts_with("python3.")
                }));
            }
        }
    }
    pythons.sort();
    pythons.dedup();
    (pythons.into_iter())
        .map(|python| python.join("site-packages"))
        .collect()
}

/// `3.11.7` as `3.11`; nothing for `3`.
fn major_minor(version: &str) -> Option<String> {
    let mut parts = version.split('.');
    let (major, minor) = (parts.next()?, parts.next()?);
    let numbers = [major, minor].iter().all(|n| n.parse::<u32>().is_ok());
    numbers.then(|| format!("{major}.{minor}"))
}
