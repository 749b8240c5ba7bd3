//! What the analysis is told about the world: which cuda-tile, which architectures, which habits.
//!
//! The analysis does no I/O, so the installed version and the project's conventions come in as
//! plain data. Language rules and explanations compare against [`Version`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::arch::Arch;

/// A version of cuda-tile: `major.minor.patch`, without pre-release and build parts.
///
/// A pre-release (`1.7.0rc1`, `1.8.0.dev3`) is read as the release it leads to, because what it
/// has is what that release will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// Changes that break kernels.
    pub major: u32,
    /// New features.
    pub minor: u32,
    /// Repairs.
    pub patch: u32,
}

impl Version {
    /// The newest cuda-tile whose source this program's facts were read from.
    pub const NEWEST_KNOWN: Version = Version::new(1, 7, 0);

    /// `major.minor.patch`.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version {
            major,
            minor,
            patch,
        }
    }

    /// Whether facts may be off, because this version came after the newest one known. A later
    /// patch of the same minor version counts as known: it adds no names.
    pub fn is_newer_than_known(self) -> bool {
        (self.major, self.minor) > (Self::NEWEST_KNOWN.major, Self::NEWEST_KNOWN.minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 {
            write!(f, ".{}", self.patch)?;
        }
        Ok(())
    }
}

/// A text that is no version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAVersion(
    /// The text as it was given.
    pub String,
);

impl fmt::Display for NotAVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a version such as 1.6 or 1.7.0", self.0)
    }
}

impl std::error::Error for NotAVersion {}

/// Reads `1.7.0`, `1.6`, `v1.7`, and the pre-, post-, development and local versions that Python
/// packages have: `1.7.0rc1`, `1.8.0.dev3`, `1.7.0.post1`, `1.7.0+cu13`.
impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Version, NotAVersion> {
        let fail = || NotAVersion(text.to_owned());
        let trimmed = text.trim();
        let plain = trimmed.strip_prefix('v').unwrap_or(trimmed);
        // An epoch (`1!2.0`) changes what every comparison means; cuda-tile has none.
        let release = plain.split(['+', '-']).next().unwrap_or_default();
        let mut numbers = [0_u32; 3];
        for (read, part) in release.split('.').enumerate() {
            let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = part.split_at(digits);
            if number.is_empty() {
                // `.dev3`, `.post1`: letters after the release, of which at least one is needed.
                let starts_with_letter = rest.starts_with(|c: char| c.is_ascii_lowercase());
                return if read > 0 && starts_with_letter {
                    Ok(Version::new(numbers[0], numbers[1], numbers[2]))
                } else {
                    Err(fail())
                };
            }
            if let Some(slot) = numbers.get_mut(read) {
                *slot = number.parse().map_err(|_| fail())?;
            }
            if !rest.is_empty() {
                if rest.starts_with(|c: char| c.is_ascii_lowercase()) {
                    break;
                }
                return Err(fail());
            }
        }
        Ok(Version::new(numbers[0], numbers[1], numbers[2]))
    }
}

impl TryFrom<String> for Version {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Version, NotAVersion> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

/// What kernels are judged for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The installed or configured cuda-tile; `None` when nobody knows.
    pub cuda_tile: Option<Version>,
    /// The architectures to evaluate for, in ascending order, none twice.
    pub archs: Vec<Arch>,
    /// How the project spells what cuda-tile leaves to it.
    pub conventions: Conventions,
}

impl Target {
    /// The version whose facts apply: the given one, else the newest known.
    pub fn effective_version(&self) -> Version {
        self.cuda_tile.unwrap_or(Version::NEWEST_KNOWN)
    }

    /// What to tell the user when facts may not fit the version, else `None`.
    pub fn version_note(&self) -> Option<String> {
        let version = self
            .cuda_tile
            .filter(|version| version.is_newer_than_known())?;
        Some(format!(
            "cuda-tile {version} is newer than the {} known here: facts may be off",
            Version::NEWEST_KNOWN
        ))
    }
}

impl Default for Target {
    fn default() -> Target {
        Target {
            cuda_tile: None,
            archs: Arch::EVALUATED.to_vec(),
            conventions: Conventions::default(),
        }
    }
}

/// Names that projects, not cuda-tile, give to things the analysis must recognise.
///
/// The defaults are TileGym's. Older guides name switches that today's TileGym no longer reads;
/// kernels written after them exist, so all are recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conventions {
    /// Environment variables that switch tuning off.
    pub autotune_switches: Vec<String>,
    /// Functions that tell whether tuning is on or off.
    pub autotune_predicates: Vec<String>,
    /// Decorators, or functions called with one, that register an implementation of an operation.
    pub registrars: Vec<String>,
    /// Functions that return a kernel with other hints and memoise it, so that calling them on
    /// every launch costs nothing.
    pub cached_replace_hints: Vec<String>,
}

impl Default for Conventions {
    fn default() -> Conventions {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Conventions {
            autotune_switches: owned(&[
                "TILEGYM_DISABLE_AUTOTUNE",
                "DISABLE_AUTOTUNE",
                "DISABLE_CUTILE_TUNE",
            ]),
            autotune_predicates: owned(&["is_autotune_disabled", "is_autotune_enabled"]),
            registrars: owned(&["register_impl"]),
            cached_replace_hints: owned(&["cached_replace_hints"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_people_and_packages_write() {
        for (text, expected) in [
            ("1.7.0", (1, 7, 0)),
            ("1.6", (1, 6, 0)),
            ("2", (2, 0, 0)),
            ("v1.7", (1, 7, 0)),
            (" 1.10.2 ", (1, 10, 2)),
            ("1.7.0rc1", (1, 7, 0)),
            ("1.7rc1", (1, 7, 0)),
            ("1.8.0.dev3", (1, 8, 0)),
            ("1.8.dev3", (1, 8, 0)),
            ("1.7.0.post1", (1, 7, 0)),
            ("1.7.0+cu13", (1, 7, 0)),
            ("1.7.0-beta", (1, 7, 0)),
            ("1.7.0.1", (1, 7, 0)),
        ] {
            let (major, minor, patch) = expected;
            assert_eq!(version(text), Version::new(major, minor, patch), "{text}");
        }
        for text in [
            "",
            "x",
            "1.",
            ".7",
            "1..2",
            "1.7.*",
            ">=1.6",
            "1!1.0",
            "dev",
            "99999999999",
        ] {
            assert_eq!(
                text.parse::<Version>(),
                Err(NotAVersion(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn order_is_by_number_and_not_by_text() {
        assert!(version("1.10") > version("1.9.9"));
        assert!(version("1.7.1") > version("1.7"));
        assert!(version("2.0") > version("1.99"));
    }

    #[test]
    fn shown_as_short_as_possible() {
        assert_eq!(version("1.7.0").to_string(), "1.7");
        assert_eq!(version("1.0.1").to_string(), "1.0.1");
        assert_eq!(serde_json::to_string(&version("1.6")).unwrap(), "\"1.6\"");
    }

    #[test]
    fn only_a_newer_minor_version_is_unknown() {
        assert!(!version("1.7.9").is_newer_than_known());
        assert!(version("1.8").is_newer_than_known());
        assert!(version("2.0").is_newer_than_known());
        let mut target = Target::default();
        assert_eq!(target.effective_version(), Version::NEWEST_KNOWN);
        assert_eq!(target.version_note(), None);
        target.cuda_tile = Some(version("1.9"));
        assert_eq!(
            target.version_note().unwrap(),
            "cuda-tile 1.9 is newer than the 1.7 known here: facts may be off"
        );
    }
}
