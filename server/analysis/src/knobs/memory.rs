//! Loads, stores, gathers and scatters.

use super::Area;
use super::knob::{change, class, function, keyword};

const TILED: &[&str] = &["load", "store", "TiledView.load", "TiledView.store"];

pub(super) static AREA: Area = Area {
    title: "Loads and stores",
    source: "`_stub.py`, `_ir/ops.py`, `_ir/ops_utils.py`",
    knobs: &[
        function(
            "load",
            "ct.load(array, index, shape, order=\"C\", padding_mode=..., latency=None, \
             allow_tma=None, ...)",
            "Loads one tile of an array that is cut into tiles of a shape",
        )
        .caveat(
            "`index` counts tiles, not elements. It becomes a TMA copy only if base address, \
             strides and the contiguous extent are multiples of 16 bytes and padding is zero or \
             undetermined, and even then the compiler may prefer plain loads",
        )
        .measured(),
        function(
            "store",
            "ct.store(array, index, tile, order=\"C\", latency=None, allow_tma=None, ...)",
            "Stores a tile; what lies outside the array is dropped",
        )
        .caveat("`index` counts tiles of the stored tile's shape, not elements"),
        keyword(
            &["load", "store", "TiledView.load", "TiledView.store"],
            "index",
            "Which tile: one integer per dimension, counted in tiles and not in elements",
        )
        .caveat("A tile wholly outside the array is undefined behaviour"),
        keyword(
            &["load", "num_tiles"],
            "shape",
            "Extents of the tile, one per dimension of the array",
        )
        .range("powers of two, constant; () loads one element"),
        keyword(&["store", "TiledView.store"], "tile", "The tile or number to store"),
        keyword(
            &["load", "store", "num_tiles"],
            "order",
            "Permutation of the array's axes before it is cut into tiles; \"F\" reverses them, so \
             that a transposed tile needs no transpose",
        )
        .range("\"C\", \"F\" or a permutation, constant")
        .default("'C'")
        .changes(&[change(1, 5, "repeated axes are refused")]),
        keyword(
            &["load", "load_advanced_indexing"],
            "padding_mode",
            "What elements outside the array read as",
        )
        .range("a ct.PaddingMode, constant")
        .default("PaddingMode.UNDETERMINED")
        .caveat(
            "TMA pads with zeros only: another padding costs the TMA copy. A tile that may be \
             ragged and feeds a reduction needs one",
        )
        .measured(),
        keyword(
            TILED,
            "check_bounds",
            "Whether tiles that stick out of the array are handled; False promises that none does",
        )
        .range("True or False, constant")
        .default("True")
        .since(1, 6)
        .tileiras(13, 4)
        .caveat(
            "A broken promise is undefined behaviour. False together with a `padding_mode` does \
             not compile with tileiras 13.4.92, although the manual says that padding is ignored",
        )
        .measured(),
        keyword(
            &[
                "load",
                "store",
                "TiledView.load",
                "TiledView.store",
                "load_advanced_indexing",
                "store_advanced_indexing",
                "gather",
                "scatter",
            ],
            "latency",
            "Expected weight of the memory traffic; a larger one prefetches deeper",
        )
        .range("1 (light) to 10 (heavy), constant, or None for the compiler's choice")
        .default("None")
        .caveat(
            "It matters for loads, gathers and TMA stores in loops, and several values often give one \
             program: in a copy loop 5 is the same as 10 and the default is that of 2, in a matmul \
             loop that of 5. Accesses outside loops and scatters compiled alike for every value tried",
        )
        .measured(),
        keyword(
            &[
                "load",
                "store",
                "TiledView.load",
                "TiledView.store",
                "load_advanced_indexing",
                "store_advanced_indexing",
            ],
            "allow_tma",
            "Whether the access may become a TMA copy, or below sm_90 an asynchronous one; None \
             allows it",
        )
        .range("True or False, constant, or None")
        .default("None")
        .caveat(
            "False on the loads of a matmul loop turns asynchronous copies into plain loads with a \
             768-byte stack on sm_80, sm_86 and sm_89 too; on stores, and on loads in a copy or \
             softmax, it changes nothing there. True does not enforce TMA: alignment decides, and \
             the compiler's own preference",
        )
        .measured(),
        keyword(
            &["load", "store"],
            "memory_order",
            "Ordering of the access among blocks",
        )
        .range("load: WEAK, RELAXED, ACQUIRE; store: WEAK, RELAXED, RELEASE")
        .default("MemoryOrder.WEAK")
        .since(1, 3)
        .caveat("Anything but WEAK rules out TMA and needs a `memory_scope`")
        .measured(),
        keyword(
            &["load", "store"],
            "memory_scope",
            "Which threads see the ordering",
        )
        .range("NONE with WEAK; else BLOCK, DEVICE or SYS")
        .default("MemoryScope.NONE")
        .since(1, 3)
        .measured(),
        function(
            "num_tiles",
            "ct.num_tiles(array, axis, shape, order=\"C\")",
            "How many tiles of this shape an axis of the array has, the last one perhaps ragged",
        ),
        keyword(
            &["num_tiles", "TiledView.num_tiles"],
            "axis",
            "The axis whose tiles are counted",
        )
        .range("an axis of the array, constant"),
        function(
            "gather",
            "ct.gather(array, indices, mask=None, padding_value=0, check_bounds=True, \
             latency=None)",
            "Loads elements at arbitrary indices, which count elements",
        )
        .caveat("Every element has an address of its own; where the indices are contiguous `ct.load` is usually cheaper"),
        function(
            "scatter",
            "ct.scatter(array, indices, value, mask=None, check_bounds=True, latency=None)",
            "Stores elements at arbitrary indices, which count elements",
        )
        .caveat("Where the indices are contiguous `ct.store` is usually cheaper"),
        keyword(
            &["gather", "scatter"],
            "mask",
            "Which elements are accessed; joined with the bounds check",
        )
        .range("a boolean tile that broadcasts to the indices, or None")
        .default("None")
        .since(1, 2),
        keyword(
            &["gather"],
            "padding_value",
            "What elements read as that are masked out or out of bounds",
        )
        .range("a number, or a tile that broadcasts to the indices")
        .default("0"),
        keyword(
            &["gather", "scatter"],
            "check_bounds",
            "Whether indices are compared with the array's shape; False promises that all are inside",
        )
        .range("True or False, constant")
        .default("True")
        .caveat("A broken promise is undefined behaviour; negative indices are out of bounds")
        .measured(),
        function(
            "load_advanced_indexing",
            "ct.load_advanced_indexing(array, indices, padding_mode=..., latency=None, \
             allow_tma=None)",
            "Gathers along one dimension and takes slices of the others",
        )
        .range("indices: one 1-D integer tile, a ct.Slice for every other dimension")
        .since(1, 4)
        .tileiras(13, 3),
        function(
            "store_advanced_indexing",
            "ct.store_advanced_indexing(array, indices, tile, latency=None, allow_tma=None)",
            "Scatters along one dimension and fills slices of the others",
        )
        .range("indices: one 1-D integer tile, a ct.Slice for every other dimension")
        .since(1, 4)
        .tileiras(13, 3),
        class(
            "Slice",
            "ct.Slice(start, length)",
            "A range of elements along a dimension, for advanced indexing",
        )
        .range("start: any integer; length: a power of two, constant")
        .since(1, 4),
        function(
            "assume_divisible_by",
            "ct.assume_divisible_by(x, divisor)",
            "Promises that an integer is a multiple of a constant, so that accesses derived from it \
             can be wide or become TMA copies",
        )
        .since(1, 5)
        .caveat("A broken promise is undefined behaviour"),
        keyword(&["assume_divisible_by"], "x", "The integer").since(1, 5),
        keyword(
            &["assume_divisible_by"],
            "divisor",
            "What it is a multiple of",
        )
        .range("a positive constant; powers of two up to 1024 are made use of")
        .since(1, 5),
    ],
};
