//! Names: where they are looked up, what a module makes of them, what imports bind.
use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::Span;

use super::env::{Module, ModuleId, Place, Use};
use super::interp::{Interp, R};
use super::seq::Seq;
use super::space::Note;
use super::sym::{Kind, Range};
use super::value::{Obj, ObjId, Scope, Value};

impl<'e> Interp<'e> {
    pub(super) fn place(&self, span: Span) -> Place {
        match self.frames.last() {
            Some(f) => Place {
                module: f.module,
                item: f.item,
                span,
            },
            None => Place {
                module: ModuleId(u32::MAX),
                item: 0,
                span,
            },
        }
    }

    pub(super) fn scope_id(&self) -> ObjId {
        self.frames.last().map_or(0, |f| f.scope)
    }

    pub(super) fn module_here(&self) -> ModuleId {
        self.frames.last().map_or(ModuleId(u32::MAX), |f| f.module)
    }

    pub(super) fn module(&self, id: ModuleId) -> Rc<Module<'e>> {
        if let Some(module) = self.modules.borrow().get(&id) {
            return module.clone();
        }
        let module = Rc::new(Module::new(self.env.items(id)));
        self.modules.borrow_mut().insert(id, module.clone());
        module
    }

    pub(super) fn module_scope(&mut self, module: ModuleId) -> ObjId {
        let id = match self.module_scopes.get(&module) {
            Some(&id) => id,
            None => {
                let id = self.next_id;
                self.next_id += 1;
                self.module_scopes.insert(module, id);
                id
            }
        };
        if self.obj(id).is_none() {
            self.state
                .heap
                .put(id, Obj::Scope(Scope::new(None, module)));
        }
        id
    }

    // Names.

    pub(super) fn lookup(&mut self, name: &str) -> R<Value<'e>> {
        let mut at = Some(self.scope_id());
        while let Some(id) = at {
            let Some(Obj::Scope(scope)) = self.obj(id) else {
                break;
            };
            if let Some(value) = scope.get(name) {
                return Ok(self.settle(value.clone()));
            }
            if scope.parent.is_none() {
                break;
            }
            at = scope.parent;
        }
        let module = self.module_here();
        if let Some(value) = self.module_name(module, name)? {
            return Ok(self.settle(value));
        }
        if super::builtins::is_builtin(name) {
            return Ok(Value::External(SmolStr::new(name)));
        }
        let stars = self.module(module).stars.clone();
        if stars.is_empty() {
            self.risks += 1;
        }
        Ok(self.root(format!("{}:{name}", module.0)))
    }

    pub(super) fn assign_name(&mut self, name: &str, value: Value<'e>) {
        let mut id = self.scope_id();
        if let Some(Obj::Scope(scope)) = self.obj(id)
            && let Some((_, global)) = scope.outer.iter().find(|(n, _)| n == name)
        {
            if *global {
                let module = scope.module;
                id = self.module_scope(module);
            } else {
                let mut at = scope.parent;
                while let Some(up) = at {
                    let Some(Obj::Scope(scope)) = self.obj(up) else {
                        break;
                    };
                    if scope.get(name).is_some() {
                        id = up;
                        break;
                    }
                    at = scope.parent;
                }
            }
        }
        if let Some(Obj::Scope(scope)) = self.obj_mut(id) {
            scope.set(name, value);
        }
    }

    /// What a module's top level makes of a name; `None` if it does not bind it.
    pub(super) fn module_name(&mut self, module: ModuleId, name: &str) -> R<Option<Value<'e>>> {
        let scope = self.module_scope(module);
        if let Some(Obj::Scope(s)) = self.obj(scope) {
            if let Some(value) = s.get(name) {
                return Ok(Some(value.clone()));
            }
            if s.loaded.iter().any(|n| n == name) {
                return Ok(None);
            }
        }
        let index = self.module(module);
        if !index.binds(name) {
            return self.star_name(&index, module, name);
        }
        let (tops, names) = index.group(name);
        let names: Vec<&str> = names
            .into_iter()
            .filter(|n| matches!(self.obj(scope), Some(Obj::Scope(s)) if !s.loaded.iter().any(|l| l == n)))
            .collect();
        if let Some(Obj::Scope(s)) = self.obj_mut(scope) {
            s.loaded.extend(names.iter().map(SmolStr::new));
        }
        self.run_tops(module, scope, &tops, &names)?;
        for name in names {
            self.soften(scope, name, index.use_of(name), module);
        }
        Ok(match self.obj(scope) {
            Some(Obj::Scope(s)) => s.get(name).cloned(),
            _ => None,
        })
    }

    fn star_name(
        &mut self,
        index: &Module<'e>,
        module: ModuleId,
        name: &str,
    ) -> R<Option<Value<'e>>> {
        for &(level, path) in &index.stars {
            if let Some(other) = self.env.import(module, level, path)
                && other != module
                && let Some(value) = self.deeper(|i| i.module_name(other, name))?
            {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Weakens what the top level says of a name that functions change.
    fn soften(&mut self, scope: ObjId, name: &str, usage: Use, module: ModuleId) {
        if usage == Use::Constant {
            return;
        }
        let value = match self.obj(scope) {
            Some(Obj::Scope(s)) => s.get(name).cloned(),
            _ => None,
        };
        let cold = usage == Use::Cache;
        match value {
            Some(Value::Ref(id)) => match self.obj_mut(id) {
                Some(Obj::List(seq) | Obj::Set(seq)) => {
                    if cold && seq.len == super::seq::Len::ZERO {
                        seq.cache = true;
                    } else {
                        *seq = Seq::unknown();
                    }
                }
                Some(Obj::Dict(dict)) => {
                    dict.cache = cold && dict.entries.is_empty();
                    dict.open = true;
                    dict.entries
                        .iter_mut()
                        .for_each(|(_, _, certain)| *certain = false);
                }
                _ => {}
            },
            Some(Value::None) if cold => {}
            Some(Value::Func(_) | Value::Class(_) | Value::Module(_)) | None => {}
            Some(other) => {
                let kind = if matches!(other, Value::Bool(_)) {
                    Kind::Bool
                } else {
                    Kind::Any
                };
                let sym = self
                    .syms
                    .root(format!("{}:{name}", module.0), kind, Range::ALL);
                if let Some(Obj::Scope(s)) = self.obj_mut(scope) {
                    s.set(name, Value::Sym(sym));
                }
            }
        }
    }

    pub(super) fn import(&mut self, from: ModuleId, level: u32, path: &str) -> Option<ModuleId> {
        let key: SmolStr = format!("{}:{level}:{path}", from.0).into();
        if let Some(found) = self.imports.get(&key) {
            return *found;
        }
        let found = self.env.import(from, level, path);
        self.imports.insert(key, found);
        found
    }

    pub(super) fn note(&mut self, note: Note) {
        if self.notes.len() < 32 && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
