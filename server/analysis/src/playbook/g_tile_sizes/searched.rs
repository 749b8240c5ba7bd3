//! Searches that are there: configurations for an architecture that they leave out, or further ones.
//!
//! What the space gives on an architecture is evaluated. Calls that only this architecture reaches are
//! a branch of its own; where it shares them with others it has none.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use tileperf_syntax::{Item, ParsedFile, Span};

use crate::eval::{Config, Env, EnvItem, Evaluator, Known, ModuleId, Place, Space};
use crate::model::{Candidate, SpaceKind, SpaceRef};
use crate::playbook::c_autotune::flow::one_line;
use crate::playbook::c_autotune::plan::is_fused;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::c_autotune::tiles::{Dim, dim};
use crate::playbook::{Actions, KernelContext};
use crate::rewrite::arguments::add_element;
use crate::rewrite::{Edits, indent, line_end};
use crate::rules::{is_occupancy, is_tile, multiplies};

/// More configurations than these are not worth the time to compile them.
const MOST: usize = 30;
/// So many configurations with one value say that it is meant.
const ENOUGH: usize = 12;

pub(super) fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(searched) = Searched::of(at) else {
        return;
    };
    let mut seen: Vec<Alike> = Vec::new();
    for arch in &at.file.target.archs {
        let kind = Alike::of(*arch);
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let changed = match searched.is_own(kind) {
            false => searched.with_branch(kind),
            true => searched.widened(kind),
        };
        let Some((variant, title, edits)) = changed else {
            continue;
        };
        out.push_in_file(variant, title, edits)
            .in_host_code()
            .other_results()
            .if_only(
                "the kernel is right for every tile of the space, also where it does not divide an extent",
            );
    }
}

/// The one file, for the evaluator.
struct Alone<'a>(&'a ParsedFile);

impl Env for Alone<'_> {
    fn items(&self, _: ModuleId) -> Vec<EnvItem<'_>> {
        let items = self.0.items.iter().enumerate();
        items
            .map(|(number, item)| EnvItem {
                item: number as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, _: ModuleId, _: u32, _: &str) -> Option<ModuleId> {
        None
    }
}

/// A space of a kernel's searches.
struct Searched<'c, 'a> {
    at: &'c KernelContext<'a>,
    item: &'a Item,
    def: &'a FunctionDef,
    kind: SpaceKind,
    /// `torch` as the file calls it.
    torch: SmolStr,
    /// What it gives, by kind of architecture.
    given: Vec<(Alike, Space)>,
}

/// A change: variant, title, edits.
type Change<'a> = (String, String, Edits<'a>);

impl<'c, 'a> Searched<'c, 'a> {
    fn of(at: &'c KernelContext<'a>) -> Option<Searched<'c, 'a>> {
        let file = at.file;
        let own = Candidate::Local(at.number);
        let searches = (file.model.searches.iter()).filter(|s| s.candidates.contains(&own));
        let mut spaces: Vec<&SpaceRef> = searches.flat_map(|s| &s.spaces).collect();
        spaces.dedup();
        let [SpaceRef::Local(number)] = spaces.as_slice() else {
            return None;
        };
        let space = file.model.spaces.get(*number)?;
        if space.stale || space.kind == SpaceKind::List || !multiplies(file, &[own]) {
            return None;
        }
        let def = file.function(space.span)?;
        if !def.node.params.is_empty() || def.node.is_async {
            return None;
        }
        let imports = file.module.imports.iter();
        let torch = imports.filter(|(_, path)| *path == "torch");
        let torch = torch.map(|(name, _)| name.clone()).min()?;
        let env = Alone(file.file);
        let evaluator = Evaluator::new(&env);
        let (item, _) = file.item(space.span)?;
        let place = Place {
            module: ModuleId(0),
            item: item as u32,
            span: def.node.def_span,
        };
        let mut given = Vec::new();
        for kind in Alike::ALL {
            let space = evaluator.at(place, kind.first())?;
            if !space.complete || space.count.exact()? != space.configs.len() as u64 {
                return None;
            }
            given.push((kind, space));
        }
        Some(Searched {
            at,
            item: def.item,
            def: def.node,
            kind: space.kind,
            torch,
            given,
        })
    }

