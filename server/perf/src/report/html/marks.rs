//! Marks that differ in shape as well as in colour, so that nobody needs the colours.

use crate::records::{Correctness, Row, Status};
use crate::session::Run;
use crate::verdict::Verdict;

use super::markup::Markup;

/// One kind of mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// The class that colours it, and the words around it.
    pub(super) class: &'static str,
    /// Its outline around (0, 0).
    path: &'static str,
    /// Only an outline.
    hollow: bool,
    /// What it stands for.
    pub(super) name: &'static str,
}

const DISC: &str = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z";
const DIAMOND: &str = "M0 -6L6 0L0 6L-6 0z";
const SQUARE: &str = "M-4.5 -4.5H4.5V4.5H-4.5z";
const TRIANGLE: &str = "M-6 -4.5H6L0 6z";
const CROSS: &str = "M-4.5 -4.5L4.5 4.5M-4.5 4.5L4.5 -4.5";
const BAR: &str = "M0 -5.5V5.5";

const fn mark(class: &'static str, path: &'static str, hollow: bool, name: &'static str) -> Mark {
    Mark {
        class,
        path,
        hollow,
        name,
    }
}

/// The marks of iterations, in the order of a legend.
pub(super) const ITERATIONS: [Mark; 5] = [
    mark("kept", DISC, false, "kept"),
    mark("kept", DISC, true, "kept, undone later"),
    mark("reverted", DIAMOND, true, "reverted"),
    mark("wrong", TRIANGLE, true, "wrong results, no time of its own"),
    mark("crashed", CROSS, false, "crashed, no time of its own"),
];

impl Mark {
    /// That of an iteration.
    pub(super) fn of_iteration(run: &Run, row: &Row) -> Self {
        match (row.status, row.correctness) {
            (Status::Keep, _) if run.undone => ITERATIONS[1],
            (Status::Keep, _) => ITERATIONS[0],
            (Status::Crash, _) => ITERATIONS[4],
            (Status::Revert, Correctness::Pass) => ITERATIONS[2],
            (Status::Revert, Correctness::Fail) => ITERATIONS[3],
        }
    }

    /// That of a configuration's verdict.
    pub(super) fn of_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => mark("kept", DISC, false, "FASTER"),
            Verdict::Maybe => mark("kept", DISC, true, "MAYBE"),
            Verdict::Slower => mark("reverted", SQUARE, false, "SLOWER"),
            Verdict::Same => mark("same", BAR, false, "SAME"),
            Verdict::NoChange => mark("same", BAR, false, "NO-CHANGE"),
            Verdict::Ambiguous => mark("wrong", DIAMOND, true, "AMBIGUOUS"),
            Verdict::MeasuringError => mark("crashed", CROSS, false, "MEASURING-ERROR"),
        }
    }

    /// Draws it at a place of the surrounding drawing.
    pub(super) fn draw(self, page: &mut Markup, x: &str, y: &str) {
        page.within("svg", &[("x", x), ("y", y), ("overflow", "visible")], |p| {
            self.path(p);
        });
    }

    /// Draws it alone, for legends and tables; the words beside it say the same.
    pub(super) fn sign(self, page: &mut Markup) {
        let class = format!("sign {}", self.class);
        let attributes = [
            ("class", class.as_str()),
            ("viewBox", "-8 -8 16 16"),
            ("width", "14"),
            ("height", "14"),
            ("aria-hidden", "true"),
        ];
        page.within("svg", &attributes, |p| self.path(p));
    }

    fn path(self, page: &mut Markup) {
        let class = match self.hollow {
            true => format!("mark hollow {}", self.class),
            false => format!("mark {}", self.class),
        };
        page.empty("path", &[("class", &class), ("d", self.path)]);
    }
}
