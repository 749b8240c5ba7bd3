//! Other values for constants.

use super::Change;
use super::words::{elements, has_word};
use crate::signature::{Constant, Kind, Signature};

impl Change<'_> {
    /// Constants have other values: those that the code names, and if shapes do not fit, others too.
    pub(super) fn constants(&self, out: &mut Vec<Signature>) {
        let lower = self.complaint.message.to_ascii_lowercase();
        let about = [
            "shape",
            "power of",
            "zero",
            "broadcast",
            "assert",
            "size",
            "divis",
        ];
        let wide = about.iter().any(|word| lower.contains(word));
        let named = self.named();
        if wide {
            if lower.contains("reshape") {
                self.reshaped(out);
            }
            self.alike(&named, out);
        }
        let mut places = named.clone();
        if wide {
            places.extend((0..self.last.params.len()).filter(|place| !named.contains(place)));
        }
        for place in places {
            if let Kind::Constant(value) = self.last.params[place].kind {
                let most = if named.contains(&place) {
                    usize::MAX
                } else {
                    2
                };
                for other in others(value).into_iter().take(most) {
                    out.extend(self.with(place, Kind::Constant(other)));
                }
            }
        }
        for (at, (name, value)) in self.last.globals.iter().enumerate() {
            if self.complaint.code.iter().any(|code| has_word(code, name)) {
                for other in others(*value) {
                    let mut next = self.last.clone();
                    next.globals[at].1 = other;
                    out.push(next);
                }
            }
        }
    }

    /// `Cannot reshape (64, 64, 64) to (128, 64)`: some constant is too large, or too small, by as
    /// much as there are elements too many or too few. Counts come first.
    fn reshaped(&self, out: &mut Vec<Signature>) {
        let tuples: Vec<i64> = elements(self.complaint.message);
        let [from, to] = *tuples.as_slice() else {
            return;
        };
        let (factor, too_large) = match (from, to) {
            (1.., 1..) if from > to && from % to == 0 => (from / to, true),
            (1.., 1..) if to > from && to % from == 0 => (to / from, false),
            _ => return,
        };
        let is_count = |place: &usize| {
            let name = self.last.params[*place].name.to_ascii_lowercase();
            name.starts_with("num") || name.starts_with("n_")
        };
        let (counts, others): (Vec<usize>, Vec<usize>) =
            (0..self.last.params.len()).partition(is_count);
        for place in counts.into_iter().chain(others) {
            if let Kind::Constant(Constant::Int(value @ 1..)) = self.last.params[place].kind {
                let other = match too_large {
                    true if value % factor == 0 => Some(value / factor),
                    true => None,
                    false => value.checked_mul(factor),
                };
                let kind = other.map(|other| Kind::Constant(Constant::Int(other)));
                out.extend(kind.and_then(|kind| self.with(place, kind)));
            }
        }
    }

    /// Extents that the code names together are made equal, then all there are.
    fn alike(&self, named: &[usize], out: &mut Vec<Signature>) {
        let extent = |place: &usize| match self.last.params.get(*place).map(|p| &p.kind) {
            Some(Kind::Constant(Constant::Int(value @ 2..))) => Some(*value),
            _ => None,
        };
        for value in named.iter().filter_map(extent) {
            let mut next = self.last.clone();
            for place in named.iter().filter(|place| extent(place).is_some()) {
                next.params[*place].kind = Kind::Constant(Constant::Int(value));
            }
            out.push(next);
        }
        let mut next = self.last.clone();
        for param in &mut next.params {
            if let Kind::Constant(value @ Constant::Int(16..)) = &mut param.kind {
                *value = Constant::Int(64);
            }
        }
        out.push(next);
    }
}

/// Other values of a constant, the more usual first.
fn others(value: Constant) -> Vec<Constant> {
    match value {
        Constant::Bool(value) => vec![Constant::Bool(!value)],
        Constant::Float(_) => vec![Constant::Float(0.5), Constant::Float(1.0)],
        Constant::None => vec![Constant::Int(1)],
        Constant::Int(value) => {
            let mut all: Vec<i64> = Vec::new();
            if value > 1 && !is_power_of_two(value) {
                all.extend(
                    u64::try_from(value)
                        .ok()
                        .and_then(|v| i64::try_from(v.checked_next_power_of_two()?).ok()),
                );
            }
            match value {
                0 => all.extend([1, 64, 16]),
                1 => all.extend([0, 16, 64]),
                _ => all.extend([64, 16, 128, 32, 8, 1, 2, 4]),
            }
            all.retain(|other| *other != value);
            all.into_iter().map(Constant::Int).collect()
        }
    }
}

fn is_power_of_two(value: i64) -> bool {
    u64::try_from(value).is_ok_and(u64::is_power_of_two)
}
