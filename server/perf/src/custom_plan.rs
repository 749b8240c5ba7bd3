//! The file with a kernel's custom plan: what is still worth trying on it.

use std::path::{Path, PathBuf};

use tileperf_vcs::Repo;

use crate::error::Error;
use crate::flow::slug;
use crate::store::{self, write_durably};

/// Where the plan of a kernel is, relative to a session's root: `sandbox/tileperf/plan-<kernel>.md`.
pub fn path(kernel: &str) -> PathBuf {
    Path::new(store::FOLDER).join(format!("plan-{}.md", slug(kernel)))
}

/// Writes the plan of a kernel below `root` and gives its path. The file is no part of a repository.
///
/// # Errors
/// [`Error::Io`]; [`Error::Git`] if the repository cannot be told to leave the folder alone.
pub fn write(root: &Path, kernel: &str, text: &str) -> Result<PathBuf, Error> {
    if let Ok(repo) = Repo::discover(root) {
        repo.exclude("sandbox/")?;
    }
    let path = root.join(path(kernel));
    write_durably(&path, text.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_within_the_folder() {
        for (kernel, name) in [
            ("scale", "plan-scale.md"),
            ("make.<locals>.scale", "plan-make--locals--scale.md"),
            ("../x", "plan-x.md"),
        ] {
            let wanted = Path::new("sandbox/tileperf").join(name);
            assert_eq!(path(kernel), wanted, "{kernel}");
        }
        let folder = tempfile::tempdir().unwrap();
        let written = write(folder.path(), "scale", "# Plan\n").unwrap();
        assert_eq!(std::fs::read_to_string(written).unwrap(), "# Plan\n");
    }
}
