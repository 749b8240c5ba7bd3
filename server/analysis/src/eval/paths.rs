//! Paths: a decision on something unknown is taken one way in one run and the other way in another.
//!
//! A run is replayed from the start with the decisions of the previous one, the last of them
//! turned. That keeps every run as exact as if the unknowns were known, correlations between
//! branches included. When there are too many, only the first few decisions are taken so and the
//! later ones join their branches.

use super::sym::SymId;

/// A decision in order of appearance.
#[derive(Debug, Clone, Copy)]
struct Choice {
    sym: SymId,
    value: bool,
}

/// The decisions of the current run.
#[derive(Debug, Default)]
pub(super) struct Trail {
    choices: Vec<Choice>,
    /// How many of them this run has met.
    at: usize,
    /// How many there may be.
    pub(super) limit: usize,
}

impl Trail {
    pub(super) fn rewind(&mut self) {
        self.at = 0;
    }

    pub(super) fn reset(&mut self, limit: usize) {
        self.choices.clear();
        self.at = 0;
        self.limit = limit;
    }

    /// The decision on `sym`, if there may be one more.
    pub(super) fn take(&mut self, sym: SymId) -> Option<bool> {
        if self.at < self.choices.len() {
            let choice = self.choices[self.at];
            // A replay meets the same decisions; should it not, joining both branches is never wrong.
            if choice.sym != sym {
                return None;
            }
            self.at += 1;
            return Some(choice.value);
        }
        if self.at >= self.limit {
            return None;
        }
        self.choices.push(Choice { sym, value: true });
        self.at += 1;
        Some(true)
    }

    /// The share of all paths that this run is, were every decision even.
    pub(super) fn share(&self) -> f64 {
        0.5f64.powi(i32::try_from(self.at).unwrap_or(i32::MAX))
    }

    /// Turns the last decision that has not been turned yet; `false` when all have.
    pub(super) fn next(&mut self) -> bool {
        self.choices.truncate(self.at);
        while let Some(last) = self.choices.last_mut() {
            if last.value {
                last.value = false;
                return true;
            }
            self.choices.pop();
        }
        false
    }
}
