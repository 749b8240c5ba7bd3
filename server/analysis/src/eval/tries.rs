//! `with` and `try`.

use tileperf_syntax::ast::{Expr, Handler, Stmt};

use super::interp::{Interp, R, Stop};
use super::stmt::Exits;

impl<'e> Interp<'e> {
    pub(super) fn exec_with(
        &mut self,
        items: &'e [(Expr, Option<Expr>)],
        body: &'e [Stmt],
    ) -> R<Exits<'e>> {
        let mut suppresses = false;
        for (value, target) in items {
            self.eval(value)?;
            suppresses |= super::slice::suppresses(value);
            if let Some(target) = target {
                let entered = self.fresh();
                self.assign(target, entered)?;
            }
        }
        if suppresses {
            self.exec_try(body, &[], &[], &[])
        } else {
            self.exec_block(body)
        }
    }

    /// A `try`; without handlers, one that swallows everything.
    pub(super) fn exec_try(
        &mut self,
        body: &'e [Stmt],
        handlers: &'e [Handler],
        orelse: &'e [Stmt],
        finally: &'e [Stmt],
    ) -> R<Exits<'e>> {
        if handlers.is_empty() && !finally.is_empty() {
            let exits = self.exec_block(body)?;
            return self.finish(exits, finally);
        }
        let before = self.state.clone();
        let risks = self.risks;
        self.tries.push(None);
        let ran = self.exec_block(body);
        let mut caught = self.tries.pop().flatten();
        let mut acc = match ran {
            Ok(exits) => Some(exits),
            Err(Stop::Raise) => {
                let state = std::mem::take(&mut self.state);
                caught = self.join_pending(caught, Some(state))?;
                None
            }
            Err(stop) => return Err(stop),
        };
        if self.risks != risks {
            // Anything in it may have raised, after any part of its effects.
            let mut reached = vec![before];
            if let Some(exits) = &acc {
                reached.extend(exits.next.then(|| self.state.clone()));
                reached.extend([&exits.brk, &exits.cont].into_iter().flatten().cloned());
                reached.extend(exits.ret.as_ref().map(|(s, _)| s.clone()));
            }
            for state in reached {
                caught = self.join_pending(caught, Some(state))?;
            }
        }
        if let Some(exits) = &mut acc
            && exits.next
        {
            let more = self.exec_block(orelse)?;
            self.absorb(exits, more)?;
        }
        let Some(caught) = caught else {
            return match acc {
                Some(exits) => self.finish(exits, finally),
                None => Err(Stop::Raise),
            };
        };
        let handled: Vec<&'e [Stmt]> = match handlers {
            [] => vec![&[]],
            some => some.iter().map(|h| h.body.as_slice()).collect(),
        };
        let mut live = match &acc {
            Some(exits) if exits.next => Some(std::mem::take(&mut self.state)),
            _ => None,
        };
        let mut total = acc.unwrap_or_else(Exits::none);
        for (at, block) in handled.into_iter().enumerate() {
            self.state = caught.clone();
            if let Some(name) = handlers.get(at).and_then(|h| h.name.as_ref()) {
                let error = self.fresh();
                self.assign_name(&name.name, error);
            }
            if let Some(exits) = self.branch(&mut |i| i.exec_block(block))? {
                let next = exits.next.then(|| std::mem::take(&mut self.state));
                live = self.join_pending(live, next)?;
                self.absorb(&mut total, exits)?;
            }
        }
        total.next = live.is_some();
        if let Some(state) = live {
            self.state = state;
        }
        if !total.next && !total.pending() {
            return Err(Stop::Raise);
        }
        self.finish(total, finally)
    }

    /// `finally` on the way to the next statement; on the others its effects are left out, it is
    /// there to clean up.
    fn finish(&mut self, mut exits: Exits<'e>, finally: &'e [Stmt]) -> R<Exits<'e>> {
        if exits.next && !finally.is_empty() {
            let more = self.exec_block(finally)?;
            self.absorb(&mut exits, more)?;
        }
        Ok(exits)
    }
}
