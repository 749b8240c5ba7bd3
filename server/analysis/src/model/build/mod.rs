//! From the items of a file to its model.
//!
//! One module for each kind of fact. They share [`Build`]: the names of the file, resolved for each
//! of them in the same way, and the model as far as it is known. Kernels come first, since all else
//! refers to them by number; registrations and exports last, since they follow what launches found.

mod cache;
mod candidates;
mod code;
mod exports;
mod hint_uses;
mod kernels;
mod launches;
mod params;
mod registrations;
mod searches;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::{Item, ParsedFile, SiteKind, Span};

pub use self::cache::{ItemScan, ModelCache};
use super::FileModel;
use super::names::{At, Names};
use super::scan::Call;
use super::spaces::Found;

impl FileModel {
    /// Builds the model of a file. `package` is the dotted package that its relative imports start
    /// from (empty if unknown).
    pub fn build(
        file: &ParsedFile,
        text: &str,
        package: &str,
        cache: &mut ModelCache,
    ) -> FileModel {
        let scans = cache.scans(file);
        let names = Names::new(scans.iter().map(|s| &*s.0).collect(), package);
        let aliases = (names.scans.iter())
            .flat_map(|s| s.aliases.iter().map(SmolStr::as_str))
            .collect();
        let mut build = Build {
            items: file.all().collect(),
            text,
            notable: notable(&names, &aliases),
            names,
            aliases,
            kernels: FxHashMap::default(),
            spaces: FxHashMap::default(),
            out: FileModel::default(),
        };
        build.imports();
        build.kernels();
        build.calls();
        build.registered_kernels();
        build.exports();
        build.sort();
        build.out
    }
}

struct Build<'a> {
    items: Vec<&'a Item>,
    text: &'a str,
    names: Names<'a>,
    /// Names that the file itself gives to something; a call of one may be a call of anything.
    aliases: FxHashSet<&'a str>,
    /// Calls that may be of a kind of fact, in source order.
    notable: Vec<(At, &'a Call)>,
    /// Kernel number by definition.
    kernels: FxHashMap<At, usize>,
    spaces: FxHashMap<Found, usize>,
    out: FileModel,
}

impl<'a> Build<'a> {
    /// A place of an item in the text of the file.
    fn place(&self, item: usize, span: Span) -> Span {
        self.items[item].place(span)
    }

    /// What stands at a place of an item.
    fn source(&self, item: usize, span: Span) -> &'a str {
        self.text_at(self.place(item, span))
    }

    /// What stands at a place of the file.
    fn text_at(&self, place: Span) -> &'a str {
        self.text.get(place.range()).unwrap_or("")
    }

    fn stale(&self, item: usize) -> bool {
        self.items[item].is_stale()
    }

    /// The function that holds a call, as the model names it: empty at module level.
    fn function_name(&self, at: At) -> SmolStr {
        (self.names.function_of(at)).map_or_else(SmolStr::default, |f| self.names.qualified(f))
    }

    /// Whether a call is worth resolving for what the queries call `kind`.
    fn is_candidate(&self, call: &Call, kind: SiteKind) -> bool {
        call.site == Some(kind)
            || (call.callee.last()).is_some_and(|n| self.aliases.contains(n.as_str()))
    }

    /// Looks at calls for the kinds of fact that they may be.
    fn calls(&mut self) {
        for (at, call) in std::mem::take(&mut self.notable) {
            if self.is_candidate(call, SiteKind::Launch) {
                self.launch(call, at);
            }
            if self.is_candidate(call, SiteKind::Search) {
                self.search(call, at);
            }
            if self.is_candidate(call, SiteKind::Registration) {
                self.registration(call, at);
            }
            if self.is_candidate(call, SiteKind::Hints) || self.is_candidate(call, SiteKind::Kernel)
            {
                self.hint_use(call, at);
            }
        }
    }

    /// Into source order: items that a fault has swallowed come last, wherever they stand.
    fn sort(&mut self) {
        self.out.launches.sort_by_key(|x| x.span.start);
        self.out.registrations.sort_by_key(|x| x.span.start);
        self.out.searches.sort_by_key(|x| x.span.start);
        self.out.hint_uses.sort_by_key(|x| x.span.start);
    }
}

/// The notable calls of a file's items, and those of an alias.
fn notable<'a>(names: &Names<'a>, aliases: &FxHashSet<&str>) -> Vec<(At, &'a Call)> {
    let mut notable = Vec::new();
    for (item, scan) in names.scans.iter().enumerate() {
        let aliased = aliases
            .iter()
            .filter_map(|a| scan.callees.get(*a))
            .flatten();
        let mut numbers: Vec<usize> = scan.notable.iter().chain(aliased).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        notable.extend(numbers.into_iter().map(|n| names.call(item, n)));
    }
    notable
}
