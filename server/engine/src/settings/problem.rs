//! What is wrong with a settings file, in words that name the place.

use std::fmt;

/// A place in a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file's name as it is shown to the user.
    pub file: String,
    /// The line, from 1; `None` if the whole file is meant.
    pub line: Option<u32>,
}

/// `pyproject.toml:12`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// One mistake in the settings. It has cost nothing but the value it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsProblem {
    /// The setting as it was written, if the problem is about one.
    pub key: Option<String>,
    /// Where, if in a file.
    pub place: Option<Place>,
    /// The whole message for the user, place included.
    pub message: String,
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
