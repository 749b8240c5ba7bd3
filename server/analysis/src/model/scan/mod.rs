//! One pass over an item: its scopes, what each name in them is bound to, and every call.
//!
//! The result depends on the item alone and is kept with it; putting the items of a file together
//! ([`super::build`]) is the only work that an edit elsewhere in the file repeats.

mod assignments;
mod calls;
mod definitions;
mod expressions;
mod scopes;
mod statements;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::{ItemFacts, SiteKind, Span};

pub(crate) use self::calls::{Call, CallArg, RawAccess};
pub(crate) use self::definitions::Def;
pub(crate) use self::scopes::{Scope, ScopeKind};
use super::guard;
use super::value::Value;

/// What an item holds.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Scope 0 is the module's own part of the item; parents come before children.
    pub(crate) scopes: Vec<Scope>,
    /// Every call, in source order.
    pub(crate) calls: Vec<Call>,
    /// Calls by the last name of their callee.
    pub(crate) callees: FxHashMap<SmolStr, Vec<usize>>,
    /// Calls in which a query found something, and calls of what a call gives:
    /// `ct.kernel(occupancy=2)(f)`.
    pub(crate) notable: Vec<usize>,
    /// Names that calls are given as arguments.
    pub(crate) given: FxHashSet<SmolStr>,
    /// Values put into containers: `cache[key] = v`, `.append(v)`, by the container's last name.
    pub(crate) stores: Vec<(SmolStr, usize, Value)>,
    /// Calls that look like memory accesses or matrix multiplications, in source order.
    pub(crate) accesses: Vec<RawAccess>,
    /// `from m import *` of these modules.
    pub(crate) stars: Vec<SmolStr>,
    /// Names bound to an API of another name.
    pub(crate) aliases: Vec<SmolStr>,
}

/// Scans an item's facts.
pub(crate) fn scan(facts: &ItemFacts) -> Scan {
    let mut scanner = Scanner {
        out: Scan::default(),
        sites: facts.sites.iter().map(|s| (s.span, s.kind)).collect(),
        scope: 0,
        guard: guard::Tracker::default(),
    };
    scanner.open(ScopeKind::Module, None);
    scanner.block(&facts.body);
    scanner.out.scopes.iter_mut().for_each(Scope::sort);
    scanner.out
}

/// Walks the statements of an item.
struct Scanner {
    out: Scan,
    /// What the joined query found, by place.
    sites: FxHashMap<Span, SiteKind>,
    /// The scope that the walk is in.
    scope: usize,
    guard: guard::Tracker,
}

impl Scanner {
    /// Remembers that `value` is put into the container or attribute called `name`.
    fn store(&mut self, name: SmolStr, value: Value) {
        self.out.stores.push((name, self.scope, value));
    }
}
