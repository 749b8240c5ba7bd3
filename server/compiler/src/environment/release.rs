//! The CUDA release that a program or library of NVIDIA's belongs to.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

use serde::Serialize;

/// `13.4.92`: only the first two count when versions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Release {
    /// The toolkit's major version.
    pub major: u32,
    /// The toolkit's minor version.
    pub minor: u32,
    /// The build.
    pub build: u32,
}

impl Release {
    /// Whether tools of these two releases may be used together.
    #[must_use]
    pub fn fits(self, other: Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
    }
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("`{text}` is no CUDA release");
        let mut numbers = text.trim().split('.').map(|part| {
            let digits = part.find(|c: char| !c.is_ascii_digit());
            part[..digits.unwrap_or(part.len())].parse::<u32>()
        });
        let mut next = || numbers.next().and_then(Result::ok);
        Ok(Self {
            major: next().ok_or_else(fail)?,
            minor: next().ok_or_else(fail)?,
            build: next().unwrap_or(0),
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.build)
    }
}

impl From<Release> for String {
    fn from(release: Release) -> Self {
        release.to_string()
    }
}

/// What every one of them prints as its version, and therefore contains.
const MARK: &[u8] = b"Cuda compilation tools, release ";
const CHUNK: usize = 1 << 20;
/// Bytes after the mark that the release is in.
const AFTER: usize = 64;

/// Searches a file for its release. The compilers have 50 to 300 MB, of which it is read as much as
/// needed.
///
/// # Errors
/// The file cannot be read.
pub fn of_file(path: &Path) -> std::io::Result<Option<Release>> {
    let mut file = File::open(path)?;
    let mut window: Vec<u8> = Vec::with_capacity(2 * CHUNK);
    loop {
        let keep = window.len().saturating_sub(MARK.len() + AFTER);
        window.drain(..keep);
        let read = (&mut file).take(CHUNK as u64).read_to_end(&mut window)?;
        for at in memchr::memmem::find_iter(&window, MARK) {
            // At the edge of the window it is found again with what follows.
            if read > 0 && at + MARK.len() + AFTER > window.len() {
                continue;
            }
            if let Some(release) = after_mark(&window[at + MARK.len()..]) {
                return Ok(Some(release));
            }
        }
        if read == 0 {
            return Ok(None);
        }
    }
}

/// `13.4, V13.4.92` as 13.4.92.
fn after_mark(bytes: &[u8]) -> Option<Release> {
    let bytes = &bytes[..bytes.len().min(AFTER)];
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let line = text.split(['\0', '\n']).next()?;
    let build = line.split_once(", V").map(|(_, build)| build);
    build.unwrap_or(line).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_found_wherever_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tool");
        let line = b"Cuda compilation tools, release 13.4, V13.4.92\n";
        for before in [0, 5, CHUNK - 20, CHUNK - 60, 2 * CHUNK + 3] {
            let mut bytes = vec![0; before];
            bytes.extend(line);
            for after in [0, 200] {
                bytes.extend(vec![0; after]);
                std::fs::write(&path, &bytes).unwrap();
                let release = of_file(&path).unwrap().map(|release| release.to_string());
                assert_eq!(release.as_deref(), Some("13.4.92"), "{before} {after}");
            }
        }
        std::fs::write(&path, b"Cuda compilation tools, release %s").unwrap();
        assert_eq!(of_file(&path).unwrap(), None);
        assert!(of_file(&folder.path().join("none")).is_err());
    }

    #[test]
    fn only_major_and_minor_have_to_fit() {
        let of = |text: &str| text.parse::<Release>().unwrap();
        assert!(of("13.4.92").fits(of("13.4.1")) && of("13.4").fits(of("13.4.92rc1")));
        assert!(!of("13.4.92").fits(of("13.5.92")) && !of("12.4").fits(of("13.4")));
        assert!("13".parse::<Release>().is_err() && "x.y".parse::<Release>().is_err());
    }
}
