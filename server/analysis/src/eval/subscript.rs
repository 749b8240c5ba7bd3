//! Subscripts and slices.

use tileperf_syntax::ast::{Expr, ExprKind};

use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq};
use super::sym::{Kind, Range};
use super::value::{Obj, Value};

impl<'e> Interp<'e> {
    pub(super) fn eval_subscript(&mut self, base: &Value<'e>, index: &'e [Expr]) -> R<Value<'e>> {
        if let [
            Expr {
                kind: ExprKind::Slice { lower, upper, step },
                ..
            },
        ] = index
        {
            let mut bounds = Vec::new();
            for bound in [lower, upper, step] {
                bounds.push(match bound {
                    Some(e) => self.eval(e)?,
                    None => Value::None,
                });
            }
            return self.slice(base, &bounds[0], &bounds[1], &bounds[2]);
        }
        let key = match index {
            [one] if !matches!(one.kind, ExprKind::Starred(_)) => self.eval(one)?,
            many => {
                let seq = self.items(many)?;
                self.tuple_of(seq)
            }
        };
        let mut values = Vec::new();
        for base in base.alternatives() {
            match self.item(base, &key) {
                Ok(value) => values.push(value),
                Err(Stop::Raise) => {}
                Err(stop) => return Err(stop),
            }
        }
        if values.is_empty() {
            return Err(Stop::Raise);
        }
        let value = self.any_of(values);
        Ok(self.settle(value))
    }

    pub(super) fn item(&mut self, base: &Value<'e>, key: &Value<'e>) -> R<Value<'e>> {
        let seq = match base {
            Value::Tuple(items) => Seq::of(items.to_vec()),
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq)) => seq.clone(),
                Some(Obj::Dict(_)) => return self.dict_get(*id, key, None),
                _ => {
                    self.risks += 1;
                    return Ok(self.fresh());
                }
            },
            _ => {
                self.risks += 1;
                return Ok(self.pure("[]", &[base.clone(), key.clone()]));
            }
        };
        let (samples, open) = seq.all_values();
        match key.int() {
            Some(at) if seq.exact() => {
                let at = if at < 0 {
                    seq.slots.len() as i64 + at
                } else {
                    at
                };
                match usize::try_from(at).ok().and_then(|at| seq.slots.get(at)) {
                    Some(slot) => Ok(slot.value.clone()),
                    None => Err(Stop::Raise),
                }
            }
            _ if open || seq.cache => {
                self.risks += 1;
                Ok(self.fresh())
            }
            _ if samples.is_empty() => Err(Stop::Raise),
            _ => {
                self.risks += 1;
                Ok(self.any_of(samples))
            }
        }
    }

    pub(super) fn slice(
        &mut self,
        base: &Value<'e>,
        lower: &Value<'e>,
        upper: &Value<'e>,
        step: &Value<'e>,
    ) -> R<Value<'e>> {
        let seq = match base {
            Value::Tuple(items) => Seq::of(items.to_vec()),
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq)) => seq.clone(),
                _ => return Ok(self.fresh()),
            },
            Value::Str(_) => return Ok(self.fresh_of(Kind::Str, Range::ALL)),
            _ => return Ok(self.fresh()),
        };
        let bound = |v: &Value<'e>, default: i64| match v {
            Value::None => Some(default),
            v => v.int(),
        };
        let size = seq.slots.len() as i64;
        let clamp = |v: i64| if v < 0 { (size + v).max(0) } else { v } as usize;
        let cut = match (bound(lower, 0), bound(upper, i64::MAX), bound(step, 1)) {
            (Some(a), Some(b), Some(step)) if seq.exact() && step > 0 => {
                let part = seq.slice(clamp(a), Some(clamp(b)));
                Seq::of(
                    part.values()
                        .unwrap_or_default()
                        .into_iter()
                        .step_by(step as usize)
                        .collect(),
                )
            }
            (Some(0), Some(i64::MAX), Some(-1)) if seq.exact() => {
                let mut values = seq.values().unwrap_or_default();
                values.reverse();
                Seq::of(values)
            }
            (Some(a), Some(b), Some(1)) if a >= 0 && b >= 0 => {
                seq.slice(a as usize, (b != i64::MAX).then_some(b as usize))
            }
            // `xs[:n]` with an unknown n.
            (Some(0), None, Some(1)) => {
                let range = self.range(upper);
                let most = range.hi.and_then(|h| u64::try_from(h).ok());
                let least = range.lo.and_then(|l| u64::try_from(l).ok()).unwrap_or(0);
                let mut len = seq.len.shorter(Len {
                    min: least,
                    max: most,
                });
                if range.lo.is_none_or(|l| l < 0) {
                    len = Len::up_to(seq.len.max);
                }
                seq.any_of(len)
            }
            _ => {
                let len = seq.len.without_min();
                seq.any_of(len)
            }
        };
        Ok(match base {
            Value::Tuple(_) => self.tuple_of(cut),
            _ => self.list(cut),
        })
    }
}
