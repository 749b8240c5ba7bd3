//! What goes wrong around compiling: tools that crash, hang or say nothing, a disk that is full, no
//! tools at all. The server stays, says it once, at the kernel, and takes it back once it is cured.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::Project;

use super::editor::until;
use super::{lenses, python};

const KERNEL: &str = "\
import cuda.tile as ct


@ct.kernel
def scale(x, y, N: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, (i, 0), ct.load(x, (i, 0), (16, N)) * 2)


def run(x, y, stream):
    ct.launch(stream, (64,), scale, (x, y, 64))
";

/// Where the kernel's name stands.
const NAME: (u32, u32) = (4, 5);
/// An answer that nobody should have to wait for longer, however busy the machine is.
const SOON: Duration = Duration::from_secs(10);
/// What failed at once is tried again after so long.
const AGAIN: Duration = Duration::from_secs(5);
/// A lens of a kernel that could not be compiled.
const FAILED: &str = "sm_90: could not be compiled";

/// An environment whose Python and tileiras do what they are told: `crash`, `hang`, `silent`, `nonsense`,
/// else what the real ones do.
struct Tools {
    folder: PathBuf,
}

impl Tools {
    fn new(project: &Project, real: &Path) -> Self {
        let folder = project.folder().join("tools");
        let prefix = real
            .parent()
            .and_then(Path::parent)
            .expect("an environment");
        let site = site_packages(prefix);
        let own = folder.join("lib/python3.12/site-packages");
        mirrored(&site, &own, "nvidia/cu13/bin/tileiras");
        let tools = Self { folder };
        fs::create_dir_all(tools.folder.join("bin")).expect("a folder");
        fs::write(
            tools.folder.join("pyvenv.cfg"),
            "home = /usr/bin\nversion = 3.12.0\n",
        )
        .expect("a file");
        tools.script("python", &tools.python(), real);
        let tileiras = "nvidia/cu13/bin/tileiras";
        tools.script("tileiras", &own.join(tileiras), &site.join(tileiras));
        tools
    }

    fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    fn script(&self, name: &str, at: &Path, real: &Path) {
        let text = format!(
            "#!/bin/sh\ncase \"$(cat '{}' 2>/dev/null)\" in\ncrash) kill -SEGV $$ ;;\nhang) exec sleep 600 ;;\n\
             silent) exit 5 ;;\nnonsense) echo nonsense; exec sleep 600 ;;\nesac\nexec '{}' \"$@\"\n",
            self.mode(name).display(),
            real.display(),
        );
        fs::write(at, text).expect("a script");
        fs::set_permissions(at, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    fn mode(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.mode"))
    }

    /// What a tool does from now on; nothing for what it should.
    fn set(&self, name: &str, mode: &str) {
        fs::write(self.mode(name), mode).expect("a file");
    }
}

fn site_packages(prefix: &Path) -> PathBuf {
    let versions = fs::read_dir(prefix.join("lib")).expect("libraries");
    let mut folders = versions.flatten().map(|v| v.path().join("site-packages"));
    folders.find(|folder| folder.is_dir()).expect("packages")
}

/// Links everything of a folder into another, except for one file, whose folders are made anew.
fn mirrored(from: &Path, to: &Path, except: &str) {
    fs::create_dir_all(to).expect("a folder");
    let (first, rest) = match except.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (except, None),
    };
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let name = entry.file_name();
        if name != first {
            symlink(entry.path(), to.join(name)).expect("a link");
        }
    }
    if let Some(rest) = rest {
        mirrored(&from.join(first), &to.join(first), rest);
    }
}

fn start(project: &Project, python: &Path, cache: &Path, within: Vec<String>) -> Client {
    let settings = json!({"python": {"path": python}, "compile": {"archs": ["sm_90"]}});
    Client::start(Options {
        initialization_options: json!({"trusted": true, "settings": settings}),
        folder: Some(project.folder().to_owned()),
        within,
        environment: vec![
            ("TILEPERF_CACHE".to_owned(), cache.to_owned()),
            (
                "CUDA_TILE_CACHE_DIR".to_owned(),
                project.folder().join(".cutile"),
            ),
            // No tileiras of the machine's.
            ("CUDA_HOME".to_owned(), project.folder().join("no-programs")),
            ("PATH".to_owned(), "/usr/bin:/bin".into()),
        ],
        ..Options::default()
    })
    .0
}

fn open(client: &mut Client, project: &Project) -> String {
    project.write("scale.py", KERNEL);
    let uri = project.uri("scale.py");
    client.open(&uri, KERNEL);
    uri
}

