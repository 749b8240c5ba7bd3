//! Kernels, their hints, launches, and how parameters are annotated.

use super::Area;
use super::knob::{Effect, attribute, change, class, function, keyword, method};
use crate::arch::Arch;

const HINTED: &[&str] = &["kernel", "kernel.replace_hints"];

pub(super) static AREA: Area = Area {
    title: "Kernels, hints and launches",
    source: "`_execution.py`, `_compiler_options.py`, `_by_target.py`, `_cext.pyi`, `_stub.py`",
    knobs: &[
        class(
            "kernel",
            "ct.kernel(num_ctas=None, occupancy=None, opt_level=3, num_worker_warps=None)",
            "Makes a function a kernel, with or without parentheses; `ct.launch` runs it, it cannot \
             be called",
        )
        .host()
        .caveat(
            "Each hint may be a `ct.ByTarget`; every combination of hints, argument types and \
             constants is compiled on its own",
        ),
        keyword(
            HINTED,
            "num_ctas",
            "Blocks (CTAs) that form a cluster and share the work on a tile",
        )
        .range("a power of two from 1 to 16, or None")
        .default("None")
        .effect(Effect::From(Arch::Sm90))
        .caveat(
            "Below sm_90 it compiles to the same code. From sm_90 on each value is another \
             program; it is meant for matrix multiplication on sm_90 and sm_100, while sm_120 and \
             sm_121 build the cluster but multiply from registers",
        )
        .measured(),
        keyword(
            HINTED,
            "occupancy",
            "How many blocks should be resident on an SM at once; the compiler limits registers to \
             fit",
        )
        .range("1 to 32, or None for the compiler's choice")
        .default("None")
        .caveat(
            "Several values often give one program: a row softmax compiles alike for all of them \
             on sm_80 and sm_89, and for 8, 16 and 32 on sm_90, sm_100 and sm_120; a value that \
             cannot be met is dropped or paid for with spills",
        )
        .measured(),
        keyword(
            HINTED,
            "opt_level",
            "How hard the compiler optimises",
        )
        .range("0 to 3")
        .default("3")
        .caveat("2 and 3 gave the same code in every kernel tried; 0 and 1 optimise less")
        .measured(),
        keyword(
            HINTED,
            "num_worker_warps",
            "Warps that compute in a warp-specialised kernel, apart from those that the compiler \
             adds to move data",
        )
        .range("a power of two from 1 to 32, or None; with tileiras before 13.5 only 4 and 8")
        .default("None")
        .since(1, 4)
        .changes(&[change(1, 7, "values other than 4 and 8")])
        .tileiras(13, 3)
        .caveat(
            "4 is what the compiler takes by itself. Worth a try where large tiles need more \
             registers than there are, as in normalisations",
        )
        .measured(),
        method(
            "kernel.replace_hints",
            "kernel.replace_hints(num_ctas=..., occupancy=..., opt_level=..., \
             num_worker_warps=...)",
            "Returns a new kernel with other hints",
        )
        .host()
        .since(1, 3)
        .caveat(
            "The new kernel has a compile cache of its own: keep it, a fresh one for every launch \
             compiles for every launch",
        ),
        function(
            "launch",
            "ct.launch(stream, grid, kernel, kernel_args, programmatic_dependent_launch=False)",
            "Queues a kernel on a stream over a grid of blocks, compiling it first if need be",
        )
        .host()
        .range("a grid of 1 to 3 integers, the second and third at most 65535")
        .changes(&[change(
            1,
            6,
            "compiles for the device that it launches on, not for device 0",
        )])
        .caveat("The first launch of a combination of types and constants includes its compilation"),
        keyword(
            &["launch"],
            "programmatic_dependent_launch",
            "Lets this kernel start before the one ahead of it in the stream has ended",
        )
        .range("True or False")
        .default("False")
        .host()
        .since(1, 6)
        .caveat("The kernel must call `ct.grid_dependency_control_wait` before it reads the other's results"),
        function(
            "grid_dependency_control_wait",
            "ct.grid_dependency_control_wait()",
            "Waits until the kernel ahead, launched with programmatic dependence, has ended and its \
             writes are visible",
        )
        .since(1, 6)
        .tileiras(13, 4),
        function(
            "grid_dependency_control_launch_dependents",
            "ct.grid_dependency_control_launch_dependents()",
            "Lets the dependent kernel behind this one start; says nothing about this one's writes",
        )
        .since(1, 6)
        .tileiras(13, 4),
        function(
            "function",
            "ct.function(host=False, tile=True)",
            "Says where a helper may be called; helpers without it are compiled wherever a kernel \
             calls them",
        )
        .host(),
        keyword(
            &["function"],
            "host",
            "Whether host code may call the function",
        )
        .range("True or False")
        .default("False")
        .host(),
        keyword(
            &["function"],
            "tile",
            "Whether kernels may call the function",
        )
        .range("True or False")
        .default("True")
        .host(),
        class(
            "ByTarget",
            "ct.ByTarget(sm_100=..., sm_120=..., default=...)",
            "A hint that depends on the architecture compiled for",
        )
        .host()
        .range("names of the form sm_100; sm_100a is refused")
        .caveat("An architecture that is not listed and has no `default` gets the hint's own default"),
        keyword(
            &["ByTarget"],
            "default",
            "The value for architectures that are not listed",
        )
        .default("UNSPECIFIED")
        .host()
        .changes(&[change(
            1,
            4,
            "bytecode keeps it, so that one bytecode serves all architectures",
        )]),
        class(
            "Constant",
            "x: ct.Constant[int]",
            "Marks a kernel parameter as a compile-time constant; each value is compiled on its own",
        )
        .both()
        .range("int, float, bool, and tuples of them; no str")
        .changes(&[change(1, 5, "tuples")])
        .caveat("A size that changes from call to call does not belong here"),
        class(
            "ConstantAnnotation",
            "Annotated[int, ct.ConstantAnnotation()]",
            "The metadata behind `ct.Constant`",
        )
        .both(),
        class(
            "ArrayAnnotation",
            "Annotated[ct.Array, ct.ArrayAnnotation(index_dtype=ct.int32, static_shape_dims=(), \
             static_stride_dims=())]",
            "Chooses the index type of an array parameter and which of its extents are constants",
        )
        .both()
        .since(1, 4),
        attribute(
            "ArrayAnnotation.index_dtype",
            "Type of the array's shape and strides",
        )
        .range("ct.int32 or ct.int64")
        .default("int32")
        .both()
        .since(1, 4)
        .caveat("int64 is needed from 2^31 elements on and makes index arithmetic wider"),
        attribute(
            "ArrayAnnotation.static_shape_dims",
            "Dimensions whose extent becomes a constant of the compiled kernel",
        )
        .range("a tuple of integers; negative ones count from the end")
        .default("()")
        .both()
        .since(1, 5)
        .caveat("Every other extent at launch compiles again"),
        attribute(
            "ArrayAnnotation.static_stride_dims",
            "Dimensions whose stride becomes a constant of the compiled kernel",
        )
        .range("a tuple of integers; negative ones count from the end")
        .default("()")
        .both()
        .since(1, 6)
        .caveat(
            "Once one is listed, a stride of 1 is no longer found by itself: list the contiguous \
             dimension too",
        ),
        class(
            "IndexedWithInt64",
            "x: ct.IndexedWithInt64",
            "An array parameter with 64-bit shape and strides, for 2^31 elements and more",
        )
        .both()
        .since(1, 4),
        class(
            "ListAnnotation",
            "Annotated[list, ct.ListAnnotation(element=...)]",
            "Annotates the arrays of a parameter that is a list of arrays",
        )
        .both()
        .since(1, 4),
        attribute(
            "ListAnnotation.element",
            "The annotation of each array in the list",
        )
        .range("a ct.ArrayAnnotation or a type annotated with one")
        .both()
        .since(1, 4),
        class(
            "ScalarInt64",
            "n: ct.ScalarInt64",
            "An integer parameter of 64 bits; without it integers are 32 bits wide",
        )
        .both()
        .since(1, 4),
        class(
            "Scalar",
            "ct.Scalar",
            "The type of numbers in kernels, for annotations",
        )
        .both(),
        function(
            "bid",
            "ct.bid(axis)",
            "Index of this block in the grid",
        ),
        function(
            "num_blocks",
            "ct.num_blocks(axis)",
            "Number of blocks in the grid, the step of a persistent loop",
        ),
        keyword(
            &["bid", "num_blocks"],
            "axis",
            "Axis of the grid",
        )
        .range("0, 1 or 2, constant"),
    ],
};
