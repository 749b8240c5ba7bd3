//! A project whose Python has no packages, and which installs empty files in their place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::{KERNELS, Project};

/// Stands for Python: says its version, makes an environment that is itself, and installs into it. It
/// waits, or fails, if a file beside it says so.
const PYTHON: &str = r#"#!/bin/sh
set -e
beside=$(cat "$(dirname "$0")/beside" 2>/dev/null || dirname "$0")
case "$1 $2" in
"-c "*) echo 3.12 ;;
"-m venv")
  mkdir -p "$4/bin"
  cp "$0" "$4/bin/python"
  echo "$beside" >"$4/bin/beside"
  printf 'home = /usr/bin\nversion = 3.12.0\n' >"$4/pyvenv.cfg"
  ;;
"-m pip")
  echo "Collecting cuda-tile"
  [ ! -e "$beside/slow" ] || sleep 60
  if [ -e "$beside/offline" ]; then
    echo "ERROR: Could not find a version that satisfies the requirement cuda-tile (from versions: none)" >&2
    exit 1
  fi
  site=$(dirname "$(dirname "$0")")/lib/python3.12/site-packages
  for package in cuda_tile-1.7.0 nvidia_cuda_tileiras-13.4.92 nvidia_cuda_nvcc-13.4.92 nvidia_nvvm-13.4.80; do
    mkdir -p "$site/$package.dist-info"
    name=$(echo "${package%-*}" | tr _ -)
    printf 'Metadata-Version: 2.4\nName: %s\nVersion: %s\n\n' "$name" "${package##*-}" >"$site/$package.dist-info/METADATA"
  done
  mkdir -p "$site/nvidia/cu13/bin" "$site/nvidia/cu13/lib"
  touch "$site/nvidia/cu13/bin/tileiras" "$site/nvidia/cu13/bin/ptxas" "$site/nvidia/cu13/lib/libnvvm.so.4"
  ;;
esac
"#;

/// The project, its Python, and tileperf's folders.
pub(crate) struct World {
    pub(crate) project: Project,
    folders: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            project: Project::sample(),
            folders: tempfile::tempdir().expect("a folder"),
        };
        let python = world.python();
        fs::create_dir_all(world.at("python/bin")).expect("a folder");
        fs::write(&python, PYTHON).expect("a file");
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("a program");
        fs::write(
            world.at("python/pyvenv.cfg"),
            "home = /usr/bin\nversion = 3.12.0\n",
        )
        .expect("a file");
        world
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folders.path().join(name)
    }

    fn python(&self) -> PathBuf {
        self.at("python/bin/python")
    }

    /// What the Python is to do from now on.
    pub(crate) fn python_is(&self, how: &str) {
        fs::write(self.at("python/bin").join(how), "").expect("a file");
    }

    /// What was installed, if anything was.
    pub(crate) fn installed(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.at("cache/toolchain"));
        let folders = entries
            .into_iter()
            .flatten()
            .map(|entry| entry.expect("an entry").path());
        folders.filter(|path| path.is_dir()).collect()
    }

    /// A client that leaves the server's questions to the test.
    pub(crate) fn start(&self, trusted: bool, shows_buttons: bool) -> Client {
        let environment = [("TILEPERF_CACHE", "cache"), ("TILEPERF_STATE", "state")];
        let empty = self.at("no-programs");
        let mut environment: Vec<(String, PathBuf)> = (environment.iter())
            .map(|(name, folder)| ((*name).to_owned(), self.at(folder)))
            .collect();
        // No tileiras of the machine's.
        environment.push(("CUDA_HOME".into(), empty));
        Client::start(Options {
            folder: Some(self.project.folder().to_owned()),
            capabilities: json!({
                "window": {"workDoneProgress": true, "showDocument": {"support": true}},
                "experimental": {"messageButtons": shows_buttons},
            }),
            initialization_options: json!({
                "trusted": trusted,
                "settings": {"python": {"path": self.python()}},
            }),
            environment,
            answers: false,
            ..Options::default()
        })
        .0
    }

    /// Opens the file with the kernel.
    pub(crate) fn open(&self, client: &mut Client) {
        client.open(&self.project.uri("pkg/kernels.py"), KERNELS);
        while client.notification("tileperf/status")["state"] != "ready" {}
    }
}

/// Runs a command.
pub(crate) fn command(client: &mut Client, name: &str) -> Value {
    client.ask(
        "workspace/executeCommand",
        json!({"command": name, "arguments": []}),
    )
}

/// Waits for a question with buttons, presses one, and gives what was asked with all titles.
pub(crate) fn press(client: &mut Client, button: Option<&str>) -> (String, Vec<String>) {
    let (id, params) = client.question("window/showMessageRequest");
    let pressed = button.map(|title| json!({ "title": title }));
    answer(client, &id, json!(pressed));
    let titles = params["actions"].as_array().expect("a list").iter();
    let titles = titles.map(|action| action["title"].as_str().expect("a title").to_owned());
    (
        params["message"].as_str().expect("a message").to_owned(),
        titles.collect(),
    )
}

/// Answers a question.
pub(crate) fn answer(client: &mut Client, id: &Value, result: Value) {
    client.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

/// Waits for a message that is shown.
pub(crate) fn message(client: &mut Client) -> String {
    let shown = client.notification("window/showMessage");
    shown["message"].as_str().expect("a message").to_owned()
}

/// Ends a session in which some questions were left to nobody.
pub(crate) fn finish(mut client: Client) {
    client.answers(true);
    client.finish();
}

/// The file that a URI names.
pub(crate) fn file_of(uri: &Value) -> PathBuf {
    Path::new(
        uri.as_str()
            .expect("a URI")
            .strip_prefix("file://")
            .expect("a file's URI"),
    )
    .to_owned()
}