/// The hover over the kernel's name.
fn card(client: &mut Client, uri: &str) -> String {
    let position = json!({"line": NAME.0, "character": NAME.1});
    let asked = Instant::now();
    let hover = client.ask(
        "textDocument/hover",
        json!({"textDocument": {"uri": uri}, "position": position}),
    );
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    hover["contents"]["value"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn save(client: &mut Client, uri: &str) {
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": uri}}),
    );
}

fn count(titles: &[String], part: &str) -> usize {
    titles.iter().filter(|title| title.contains(part)).count()
}

/// Waits until the kernel could not be compiled for this reason, which is said there once and nowhere
/// else.
fn fails(client: &mut Client, uri: &str, reason: &str) {
    let is_said = |titles: &Vec<String>| count(titles, FAILED) > 0;
    let titles = until(|| lenses(client, uri), is_said, reason);
    assert_eq!(count(&titles, FAILED), 1, "{titles:?}");
    let card = card(client, uri);
    assert_eq!(card.matches(reason).count(), 1, "{reason} in {card}");
    assert!(
        !client.has_within("window/showMessage", Duration::ZERO),
        "{}",
        client.log_text()
    );
}

/// Waits until there is machine code, and nothing is left of a failure.
fn compiles(client: &mut Client, uri: &str) {
    let is_there = |titles: &Vec<String>| count(titles, " regs") == 1;
    let titles = until(|| lenses(client, uri), is_there, "machine code");
    assert_eq!(count(&titles, FAILED), 0, "{titles:?}");
    assert!(!card(client, uri).contains("could not be compiled"));
}

#[test]
fn a_tool_that_fails_is_said_at_the_kernel_until_it_is_cured() {
    let Some(real) = python() else { return };
    std::thread::scope(|tests| {
        for (tool, mode, reason) in [
            ("python", "crash", "ended without an answer"),
            ("python", "nonsense", "something that is not understood"),
            ("tileiras", "crash", "could not be compiled: tileiras"),
            ("tileiras", "silent", "ended with code 5"),
        ] {
            let real = &real;
            tests.spawn(move || {
                let project = Project::empty();
                let tools = Tools::new(&project, real);
                tools.set(tool, mode);
                let cache = project.folder().join(".cache");
                let mut client = start(&project, &tools.python(), &cache, Vec::new());
                let uri = open(&mut client, &project);
                fails(&mut client, &uri, reason);
                // Still so: it is tried again, and said no second time.
                std::thread::sleep(AGAIN);
                save(&mut client, &uri);
                std::thread::sleep(Duration::from_secs(2));
                fails(&mut client, &uri, reason);
                tools.set(tool, "");
                std::thread::sleep(AGAIN);
                save(&mut client, &uri);
                compiles(&mut client, &uri);
                client.finish();
            });
        }
    });
}

#[test]
fn a_frontend_that_hangs_keeps_nobody_waiting() {
    let Some(real) = python() else { return };
    let project = Project::empty();
    let tools = Tools::new(&project, &real);
    tools.set("python", "hang");
    let cache = project.folder().join(".cache");
    let mut client = start(&project, &tools.python(), &cache, Vec::new());
    let uri = open(&mut client, &project);
    let is_hanging = |children: &Vec<u32>| !children.is_empty();
    let pid = client.pid();
    until(
        || tileperf_tests::process::children(pid),
        is_hanging,
        "the frontend",
    );
    card(&mut client, &uri);
    // An edit ends it, long before its time is over.
    tools.set("python", "");
    let edited = KERNEL.replace("* 2", "* 3");
    client.change(&uri, 2, json!([{"text": edited}]));
    let asked = Instant::now();
    compiles(&mut client, &uri);
    assert!(
        asked.elapsed() < Duration::from_secs(30),
        "{:?}",
        asked.elapsed()
    );
    client.finish();
}

#[test]
fn a_file_that_never_ends_is_given_up() {
    let Some(python) = python() else { return };
    let project = Project::empty();
    let endless = KERNEL
        .replace("\n\n\n@ct", "\n\nSIZE = [n for n in iter(int, 1)]\n\n\n@ct")
        .replace("* 2", "* SIZE[0]");
    project.write("scale.py", &endless);
    let uri = project.uri("scale.py");
    let cache = project.folder().join(".cache");
    let mut client = start(&project, &python, &cache, Vec::new());
    client.open(&uri, &endless);
    let is_said = |titles: &Vec<String>| count(titles, FAILED) == 1;
    until(|| lenses(&mut client, &uri), is_said, "the end of its time");
    client.change(&uri, 2, json!([{"text": KERNEL}]));
    compiles(&mut client, &uri);
    client.finish();
}

/// A cache, and what the server that has it is started by.
type Place = (PathBuf, Vec<String>);

/// Makes one in a project; nothing where that is not allowed.
type Make<'m> = &'m dyn Fn(&Project) -> Option<Place>;

/// A server whose cache stands on a disk of so many KiB, where this user may mount one.
fn on_a_disk(cache: &Path, kib: u32) -> Option<Vec<String>> {
    let script = format!(
        "mount -t tmpfs -o size={kib}k tmpfs '{}' && exec \"$@\"",
        cache.display()
    );
    let words = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        &script,
        "sh",
    ];
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let works = std::process::Command::new(&words[0])
        .args(&words[1..])
        .arg("true")
        .status();
    works.is_ok_and(|status| status.success()).then_some(words)
}

