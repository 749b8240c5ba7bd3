//! Searching configurations, compiling ahead of time, and the deprecated search.

use super::Area;
use super::knob::{attribute, change, class, function, keyword, method, module};

const SEARCH: &[&str] = &["tune.exhaustive_search"];

pub(super) static AREA: Area = Area {
    title: "Tuning and compilation",
    source: "`tune/_tune.py`, `compilation/`, `_context.py`; the last two entries \
             `cuda.tile_experimental`",
    knobs: &[
        module("tune", "Search for the best configuration of a kernel").since(1, 3),
        function(
            "tune.exhaustive_search",
            "ct.tune.exhaustive_search(search_space, stream, grid_fn, kernel, args_fn, \
             hints_fn=None, ...)",
            "Times a kernel with every configuration and returns a `TuningResult`",
        )
        .host()
        .since(1, 3)
        .caveat(
            "It compiles and runs every configuration on every call: keep the result, and the \
             kernel with its hints, in a cache. Configurations that fail are collected, not raised, \
             unless all fail",
        ),
        keyword(
            SEARCH,
            "search_space",
            "The configurations; their type is free, the functions below interpret them",
        )
        .range("a list or tuple that is not empty; a generator raises TypeError")
        .host()
        .since(1, 3),
        keyword(SEARCH, "stream", "The CUDA stream to run on")
            .host()
            .since(1, 3),
        keyword(SEARCH, "grid_fn", "Gives the grid for a configuration")
            .host()
            .since(1, 3),
        keyword(
            SEARCH,
            "kernel",
            "The kernel to tune, or a function from configuration to kernel",
        )
        .host()
        .since(1, 3)
        .changes(&[change(1, 6, "a function from configuration to kernel")])
        .caveat("A function should return the same object for the same kernel"),
        keyword(
            SEARCH,
            "args_fn",
            "Gives the kernel's arguments for a configuration",
        )
        .host()
        .since(1, 3)
        .caveat(
            "It is called for every sample and the kernel really runs: give a kernel that writes \
             to its inputs copies",
        ),
        keyword(
            SEARCH,
            "hints_fn",
            "Gives the compiler hints for a configuration as a dict for `replace_hints`",
        )
        .default("None")
        .host()
        .since(1, 3),
        keyword(
            SEARCH,
            "quiet",
            "Prints neither progress nor result",
        )
        .range("True or False")
        .default("False")
        .host()
        .since(1, 3),
        keyword(
            SEARCH,
            "single_run_timeout_sec",
            "Seconds after which the first run of a configuration is given up, in a process of its \
             own",
        )
        .range("a positive number, or None for no limit")
        .default("None")
        .host()
        .since(1, 5),
        keyword(
            SEARCH,
            "flush_l2",
            "Empties the L2 cache before every run that is timed",
        )
        .range("True or False")
        .default("True")
        .host()
        .since(1, 7)
        .caveat("Versions before it always emptied the cache"),
        class(
            "tune.TuningResult",
            "",
            "What a search found: `best`, `successes`, `failures`",
        )
        .host()
        .since(1, 3)
        .caveat("The winner is `result.best.config`, its time `result.best.mean_us`"),
        attribute("tune.TuningResult.best", "The fastest measurement")
            .host()
            .since(1, 3),
        attribute(
            "tune.TuningResult.successes",
            "Measurements of all configurations that ran",
        )
        .host()
        .since(1, 3),
        attribute(
            "tune.TuningResult.failures",
            "A triple of configuration, exception class and message for each that did not",
        )
        .host()
        .since(1, 3)
        .changes(&[change(1, 6, "the class itself, not its name")]),
        method(
            "tune.TuningResult.summary",
            "result.summary(top_k=10, bottom_k=2)",
            "The result as a table in text",
        )
        .host()
        .since(1, 3),
        keyword(
            &["tune.TuningResult.summary"],
            "top_k",
            "How many of the fastest are listed",
        )
        .default("10")
        .host()
        .since(1, 3),
        keyword(
            &["tune.TuningResult.summary"],
            "bottom_k",
            "How many of the slowest are listed",
        )
        .default("2")
        .host()
        .since(1, 3),
        class(
            "tune.Measurement",
            "",
            "A configuration and how fast it was",
        )
        .host()
        .since(1, 3),
        attribute("tune.Measurement.config", "The configuration")
            .host()
            .since(1, 3),
        attribute("tune.Measurement.mean_us", "Mean time in microseconds")
            .host()
            .since(1, 3),
        attribute("tune.Measurement.num_samples", "Number of samples behind the mean")
            .host()
            .since(1, 3),
        attribute(
            "tune.Measurement.error_margin_us",
            "Half of the 95 % confidence interval in microseconds",
        )
        .host()
        .since(1, 3),
        function(
            "compiler_timeout",
            "with ct.compiler_timeout(timeout_sec):",
            "Limits how long the compiler may take for one kernel",
        )
        .host()
        .since(1, 3)
        .caveat("It sets a global, so other threads are affected"),
        keyword(
            &["compiler_timeout"],
            "timeout_sec",
            "The limit in seconds",
        )
        .host()
        .since(1, 3),
        module(
            "compilation",
            "Compile kernels ahead of time, without a GPU",
        )
        .since(1, 3),
        function(
            "compilation.export_kernel",
            "ct.compilation.export_kernel(kernel, signatures, output_file, gpu_code=None, \
             output_format=...)",
            "Writes a kernel as cubin or TileIR bytecode",
        )
        .host()
        .since(1, 3),
        keyword(
            &["compilation.export_kernel"],
            "gpu_code",
            "The architecture to compile for",
        )
        .range("\"sm_100\" and the like; None only for bytecode")
        .default("None")
        .host()
        .since(1, 3)
        .changes(&[change(1, 6, "None, for bytecode of 13.3 and later")]),
        keyword(
            &["compilation.export_kernel"],
            "output_format",
            "What to write",
        )
        .range("\"cubin\" or \"tileir_bytecode\"")
        .host()
        .since(1, 3),
        keyword(
            &["compilation.export_kernel"],
            "bytecode_version",
            "The TileIR bytecode version",
        )
        .range("\"13.1\" to \"13.4\", or None for the newest that the compiler takes")
        .default("None")
        .host()
        .since(1, 3),
        class(
            "compilation.KernelSignature",
            "ct.compilation.KernelSignature(parameters, calling_convention, symbol=None)",
            "The parameter types for which a kernel is compiled",
        )
        .host()
        .since(1, 3),
        method(
            "compilation.KernelSignature.from_kernel_args",
            "KernelSignature.from_kernel_args(kernel, kernel_args, calling_convention)",
            "The signature that a launch with these arguments would compile",
        )
        .host()
        .since(1, 3),
        class(
            "compilation.ArrayConstraint",
            "ct.compilation.ArrayConstraint(dtype, ndim, index_dtype=..., ...)",
            "What the compiler may assume of an array parameter: strides, divisibility, aliasing",
        )
        .host()
        .since(1, 3)
        .caveat(
            "Without divisibility by 16 bytes of base address and strides, loads do not become \
             TMA copies",
        ),
        class(
            "compilation.ScalarConstraint",
            "ct.compilation.ScalarConstraint(dtype)",
            "The type of a scalar parameter",
        )
        .host()
        .since(1, 3),
        class(
            "compilation.ConstantConstraint",
            "ct.compilation.ConstantConstraint(value)",
            "The value of a constant parameter",
        )
        .host()
        .since(1, 3),
        class(
            "compilation.ListConstraint",
            "ct.compilation.ListConstraint(element, alias_groups, elements_may_alias)",
            "What the compiler may assume of a list of arrays",
        )
        .host()
        .since(1, 3),
        class(
            "compilation.TupleConstraint",
            "ct.compilation.TupleConstraint(items)",
            "The constraints of the items of a tuple parameter",
        )
        .host()
        .since(1, 5),
        class(
            "compilation.CallingConvention",
            "ct.compilation.CallingConvention.cutile_python_v2()",
            "How arguments reach the compiled kernel",
        )
        .host()
        .since(1, 3)
        .changes(&[change(1, 5, "version 2, for static shapes and tuples")]),
        function(
            "compilation.mangle_kernel_name",
            "ct.compilation.mangle_kernel_name(function_name, kernel_signature)",
            "The symbol of a compiled kernel",
        )
        .host()
        .since(1, 3),
        function(
            "compilation.demangle_kernel_name",
            "ct.compilation.demangle_kernel_name(symbol)",
            "Function name and signature from the symbol of a compiled kernel",
        )
        .host()
        .since(1, 3),
        function(
            "tile_experimental.autotune_launch",
            "cuda.tile_experimental.autotune_launch(stream, grid_fn, kernel, ...)",
            "Tunes at the first launch and launches the best; deprecated, `ct.tune.exhaustive_search` \
             and a cache of one's own replace it",
        )
        .host()
        .caveat("It is a package of its own, not part of cuda-tile"),
        function(
            "tile_experimental.clear_autotune_cache",
            "cuda.tile_experimental.clear_autotune_cache(kernel=None, key=None)",
            "Forgets what `autotune_launch` found; deprecated with it",
        )
        .host()
        .caveat("It is a package of its own, not part of cuda-tile"),
    ],
};
