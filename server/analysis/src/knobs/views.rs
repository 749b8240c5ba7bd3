//! Methods and properties of arrays, tiled views and tiles.

use super::Area;
use super::knob::{attribute, change, class, function, keyword, method};

const TILED_VIEW: &[&str] = &["Array.tiled_view"];

pub(super) static AREA: Area = Area {
    title: "Arrays, views and tiles",
    source: "`_stub.py`",
    knobs: &[
        class(
            "Array",
            "x: ct.Array",
            "An array in global memory: a kernel parameter that is a tensor",
        )
        .both()
        .caveat("Arrays of one launch must not overlap"),
        attribute("Array.dtype", "Element type, a constant"),
        attribute("Array.ndim", "Number of dimensions, a constant"),
        attribute("Array.shape", "Extents, known at launch")
            .caveat("A tile shape cannot be made of them: pass a `ct.Constant`, or mark them with `ct.ArrayAnnotation`"),
        attribute("Array.strides", "Strides in elements, known at launch"),
        method(
            "Array.slice",
            "array.slice(axis, start, stop)",
            "A view of part of the array along an axis; nothing is copied",
        )
        .since(1, 1)
        .caveat("`ct.assume_divisible_by` on start and stop keeps the view aligned"),
        keyword(
            &["Array.slice"],
            "axis",
            "The axis to cut; negative ones count from the end",
        )
        .since(1, 1),
        keyword(&["Array.slice"], "start", "First element of the view").since(1, 1),
        keyword(
            &["Array.slice"],
            "stop",
            "Element after the last of the view",
        )
        .since(1, 1),
        method(
            "Array.tiled_view",
            "array.tiled_view(tile_shape, padding_mode=..., traversal_steps=None)",
            "The array cut into tiles once, to load and store by tile index",
        )
        .since(1, 3),
        keyword(TILED_VIEW, "tile_shape", "Extents of the tiles")
            .range("powers of two, constant, one per dimension")
            .since(1, 3),
        keyword(
            TILED_VIEW,
            "padding_mode",
            "What elements outside the array read as",
        )
        .range("a ct.PaddingMode, constant")
        .default("PaddingMode.UNDETERMINED")
        .since(1, 3)
        .caveat("TMA pads with zeros only: another padding costs the TMA copy"),
        keyword(
            TILED_VIEW,
            "traversal_steps",
            "Elements from one tile to the next: fewer than the tile has overlap, more leave gaps",
        )
        .range("constants, one per dimension, or None for the tile's own extents")
        .default("None")
        .since(1, 4)
        .tileiras(13, 3),
        method(
            "Array.get_raw_memory",
            "array.get_raw_memory()",
            "Access by element offset from the base address, without shape and strides: \
             `load_offset`, `store_offset`, `atomic_add_offset` and their like",
        )
        .since(1, 3)
        .caveat("Nothing checks the offsets"),
        attribute(
            "Array.foreign_pointer",
            "The base address, to hand to a foreign call or to `ct.Array.from_foreign`",
        )
        .since(1, 7),
        method(
            "Array.from_foreign",
            "ct.Array.from_foreign(pointer, shape, strides)",
            "An array from a foreign pointer",
        )
        .since(1, 7),
        function(
            "foreign_pointer_dtype",
            "ct.foreign_pointer_dtype(pointee_dtype)",
            "The data type of foreign pointers to elements of a type",
        )
        .both()
        .since(1, 7),
        class(
            "TiledView",
            "",
            "An array cut into tiles",
        )
        .since(1, 3),
        attribute("TiledView.dtype", "Element type, a constant").since(1, 3),
        attribute("TiledView.tile_shape", "Extents of the tiles, constants").since(1, 3),
        attribute(
            "TiledView.traversal_steps",
            "Elements from one tile to the next, constants",
        )
        .since(1, 4),
        method(
            "TiledView.num_tiles",
            "view.num_tiles(axis)",
            "How many tiles an axis has",
        )
        .since(1, 3),
        method(
            "TiledView.load",
            "view.load(index, check_bounds=True, latency=None, allow_tma=None)",
            "Loads a tile, as `ct.load` does",
        )
        .since(1, 3),
        method(
            "TiledView.store",
            "view.store(index, tile, check_bounds=True, latency=None, allow_tma=None)",
            "Stores a tile, as `ct.store` does; converts it to the view's type",
        )
        .since(1, 3),
        class("Tile", "t: ct.Tile", "An immutable block of values in a kernel")
            .range("extents are powers of two, known at compile time"),
        attribute("Tile.dtype", "Element type, a constant"),
        attribute("Tile.ndim", "Number of dimensions, a constant"),
        attribute("Tile.shape", "Extents, constants"),
        method("Tile.item", "tile.item()", "A tile of one element as a number"),
        method(
            "Tile.astype",
            "tile.astype(dtype, rounding_mode=None)",
            "Converts the elements, as `ct.astype` does",
        )
        .changes(&[change(1, 6, "`rounding_mode`")]),
        method(
            "Tile.reshape",
            "tile.reshape(shape)",
            "The same elements in another shape, as `ct.reshape`",
        ),
        method(
            "Tile.permute",
            "tile.permute(axes)",
            "The axes in another order, as `ct.permute`",
        ),
        method(
            "Tile.transpose",
            "tile.transpose(axis0=None, axis1=None)",
            "Swaps two axes, as `ct.transpose`",
        ),
        method(
            "Tile.extract",
            "tile.extract(index, shape)",
            "A smaller tile out of this one, as `ct.extract`",
        ),
        method(
            "Tile.insert",
            "tile.insert(index, value)",
            "A copy with a smaller tile put in, as `ct.insert`",
        )
        .since(1, 6),
    ],
};
