//! Dictionaries.

use super::compare::equal_constants;
use super::cond::Cond;
use super::interp::{Interp, R, Stop};
use super::seq::Seq;
use super::value::{Args, Dict, Obj, ObjId, Value};

impl<'e> Interp<'e> {
    /// `dict[key]`, or `dict.get(key, default)`. An unknown key splits the run on what it may be.
    pub(super) fn dict_get(
        &mut self,
        id: ObjId,
        key: &Value<'e>,
        default: Option<Value<'e>>,
    ) -> R<Value<'e>> {
        let Some(Obj::Dict(dict)) = self.obj(id) else {
            return Ok(self.fresh());
        };
        // With every key known there is nothing to decide.
        let constant = |v: &Value<'e>| v.key().is_some();
        if constant(key) && dict.entries.iter().all(|(k, _, sure)| *sure && constant(k)) {
            let mut same = dict
                .entries
                .iter()
                .filter(|(k, _, _)| equal_constants(k, key) == Some(true));
            if let Some((_, value, _)) = same.next() {
                return Ok(value.clone());
            }
        }
        let dict = dict.clone();
        self.charge(dict.entries.len());
        let mut found = Vec::new();
        for (k, value, certain) in &dict.entries {
            let equal = self.compare("==", key, k);
            let cond = self.truth(&equal);
            match self.decide(cond) {
                Some(true) if *certain => {
                    found.push(value.clone());
                    return Ok(self.any_of(found));
                }
                Some(false) => {}
                _ => found.push(value.clone()),
            }
        }
        if dict.open {
            self.risks += 1;
        }
        match default {
            Some(default) => {
                if dict.open && !dict.cache {
                    found.push(self.fresh());
                }
                found.push(default);
            }
            None if dict.open => found.push(self.fresh()),
            None if found.is_empty() => return Err(Stop::Raise),
            None => self.risks += 1,
        }
        Ok(self.any_of(found))
    }

    /// `dict.update(more)`.
    pub(super) fn merge_into(&mut self, dict: &mut Dict<'e>, more: &Value<'e>) {
        match self.object_of(more) {
            Some(Obj::Dict(other)) => {
                for (k, v, certain) in other.entries.clone() {
                    super::dicts::dict_set(dict, &k, &v, certain);
                }
                dict.open |= matches!(self.object_of(more), Some(Obj::Dict(d)) if d.open);
            }
            _ => dict.open = true,
        }
    }

    pub(super) fn dict_method(&mut self, id: ObjId, name: &str, args: Args<'e>) -> R<Value<'e>> {
        let first = args.pos.first().cloned();
        let Some(Obj::Dict(dict)) = self.obj(id) else {
            return Ok(Value::None);
        };
        let listed = |pick: &dyn Fn(&(Value<'e>, Value<'e>, bool)) -> Value<'e>| {
            let mut seq = Seq::empty();
            dict.entries.iter().for_each(|e| seq.push(pick(e), e.2));
            if dict.open {
                seq.extend(&Seq::unknown());
            }
            seq
        };
        match (name, first) {
            ("keys", _) => {
                let seq = listed(&|e| e.0.clone());
                Ok(self.list(seq))
            }
            ("values", _) => {
                let seq = listed(&|e| e.1.clone());
                Ok(self.list(seq))
            }
            ("items", _) => {
                let pair = |e: &(Value<'e>, Value<'e>, bool)| {
                    Value::small_tuple(vec![e.0.clone(), e.1.clone()])
                };
                let fits = dict.entries.iter().all(|e| pair(e).is_some());
                let seq = if fits {
                    listed(&|e| pair(e).unwrap_or(Value::None))
                } else {
                    Seq::unknown()
                };
                Ok(self.list(seq))
            }
            ("copy", _) => {
                let copy = dict.clone();
                Ok(Value::Ref(self.alloc(Obj::Dict(copy))))
            }
            ("get", Some(key)) => {
                let default = args.pos.get(1).cloned().unwrap_or(Value::None);
                self.dict_get(id, &key, Some(default))
            }
            ("setdefault", Some(key)) => {
                let default = args.pos.get(1).cloned().unwrap_or(Value::None);
                let there = self.contains(&key, &Value::Ref(id));
                let value = self.dict_get(id, &key, Some(default.clone()))?;
                let cond = self.truth(&there);
                if !matches!(cond, Cond::Known(true))
                    && let Some(Obj::Dict(dict)) = self.obj_mut(id)
                {
                    dict_set(dict, &key, &value, matches!(cond, Cond::Known(false)));
                }
                Ok(value)
            }
            ("update", more) => {
                let mut copy = dict.clone();
                if let Some(more) = more {
                    self.merge_into(&mut copy, &more);
                }
                for (name, value) in args.named {
                    dict_set(&mut copy, &Value::Str(name), &value, true);
                }
                if let Some(Obj::Dict(dict)) = self.obj_mut(id) {
                    *dict = copy;
                }
                Ok(Value::None)
            }
            ("pop", Some(key)) => {
                let default = args.pos.get(1).cloned();
                let value = self.dict_get(id, &key, default)?;
                if let Some(Obj::Dict(dict)) = self.obj_mut(id) {
                    let known = dict
                        .entries
                        .iter()
                        .all(|(k, _, _)| equal_constants(k, &key).is_some());
                    if known {
                        dict.entries
                            .retain(|(k, _, _)| equal_constants(k, &key) != Some(true));
                    } else {
                        dict.entries.iter_mut().for_each(|e| e.2 = false);
                    }
                }
                Ok(value)
            }
            ("clear", _) => {
                if let Some(Obj::Dict(dict)) = self.obj_mut(id) {
                    *dict = Dict::default();
                }
                Ok(Value::None)
            }
            _ => Ok(self.fresh()),
        }
    }
}

/// Sets a key; `certain` if the statement surely ran on this very dictionary.
pub(super) fn dict_set<'e>(dict: &mut Dict<'e>, key: &Value<'e>, value: &Value<'e>, certain: bool) {
    let mut apart = true;
    for (k, v, there) in &mut dict.entries {
        match equal_constants(k, key) {
            Some(true) if certain => {
                *v = value.clone();
                *there = true;
                return;
            }
            Some(false) => {}
            // It may be this entry that changes, or another.
            _ => apart = false,
        }
    }
    if apart || certain {
        dict.entries
            .push((key.clone(), value.clone(), certain && apart));
    }
    if !apart {
        dict.open = true;
        dict.entries
            .iter_mut()
            .filter(|(k, _, _)| equal_constants(k, key) != Some(false))
            .for_each(|e| e.2 = false);
    }
}
