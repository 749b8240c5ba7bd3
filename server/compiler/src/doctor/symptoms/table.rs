//! The symptoms. Facts on the compiler were seen with cuda-tile 1.7 and tileiras 13.4.

use super::Symptom;

/// All symptoms, those of installations first.
pub const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "return-code-5",
        title: "Return code 5, failed to compile Tile IR program, Unknown location",
        signs: &[
            &["return code 5"],
            &["failed to compile tile ir program"],
            &["ended with code 5"],
        ],
        cause: "The compiler `tileiras` could not use its `libnvvm` or `ptxas`: they are missing, or of \
                another CUDA release. It takes them from the folder that `CUDA_ROOT`, `CUDA_HOME` or \
                `CUDA_PATH` names, the first that is set, even if it is set to nothing; only without \
                them from the folder that it is in itself. cuTile takes `CUDA_HOME` and `CUDA_PATH` \
                away from a compiler that came as a Python package, but not `CUDA_ROOT`, and none from \
                one on PATH. With a message and a line before it, it is the kernel that was refused.",
        cure: "Run `tileperf doctor`: it names the file that does not fit and the variable that leads \
               there. Mostly: unset the variable, or `pip install --upgrade 'cuda-tile[tileiras]'`, \
               which brings all three in one release.",
        rules: &[],
    },
    Symptom {
        name: "tileiras-not-found",
        title: "The compiler tileiras is not found",
        signs: &[
            &["'tileiras' compiler not found"],
            &["tileiras", "not found"],
        ],
        cause: "cuTile looks among the Python packages, on PATH, in `CUDA_HOME` and under `/usr/local`. \
                The packages count only if `nvidia-cuda-tileiras`, `nvidia-cuda-nvcc` and `nvidia-nvvm` \
                are all installed and of one CUDA release.",
        cure: "`pip install 'cuda-tile[tileiras]'` in the project's Python, or `tileperf toolchain \
               install` for one that tileperf keeps.",
        rules: &[],
    },
    Symptom {
        name: "mixed-releases",
        title: "Installed NVIDIA pip packages have mismatched versions",
        signs: &[&["mismatched versions"]],
        cause: "One of the three packages of the compiler was upgraded without the others. The newest \
                `nvidia-cuda-tileiras` may be newer than what cuda-tile allows.",
        cure: "`pip install --upgrade 'cuda-tile[tileiras]'` puts them right together.",
        rules: &[],
    },
    Symptom {
        name: "slow-first-call",
        title: "The first call takes seconds",
        signs: &[
            &["slow", "first"],
            &["first", "call", "seconds"],
            &["cold", "start"],
        ],
        cause: "A kernel is compiled for each combination of types, constants and alignments, 0.2 to \
                3.5 s, attention in 16 bit 5 to 15 s. A search compiles and times each configuration. \
                cuTile keeps programs in `~/.cache/cutile-python`, unless `CUDA_TILE_CACHE_DIR` says \
                otherwise; lines and the file's path are part of its key, so an edit above a kernel \
                compiles it again.",
        cure: "Warm up before timing; keep the cache folder between runs, in containers too; make the \
               search space smaller; cache the tuned configuration under a key that does not change \
               with every shape.",
        rules: &["TP105", "TP106", "TP110", "TP113", "TP116"],
    },
    Symptom {
        name: "hang-while-compiling",
        title: "Compiling takes a minute and more",
        signs: &[
            &["compiler exceeded timeout"],
            &["tileiras took longer"],
            &["compil", "hang"],
            &["hangs"],
        ],
        cause: "Mostly a float32 multiplication without tensor cores: it is unrolled into single \
                multiply-adds, and attention in float32 takes 11 to 73 s. Large tiles make it worse.",
        cure: "Cast both operands to `ct.tfloat32` before `ct.mma` where its precision is enough: the \
               same kernel compiles in under a second. Else smaller tiles. `CUDA_TILE_COMPILER_TIMEOUT_SEC` \
               sets a limit.",
        rules: &["TP404"],
    },
    Symptom {
        name: "every-call-slow",
        title: "Every call is slow on the host, the kernel is not",
        signs: &[&["slow", "every", "call"], &["host", "overhead"]],
        cause: "`kernel.replace_hints(...)` or `ct.kernel(...)` makes a new kernel on every call, a search \
                is not behind a cache, or the host waits for the device (`.item()`, `.cpu()`, a print).",
        cure: "Make the kernel with its hints once, keyed by them; search behind a cache; wait for the \
               device outside the hot path.",
        rules: &["TP101", "TP110", "TP304"],
    },
    Symptom {
        name: "wrong-after-first-call",
        title: "The first result is right, later ones are wrong",
        signs: &[
            &["wrong", "first"],
            &["wrong", "second"],
            &["wrong", "after"],
            &["wrong", "tuning"],
        ],
        cause: "A search ran an in-place kernel on live data, so each trial changed its input; or the \
                cache of tuned configurations has a key that two different calls share, such as `id()` \
                or an address that is used again; or tiles are accumulated into memory that nobody \
                clears.",
        cure: "Give the search scratch buffers of its own; put shape, type, device and flags into the key; \
               clear what is accumulated into.",
        rules: &["TP103", "TP106", "TP113"],
    },
    Symptom {
        name: "wrong-at-the-edge",
        title: "Results are wrong in the last rows or columns only",
        signs: &[
            &["wrong", "edge"],
            &["wrong", "last"],
            &["wrong", "tail"],
            &["not divisible"],
        ],
        cause: "The last tile reaches over the array. Loads fill it with zeros, unless `padding_mode` says \
                otherwise: wrong for a maximum, a mean or a softmax. Gathers and scatters check \
                nothing that the mask does not.",
        cure: "`padding_mode=ct.PaddingMode.NEG_INF` for a maximum, the true length for a mean, masks for \
               gathers and scatters.",
        rules: &["TP216", "TP219", "TP223", "TP224", "TP225"],
    },
    Symptom {
        name: "nan",
        title: "NaN or infinity in the result",
        signs: &[&["nan"], &["infinity"]],
        cause: "A padded value met an operation without meaning for it: zero divided by zero, minus \
                infinity minus itself in a row that is masked whole, infinity multiplied by a mask of \
                zero; or a sum in 16 bit left its range. `argmin` and `argmax` pass over NaN by default \
                since cuda-tile 1.6.",
        cure: "Select with `ct.where` instead of multiplying by a mask; keep sums and exponentials in \
               float32; treat rows without a valid element.",
        rules: &["TP216", "TP217", "TP219", "TP220"],
    },
    Symptom {
        name: "empty-search-space",
        title: "Search space is empty, or no valid config was found",
        signs: &[
            &["search space is empty"],
            &["no valid config found"],
            &["empty", "space"],
        ],
        cause: "For this architecture, or these sizes, no configuration passes the filters; or all of them \
                failed, and the first failure stands below the message. Branches on the architecture \
                often forget one.",
        cure: "Add a fallback configuration that always works, and look at `tileperf facts`, which counts \
               the configurations for each architecture.",
        rules: &["TP102", "TP104", "TP114"],
    },
    Symptom {
        name: "generator-space",
        title: "object of type 'generator' has no len()",
        signs: &[&["generator", "has no len"]],
        cause: "`exhaustive_search` counts its space, which a generator cannot be counted without being \
                used up.",
        cure: "Pass `list(...)` of it.",
        rules: &["TP104"],
    },
    Symptom {
        name: "rank-mismatch",
        title: "Index, shape and array have different ranks",
        signs: &[
            &["does not match the array rank"],
            &["does not match the tile rank"],
            &["length to be", "got"],
            &["must be a tuple of length"],
            &["rank", "mismatch"],
        ],
        cause: "`ct.load` and `ct.store` take one index and one extent for each axis of the array. A tensor \
                with another number of axes than the kernel was written for does the same, and so does \
                a tile whose axis was lost in a reduction.",
        cure: "Give as many indices and extents as the array has axes; `keepdims=True` keeps a reduced one; \
               reshape the tensor before the launch.",
        rules: &["TP206", "TP208"],
    },
    Symptom {
        name: "not-broadcastable",
        title: "Shapes are not broadcastable",
        signs: &[&["not broadcastable"]],
        cause: "Two tiles meet whose extents differ and are not 1. cuTile reports some of these as an \
                internal error; they are the kernel's. Often an axis was dropped by a reduction without \
                `keepdims=True`, or `ct.arange` gives a row where a column is meant.",
        cure: "`keepdims=True`, or `ct.reshape` and `ct.expand_dims` to say which axis is which.",
        rules: &["TP206"],
    },
    Symptom {
        name: "power-of-two",
        title: "A tile's extent is not a power of two",
        signs: &[&["power of two"], &["power of 2"]],
        cause: "Tiles have extents 1, 2, 4, 8 ... only; arrays may have any.",
        cure: "Take the next power of two, and let padding or masks deal with the rest.",
        rules: &["TP204", "TP215", "TP226"],
    },
    Symptom {
        name: "constant-expected",
        title: "A constant was expected",
        signs: &[
            &["constant", "expected"],
            &["must be", "constant"],
            &["not a constant"],
        ],
        cause: "Shapes, axes and hints must be known while compiling. A parameter without `ct.Constant` is \
                a value of the launch.",
        cure: "Annotate the parameter `ct.Constant[int]`; each of its values is a program of its own.",
        rules: &["TP202", "TP203", "TP215"],
    },
    Symptom {
        name: "unsupported-syntax",
        title: "Python that cuTile does not take",
        signs: &[
            &["unsupportedsyntaxerror"],
            &["unsupported", "syntax"],
            &["tileunsupported"],
        ],
        cause: "A kernel is compiled and not run: no exceptions, imports, generators, or calls of other \
                kernels. What is taken grows with the version: `break` in `for` since 1.6, dictionaries \
                and `**kwargs` since 1.5, `*args` since 1.4.",
        cure: "Move it to the host or write it with `ct` functions; look at the version that is installed.",
        rules: &["TP210", "TP212", "TP214"],
    },
    Symptom {
        name: "no-tma",
        title: "Loads and stores do not use TMA",
        signs: &[
            &["failed to select tma"],
            &["only supports zero padding"],
            &["not 16-byte aligned"],
            &["no", "tma"],
            &["plain load"],
        ],
        cause: "TMA exists from sm_90 on, and needs strides that are known to be multiples of 16 bytes, an \
                aligned base pointer, a contiguous extent of at least 16 bytes, zero padding and weak \
                memory order. Gathers, scatters and atomics never use it, `allow_tma=False` forbids it, \
                and for a plain copy the compiler often prefers ordinary loads, which are as fast.",
        cure: "Look at the reason in the compiler's remark. Pad rows to multiples of 16 bytes; load with \
               zero padding and mask afterwards; pass tensors that are contiguous. A slice of a tensor \
               that starts at an odd column is another, slower program.",
        rules: &["TP401", "TP406"],
    },
    Symptom {
        name: "no-tensor-cores",
        title: "A multiplication does not use tensor cores; 3.5 KB of stack",
        signs: &[
            &["failed to optimize to use tensor cores"],
            &["using fma"],
            &["no", "tensor core"],
            &["stack"],
            &["fma"],
        ],
        cause: "The operands are float32 or float64, or the tile is smaller than an instruction. Float32 \
                then also takes some 3.5 KB of stack for each thread and 8 to 10 s to compile.",
        cure: "`ct.astype(tile, ct.tfloat32)` on both operands where its 10 bits of mantissa are enough, or \
               16-bit inputs with a float32 accumulator. At least 16 rows, 8 columns and 16 deep.",
        rules: &["TP404"],
    },
    Symptom {
        name: "registers-255",
        title: "255 registers",
        signs: &[&["255 registers"], &["255", "reg"]],
        cause: "From sm_90 on that is what the compiler gives a kernel with TMA or tensor cores that has no \
                hint: no sign of a fault. Stack above 0 is the sign that registers did not suffice, and \
                even then such a program can be the fastest.",
        cure: "If occupancy is what limits it, try `occupancy=` hints with `tileperf perf`, or smaller \
               tiles. Measure: fewer registers are often slower.",
        rules: &[],
    },
    Symptom {
        name: "shared-memory",
        title: "Too much shared memory; one block for each SM",
        signs: &[
            &["shared memory"],
            &["too many resources"],
            &["out of resource"],
        ],
        cause: "Tiles that TMA brings in wait in shared memory, several stages of them. Blocks have at most \
                163 KiB on sm_80, 227 on sm_90 and sm_100, 99 on sm_86, sm_89 and sm_120.",
        cure: "Smaller tiles, above all in depth; a smaller `latency=`; other configurations for \
               architectures with less.",
        rules: &["TP302"],
    },
    Symptom {
        name: "hint-without-effect",
        title: "A hint changes nothing",
        signs: &[
            &["hint", "no effect"],
            &["hint", "nothing"],
            &["value out of range"],
        ],
        cause: "Hints are wishes. The compiler ignores values out of range and often makes the same program \
                of different ones: six values of occupancy give two or three. `num_ctas` does nothing \
                below sm_90, nor does `allow_tma=False` where nothing used TMA.",
        cure: "Compare what was compiled: equal code need not be measured twice. Take inert values out of \
               the search space.",
        rules: &["TP107", "TP112", "TP115", "TP226", "TP301"],
    },
    Symptom {
        name: "slow-on-another-gpu",
        title: "Fast on one GPU, slow on another",
        signs: &[&["slow", "another", "gpu"], &["slow", "other", "gpu"]],
        cause: "Tile sizes, occupancy and the number of SMs are written down for one architecture.",
        cure: "Ask the device for its SM count; `ct.ByTarget(...)` or a search for each architecture.",
        rules: &["TP112", "TP301", "TP302", "TP303"],
    },
    Symptom {
        name: "launch-refused",
        title: "The launch is refused",
        signs: &[&["invalid argument"], &["ct.launch"], &["grid", "invalid"]],
        cause: "The number of arguments differs from the kernel's parameters, `None` is passed where the \
                parameter is no constant, or the grid is no tuple of one to three numbers with at most \
                65,535 on the second and third axis.",
        cure: "Compare the argument tuple with the kernel's `def`.",
        rules: &["TP201", "TP208", "TP209"],
    },
    Symptom {
        name: "profile-shows-search",
        title: "A profile shows dozens of kernels instead of one",
        signs: &[&["profil"], &["ncu"], &["nsys"]],
        cause: "The profiler sees the launches of the search.",
        cure: "Switch tuning off for the profile (`TILEGYM_DISABLE_AUTOTUNE=1` in TileGym), or skip the \
               first launches with `--launch-skip`.",
        rules: &["TP109", "TP117"],
    },
];
