//! A change that is not on the disk: it is made for a run, beside the user's files, and put into them
//! when it is kept.

use std::path::PathBuf;

use crate::error::Error;
use crate::event::Stored;

use super::Loop;

/// A change that is not on the disk, of one file.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The file, relative to the session's root.
    pub path: PathBuf,
    /// The text that it was made for.
    pub before: String,
    /// The text with it.
    pub after: String,
}

impl Loop<'_> {
    /// Refuses if there is a change on the disk: it would be tried together with a proposal.
    ///
    /// # Errors
    /// [`Error::Untried`]; the files cannot be read.
    pub fn expect_tried(&self) -> Result<(), Error> {
        expect_same(&self.session.base, &self.keep_all(&self.on_disk()?)?)
    }

    /// The changeable files as proposals make them.
    pub(super) fn candidate(
        &self,
        proposals: &[Proposal],
        standing: &[Stored],
    ) -> Result<Vec<Stored>, Error> {
        expect_same(&self.session.base, standing)?;
        let mut candidate = self.get_all(standing)?;
        for proposal in proposals {
            let shown = proposal.path.display();
            let file = candidate.iter_mut().find(|file| file.path == proposal.path);
            let file = file.ok_or_else(|| {
                Error::State(format!(
                    "the change is also of {shown}, which is not one of the session's files"
                ))
            })?;
            let content = (file.content.as_mut())
                .filter(|content| content.bytes == proposal.before.as_bytes());
            let content = content.ok_or_else(|| {
                Error::State(format!(
                    "{shown} is not UTF-8 or has changed meanwhile: it was left alone"
                ))
            })?;
            content.bytes = proposal.after.clone().into_bytes();
        }
        self.keep_all(&candidate)
    }
}

/// Refuses if a file of `found` is not as in `base`.
fn expect_same(base: &[Stored], found: &[Stored]) -> Result<(), Error> {
    let differs = |file: &&Stored| !base.contains(file);
    let files: Vec<PathBuf> = (found.iter().filter(differs))
        .map(|file| file.path.clone())
        .collect();
    match files.is_empty() {
        true => Ok(()),
        false => Err(Error::Untried { files }),
    }
}
