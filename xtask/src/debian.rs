//! What a chore needs of the machine, and getting it from Debian's or Ubuntu's packages.
//!
//! Nothing is installed without a yes: on a terminal it is asked for, `--yes` gives it beforehand.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::python;
use crate::tool::Tool;

/// Something that has to be on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A program, wherever it comes from, and the package that brings it.
    Program(&'static str, &'static str),
    /// A package that is no single program.
    Package(&'static str),
    /// Python 3.10 or newer.
    Python,
    /// Python's own `venv` with `ensurepip`, which Debian packages apart.
    Venv,
    /// Node 20 or newer with npm.
    Node,
    /// Chromium or Chrome.
    Browser,
}

impl Need {
    /// Whether the machine has it.
    pub(crate) fn is_met(self) -> bool {
        match self {
            Self::Program(name, _) => is_on_path(name),
            Self::Package(name) => is_installed(name),
            Self::Python => python::interpreter().is_ok(),
            Self::Venv => Tool::new("python3")
                .args(["-c", "import ensurepip, venv"])
                .succeeds(),
            Self::Node => node_major().is_some_and(|major| major >= 20) && is_on_path("npm"),
            // Ubuntu's is the stub of a snap: it may be there and not run.
            Self::Browser => BROWSERS
                .iter()
                .any(|name| Tool::new(name).arg("--version").succeeds()),
        }
    }

    /// The package that brings it, if this system has one that is new enough.
    pub(crate) fn package(self) -> Option<&'static str> {
        match self {
            Self::Program(_, package) | Self::Package(package) => Some(package),
            Self::Venv => Some("python3-venv"),
            // Elsewhere, one package that is not there would keep all others from being installed.
            Self::Browser => is_debian_itself().then_some("chromium"),
            Self::Python | Self::Node => None,
        }
    }

    /// What to tell somebody who lacks it.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Program(name, package) if name == package => name.to_owned(),
            Self::Program(name, package) => format!("{name} (package {package})"),
            Self::Package(package) => format!("the package {package}"),
            Self::Python => "Python 3.10 or newer as python3".to_owned(),
            Self::Venv => "Python's venv module (package python3-venv)".to_owned(),
            Self::Node => "Node 20 or newer with npm".to_owned(),
            Self::Browser => "Chromium or Chrome (where chromium is a snap, Chrome)".to_owned(),
        }
    }
}

/// The programs that tests/editors/vscode/host.sh takes for a browser.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// The packages that would meet the needs that are not met, each once.
pub(crate) fn packages(needs: impl IntoIterator<Item = Need>) -> Vec<&'static str> {
    let unmet = needs.into_iter().filter(|need| !need.is_met());
    let mut packages: Vec<_> = unmet.filter_map(Need::package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// Whether packages can be installed here at all.
pub(crate) fn is_debian() -> bool {
    is_on_path("apt-get") && is_on_path("dpkg-query")
}

/// Whether this is Debian and not one of its descendants.
fn is_debian_itself() -> bool {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| line == "ID=debian")
}

/// Asks whether the packages may be installed. Without a terminal to ask on, the answer is no.
///
/// # Errors
/// The terminal cannot be read.
pub(crate) fn ask(packages: &[&str]) -> anyhow::Result<bool> {
    println!("These packages are missing and would be installed with apt-get:");
    println!("  {}", packages.join(" "));
    if !io::stdin().is_terminal() {
        println!("There is no terminal to ask on, so they are not. --yes installs them.");
        return Ok(false);
    }
    print!("Install them? [y/N] ");
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Installs packages, as root or through sudo, with apt's output in a log.
///
/// # Errors
/// apt-get fails three times, or there is no way to become root.
pub(crate) fn install(packages: &[&str], log: &Path) -> anyhow::Result<()> {
    println!("Installing {} ...", packages.join(" "));
    let mut install = vec!["install", "-y", "-q", "--no-install-recommends"];
    install.extend(packages);
    apt_get(&["update", "-q"], log)?;
    apt_get(&install, log)
}

fn apt_get(args: &[&str], log: &Path) -> anyhow::Result<()> {
    if let Some(folder) = log.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut words = as_root()?;
    words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    words.extend(args);
    for _ in 0..3 {
        let out = File::options().create(true).append(true).open(log)?;
        let errors = out.try_clone()?;
        // Not under a guard: sudo asks for the password on the terminal of this session, and
        // an installation is not to be killed half-way.
        let status = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .status()
            .context("cannot start apt-get")?;
        if status.success() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs(5));
    }
    bail!("apt-get {} failed: see {}", args[0], log.display())
}

/// The words that come before a command that only root may run.
fn as_root() -> anyhow::Result<Vec<&'static str>> {
    if Tool::new("id").arg("-u").read()?.trim() == "0" {
        return Ok(Vec::new());
    }
    if !is_on_path("sudo") {
        bail!("installing packages needs root, and there is no sudo here");
    }
    Ok(if io::stdin().is_terminal() {
        vec!["sudo"]
    } else {
        vec!["sudo", "--non-interactive"]
    })
}

fn is_installed(package: &str) -> bool {
    Tool::new("dpkg-query")
        .args(["-W", "-f", "${db:Status-Status}", package])
        .read()
        .is_ok_and(|status| status == "installed")
}

/// Whether there is a program of that name; debootstrap and others are where only root looks.
pub(crate) fn is_on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = [Path::new("/usr/sbin").to_owned(), "/sbin".into()];
    std::env::split_paths(&path)
        .chain(more)
        .any(|folder| folder.join(name).is_file())
}

fn node_major() -> Option<u32> {
    let version = Tool::new("node").arg("--version").read().ok()?;
    let version = version.trim().trim_start_matches('v');
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_needs_no_package() {
        let sh = Need::Program("sh", "dash");
        let other = Need::Program("no-such-program-at-all", "a-package");
        assert!(sh.is_met() && !other.is_met());
        assert_eq!(packages([sh, other, other]), ["a-package"]);
    }
}
