//! The launch with a search behind a cache before it.
//!
//! The statement stays as it is written but for the kernel and what follows from the configuration;
//! everything else is new lines.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use super::effects::Copied;
use super::flow::{Flow, one_line};
use super::passed::Argument;
use super::space::{Fixed, Space};
use crate::model::Kernel;
use crate::playbook::site::{Refused, Site};
use crate::rewrite::Edits;
use crate::rewrite::autotune::fresh;

/// Longer lines are broken.
const WIDTH: usize = 100;

/// How the file calls what generated code needs.
pub(super) struct Words {
    pub(super) namespace: String,
    pub(super) search: String,
    /// Says that tuning is switched off.
    pub(super) disabled: String,
    pub(super) torch: String,
    /// The function that gives the configurations.
    pub(super) configs: String,
}

/// A launch about to be tuned.
pub(super) struct Tuned<'s, 'a> {
    pub(super) site: &'s Site<'a>,
    pub(super) kernel: &'a Kernel,
    pub(super) space: &'s Space,
    pub(super) fixed: &'s Fixed,
    pub(super) words: &'s Words,
    /// The dictionary of the module.
    pub(super) cache: String,
    pub(super) flow: Flow<'s, 'a>,
    /// Which of the kernel's parameters are arrays.
    pub(super) arrays: Vec<bool>,
    /// Arguments that trials must not write to.
    pub(super) in_place: Vec<(usize, Copied)>,
}

