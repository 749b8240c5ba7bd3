//! On environments made of empty files: nothing of them is started.

use std::fs;

use super::*;

/// A folder with projects and Pythons, and the variables that lead there.
pub(crate) struct World {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, OsString)>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn set(&mut self, name: &'static str, path: &str) {
        let value = self.at(path).into_os_string();
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value));
    }

    /// A virtual environment of Python 3.11.
    pub(crate) fn venv(&self, name: &str, more: &str) {
        self.file(&format!("{name}/bin/python"), "");
        let settings = format!("home = /usr/bin\nversion = 3.11.7\n{more}");
        self.file(&format!("{name}/pyvenv.cfg"), &settings);
    }

    pub(crate) fn package(&self, site: &str, name: &str, version: &str) {
        let info = format!("{site}/{}-{version}.dist-info", name.replace('-', "_"));
        let text =
            format!("Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nVersion: 9\n");
        self.file(&format!("{info}/METADATA"), &text);
    }

    pub(crate) fn cutile(&self, venv: &str, releases: [&str; 3]) {
        let site = format!("{venv}/lib/python3.11/site-packages");
        self.package(&site, "cuda-tile", "1.7.0");
        for (name, release) in compiler::PACKAGES.into_iter().zip(releases) {
            self.package(&site, name, release);
        }
        for file in ["bin/tileiras", "bin/ptxas", "lib/libnvvm.so.4"] {
            self.file(&format!("{site}/nvidia/cu13/{file}"), "");
        }
    }

    pub(crate) fn look(&self) -> Found {
        let managed = Managed::in_cache(&self.at("cache"));
        Found::look(None, self.folder.path(), &managed, &|name| {
            self.variable(name)
        })
    }

    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    }

    fn root_of(&self, environment: &Environment) -> (PathBuf, Option<&'static str>) {
        environment
            .compiler
            .as_ref()
            .unwrap()
            .root_in(&|name| self.variable(name))
    }
}

pub(crate) const SAME: [&str; 3] = ["13.4.92", "13.4.92", "13.4.80"];

#[test]
fn a_complete_environment_of_the_project() {
    let world = World::new();
    world.venv(".venv", "");
    world.cutile(".venv", SAME);
    let found = world.look();
    let chosen = found.chosen().unwrap();
    assert_eq!(chosen.origin, ".venv");
    assert_eq!(found.project_version(), Some(Version::new(1, 7, 0)));
    let compiler = chosen.compiler.clone().unwrap();
    assert_eq!(compiler.origin, Origin::Packages);
    assert!(compiler.is_complete());
    assert_eq!(compiler.release(), None, "an empty file says none");
    assert_eq!(chosen.tools.len(), 3);
}

#[test]
fn what_is_missing_is_said_with_its_cure() {
    let world = World::new();
    let none = world.look().chosen().unwrap_err().clone();
    assert!(
        none.contains("no Python was found") && none.contains("toolchain install"),
        "{none}"
    );
    world.venv(".venv", "");
    let no_tile = world.look().chosen().unwrap_err();
    assert!(no_tile.contains("has no cuda-tile"), "{no_tile}");
    world.package(".venv/lib/python3.11/site-packages", "Cuda.Tile", "1.6.1");
    let found = world.look();
    assert!(found.chosen().unwrap_err().contains("tileiras"));
    assert_eq!(found.project_version(), Some(Version::new(1, 6, 1)));
}

#[test]
fn packages_of_two_releases_are_passed_over_for_path() {
    let mut world = World::new();
    world.venv(".venv", "");
    world.cutile(".venv", ["13.4.92", "13.3.1", "13.4.80"]);
    assert!(world.look().chosen().is_err());
    world.file("usr/bin/tileiras", "");
    world.set("PATH", "usr/bin");
    let found = world.look();
    let compiler = found.chosen().unwrap().compiler.clone().unwrap();
    assert_eq!(
        (compiler.origin, compiler.is_complete()),
        (Origin::Path, false)
    );
}

#[test]
fn the_root_is_that_of_the_strongest_variable_that_reaches_tileiras() {
    let mut world = World::new();
    world.venv(".venv", "");
    world.file("usr/bin/tileiras", "");
    world.package(".venv/lib/python3.11/site-packages", "cuda-tile", "1.7.0");
    world.set("PATH", "usr/bin");
    let on_path = world.look().user.unwrap();
    let root = fs::canonicalize(world.at("usr")).unwrap();
    assert_eq!(world.root_of(&on_path), (root, None));
    world.cutile(".venv", SAME);
    let packaged = world.look().user.unwrap();
    for (set, of_path, of_packages) in [
        ("CUDA_PATH", Some("CUDA_PATH"), None),
        ("CUDA_HOME", Some("CUDA_HOME"), None),
        ("CUDA_ROOT", Some("CUDA_ROOT"), Some("CUDA_ROOT")),
    ] {
        world.set(set, "elsewhere");
        assert_eq!(world.root_of(&on_path).1, of_path);
        assert_eq!(world.root_of(&packaged).1, of_packages);
    }
}

#[test]
fn packages_of_the_system_count_where_the_environment_says_so() {
    let world = World::new();
    world.venv(".venv", "include-system-site-packages = TRUE\n");
    let home = format!("home = {}\n", world.at("usr/bin").display());
    let settings = fs::read_to_string(world.at(".venv/pyvenv.cfg")).unwrap();
    let settings = settings.replace("home = /usr/bin\n", &home);
    world.file(".venv/pyvenv.cfg", &settings);
    world.file("usr/bin/python3.11", "");
    std::os::unix::fs::symlink("python3.11", world.at("usr/bin/python3")).unwrap();
    world.package(
        "usr/local/lib/python3.11/dist-packages",
        "cuda-tile",
        "1.5.0",
    );
    assert_eq!(world.look().project_version(), Some(Version::new(1, 5, 0)));
    world.package(".venv/lib/python3.11/site-packages", "cuda-tile", "1.7.0");
    assert_eq!(world.look().project_version(), Some(Version::new(1, 7, 0)));
}

#[test]
fn the_managed_one_counts_only_when_it_is_whole() {
    let world = World::new();
    let managed = Managed::in_cache(&world.at("cache"));
    let name = format!(
        "cache/toolchain/{}",
        managed.folder().file_name().unwrap().display()
    );
    world.venv(&name, "");
    world.cutile(&name, SAME);
    assert!(world.look().managed.is_none());
    world.file(
        &format!("{name}/.tileperf-complete"),
        &REQUIREMENTS.join("\n"),
    );
    let found = world.look();
    assert_eq!(found.chosen().unwrap().origin, "kept by tileperf");
    assert_eq!(found.project_version(), None);
    world.file(&format!("{name}/.tileperf-complete"), "an older one");
    assert!(world.look().managed.is_none());
}