/// Fills what is left of a disk that a process sees.
fn fill(file: &Path) {
    let mut all = fs::File::create(file).expect("a file");
    let filled = std::io::copy(&mut std::io::repeat(1), &mut all);
    let full = filled.expect_err("a disk without end");
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn a_full_disk_costs_what_is_kept_and_nothing_else() {
    let Some(python) = python() else { return };
    let project = Project::empty();
    let cache = project.folder().join(".cache");
    fs::create_dir_all(&cache).expect("a folder");
    let Some(within) = on_a_disk(&cache, 1024) else {
        return;
    };
    let mut client = start(&project, &python, &cache, within);
    let filler = PathBuf::from(format!(
        "/proc/{}/root{}",
        client.pid(),
        cache.join("filler").display()
    ));
    let uri = open(&mut client, &project);
    compiles(&mut client, &uri);
    fill(&filler);
    for (version, factor) in [(2, 3), (3, 4), (4, 5)] {
        let edited = KERNEL.replace("* 2", &format!("* {factor}"));
        client.change(&uri, version, json!([{"text": edited}]));
        save(&mut client, &uri);
        let is_new =
            |titles: &Vec<String>| count(titles, " regs") == 1 && count(titles, "(stale)") == 0;
        until(|| lenses(&mut client, &uri), is_new, "machine code");
    }
    let said = |client: &Client| client.log_text().matches("compiles cannot be kept").count();
    assert_eq!(said(&client), 1, "{}", client.log_text());
    assert!(!client.has_within("window/showMessage", Duration::ZERO));
    fs::remove_file(&filler).expect("room again");
    let edited = KERNEL.replace("* 2", "* 6");
    client.change(&uri, 5, json!([{"text": edited}]));
    save(&mut client, &uri);
    let kept = PathBuf::from(format!(
        "/proc/{}/root{}",
        client.pid(),
        cache.join("compiled").display()
    ));
    let files = || fs::read_dir(&kept).map_or(0, |files| files.flatten().count());
    until(files, |files| *files >= 4, "what is kept");
    assert_eq!(said(&client), 1, "{}", client.log_text());
    client.finish();
}

#[test]
fn a_cache_that_cannot_be_written_is_said_once_until_it_can() {
    let Some(python) = python() else { return };
    let full = |project: &Project| {
        let cache = project.folder().join(".cache");
        fs::create_dir_all(&cache).expect("a folder");
        on_a_disk(&cache, 4).map(|within| (cache, within))
    };
    let occupied = |project: &Project| {
        project.write(".cache", "a file");
        Some((project.folder().join(".cache"), Vec::new()))
    };
    let cures: [(Make<'_>, bool); 2] = [(&full, false), (&occupied, true)];
    for (make, curable) in cures {
        let project = Project::empty();
        let Some((cache, within)) = make(&project) else {
            continue;
        };
        let mut client = start(&project, &python, &cache, within);
        let uri = open(&mut client, &project);
        let said = client.notification("window/showMessage");
        let text = said["message"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains("cannot be prepared in"), "{text}");
        for version in 2..5 {
            let edited = format!("{KERNEL}# {version}\n");
            client.change(&uri, version, json!([{"text": edited}]));
            save(&mut client, &uri);
            card(&mut client, &uri);
        }
        assert!(!client.has_within("window/showMessage", Duration::from_secs(3)));
        if curable {
            fs::remove_file(&cache).expect("no file any more");
            save(&mut client, &uri);
            compiles(&mut client, &uri);
        }
        client.finish();
    }
}

#[test]
fn a_python_without_cuda_tile_is_said_once_until_it_has_it() {
    let Some(real) = python() else { return };
    let project = Project::empty();
    let tools = Tools::new(&project, &real);
    let packages = tools.folder.join("lib");
    let aside = tools.folder.join("aside");
    fs::rename(&packages, &aside).expect("no packages");
    let cache = project.folder().join(".cache");
    let mut client = start(&project, &tools.python(), &cache, Vec::new());
    let uri = open(&mut client, &project);
    let said: Value = client.notification("window/showMessage");
    let text = said["message"].as_str().unwrap_or_default();
    assert!(text.contains("has no cuda-tile"), "{text}");
    save(&mut client, &uri);
    assert!(!client.has_within("window/showMessage", Duration::from_secs(3)));
    fs::rename(&aside, &packages).expect("packages");
    save(&mut client, &uri);
    compiles(&mut client, &uri);
    client.finish();
}