    fn on(&self, kind: Alike) -> &[Config] {
        let space = self.given.iter().find(|(own, _)| *own == kind);
        space.map_or(&[], |(_, space)| &space.configs)
    }

    fn places(&self, kind: Alike) -> FxHashSet<Span> {
        let places = self.on(kind).iter().filter_map(|config| config.place);
        places.map(|place| place.span).collect()
    }

    /// Calls that make configurations for this architecture alone.
    fn exclusive(&self, kind: Alike) -> FxHashSet<Span> {
        let mut own = self.places(kind);
        for other in Alike::ALL.into_iter().filter(|other| *other != kind) {
            for place in self.places(other) {
                own.remove(&place);
            }
        }
        own
    }

    /// Whether an architecture has configurations that no other has.
    fn is_own(&self, kind: Alike) -> bool {
        !self.exclusive(kind).is_empty()
    }

    /// Whether some configurations are for all architectures and others are not: a branch of its own
    /// would leave out the former.
    fn has_common_part(&self) -> bool {
        let mut common = self.places(Alike::ALL[0]);
        for kind in Alike::ALL {
            let here = self.places(kind);
            common.retain(|place| here.contains(place));
        }
        !common.is_empty() && Alike::ALL.iter().any(|kind| self.places(*kind) != common)
    }

    /// Whether a field is one value in all of several configurations: what it is for may want that one.
    fn is_fixed(&self, field: &str) -> bool {
        let all = || self.given.iter().flat_map(|(_, space)| &space.configs);
        let values: Vec<&Known> = all()
            .filter_map(|config| config.fields.iter().find(|(name, _)| name == field))
            .map(|(_, value)| value)
            .collect();
        let (Some(first), true) = (values.first(), values.len() >= ENOUGH) else {
            return false;
        };
        values.iter().all(|value| value == first)
    }

    /// Whether at least half of an architecture's configurations have a field's value.
    fn is_usual(&self, kind: Alike, field: &SmolStr, value: &Known) -> bool {
        let configs = self.on(kind);
        let same = configs.iter().filter(|config| {
            let own = config.fields.iter().find(|(name, _)| name == field);
            own.is_some_and(|(_, own)| own == value)
        });
        same.count() * 2 >= configs.len()
    }

    /// The call of the space that makes a configuration.
    fn made_at(&self, span: Span) -> Option<(&'a Expr, &'a [Arg])> {
        let mut found = None;
        crate::body::walk(&self.def.body, &mut |expr, _| {
            if expr.span == span && found.is_none() {
                found = Some(expr);
            }
        });
        let call: &Expr = found?;
        let ExprKind::Call { args, .. } = &call.kind else {
            return None;
        };
        let plain = args.iter().all(|a| a.stars == 0 && a.name.is_some());
        plain.then_some((call, args.as_slice()))
    }

