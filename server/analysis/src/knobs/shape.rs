//! Making tiles and changing their shape and type.

use super::Area;
use super::knob::{change, function, keyword};

const FACTORIES: &[&str] = &["full", "ones", "zeros"];

pub(super) static AREA: Area = Area {
    title: "Making and reshaping tiles",
    source: "`_stub.py`, `_ir/ops.py`",
    knobs: &[
        function("zeros", "ct.zeros(shape, dtype)", "A tile of zeros"),
        function("ones", "ct.ones(shape, dtype)", "A tile of ones"),
        function(
            "full",
            "ct.full(shape, fill_value, dtype)",
            "A tile of one value",
        ),
        keyword(FACTORIES, "shape", "Extents of the tile")
            .range("powers of two, constant; `array.shape` is not"),
        keyword(
            &["full"],
            "fill_value",
            "The value, which need not be constant",
        ),
        keyword(
            &["full", "ones", "zeros", "arange", "astile"],
            "dtype",
            "Element type",
        )
        .range("a ct data type"),
        function(
            "arange",
            "ct.arange(size, dtype=..., start=0, step=1)",
            "A 1-D tile that counts",
        )
        .range("size: a power of two, constant")
        .changes(&[change(1, 5, "`start` and `step`")])
        .measured(),
        keyword(
            &["arange"],
            "start",
            "The first value, which need not be constant",
        )
        .default("0")
        .since(1, 5),
        keyword(
            &["arange"],
            "step",
            "From one value to the next, which need not be constant",
        )
        .default("1")
        .since(1, 5),
        function(
            "astile",
            "ct.astile(value, dtype=...)",
            "A tile from a number or nested tuples of numbers",
        )
        .range("tuples of a power-of-two length")
        .since(1, 4),
        function(
            "reshape",
            "ct.reshape(x, shape)",
            "The same elements in another shape",
        ),
        keyword(
            &["reshape", "Tile.reshape"],
            "shape",
            "The new extents; one may be -1 and follows from the rest",
        )
        .range("powers of two, constant"),
        function(
            "expand_dims",
            "ct.expand_dims(x, axis)",
            "A new axis of extent 1, as `x[:, None]`",
        ),
        keyword(&["expand_dims"], "axis", "Where the new axis goes").range("constant"),
        function(
            "broadcast_to",
            "ct.broadcast_to(x, shape)",
            "Repeats a tile to a larger shape, by NumPy's rules",
        ),
        keyword(&["broadcast_to"], "shape", "The shape to repeat to")
            .range("powers of two, constant"),
        function(
            "permute",
            "ct.permute(x, axes)",
            "The axes in another order",
        )
        .caveat("The `order` of `ct.load` permutes while loading"),
        keyword(
            &["permute", "Tile.permute"],
            "axes",
            "The new order of axes",
        )
        .range("a permutation, constant"),
        function(
            "transpose",
            "ct.transpose(x, axis0=None, axis1=None)",
            "Swaps two axes; for two dimensions they need not be named",
        )
        .caveat("The `order` of `ct.load` transposes while loading"),
        keyword(
            &["transpose", "Tile.transpose"],
            "axis0",
            "One of the axes to swap",
        )
        .range("constant; needed from three dimensions on")
        .default("None"),
        keyword(
            &["transpose", "Tile.transpose"],
            "axis1",
            "The other axis to swap",
        )
        .range("constant; needed from three dimensions on")
        .default("None"),
        function(
            "cat",
            "ct.cat((a, b), axis)",
            "Joins two tiles of one shape along an axis",
        ),
        keyword(&["cat"], "axis", "The axis to join along").range("constant"),
        function(
            "extract",
            "ct.extract(x, index, shape)",
            "A smaller tile out of a tile",
        )
        .caveat("`index` counts tiles of the smaller shape, not elements")
        .changes(&[change(
            1,
            4,
            "a constant index that is out of range is an error",
        )]),
        keyword(
            &["extract", "insert", "Tile.extract", "Tile.insert"],
            "index",
            "Which subtile: one integer per dimension, counted in subtiles and not in elements",
        ),
        keyword(
            &["extract", "Tile.extract"],
            "shape",
            "Extents of the subtile, which divide those of the tile",
        )
        .range("powers of two, constant"),
        function(
            "insert",
            "ct.insert(x, index, value)",
            "A copy of a tile with a smaller tile put in",
        )
        .since(1, 6)
        .tileiras(13, 4)
        .caveat("`index` counts tiles of the smaller shape, not elements"),
        keyword(&["insert", "Tile.insert"], "value", "The subtile to put in").since(1, 6),
        function(
            "where",
            "ct.where(cond, x, y)",
            "Chooses elements from two tiles by a boolean tile",
        ),
        function(
            "astype",
            "ct.astype(x, dtype, rounding_mode=None)",
            "Converts the elements to another type",
        )
        .changes(&[change(1, 6, "`rounding_mode`")]),
        keyword(&["Tile.astype"], "dtype", "The type to convert to").range("a ct data type"),
        keyword(
            &["astype", "Tile.astype"],
            "rounding_mode",
            "How a float is rounded to another float type",
        )
        .range("which modes depends on both types: float32 to float16 takes RN and RZ")
        .default("None")
        .since(1, 6)
        .caveat("None is RN; anything else needs tileiras 13.4 for most pairs of types")
        .measured(),
        function(
            "bitcast",
            "ct.bitcast(x, dtype)",
            "Reads the bits of the elements as another type of the same width",
        ),
        keyword(
            &["bitcast", "unpack_from_bytes"],
            "dtype",
            "The type to read the bits as",
        )
        .range("a ct data type"),
        function(
            "pack_to_bytes",
            "ct.pack_to_bytes(x)",
            "The bytes of a tile as a 1-D tile of uint8",
        )
        .since(1, 4)
        .tileiras(13, 3),
        function(
            "unpack_from_bytes",
            "ct.unpack_from_bytes(x, dtype)",
            "A 1-D tile of uint8 read as another type",
        )
        .since(1, 4)
        .tileiras(13, 3),
    ],
};
