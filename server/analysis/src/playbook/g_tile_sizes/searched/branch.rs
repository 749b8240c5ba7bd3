//! A branch of its own for an architecture that a space has none for.

use smol_str::SmolStr;
use tileperf_syntax::ast::{ExprKind, FunctionDef, Stmt, StmtKind};

use super::{Change, Chosen, Searched, chosen, number};
use crate::eval::{Config, Known};
use crate::model::SpaceKind;
use crate::playbook::c_autotune::space::Alike;
use crate::playbook::c_autotune::template::Kind;
use crate::playbook::c_autotune::tiles::Dim;
use crate::rewrite::Edits;

impl<'a> Searched<'_, 'a> {
    /// The space with a branch of its own for an architecture, which gives what is tried on such and
    /// what came first before.
    pub(super) fn with_branch(&self, kind: Alike) -> Option<Change<'a>> {
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
        let template = Kind::of(self.at.file, &self.at.device).template;
        for (m, n, k, occupancy, num_ctas) in kind.rows(template) {
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
            self.torch.as_ref()?
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

/// The first statement that is no documentation.
fn first_statement(def: &FunctionDef) -> Option<&Stmt> {
    def.body
        .iter()
        .find(|stmt| !matches!(&stmt.kind, StmtKind::Expr(e) if matches!(e.kind, ExprKind::Str(_))))
}
