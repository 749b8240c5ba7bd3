//! A Triton list's rows and how they are written.

use smol_str::SmolStr;

use super::{Fields, Listed, MOST, elements};
use crate::playbook::c_autotune::space::{Alike, Fixed};
use crate::playbook::c_autotune::tiles::Tile;
use crate::playbook::site::Refused;

/// So many numbers of an accumulator fill half of the registers of a multiprocessor, or of its tensor
/// memory; the rest is for operands. Blocks that run at once share it.
const ACCUMULATED: i64 = 32 * 1024;

/// Occupancies that are tried, most first; fewer where the list would become too long.
const OCCUPANCIES: [&[i64]; 2] = [&[1, 2, 4], &[1, 2]];

/// Each tile tuple once with the hints that are worth a try on a kind of architecture.
pub(super) fn of(
    configs: &[Fields],
    columns: &[Option<&SmolStr>],
    tiles: &[Tile],
    fixed: &Fixed,
    kind: Alike,
) -> Result<Vec<Vec<i64>>, Refused> {
    let mut tuples: Vec<(Vec<i64>, i64)> = Vec::new();
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
        // Below, and where products come from registers, blocks of a cluster share nothing.
        let listed = if kind.first().gains_from_clusters() {
            listed
        } else {
            1
        };
        // Triton's lists hardly say it: where it pays it is tried, and that it is not.
        let tried = if kind.has_clusters() {
            &[listed, 1, 2][..]
        } else {
            &[listed]
        };
        for ctas in tried {
            let tuple = (values.clone(), *ctas);
            if !tuples.contains(&tuple) {
                tuples.push(tuple);
            }
        }
    }
    let all = OCCUPANCIES.map(|tried| crossed(&tuples, tried, tiles, fixed));
    if let Some(rows) = all.into_iter().find(|rows| rows.len() < MOST) {
        return Ok(rows);
    }
    // As many blocks as were before; where the compiler decided, one.
    let one = fixed.occupancy.as_ref().and_then(|h| h.number).unwrap_or(1);
    Ok(crossed(&tuples, &[one], tiles, fixed))
}

/// Tuples with these occupancies, without what was fixed. Clusters are tried with the first only.
fn crossed(
    tuples: &[(Vec<i64>, i64)],
    occupancies: &[i64],
    tiles: &[Tile],
    fixed: &Fixed,
) -> Vec<Vec<i64>> {
    let mut out = Vec::new();
    for (values, ctas) in tuples {
        let block = elements(tiles, values);
        for occupancy in occupancies {
            let is_first = Some(occupancy) == occupancies.first();
            if block / ctas >= 2 * ACCUMULATED {
                continue;
            }
            let fits = *ctas == 1 && block.saturating_mul(*occupancy) <= ACCUMULATED;
            let as_before = values.iter().copied().eq(tiles.iter().map(|t| t.value))
                && Fixed::is(&fixed.occupancy, *occupancy)
                && Fixed::is(&fixed.num_ctas, *ctas);
            if (is_first || fits) && !as_before {
                let mut row = values.clone();
                row.extend([*occupancy, *ctas]);
                out.push(row);
            }
        }
    }
    out
}

impl Listed {
    /// What the generator says of where its configurations are from.
    fn note(&self) -> Vec<String> {
        let mut out = vec![format!(
            "    # The tiles of `{}`'s Triton list, each once, where they fit.",
            self.kernel
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
        out.push(format!("    major = {major}"));
        // Those at the end that are alike are one branch.
        let rest = self.by_kind.last().map_or(&[][..], |(_, rows)| rows);
        let own = self.by_kind.iter().rposition(|(_, rows)| rows != rest);
        let own = own.map_or(0, |last| last + 1);
        for (number, (kind, rows)) in self.by_kind.iter().take(own).enumerate() {
            let word = if number == 0 { "if" } else { "elif" };
            out.push(format!("    {word} major {}:", kind.test()));
            table(&mut out, fields, rows);
        }
        out.push("    else:".to_owned());
        table(&mut out, fields, rest);
        out
    }
}

fn table(out: &mut Vec<String>, fields: &str, rows: &[Vec<i64>]) {
    let margin = "        ";
    out.push(format!("{margin}space = ["));
    out.push(format!("{margin}    # {fields}"));
    for row in rows {
        let values: Vec<String> = row.iter().map(i64::to_string).collect();
        out.push(format!("{margin}    ({}),", values.join(", ")));
    }
    out.push(format!("{margin}]"));
}
