//! What generated code imports: under the name that the file has for it, else with a line where such
//! lines stand.

use tileperf_syntax::ast::StmtKind;
use tileperf_syntax::{Item, Span};

use crate::playbook::site::Refused;
use crate::rewrite::Edits;
use crate::rules::FileContext;

/// Adds imports to a file.
pub(super) struct Imports<'a> {
    file: FileContext<'a>,
    lines: Vec<Line<'a>>,
    /// Of the standard library, then of cuTile, then of TileGym.
    wanted: [Vec<String>; 3],
}

/// An import at the top of the file.
struct Line<'a> {
    item: &'a Item,
    /// What it imports from.
    module: &'a str,
    /// `import module`.
    plain: bool,
    place: Span,
}

const STANDARD: [&str; 20] = [
    "abc",
    "argparse",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "enum",
    "functools",
    "itertools",
    "json",
    "logging",
    "math",
    "operator",
    "os",
    "pathlib",
    "sys",
    "time",
    "types",
    "typing",
    "warnings",
];

impl<'a> Imports<'a> {
    pub(super) fn of(file: &FileContext<'a>) -> Imports<'a> {
        let mut lines = Vec::new();
        for item in &file.file.items {
            for stmt in &item.facts.body {
                let place = item.place(stmt.span);
                let (module, plain) = match &stmt.kind {
                    StmtKind::Import(names) => match names.first() {
                        Some(first) => (first.name.name.as_str(), true),
                        None => continue,
                    },
                    StmtKind::ImportFrom { module, level, .. } => {
                        (if *level > 0 { "" } else { module.as_str() }, false)
                    }
                    _ => continue,
                };
                lines.push(Line {
                    item,
                    module,
                    plain,
                    place,
                });
            }
        }
        Imports {
            file: *file,
            lines,
            wanted: Default::default(),
        }
    }

    /// The name of something imported, if it is.
    fn known(&self, path: &str) -> Option<String> {
        let imports = self.file.module.imports.iter();
        let name = imports.filter(|(_, p)| *p == path).map(|(n, _)| n).min()?;
        Some(name.to_string())
    }

    /// The name of the module torch.
    pub(super) fn torch(&self) -> Option<String> {
        self.known("torch")
    }

    fn want(&mut self, group: usize, name: &str, path: &str, line: &str) -> String {
        self.known(path).unwrap_or_else(|| {
            self.wanted[group].push(line.to_owned());
            name.to_owned()
        })
    }

    /// `SimpleNamespace`.
    pub(super) fn namespace(&mut self) -> String {
        let line = "from types import SimpleNamespace";
        self.want(0, "SimpleNamespace", "types.SimpleNamespace", line)
    }

    /// `exhaustive_search`, as the file can call it.
    pub(super) fn search(&mut self) -> Result<String, Refused> {
        let cutile = |line: &Line<'_>| line.module.starts_with("cuda");
        if !self.lines.iter().any(cutile) {
            return Err("cuTile is imported within a block or function");
        }
        let line = "from cuda.tile.tune import exhaustive_search";
        let path = "cuda.tile.tune.exhaustive_search";
        Ok(self.want(1, "exhaustive_search", path, line))
    }

    /// Says that tuning is switched off, as the project does.
    pub(super) fn switch(&mut self) -> String {
        let mut paths = self.file.module.imports.iter();
        if let Some((name, _)) = paths.find(|(_, p)| p.ends_with(".is_autotune_disabled")) {
            return format!("{name}()");
        }
        let mut paths = self.file.module.imports.iter();
        if let Some((name, _)) = paths.find(|(_, p)| p.ends_with(".is_autotune_enabled")) {
            return format!("not {name}()");
        }
        let mut paths = self.file.module.imports.values();
        if paths.any(|p| p == "tilegym" || p.starts_with("tilegym.")) {
            let line = "from tilegym.autotune import is_autotune_disabled";
            self.wanted[2].push(line.to_owned());
            return "is_autotune_disabled()".to_owned();
        }
        let os = self.want(0, "os", "os", "import os");
        format!("{os}.environ.get(\"DISABLE_AUTOTUNE\", \"0\") == \"1\"")
    }

    /// Adds the lines.
    pub(super) fn add(mut self, mut edits: Edits<'a>) -> Edits<'a> {
        let [mut standard, cutile, tilegym] = std::mem::take(&mut self.wanted);
        // `import` before `from`.
        standard.sort_by_key(|line| line.starts_with("from"));
        edits = self.add_standard(edits, &standard);
        let first = self.lines.iter().position(|l| l.module.starts_with("cuda"));
        for line in &cutile {
            edits = self.add_sorted(edits, first, line);
        }
        let own = (self.lines.iter()).position(|l| l.module.starts_with("tilegym"));
        for line in &tilegym {
            edits = self.add_sorted(edits, own.or(first), line);
        }
        edits
    }

    fn add_standard(&self, edits: Edits<'a>, wanted: &[String]) -> Edits<'a> {
        if wanted.is_empty() {
            return edits;
        }
        let is_standard = |line: &Line<'_>| {
            let top = line.module.split('.').next().unwrap_or_default();
            STANDARD.contains(&top)
        };
        if let Some(first) = self.lines.iter().position(is_standard) {
            let add = |edits, line: &String| self.add_sorted(edits, Some(first), line);
            return wanted.iter().fold(edits, add);
        }
        let first = self.lines.iter().find(|l| l.module != "__future__");
        let Some(first) = first else { return edits };
        let mut lines: Vec<&str> = wanted.iter().map(String::as_str).collect();
        lines.push("");
        edits.lines_before(first.place.start, &lines)
    }

    /// Adds a line to the block of imports that this one is in, where its module would stand.
    fn add_sorted(&self, edits: Edits<'a>, start: Option<usize>, line: &str) -> Edits<'a> {
        let Some(start) = start else { return edits };
        let plain = line.starts_with("import");
        let module = line.split(' ').nth(1).unwrap_or_default();
        let before = |other: &Line<'_>| match (other.plain, plain) {
            (true, false) => true,
            (false, true) => false,
            _ => other.module < module && !other.module.is_empty(),
        };
        let block = self.block(start);
        let Some(first) = block.first() else {
            return edits;
        };
        match block.iter().rev().find(|l| before(l)) {
            Some(last) => {
                let end = last.place.end.saturating_sub(1);
                edits.lines_after(end, last.place.start, &[line])
            }
            None => edits.lines_before(first.place.start, &[line]),
        }
    }

    /// The imports around one with no other line between them.
    fn block(&self, at: usize) -> &[Line<'a>] {
        let joined = |a: &Line<'_>, b: &Line<'_>| {
            let between = (self.file.text).get(a.place.end as usize..b.place.start as usize);
            between.is_some_and(|t| t.matches('\n').count() == 1 && t.trim().is_empty())
                || a.item.span == b.item.span
        };
        let mut from = at;
        while from > 0 && joined(&self.lines[from - 1], &self.lines[from]) {
            from -= 1;
        }
        let mut to = at + 1;
        while to < self.lines.len() && joined(&self.lines[to - 1], &self.lines[to]) {
            to += 1;
        }
        self.lines.get(from..to).unwrap_or_default()
    }
}
