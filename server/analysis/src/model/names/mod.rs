//! From a reduced expression to what it can be: a definition of this file, something imported, an
//! element of a container.
//!
//! The answer is a set: branches, loops and caches make several kernels possible at one launch, and
//! all of them are wanted. Assignments are not ordered, which only ever adds candidates. Fuel bounds
//! the work; running out loses candidates, never time.

mod callers;
mod calls;
mod parts;
mod paths;
mod resolver;
mod scopes;

use std::cell::{Cell, OnceCell};

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

pub(crate) use self::callers::Caller;
pub(crate) use self::paths::is_api;
use self::resolver::{Part, Resolver};
use super::scan::Scan;
use super::value::Value;

/// A scope of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct At {
    pub(crate) item: usize,
    pub(crate) scope: usize,
}

impl At {
    pub(crate) fn new(item: usize, scope: usize) -> At {
        At { item, scope }
    }

    /// Another scope of the same item.
    pub(crate) fn sibling(self, scope: usize) -> At {
        At::new(self.item, scope)
    }
}

/// What an expression can be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target<'a> {
    /// A function or class of this file.
    Def(At),
    /// An instance of a class of this file.
    Instance(At),
    /// A container or constructed value, whose parts are looked up in the scope given.
    Whole(At, &'a Value),
    /// Something imported, by absolute dotted path.
    Path(SmolStr),
    /// What calling something imported gives.
    Called(SmolStr),
    /// A parameter: whatever the callers pass.
    Param(At, usize),
}

/// Values by name, each with the scope in which its own names are looked up.
type Bindings<'a> = FxHashMap<&'a str, Vec<(At, &'a Value)>>;

/// By the last name of a callee, the items with such calls and which of their calls these are.
type Callees<'a> = FxHashMap<&'a str, Vec<(usize, &'a [usize])>>;

/// All names of a file.
pub(crate) struct Names<'a> {
    pub(crate) scans: Vec<&'a Scan>,
    module: Bindings<'a>,
    stores: Bindings<'a>,
    stars: Vec<SmolStr>,
    /// The package that relative imports start from: `a.b` for a module `a.b.c`.
    package: String,
    calls: OnceCell<Callees<'a>>,
    /// Room for [`Resolver`]'s open parts, kept from one question to the next.
    open: Cell<Vec<Part>>,
}

impl<'a> Names<'a> {
    /// Gathers the scans of a file's items, in order.
    pub(crate) fn new(scans: Vec<&'a Scan>, package: &str) -> Self {
        let mut module = Bindings::default();
        let mut stores = Bindings::default();
        let mut stars = Vec::new();
        for (item, scan) in scans.iter().enumerate() {
            for bind in &scan.scopes[0].binds {
                let bound = (At::new(item, bind.origin), &bind.value);
                module.entry(&bind.name).or_default().push(bound);
            }
            for (name, scope, value) in &scan.stores {
                let stored = (At::new(item, *scope), value);
                stores.entry(name).or_default().push(stored);
            }
            stars.extend(scan.stars.iter().map(|s| paths::absolute(s, package)));
        }
        Self {
            scans,
            module,
            stores,
            stars,
            package: package.to_owned(),
            calls: OnceCell::new(),
            open: Cell::default(),
        }
    }

    /// Module-level names and what they are bound to.
    pub(crate) fn module(&self) -> impl Iterator<Item = (&'a str, &[(At, &'a Value)])> {
        (self.module.iter()).map(|(name, binds)| (*name, binds.as_slice()))
    }

    /// An imported path made absolute; as written, if nobody knows the file's package.
    pub(crate) fn absolute(&self, path: &SmolStr) -> SmolStr {
        match self.package.as_str() {
            "" => path.clone(),
            package => paths::absolute(path, package),
        }
    }

    /// What a module-level name is bound to.
    pub(crate) fn bound(&self, name: &str) -> &[(At, &'a Value)] {
        self.module.get(name).map_or(&[], Vec::as_slice)
    }

    /// Everything that `value`, read in scope `at`, can be.
    pub(crate) fn resolve(&self, value: &'a Value, at: At) -> Vec<Target<'a>> {
        Resolver::run(self, value, at)
    }

    /// Everything it can be once parameters are replaced by what callers in this file pass. What
    /// remains a parameter is one that callers elsewhere decide.
    pub(crate) fn resolve_through_callers(&self, value: &'a Value, at: At) -> Vec<Target<'a>> {
        let mut done: Vec<Target<'a>> = Vec::new();
        let mut todo = self.resolve(value, at);
        let mut rounds = 0;
        while let Some(target) = todo.pop() {
            if done.contains(&target) {
                continue;
            }
            if let Target::Param(function, index) = target
                && rounds < 32
            {
                rounds += 1;
                for (passed, from) in self.passed(function, index) {
                    todo.extend(self.resolve(passed, from));
                }
            }
            done.push(target);
        }
        done
    }

    /// The imported API that a callee is, if any: its absolute dotted path.
    pub(crate) fn paths(&self, value: &'a Value, at: At) -> Vec<SmolStr> {
        self.resolve(value, at)
            .into_iter()
            .filter_map(|target| match target {
                Target::Path(path) => Some(path),
                _ => None,
            })
            .collect()
    }

    /// Whether a callee is imported and nothing else, which is cheaper to tell than what it is.
    pub(crate) fn is_foreign(&self, callee: &Value, at: At) -> bool {
        let Some(root) = callee.root() else {
            return false;
        };
        let binds = self.bound(root);
        !binds.is_empty()
            && binds.iter().all(|(_, v)| matches!(v, Value::Import(_)))
            && !self
                .outward(at)
                .any(|here| self.scope(here).bound(root).next().is_some())
    }

    /// Whether a callee can be cuTile's `name`.
    pub(crate) fn is_api(&self, value: &'a Value, at: At, name: &str) -> bool {
        (self.resolve(value, at).iter()).any(|t| matches!(t, Target::Path(p) if is_api(p, name)))
    }
}
