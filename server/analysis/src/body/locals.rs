//! What local names are at one point of the walk.
//!
//! A walk keeps this at every branch and every loop and joins it afterwards, so it is copied far more
//! often than a name is new: names have numbers, and a copy is a row of types.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::Ty;

/// The numbers of a function's local names.
#[derive(Debug, Default)]
pub(super) struct Slots(FxHashMap<SmolStr, usize>);

/// Types of local names, by their number.
#[derive(Debug, Clone, Default)]
pub(super) struct Locals(Vec<Option<Ty>>);

impl Slots {
    fn of(&mut self, name: &SmolStr) -> usize {
        let next = self.0.len();
        *self.0.entry(name.clone()).or_insert(next)
    }
}

impl Locals {
    /// What a name is, if it is bound.
    pub(super) fn get(&self, slots: &Slots, name: &SmolStr) -> Option<&Ty> {
        let slot = slots.0.get(name)?;
        self.0.get(*slot)?.as_ref()
    }

    /// Binds a name.
    pub(super) fn insert(&mut self, slots: &mut Slots, name: &SmolStr, ty: Ty) {
        let slot = slots.of(name);
        if self.0.len() <= slot {
            self.0.resize(slot + 1, None);
        }
        self.0[slot] = Some(ty);
    }

    /// Adds what names are on another way; of a name that only one of them binds, what that one says.
    /// Whether one that was known is something else now.
    pub(super) fn join(&mut self, other: Locals) -> bool {
        let mut changed = false;
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), None);
        }
        for (known, ty) in self.0.iter_mut().zip(other.0) {
            let Some(ty) = ty else { continue };
            match known {
                Some(known) if *known != ty => {
                    let both = known.join(&ty);
                    changed |= *known != both;
                    *known = both;
                }
                Some(_) => {}
                None => *known = Some(ty),
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Const;

    fn int(value: i64) -> Ty {
        Ty::Const(Const::Int(value))
    }

    #[test]
    fn what_both_ways_say_is_joined() {
        let mut slots = Slots::default();
        let [a, b, c] = ["a", "b", "c"].map(SmolStr::from);
        let mut one = Locals::default();
        one.insert(&mut slots, &a, int(1));
        let mut other = one.clone();
        other.insert(&mut slots, &b, int(2));
        assert!(!one.join(other.clone()), "b is new");
        assert_eq!(one.get(&slots, &b), Some(&int(2)));
        other.insert(&mut slots, &a, int(3));
        assert!(one.join(other), "a is another");
        assert_eq!(one.get(&slots, &a), Some(&Ty::Const(Const::Other)));
        assert_eq!(one.get(&slots, &c), None);
    }
}
