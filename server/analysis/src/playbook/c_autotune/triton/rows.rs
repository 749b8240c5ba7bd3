//! A Triton list's rows and how they are written.

use smol_str::SmolStr;

use super::given::Fields;
use super::{Chosen, Listed, MOST, elements};
use crate::playbook::c_autotune::space::{Alike, Fixed};
use crate::playbook::site::Refused;

/// So many numbers of a block fill half of the registers of a multiprocessor, or of its tensor memory;
/// the rest is for operands. Blocks that run at once share it.
const ACCUMULATED: i64 = 32 * 1024;

/// So many elements a block has at least.
const FEWEST: i64 = 64;

/// Occupancies that are tried, most first; fewer where the list would become too long.
const OCCUPANCIES: [&[i64]; 3] = [&[1, 2, 4, 8], &[1, 2, 4], &[1, 2]];

/// A configuration of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    values: Vec<i64>,
    num_ctas: i64,
    /// Triton for cuTile's compiler has it in its lists.
    occupancy: Option<i64>,
}

/// Each tile tuple once with the hints that are worth a try on a kind of architecture.
pub(super) fn of(
    configs: &[Fields],
    columns: &[Option<&SmolStr>],
    chosen: &Chosen,
    fixed: &Fixed,
    kind: Alike,
) -> Result<Vec<Vec<i64>>, Refused> {
    let tiles = chosen.tiles.as_slice();
    let is_product = chosen.is_product;
    let mut tuples: Vec<Row> = Vec::new();
    for config in configs {
        let number = |name: &str| {
            let field = config.iter().find(|(own, _)| own == name);
            field.and_then(|(_, number)| *number)
        };
        let values: Option<Vec<i64>> = (columns.iter().zip(tiles))
            .map(|(column, tile)| column.map_or(Some(tile.value), |name| number(name)))
            .collect();
        let values = values.ok_or("a configuration of the Triton list leaves out a tile")?;
        if values.iter().any(|v| *v < 1 || v.count_ones() != 1) {
            return Err("a tile of the Triton list is no power of two");
        }
        let listed = number("num_ctas").unwrap_or(1);
        if !matches!(listed, 1 | 2 | 4 | 8 | 16) {
            return Err("a num_ctas of the Triton list is none that cuTile takes");
        }
        let occupancy = number("occupancy");
        if occupancy.is_some_and(|o| !(1..=32).contains(&o)) {
            return Err("an occupancy of the Triton list is none that cuTile takes");
        }
        // Below, and where products come from registers, blocks of a cluster share nothing; nor do
        // blocks of elements.
        let listed = match kind.first().gains_from_clusters() && is_product {
            true => listed,
            false => 1,
        };
        // Triton's lists hardly say it: where it pays it is tried, and that it is not.
        let tried = match kind.has_clusters() && is_product {
            true => &[listed, 1, 2][..],
            false => &[listed],
        };
        for num_ctas in tried {
            let row = Row {
                values: values.clone(),
                num_ctas: *num_ctas,
                occupancy,
            };
            if !tuples.contains(&row) {
                tuples.push(row);
            }
        }
    }
    // Blocks of a product take most of a multiprocessor.
    let tried = &OCCUPANCIES[usize::from(is_product)..];
    let mut all = tried
        .iter()
        .map(|tried| crossed(&tuples, tried, chosen, fixed));
    if let Some(rows) = all.find(|rows| rows.len() < MOST) {
        return Ok(rows);
    }
    // As many blocks as were before; where the compiler decided, one.
    let one = fixed.occupancy.as_ref().and_then(|h| h.number).unwrap_or(1);
    Ok(crossed(&tuples, &[one], chosen, fixed))
}

/// Tuples with these occupancies, without what was fixed. Clusters are tried with the first only.
fn crossed(tuples: &[Row], occupancies: &[i64], chosen: &Chosen, fixed: &Fixed) -> Vec<Vec<i64>> {
    let tiles = chosen.tiles.as_slice();
    let is_product = chosen.is_product;
    let mut out = Vec::new();
    for row in tuples {
        let block = elements(tiles, &row.values);
        if block / row.num_ctas >= 2 * ACCUMULATED {
            continue;
        }
        // That is a list of rows, not of elements.
        if chosen.is_elements && block < FEWEST {
            continue;
        }
        let own = row.occupancy.as_ref().map(std::slice::from_ref);
        for occupancy in own.unwrap_or(occupancies) {
            let is_first = own.is_some() || Some(occupancy) == occupancies.first();
            let fits = row.num_ctas == 1 && block.saturating_mul(*occupancy) <= ACCUMULATED;
            let as_before = row.values.iter().eq(tiles.iter().map(|t| &t.value))
                && Fixed::is(&fixed.occupancy, *occupancy)
                && (!is_product || Fixed::is(&fixed.num_ctas, row.num_ctas));
            let mut values = row.values.clone();
            values.push(*occupancy);
            values.extend(is_product.then_some(row.num_ctas));
            if (is_first || fits) && !as_before && !out.contains(&values) {
                out.push(values);
            }
        }
    }
    out
}

impl Listed {
    /// What the generator says of where its configurations are from.
    fn note(&self) -> Vec<String> {
        let mut out = vec![format!(
            "    # The tiles of the Triton list of {}, each once, where they fit.",
            self.origin()
        )];
        if !self.dropped.is_empty() {
            out.push(format!(
                "    # Of no use here and dropped: {}.",
                self.dropped.join(", ")
            ));
        }
        out
    }

    /// The body of the generator behind the original configuration: `fields` of `tiles` and hints.
    pub(in crate::playbook::c_autotune) fn lines(&self, fields: &str, major: &str) -> Vec<String> {
        let mut out = self.note();
        if !self.differs() {
            let rows = self.by_kind.first().map_or(&[][..], |(_, rows)| rows);
            table(&mut out, "    ", fields, rows);
            return out;
        }
        out.push(format!("    major = {major}"));
        // What most kinds get is the last branch.
        let alike = |rows| self.by_kind.iter().filter(|(_, own)| own == rows).count();
        let most = self.by_kind.iter().max_by_key(|(_, rows)| alike(rows));
        let rest = most.map_or(&[][..], |(_, rows)| rows);
        let mut done: Vec<&[Vec<i64>]> = vec![rest];
        for (_, rows) in &self.by_kind {
            if done.contains(&rows.as_slice()) {
                continue;
            }
            let word = if done.len() == 1 { "if" } else { "elif" };
            done.push(rows);
            let kinds = self.by_kind.iter().filter(|(_, own)| own == rows);
            let tests: Vec<String> = kinds
                .map(|(kind, _)| format!("major {}", kind.test()))
                .collect();
            out.push(format!("    {word} {}:", tests.join(" or ")));
            table(&mut out, INNER, fields, rows);
        }
        out.push("    else:".to_owned());
        table(&mut out, INNER, fields, rest);
        out
    }
}

/// The margin of a branch.
const INNER: &str = "        ";

fn table(out: &mut Vec<String>, margin: &str, fields: &str, rows: &[Vec<i64>]) {
    out.push(format!("{margin}space = ["));
    out.push(format!("{margin}    # {fields}"));
    for row in rows {
        let values: Vec<String> = row.iter().map(i64::to_string).collect();
        out.push(format!("{margin}    ({}),", values.join(", ")));
    }
    out.push(format!("{margin}]"));
}