    fn source(&self, span: Span) -> &'a str {
        self.at.file.source(self.item.place(span))
    }

    /// The space with a branch of its own for an architecture, which gives what is tried on such and
    /// what came first before.
    fn with_branch(&self, kind: Alike) -> Option<Change<'a>> {
        let before = self.on(kind).first();
        let mut all = self.given.iter().flat_map(|(_, space)| &space.configs);
        let model = before.or_else(|| all.next())?;
        let (call, args) = self.made_at(model.place?.span)?;
        let ExprKind::Call { func, .. } = &call.kind else {
            return None;
        };
        let fields: Vec<&SmolStr> = (args.iter())
            .filter_map(|arg| Some(&arg.name.as_ref()?.name))
            .collect();
        if self.has_common_part() {
            return None;
        }
        let is_extent = |name: &SmolStr| matches!(chosen(name), Some(Chosen::Tile(_)));
        let varies =
            |name: &SmolStr| chosen(name).is_some() && !(is_extent(name) && self.is_fixed(name));
        let free: Vec<&SmolStr> = fields.iter().copied().filter(|f| varies(f)).collect();
        let has = |wanted| free.iter().any(|f| chosen(f) == Some(wanted));
        if !has(Chosen::Tile(Dim::M)) && !has(Chosen::Tile(Dim::N)) {
            return None;
        }
        let mut rows: Vec<Vec<i64>> = Vec::new();
        let first = before.map(|config| numbers(config, &free));
        if let Some(first) = first {
            rows.push(first?);
        }
        for (m, n, k, occupancy, num_ctas) in kind.rows(is_fused(self.at)) {
            if *num_ctas > 1 && !has(Chosen::Ctas) {
                continue;
            }
            let row = (free.iter().filter_map(|f| chosen(f))).map(|chosen| match chosen {
                Chosen::Tile(Dim::M) => *m,
                Chosen::Tile(Dim::N) => *n,
                Chosen::Tile(Dim::K) => *k,
                Chosen::Occupancy => *occupancy,
                Chosen::Ctas => *num_ctas,
            });
            let row: Vec<i64> = row.collect();
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let names: Vec<&str> = free.iter().map(|f| f.as_str()).collect();
        let values: Option<Vec<String>> = (fields.iter())
            .map(|field| match varies(field) {
                true => Some(format!("{field}={field}")),
                false => {
                    let known = model.fields.iter().find(|(name, _)| name == *field)?;
                    if !self.is_usual(kind, field, &known.1) {
                        return None;
                    }
                    Some(format!("{field}={}", literal(&known.1)?))
                }
            })
            .collect();
        let made = format!("{}({})", self.source(func.span), values?.join(", "));
        let mut listed = vec![format!("for {} in (", names.join(", "))];
        for (number, row) in rows.iter().enumerate() {
            if number == 0 && before.is_some() {
                listed.push("    # As it was first before.".to_owned());
            }
            let row: Vec<String> = row.iter().map(i64::to_string).collect();
            listed.push(format!("    ({}),", row.join(", ")));
        }
        let test = kind.test();
        let mut lines = vec![format!(
            "if {}.cuda.get_device_capability()[0] {test}:",
            self.torch
        )];
        let inner: Vec<String> = match self.kind {
            SpaceKind::Generator => {
                listed.push("):".to_owned());
                listed.push(format!("    yield {made}"));
                listed.push("return".to_owned());
                listed
            }
            _ => {
                listed.push(")".to_owned());
                let listed = listed.into_iter().map(|line| format!("    {line}"));
                let mut inner = vec!["return [".to_owned(), format!("    {made}")];
                inner.extend(listed);
                inner.push("]".to_owned());
                inner
            }
        };
        lines.extend(inner.iter().map(|line| format!("    {line}")));
        let stmt = first_statement(self.def)?;
        let start = self.item.place(stmt.span).start;
        let edits = Edits::new(self.at.file.text);
        edits.own_line(start)?;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let edits = edits.lines_before(start, &lines);
        let arch = kind.first();
        let title = format!(
            "Search on {arch} over {} configurations of its own: a branch in `{}`",
            rows.len(),
            self.def.name.name
        );
        Some((format!("arch={arch}"), title, edits))
    }

    /// The space with a second value for each of what has one only.
    fn widened(&self, kind: Alike) -> Option<Change<'a>> {
        let configs = self.on(kind);
        let own = self.exclusive(kind);
        let is_own = |config: &&Config| config.place.is_some_and(|p| own.contains(&p.span));
        let last = own.iter().max_by_key(|span| span.start)?;
        let first = configs.iter().find(is_own)?;
        let (call, args) = self.made_at(first.place?.span)?;
        let mut texts: Vec<String> = Vec::new();
        let mut wider: Vec<&str> = Vec::new();
        for arg in args {
            let name = &arg.name.as_ref()?.name;
            let Some(chosen) = chosen(name) else { continue };
            let is_counted = match chosen {
                Chosen::Tile(Dim::K) => false,
                Chosen::Ctas => kind.has_clusters(),
                _ => true,
            };
            let values: Option<FxHashSet<i64>> =
                configs.iter().map(|config| number(config, name)).collect();
            let values = values?;
            let (Some(value), 1) = (values.iter().next(), values.len()) else {
                continue;
            };
            // Written as something else it may be a loop's.
            if !is_counted || !matches!(arg.value.kind, ExprKind::Int(_)) {
                continue;
            }
            let other = another(chosen, *value, kind)?;
            let from = (arg.value.span.start - call.span.start) as usize;
            let to = (arg.value.span.end - call.span.start) as usize;
            let mut text = self.source(call.span).to_owned();
            text.replace_range(from..to, &other.to_string());
            texts.push(text);
            wider.push(name);
        }
        if texts.is_empty() || configs.len() + texts.len() > MOST {
            return None;
        }
        let (after, _) = self.made_at(*last)?;
        let edits = self.appended(after, &texts)?;
        let arch = kind.first();
        let title = format!(
            "Search on {arch} over further values of {} in `{}`",
            wider.join(", "),
            self.def.name.name
        );
        Some((format!("widen={arch}"), title, edits))
    }

    /// Further configurations behind one that is yielded by a statement or stands last in a list.
    fn appended(&self, after: &'a Expr, texts: &[String]) -> Option<Edits<'a>> {
        let text = self.at.file.text;
        let edits = Edits::new(text);
        if let Some(stmt) = yielded(&self.def.body, after) {
            let place = self.item.place(stmt.span);
            edits.own_line(place.start)?;
            let margin = indent(text, place.start);
            let block: String = (texts.iter())
                .map(|made| format!("{margin}yield {made}\n"))
                .collect();
            let end = line_end(text, place.end);
            let ends = text.get(..end as usize)?.ends_with('\n');
            return match ends {
                true => Some(edits.insert(end, block)),
                false => Some(edits.insert(end, format!("\n{}", block.trim_end()))),
            };
        }
        let mut list = None;
        crate::body::walk(&self.def.body, &mut |expr, place| {
            if let ExprKind::List(parts) = &expr.kind
                && parts.last().is_some_and(|p| p.span == after.span)
                && !place.in_loop()
            {
                list = Some(expr);
            }
        });
        let list: &Expr = list?;
        let close = self.item.place(list.span).end - 1;
        let element: Option<Vec<String>> = texts.iter().map(|t| one_line(t)).collect();
        let element = element?.join(", ");
        let last = self.item.place(after.span);
        Some(add_element(edits, last, close, &element))
    }
}

