//! Calls that time a kernel over a space of configurations, and the spaces themselves.

use super::{At, Build};
use crate::model::names::is_api;
use crate::model::scan::{Call, CallArg, ScopeKind};
use crate::model::spaces::{self, Found};
use crate::model::{Search, SearchApi, Space, SpaceKind, SpaceRef};

impl<'a> Build<'a> {
    pub(super) fn search(&mut self, call: &'a Call, at: At) {
        let paths = self.names.paths(&call.callee, at);
        let (api, space, kernel) = if paths.iter().any(|p| is_api(p, "exhaustive_search")) {
            (SearchApi::ExhaustiveSearch, Some(0), 3)
        } else if paths.iter().any(|p| is_api(p, "autotune_launch")) {
            (SearchApi::AutotuneLaunch, None, 2)
        } else {
            return;
        };
        let space = call.argument(space, "search_space");
        let kernel = call.argument(Some(kernel), "kernel");
        let found = space.map_or_else(Vec::new, |s| spaces::follow(&self.names, &s.value, at));
        let spaces = found.into_iter().filter_map(|f| self.space(f)).collect();

        let text = |arg: &CallArg| self.source(at.item, arg.span).to_owned();
        let whole = self.place(at.item, call.span);
        let search = Search {
            api,
            span: whole,
            callee_span: self.place(at.item, call.callee_span),
            space_text: space.map(text).unwrap_or_default(),
            space_span: space.map_or(whole, |s| self.place(at.item, s.span)),
            space_ident: space.and_then(|s| s.ident).map(|s| self.place(at.item, s)),
            spaces,
            kernel_text: kernel.map(text).unwrap_or_default(),
            kernel_span: kernel.map_or(whole, |k| self.place(at.item, k.ident.unwrap_or(k.span))),
            candidates: kernel.map_or_else(Vec::new, |k| self.candidates(&k.value, at)),
            function: self.function_name(at),
            context: self.context(call, at, 0),
            stale: self.stale(at.item),
        };
        self.out.searches.push(search);
    }

    /// Numbers a space of this file.
    fn space(&mut self, found: Found) -> Option<SpaceRef> {
        if let Some(&known) = self.spaces.get(&found) {
            return Some(SpaceRef::Local(known));
        }
        let space = match &found {
            // Not a workspace's: `itertools.product(...)` written in the call.
            Found::Imported(path)
                if path.starts_with("itertools.") || path.starts_with("cuda.") =>
            {
                return None;
            }
            Found::Imported(path) => return Some(SpaceRef::Imported(path.clone())),
            Found::Function(at) => {
                let scope = self.names.scope(*at);
                let def = (scope.def.as_ref()).filter(|_| scope.kind == ScopeKind::Function)?;
                Space {
                    name: def.name.name.clone(),
                    name_span: self.place(at.item, def.name.span),
                    span: self.place(at.item, def.span),
                    kind: if def.is_generator {
                        SpaceKind::Generator
                    } else {
                        SpaceKind::Function
                    },
                    stale: self.stale(at.item),
                }
            }
            Found::List { item, span, name } => Space {
                name: name.clone(),
                name_span: self.place(*item, *span),
                span: self.place(*item, *span),
                kind: SpaceKind::List,
                stale: self.stale(*item),
            },
        };
        let number = self.out.spaces.len();
        self.out.spaces.push(space);
        self.spaces.insert(found, number);
        Some(SpaceRef::Local(number))
    }
}
