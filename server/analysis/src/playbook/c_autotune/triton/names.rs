//! Which name of a Triton list means which tile.

use smol_str::SmolStr;

use crate::playbook::c_autotune::tiles::Tile;
use crate::playbook::site::Refused;
use crate::rules::is_tile;

/// The fields of a list that are these tiles; a tile that the list leaves alone has none. With
/// `is_only` the only tile is the only one of the list, whatever their names.
pub(super) fn columns<'n>(
    fields: impl Iterator<Item = &'n SmolStr> + Clone,
    tiles: &[Tile],
    is_only: bool,
) -> Result<Vec<Option<&'n SmolStr>>, Refused> {
    let mut of_tiles: Vec<&SmolStr> = fields.clone().filter(|name| is_tile(name)).collect();
    of_tiles.sort();
    of_tiles.dedup();
    if let ([only], [_], true) = (of_tiles.as_slice(), tiles, is_only) {
        return Ok(vec![Some(*only)]);
    }
    let mut columns: Vec<Option<&SmolStr>> = vec![None; tiles.len()];
    for name in fields {
        let place = tiles.iter().position(|t| core(&t.field) == core(name));
        match place.and_then(|place| columns.get_mut(place)) {
            Some(Some(known)) if *known != name => {
                return Err("two names of the Triton list mean one tile");
            }
            Some(column) => *column = Some(name),
            None if is_tile(name) => {
                return Err(
                    "the Triton list has a tile that a search of this kernel cannot choose",
                );
            }
            None => {}
        }
    }
    if columns.iter().all(Option::is_none) {
        return Err("no name of the Triton list is one of the kernel's tiles");
    }
    Ok(columns)
}

/// What is left of a tile's name: `m` of `BLOCK_SIZE_M`, `TILE_M`, `tm`.
fn core(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if let Some(short) = lower.strip_prefix(['b', 't']).filter(|s| s.len() == 1) {
        return short.to_owned();
    }
    let parts = lower.split('_').filter(|part| !part.is_empty());
    let kept: Vec<&str> = parts
        .map(|part| {
            let rest = ["block", "tile"].iter().find_map(|w| part.strip_prefix(w));
            rest.unwrap_or(part)
        })
        .filter(|part| !matches!(*part, "" | "size"))
        .collect();
    kept.join("_")
}

#[cfg(test)]
mod tests {
    use super::core;

    #[test]
    fn names_that_mean_the_same() {
        for (name, wanted) in [
            ("BLOCK_SIZE_M", "m"),
            ("TILE_SIZE_M", "m"),
            ("BLOCK_M", "m"),
            ("BLOCKM", "m"),
            ("tile_m", "m"),
            ("tm", "m"),
            ("BM", "m"),
            ("BLOCK_SIZE", ""),
            ("BLOCK_M1", "m1"),
            ("GROUP_SIZE_M", "group_m"),
            ("SPLIT_K", "split_k"),
        ] {
            assert_eq!(core(name), wanted, "{name}");
        }
    }
}
