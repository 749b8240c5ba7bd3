//! From what a compiler names a place by to an anchor that later texts keep.

use tileperf_analysis::compiled::Site;
use tileperf_compiler::worker::Place;

use super::anchor::{Anchor, Anchors};
use super::subject::Subject;

/// Where the frontend says that something stands.
pub(super) fn site(place: &Place) -> Option<Site> {
    Some(Site {
        file: place.path.clone()?,
        line: place.line?,
        column: place.column.unwrap_or(0),
    })
}

/// Places in the kernel's own file, at the time of a compile.
pub(super) struct Places<'s> {
    file: &'s str,
    anchors: Option<Anchors<'s>>,
}

impl<'s> Places<'s> {
    pub(super) fn new(subject: &'s Subject) -> Self {
        let own = subject.sources.first();
        Self {
            file: own.map_or("", |source| source.doc.as_str()),
            anchors: own.map(|source| Anchors::new(&source.text, &source.parsed)),
        }
    }

    pub(super) fn anchor(&mut self, site: &Site) -> Option<Anchor> {
        let anchors = self.anchors.as_mut().filter(|_| site.file == self.file)?;
        anchors.at(site.line, site.column)
    }

    /// A place in another file of the slice.
    pub(super) fn elsewhere(subject: &Subject, site: &Site) -> Option<Anchor> {
        let source = subject.source(&site.file)?;
        let own = subject.sources.first()?;
        if source.doc == own.doc {
            return None;
        }
        Anchors::new(&source.text, &source.parsed).at(site.line, site.column)
    }
}
