//! Which configurations are tried.
//!
//! Hints alone, or tiles and hints as [`super::template`] has them for its kind of kernel. The
//! configuration that was fixed is always one of them: a search cannot lose against it.

use smol_str::SmolStr;

use super::template::Template;
use super::template::rows::Row;
use super::tiles::{Dim, Tile};
use super::triton::Listed;
use super::write::Words;
use crate::arch::Arch;

/// Hints that were fixed before; nothing is what the compiler takes by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fixed {
    pub(super) occupancy: Option<Hint>,
    pub(super) num_ctas: Option<Hint>,
}

/// The value of a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hint {
    /// As it is written: `4`, `ct.ByTarget(sm_90=2)`.
    pub(super) text: String,
    pub(super) number: Option<i64>,
}

impl Fixed {
    pub(super) fn is(hint: &Option<Hint>, value: i64) -> bool {
        hint.as_ref().is_some_and(|h| h.number == Some(value))
    }
}

/// What a search may choose.
#[derive(Debug, Clone)]
pub(super) enum Space {
    /// How many blocks a multiprocessor runs at once.
    Occupancy,
    /// That, and how many share operands.
    Clusters,
    /// Both, and the tiles of a matrix multiplication.
    Tiles {
        tiles: Vec<Tile>,
        template: Template,
        /// How many rows there are, as the launch says it, where no larger tiles are tried.
        rows: Option<String>,
    },
    /// The tiles of a Triton list.
    Listed { tiles: Vec<Tile>, list: Listed },
}

/// Architectures that want the same tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::playbook) struct Alike(usize);

/// How code asks for them: a test of the major number of the capability, nothing for the rest.
const TESTS: [&str; 4] = ["in (10, 11)", "== 9", "== 12", ""];

impl Alike {
    pub(in crate::playbook) const ALL: [Alike; TESTS.len()] =
        [Alike(0), Alike(1), Alike(2), Alike(3)];

    /// Those of an architecture.
    pub(in crate::playbook) fn of(arch: Arch) -> Alike {
        match arch.capability().0 {
            10 | 11 => Alike(0),
            9 => Alike(1),
            12 => Alike(2),
            _ => Alike(3),
        }
    }

    /// What is tried on them for a kind of matrix multiplication.
    pub(in crate::playbook) fn rows(self, template: Template) -> &'static [Row] {
        template.rows(self.0)
    }

    /// How code asks whether it runs on one of them: a test of the major number of the capability.
    pub(in crate::playbook) fn test(self) -> &'static str {
        match TESTS[self.0] {
            "" => "== 8",
            test => test,
        }
    }

    /// Blocks that share operands pay there.
    pub(in crate::playbook) fn has_clusters(self) -> bool {
        self.0 == 0
    }

    /// The architecture that stands for them.
    pub(in crate::playbook) fn first(self) -> Arch {
        [Arch::Sm100, Arch::Sm90, Arch::Sm120, Arch::Sm80][self.0]
    }
}

/// Occupancies that are tried.
const OCCUPANCIES: [i64; 4] = [1, 2, 4, 8];

/// A tile of so many rows is tried however few there are: every architecture has one.
const FEWEST: i64 = 64;