/// What a search chooses by a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Tile(Dim),
    Occupancy,
    Ctas,
}

fn chosen(field: &str) -> Option<Chosen> {
    if is_occupancy(field) {
        return Some(Chosen::Occupancy);
    }
    if field == "num_ctas" {
        return Some(Chosen::Ctas);
    }
    dim(field).filter(|_| is_tile(field)).map(Chosen::Tile)
}

/// A value beside the only one there is, within what is tried on an architecture.
fn another(chosen: Chosen, value: i64, kind: Alike) -> Option<i64> {
    let rows = kind.rows(false);
    let most = match chosen {
        Chosen::Occupancy | Chosen::Ctas => return Some(if value == 1 { 2 } else { value / 2 }),
        Chosen::Tile(Dim::M) => rows.iter().map(|r| r.0).max()?,
        Chosen::Tile(Dim::N) => rows.iter().map(|r| r.1).max()?,
        Chosen::Tile(Dim::K) => rows.iter().map(|r| r.2).max()?,
    };
    match value {
        v if v > most => Some(most),
        v if v >= 128 => Some(v / 2),
        v => Some(v * 2).filter(|v| *v <= most),
    }
}

fn number(config: &Config, field: &str) -> Option<i64> {
    let (_, known) = config.fields.iter().find(|(name, _)| name == field)?;
    match known {
        Known::Int(value) => Some(*value),
        _ => None,
    }
}

fn numbers(config: &Config, fields: &[&SmolStr]) -> Option<Vec<i64>> {
    fields.iter().map(|field| number(config, field)).collect()
}

/// A value as Python writes it.
fn literal(known: &Known) -> Option<String> {
    match known {
        Known::None => Some("None".to_owned()),
        Known::Bool(true) => Some("True".to_owned()),
        Known::Bool(false) => Some("False".to_owned()),
        Known::Int(value) => Some(value.to_string()),
        _ => None,
    }
}

/// The statement that yields a configuration, outside loops.
fn yielded<'a>(body: &'a [Stmt], made: &Expr) -> Option<&'a Stmt> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Expr(Expr {
            kind: ExprKind::Yield(Some(value)),
            ..
        }) if value.span == made.span => Some(stmt),
        StmtKind::If { .. } => (stmt.blocks().into_iter()).find_map(|inner| yielded(inner, made)),
        _ => None,
    })
}

/// The first statement that is no documentation.
fn first_statement(def: &FunctionDef) -> Option<&Stmt> {
    def.body
        .iter()
        .find(|stmt| !matches!(&stmt.kind, StmtKind::Expr(e) if matches!(e.kind, ExprKind::Str(_))))
}
