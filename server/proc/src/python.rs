//! Which Python a project's commands should run with: the one its user would expect.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An interpreter and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    /// The program. Not resolved: a virtual environment is found through its link.
    pub path: PathBuf,
    /// Why it, for people.
    pub origin: &'static str,
}

/// Finds the interpreter: the setting, `VIRTUAL_ENV`, `.venv` or `venv` of the root, then `PATH`.
///
/// # Errors
/// What was looked for, if there is none.
pub fn find(
    setting: Option<&str>,
    root: &Path,
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<Python, String> {
    if let Some(setting) = setting.filter(|s| !s.is_empty()) {
        let origin = "the setting python";
        // A bare name is searched on PATH unless the root has it; everything else counts from there.
        if !setting.contains('/') && !root.join(setting).exists() {
            return on_path(&[setting], &env)
                .map(|path| Python { path, origin })
                .ok_or_else(|| {
                    format!("the setting python names {setting}, which is not on PATH")
                });
        }
        let path = root.join(setting);
        let candidates = [
            path.clone(),
            path.join("bin/python"),
            path.join("bin/python3"),
        ];
        return (candidates.into_iter())
            .find(|path| path.is_file())
            .map(|path| Python { path, origin })
            .ok_or_else(|| {
                format!(
                    "the setting python names {}, which is no program",
                    path.display()
                )
            });
    }
    let environments = [
        (env("VIRTUAL_ENV").map(PathBuf::from), "VIRTUAL_ENV"),
        (Some(root.join(".venv")), ".venv"),
        (Some(root.join("venv")), "venv"),
    ];
    for (folder, origin) in environments {
        let Some(folder) = folder.filter(|f| f.is_absolute()) else {
            continue;
        };
        let path = folder.join("bin/python");
        if path.is_file() {
            return Ok(Python { path, origin });
        }
    }
    on_path(&["python3", "python"], &env)
        .map(|path| Python {
            path,
            origin: "PATH",
        })
        .ok_or_else(|| {
            "no Python was found: VIRTUAL_ENV is not set, the project has no .venv, and PATH has no \
             python3; name one with the setting python"
                .to_owned()
        })
}

fn on_path(names: &[&str], env: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = env("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| {
        (folders.iter())
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let make = |path: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let on_path = make("usr/python3");
        let mut environment = vec![("PATH", root.join("usr").into_os_string())];
        let look = |setting: Option<&str>, environment: &[(&str, OsString)]| {
            find(setting, root, |name| {
                environment
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, v)| v.clone())
            })
        };
        assert_eq!(look(None, &environment).unwrap().path, on_path);
        let venv = make(".venv/bin/python");
        assert_eq!(look(None, &environment).unwrap().path, venv);
        let active = make("other/bin/python");
        environment.push(("VIRTUAL_ENV", root.join("other").into_os_string()));
        assert_eq!(look(None, &environment).unwrap().path, active);
        let set = make("own/bin/python");
        for setting in ["own", "own/bin/python"] {
            assert_eq!(look(Some(setting), &environment).unwrap().path, set);
        }
        assert_eq!(look(Some("python3"), &environment).unwrap().path, on_path);
        assert!(
            look(Some("pypy"), &environment)
                .unwrap_err()
                .contains("pypy")
        );
        assert!(
            look(Some("./gone"), &environment)
                .unwrap_err()
                .contains("gone")
        );
        assert!(
            find(None, Path::new("/nowhere"), |_| None)
                .unwrap_err()
                .contains(".venv")
        );
    }
}