impl<'a> Tuned<'_, 'a> {
    /// The edits of the launch.
    pub(super) fn add(&self, edits: Edits<'a>) -> Result<Edits<'a>, Refused> {
        let own = self.site.text();
        let (mut made, mut scratches) = (Vec::new(), Vec::new());
        let args = self.arguments(&mut made, &mut scratches)?;
        let grid = self.text(self.site.grid)?;
        let [key, disabled, tuned] =
            ["cache_key", "disabled", "tuned_kernel"].map(|n| fresh(own, n));
        let (cache, config) = (&self.cache, &self.site.config);
        let mut lines: Vec<String> = (made.iter())
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        lines.push(format!("{disabled} = {}", self.words.disabled));
        let mut parts = self.key(&args)?;
        parts.push(disabled.clone());
        lines.extend(tuple(&format!("{key} = "), &parts));
        lines.push(format!("if {key} not in {cache}:"));
        let miss = self.miss(&disabled, &scratches, &grid, &args)?;
        lines.extend(miss.iter().map(|line| format!("    {line}")));
        let kept = tuple(
            &format!("{cache}[{key}] = "),
            &[config.clone(), self.remade()],
        );
        lines.extend(kept.iter().map(|line| format!("    {line}")));
        lines.push(format!("{config}, {tuned} = {cache}[{key}]"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let start = self.site.item.place(self.site.stmt.span).start;
        self.launch(edits.lines_before(start, &lines), &tuned, grid, &args)
    }

    /// How the configuration is found.
    fn miss(
        &self,
        disabled: &str,
        scratches: &[String],
        grid: &str,
        args: &[Argument],
    ) -> Result<Vec<String>, Refused> {
        let config = &self.site.config;
        let original = self.space.original(&self.words.namespace, self.fixed);
        let mut out = vec![
            format!("if {disabled}:"),
            format!("    {config} = {original}"),
            "else:".to_owned(),
        ];
        out.extend(scratches.iter().map(|line| format!("    {line}")));
        out.push(format!("    {config} = {}(", self.words.search));
        let search = self.search_args(grid, &self.trial_args(args)?)?;
        out.extend(search.iter().map(|line| format!("        {line}")));
        out.push("    ).best.config".to_owned());
        Ok(out)
    }

    /// The kernel with the configuration's hints.
    fn remade(&self) -> String {
        let config = &self.site.config;
        let hints: Vec<String> = (self.space.hints().iter())
            .map(|hint| format!("{hint}={config}.{hint}"))
            .collect();
        format!(
            "{}.replace_hints({})",
            self.site.kernel_name(),
            hints.join(", ")
        )
    }

    /// The launch of what was found. A call on one line gets several if it becomes long.
    fn launch(
        &self,
        edits: Edits<'a>,
        tuned: &str,
        grid: String,
        args: &[Argument],
    ) -> Result<Edits<'a>, Refused> {
        let site = self.site;
        let mut new: Vec<(Span, String)> = vec![(site.kernel.span, tuned.to_owned())];
        if self.flow.mentions(site.grid) {
            new.push((site.grid.span, grid));
        }
        if site.is_written() {
            let changed = site.passed.iter().zip(args).filter(|(_, arg)| arg.changed);
            new.extend(changed.map(|(expr, arg)| (expr.span, arg.text.clone())));
        } else if self.flow.mentions(site.args) {
            new.push((site.args.span, self.text(site.args)?));
        }
        new.sort_by_key(|(span, _)| span.start);
        let whole = self.replaced(site.stmt.span, &new);
        let start = site.item.place(site.stmt.span).start;
        let column = crate::rewrite::indent(site.file.text, start).len();
        if whole.contains('\n') || column + whole.len() <= WIDTH {
            return Ok(new.into_iter().fold(edits, |edits, (span, text)| {
                edits.replace(site.item.place(span), text)
            }));
        }
        let margin = " ".repeat(column);
        let StmtKind::Expr(call) = &site.stmt.kind else {
            return Err("the launch is no call");
        };
        let ExprKind::Call { func, args } = &call.kind else {
            return Err("the launch is no call");
        };
        let mut broken = format!("{}(\n", site.source(func.span));
        for arg in args {
            let name = (arg.name.as_ref()).map_or(String::new(), |n| format!("{}=", n.name));
            let value = self.replaced(arg.value.span, &new);
            broken.push_str(&format!("{margin}    {name}{value},\n"));
        }
        broken.push_str(&format!("{margin})"));
        Ok(edits.replace(site.item.place(call.span), broken))
    }

    /// What stands at a place, with other texts at places within it.
    fn replaced(&self, span: Span, new: &[(Span, String)]) -> String {
        let mut text = self.site.source(span).to_owned();
        for (place, with) in new.iter().rev().filter(|(place, _)| span.contains(*place)) {
            let range = (place.start - span.start) as usize..(place.end - span.start) as usize;
            text.replace_range(range, with);
        }
        text
    }

    /// An expression on one line, of the configuration where it follows from it.
    pub(super) fn text(&self, expr: &Expr) -> Result<String, Refused> {
        const COMMENTED: Refused = "there are comments within the launch's arguments";
        if self.flow.mentions(expr) {
            return self
                .flow
                .written(expr)
                .ok_or("what follows from a tile cannot be written in one expression");
        }
        one_line(self.site.source(expr.span)).ok_or(COMMENTED)
    }

    fn trial_args(&self, args: &[Argument]) -> Result<Vec<String>, Refused> {
        if !self.site.is_written() {
            return Ok(vec![self.text(self.site.args)?]);
        }
        Ok(args.iter().map(|a| a.trial.clone()).collect())
    }

    fn search_args(&self, grid: &str, trial: &[String]) -> Result<Vec<String>, Refused> {
        let stream = one_line(self.site.source(self.site.stream.span))
            .ok_or("there are comments within the launch's arguments")?;
        let config = &self.site.config;
        let hints: Vec<String> = (self.space.hints().iter())
            .map(|hint| format!("\"{hint}\": {config}.{hint}"))
            .collect();
        let mut out = vec![
            format!(
                "list({}({})),",
                self.words.configs,
                self.space.rows().unwrap_or_default()
            ),
            format!("{stream},"),
            format!("grid_fn=lambda {}: {grid},", self.config_for(grid)),
            format!("kernel={},", self.site.kernel_name()),
        ];
        if self.site.is_written() {
            let name = self.config_for(&trial.join(" "));
            let mut lines = tuple(&format!("args_fn=lambda {name}: "), trial);
            if let Some(last) = lines.last_mut() {
                last.push(',');
            }
            out.extend(lines);
        } else if let [all] = trial {
            out.push(format!("args_fn=lambda {}: {all},", self.config_for(all)));
        }
        out.push(format!(
            "hints_fn=lambda {config}: {{{}}},",
            hints.join(", ")
        ));
        Ok(out)
    }

    /// The name of the configuration in a callback that may not need it.
    fn config_for(&self, text: &str) -> &str {
        let config = self.site.config.as_str();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        if text.split(|c| !is_part(c)).any(|word| word == config) {
            config
        } else {
            "_"
        }
    }
}

/// A tuple behind a text, on several lines if it is long.
fn tuple(before: &str, parts: &[String]) -> Vec<String> {
    let comma = if parts.len() == 1 { "," } else { "" };
    let line = format!("{before}({}{comma})", parts.join(", "));
    if line.len() <= WIDTH {
        return vec![line];
    }
    let mut lines = vec![format!("{before}(")];
    lines.extend(parts.iter().map(|part| format!("    {part},")));
    lines.push(")".to_owned());
    lines
}