impl Space {
    /// The hints that it chooses.
    pub(super) fn hints(&self) -> &'static [&'static str] {
        match self {
            Space::Occupancy => &["occupancy"],
            Space::Listed { list, .. } if !list.is_product => &["occupancy"],
            Space::Clusters | Space::Tiles { .. } | Space::Listed { .. } => {
                &["occupancy", "num_ctas"]
            }
        }
    }

    /// Whether the function that gives the configurations asks torch what it runs on.
    pub(super) fn asks_device(&self) -> bool {
        match self {
            Space::Occupancy => false,
            Space::Listed { list, .. } => list.differs(),
            Space::Clusters | Space::Tiles { .. } => true,
        }
    }

    /// The tiles that it chooses.
    pub(super) fn tiles(&self) -> Option<&[Tile]> {
        match self {
            Space::Tiles { tiles, .. } | Space::Listed { tiles, .. } => Some(tiles),
            Space::Occupancy | Space::Clusters => None,
        }
    }

    /// A configuration with the hints and tiles that were fixed.
    pub(super) fn original(&self, namespace: &str, fixed: &Fixed) -> String {
        let mut fields: Vec<String> = Vec::new();
        if let Some(tiles) = self.tiles() {
            fields.extend(tiles.iter().map(|t| format!("{}={}", t.field, t.value)));
        }
        fields.push(format!("occupancy={}", or_none(&fixed.occupancy)));
        if self.hints().len() > 1 {
            fields.push(format!("num_ctas={}", or_none(&fixed.num_ctas)));
        }
        format!("{namespace}({})", fields.join(", "))
    }

    /// The function that gives the configurations.
    pub(super) fn lines(&self, words: &Words, fixed: &Fixed) -> Vec<String> {
        let Words {
            namespace,
            torch,
            configs,
            ..
        } = words;
        let major = format!("{torch}.cuda.get_device_capability()[0]");
        let count = match self.rows() {
            Some(_) => "rows",
            None => "",
        };
        let mut out = vec![format!("def {configs}({count}):")];
        match self {
            Space::Occupancy => {
                let listed = OCCUPANCIES.into_iter().map(|o| (Some(o), o.to_string()));
                let mut values: Vec<(Option<i64>, String)> = listed.collect();
                if !OCCUPANCIES.iter().any(|o| Fixed::is(&fixed.occupancy, *o)) {
                    let number = fixed.occupancy.as_ref().and_then(|h| h.number);
                    values.push((number, or_none(&fixed.occupancy)));
                }
                values.sort();
                let values: Vec<String> = values.into_iter().map(|(_, text)| text).collect();
                out.push(format!("    for occupancy in ({}):", values.join(", ")));
                out.push(format!("        yield {namespace}(occupancy=occupancy)"));
            }
            Space::Clusters => {
                out.push("    # As it was fixed before.".to_owned());
                out.push(format!("    yield {}", self.original(namespace, fixed)));
                out.push(format!(
                    "    clusters = (1, 2) if {major} in (10, 11) else (1,)"
                ));
                out.push("    for num_ctas in clusters:".to_owned());
                out.push("        for occupancy in (1, 2, 4, 8):".to_owned());
                out.push(format!(
                    "            yield {namespace}(occupancy=occupancy, num_ctas=num_ctas)"
                ));
            }
            Space::Tiles { tiles, .. } | Space::Listed { tiles, .. } => {
                out.push("    # As it was fixed before.".to_owned());
                out.push(format!("    yield {}", self.original(namespace, fixed)));
                let fields: Vec<&str> = (tiles.iter().map(|t| t.field.as_str()))
                    .chain(self.hints().iter().copied())
                    .collect();
                let names = fields.join(", ");
                match self {
                    Space::Listed { list, .. } => out.extend(list.lines(&names, &major)),
                    Space::Tiles { template, .. } => {
                        out.push(format!("    major = {major}"));
                        branches(&mut out, tiles, *template, fixed, &names);
                    }
                    _ => {}
                }
                out.push(format!("    for {names} in space:"));
                let named: Vec<String> = fields.iter().map(|f| format!("{f}={f}")).collect();
                let mut margin = "        ";
                if let (Some(_), [tile]) = (self.rows(), tiles.as_slice()) {
                    out.push(
                        "        # Of a larger tile the rest would be computed for nothing."
                            .to_owned(),
                    );
                    out.push(format!("        if {} <= max(rows, {FEWEST}):", tile.field));
                    margin = "            ";
                }
                out.push(format!("{margin}yield {namespace}({})", named.join(", ")));
            }
        }
        out
    }

    /// How many rows there are, as an argument of the function that gives the configurations.
    pub(super) fn rows(&self) -> Option<&str> {
        match self {
            Space::Tiles { rows, .. } => rows.as_deref(),
            _ => None,
        }
    }

    /// How many configurations there are at most on one architecture.
    pub(super) fn count(&self, fixed: &Fixed) -> usize {
        match self {
            Space::Occupancy => {
                let listed = OCCUPANCIES.iter().any(|o| Fixed::is(&fixed.occupancy, *o));
                OCCUPANCIES.len() + usize::from(!listed)
            }
            Space::Clusters => 1 + 2 * OCCUPANCIES.len(),
            Space::Listed { list, .. } => 1 + list.most(),
            Space::Tiles {
                tiles, template, ..
            } => (Alike::ALL.iter())
                .map(|kind| 1 + projected(*kind, tiles, *template, fixed).len())
                .max()
                .unwrap_or_default(),
        }
    }
}

fn branches(
    out: &mut Vec<String>,
    tiles: &[Tile],
    template: Template,
    fixed: &Fixed,
    fields: &str,
) {
    for (number, kind) in Alike::ALL.into_iter().enumerate() {
        let word = if number == 0 { "if" } else { "elif" };
        out.push(match TESTS[kind.0] {
            "" => "    else:".to_owned(),
            test => format!("    {word} major {test}:"),
        });
        out.push("        space = [".to_owned());
        if number == 0 {
            out.push(format!("            # {fields}"));
        }
        for config in projected(kind, tiles, template, fixed) {
            let values: Vec<String> = config.iter().map(i64::to_string).collect();
            out.push(format!("            ({}),", values.join(", ")));
        }
        out.push("        ]".to_owned());
    }
}

/// An architecture's configurations of the tiles that there are, each once, without the one that was
/// fixed.
fn projected(kind: Alike, tiles: &[Tile], template: Template, fixed: &Fixed) -> Vec<Vec<i64>> {
    let mut seen: Vec<Vec<i64>> = Vec::new();
    for (m, n, k, occupancy, num_ctas) in kind.rows(template) {
        let mut config: Vec<i64> = (tiles.iter())
            .map(|tile| match tile.dim {
                Dim::M => *m,
                Dim::N => *n,
                Dim::K => *k,
            })
            .collect();
        let as_before = config.iter().copied().eq(tiles.iter().map(|t| t.value))
            && Fixed::is(&fixed.occupancy, *occupancy)
            && Fixed::is(&fixed.num_ctas, *num_ctas);
        config.extend([*occupancy, *num_ctas]);
        if !as_before && !seen.contains(&config) {
            seen.push(config);
        }
    }
    seen
}

fn or_none(hint: &Option<Hint>) -> String {
    hint.as_ref()
        .map_or_else(|| "None".to_owned(), |h| h.text.clone())
}

/// Names of a space's tiles, for a menu.
pub(super) fn names(tiles: &[Tile]) -> String {
    let names: Vec<&str> = tiles.iter().map(|t| SmolStr::as_str(&t.field)).collect();
    names.join(", ")
}
