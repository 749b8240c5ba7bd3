//! Whether everything that compiling and measuring needs is there and fits together, with the cure
//! for what does not.
//!
//! Nothing is started. Whoever has asked the driver hands in what it said: this crate knows no GPU.

pub mod symptoms;
#[cfg(test)]
mod tests;
mod tools;

use std::path::Path;

use serde::Serialize;
use tileperf_analysis::target::Version;

use crate::cache_db::{self, CacheDb};
use crate::environment::{Environment, Found, Managed, Variables};
pub use symptoms::{SYMPTOMS, Symptom};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Worth knowing, and nothing is wrong.
    Note,
    /// Something may go wrong.
    Warning,
    /// Something does not work.
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is.
    pub name: &'static str,
    /// How it came out.
    pub status: Status,
    /// What was found, for people.
    pub found: String,
    /// What to do about it.
    pub cure: Option<String>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Ok,
            found: found.into(),
            cure: None,
        }
    }

    fn note(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            status: Status::Note,
            ..Self::ok(name, found)
        }
    }

    fn with_cure(self, status: Status, cure: impl Into<String>) -> Self {
        Self {
            status,
            cure: Some(cure.into()),
            ..self
        }
    }
}

/// What the driver said: a line a device, or why there is none.
pub type Devices = Result<Vec<String>, String>;

/// Looks at everything, in the order in which things depend on one another.
#[must_use]
pub fn examine(
    found: &Found,
    managed: &Managed,
    devices: &Devices,
    variables: Variables<'_>,
) -> Vec<Check> {
    let mut checks = vec![python(found)];
    if let Ok(user) = &found.user {
        checks.push(cuda_tile(user));
        checks.extend(tools::examine(user, variables));
    }
    checks.push(managed_one(found, managed));
    checks.extend(virtual_environments(found));
    checks.push(cache(variables));
    checks.push(gpu(devices));
    checks
}

fn python(found: &Found) -> Check {
    const NAME: &str = "Python";
    match &found.user {
        Ok(user) => Check::ok(NAME, format!("{} ({})", user.python.display(), user.origin)),
        Err(none) => Check::ok(NAME, none).with_cure(
            Status::Problem,
            "install Python 3.10 or newer, or name one with the setting python.path",
        ),
    }
}

fn cuda_tile(user: &Environment) -> Check {
    const NAME: &str = "cuda-tile";
    let install = format!(
        "{} -m pip install 'cuda-tile[tileiras]', or `tileperf toolchain install`",
        user.python.display()
    );
    let Some(package) = &user.cuda_tile else {
        let check = Check::ok(NAME, "not installed in this Python");
        return check.with_cure(Status::Problem, install);
    };
    let check = Check::ok(
        NAME,
        format!("{} in {}", package.version, package.folder.display()),
    );
    match user.version() {
        None => check.with_cure(
            Status::Warning,
            "its version cannot be read, so rules count as for the newest one known",
        ),
        Some(version) if version.is_newer_than_known() => check.with_cure(
            Status::Warning,
            format!(
                "it is newer than the {} that this tileperf knows: facts may be off. Look for a newer \
                 tileperf",
                Version::NEWEST_KNOWN
            ),
        ),
        Some(_) => check,
    }
}

fn managed_one(found: &Found, managed: &Managed) -> Check {
    const NAME: &str = "managed tool chain";
    let folder = managed.folder().display();
    let user_lacks = match &found.user {
        Ok(user) => user.lacks(),
        Err(none) => Some(none.clone()),
    };
    match (&found.managed, user_lacks) {
        (Some(_), None) => Check::ok(NAME, format!("in {folder}; the project's own is used")),
        (Some(_), Some(lack)) => Check::ok(NAME, format!("in {folder}, used because {lack}")),
        (None, None) => Check::ok(NAME, "not installed, and not needed"),
        (None, Some(lack)) => Check::ok(NAME, format!("not installed, and {lack}"))
            .with_cure(Status::Problem, "tileperf toolchain install"),
    }
}

/// Only where one has to be made: for the managed tool chain.
fn virtual_environments(found: &Found) -> Option<Check> {
    const NAME: &str = "virtual environments";
    let user = found.user.as_ref().ok()?;
    if user.lacks().is_none() || found.managed.is_some() {
        return None;
    }
    let check = match user.can_make_environments? {
        true => Check::ok(NAME, "this Python can make them"),
        false => Check::ok(NAME, "this Python lacks the module ensurepip").with_cure(
            Status::Problem,
            "sudo apt install python3-venv, which `tileperf toolchain install` needs",
        ),
    };
    Some(check)
}

fn cache(variables: Variables<'_>) -> Check {
    const NAME: &str = "cuTile's cache";
    let opened = cache_db::file(variables).and_then(|path| {
        let count = CacheDb::open(&path)?.count()?;
        Ok((path, count))
    });
    match opened {
        Ok((path, count)) => Check::ok(NAME, format!("{count} programs in {}", path.display())),
        Err(error @ (cache_db::Error::Missing(_) | cache_db::Error::Busy)) => {
            Check::note(NAME, error.to_string())
        }
        Err(cache_db::Error::Off) => Check::note(
            NAME,
            format!(
                "{}: every process compiles each kernel again",
                cache_db::Error::Off
            ),
        ),
        Err(error @ cache_db::Error::Damaged { .. }) => Check::ok(NAME, error.to_string())
            .with_cure(Status::Warning, "delete the file; cuTile makes it anew"),
        Err(error @ cache_db::Error::Refused { .. }) => Check::ok(NAME, error.to_string())
            .with_cure(Status::Warning, "give yourself the right to read it"),
        Err(error @ cache_db::Error::Unknown(_)) => Check::ok(NAME, error.to_string()).with_cure(
            Status::Warning,
            "look for a newer tileperf; signatures are not taken from the cache until then",
        ),
    }
}

fn gpu(devices: &Devices) -> Check {
    const NAME: &str = "GPU";
    match devices {
        Ok(devices) if !devices.is_empty() => Check::ok(NAME, devices.join("; ")),
        Ok(_) => Check::note(NAME, "none; only measuring needs one"),
        Err(why) => Check::note(NAME, format!("{why}; only measuring needs one")),
    }
}

/// What kernels are compiled for, in words of whoever knows the settings.
#[must_use]
pub fn architectures(found: &str) -> Check {
    Check::ok("compiled for", found)
}

/// A path as it is shown, `-` for none.
fn shown(path: Option<&Path>) -> String {
    path.map_or_else(|| "-".to_owned(), |path| path.display().to_string())
}
