//! What happens while a kernel compiles, printing and assertions, and the errors.

use super::Area;
use super::knob::{change, exception, function, keyword};

pub(super) static AREA: Area = Area {
    title: "Compile time, debugging and errors",
    source: "`_stub.py`, `_ir/static_eval_ops.py`, `_exception.py`",
    knobs: &[
        function(
            "static_eval",
            "ct.static_eval(expr)",
            "Evaluates an expression by Python itself while the kernel compiles",
        )
        .since(1, 2)
        .changes(&[change(
            1,
            6,
            "arithmetic on values that are known only at run time",
        )]),
        function(
            "static_assert",
            "ct.static_assert(condition, message=None)",
            "A compile error where a condition does not hold",
        )
        .since(1, 2),
        function(
            "static_iter",
            "for x in ct.static_iter(iterable):",
            "Unrolls a loop at compile time",
        )
        .range("at most 1000 rounds; no break, continue or return inside")
        .since(1, 2)
        .measured(),
        keyword(
            &["static_iter"],
            "iterable",
            "Any Python iterable of constants or tiles",
        )
        .since(1, 2),
        function(
            "static_exception",
            "raise ct.static_exception(ValueError(...))",
            "Raises an exception of one's own while the kernel compiles",
        )
        .since(1, 7),
        function(
            "ensure_constant",
            "ct.ensure_constant(value)",
            "Returns a value that is known at compile time, a compile error if it is not",
        )
        .since(1, 6),
        function(
            "print",
            "ct.print(*args, sep=\" \", end=\"\\n\")",
            "Prints values from the GPU, f-strings too; `print` in a kernel is the same",
        )
        .since(1, 2)
        .caveat("For debugging: it is expensive"),
        keyword(&["print"], "sep", "Text between the arguments")
            .default("' '")
            .since(1, 2),
        keyword(&["print"], "end", "Text after the last argument")
            .default("'\\n'")
            .since(1, 2),
        function(
            "printf",
            "ct.printf(format, *args)",
            "Prints values from the GPU with a C format",
        )
        .changes(&[change(1, 2, "works at every `opt_level`, not only at 0")])
        .caveat("For debugging: it is expensive"),
        keyword(&["printf"], "format", "The format")
            .range("conversions d i u o x X e E f F g G a A"),
        function(
            "assert_",
            "ct.assert_(cond, message=None)",
            "Stops the kernel where not all elements are True",
        )
        .caveat("For debugging: it is expensive"),
        keyword(&["assert_"], "message", "Text to print when it fails").default("None"),
        exception("TileError", "What every error of cuda.tile derives from").since(1, 1),
        exception("TileSyntaxError", "A construct that kernels do not take"),
        exception("TileTypeError", "Types that do not fit"),
        exception("TileValueError", "A value out of range"),
        exception(
            "TileUnsupportedFeatureError",
            "Something that this architecture or this tileiras does not have",
        )
        .since(1, 2),
        exception(
            "TileRecursionError",
            "Calls nested more than 1000 deep while inlining",
        )
        .since(1, 1),
        exception(
            "TileStaticEvalError",
            "An error inside `ct.static_eval` and its relatives",
        )
        .since(1, 2),
        exception(
            "TileStaticAssertionError",
            "A `ct.static_assert` that does not hold",
        )
        .since(1, 2),
        exception("StaticException", "What `ct.static_exception` raised").since(1, 7),
        exception(
            "TileInternalError",
            "A failure inside cuda.tile; broadcasting shapes that do not fit ends here too",
        ),
        exception(
            "TileCompilerExecutionError",
            "tileiras failed; \"return code 5\" with an unknown location means that it loaded \
             libraries of another CUDA release",
        ),
        exception(
            "TileCompilerTimeoutError",
            "tileiras took longer than `ct.compiler_timeout` or CUDA_TILE_COMPILER_TIMEOUT_SEC allow",
        ),
    ],
};
