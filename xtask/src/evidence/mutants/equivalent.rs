//! Mutants that no test can kill, listed by hand with the reason.

use std::collections::BTreeMap;

use anyhow::{Context, bail};

use super::InFile;
use crate::repo::Repo;

/// Known by what it changes, which edits elsewhere in its file leave as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    file: String,
    original: String,
    change: String,
}

/// The list.
pub(super) struct Equivalent(Vec<Entry>);

impl Equivalent {
    /// Reads the list.
    ///
    /// # Errors
    /// It is no such list, or has a mutant that is no more.
    pub(super) fn read(repo: &Repo, mutants: &[InFile]) -> anyhow::Result<Self> {
        let path = repo.at("tests/mutants/equivalent.json");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let listed: Vec<BTreeMap<String, String>> =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let mut all = Self(Vec::new());
        for mut entry in listed {
            let mut take = |name: &str| {
                let value = entry.remove(name).filter(|value| !value.is_empty());
                value.with_context(|| format!("{}: an entry without {name}", path.display()))
            };
            take("reason")?;
            all.0.push(Entry {
                file: take("file")?,
                original: take("original")?,
                change: take("change")?,
            });
        }
        let is_gone = |entry: &&Entry| !mutants.iter().any(|m| entry.is(m));
        match all.0.iter().find(is_gone) {
            Some(gone) => bail!(
                "{} lists a mutant that is no more: {gone:?}",
                path.display()
            ),
            None => Ok(all),
        }
    }

    pub(super) fn has(&self, m: &InFile) -> bool {
        self.0.iter().any(|entry| entry.is(m))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Entry {
    fn is(&self, m: &InFile) -> bool {
        self.file == m.file && self.original == m.mutant.original && self.change == m.mutant.change
    }
}
