//! `perf apply` of a change of two files: the kernel's and that of what launches it.

use tileperf_tests::gym::KERNEL;

use crate::playbook::gym;

/// A wrapper in a file of its own, whose values are what the cache's key asks of an array.
const WRAPPER: &str = "\
import cuda.tile as ct

from gym.backend import register_impl
from gym.ops.cutile.scale_kernels import scale_kernel

SMALL = 40
LARGE = 80


class Values(list):
    shape = (2,)
    dtype = 'float32'
    device = 'cuda:0'


@register_impl(\"scale\", backend=\"cutile\")
def scale(values: list[float], factor: float) -> list[float]:
    passes = SMALL if len(values) < 100 else LARGE
    x, y = Values(values), Values()
    ct.launch(None, (1,), scale_kernel, (x, y, factor, passes, 16))
    offset = 0
    return [value * factor + offset for value in values]
";

/// As much of a kernel and of a search as the change touches.
const STUBS: [(&str, &str); 2] = [
    (
        "stubs/cuda/tile/tune.py",
        "from types import SimpleNamespace\n\n\n\
         def exhaustive_search(space, stream, grid_fn, kernel, args_fn, hints_fn):\n    \
             return SimpleNamespace(best=SimpleNamespace(config=space[0]))\n",
    ),
    (
        "stubs/cuda/tile/kernels.py",
        "class Kernel:\n    \
             def __init__(self, function):\n        self.function = function\n\n    \
             def __call__(self, *args):\n        return self.function(*args)\n\n    \
             def replace_hints(self, **hints):\n        return self\n",
    ),
];

/// The kernel is in one file and its launch in another.
#[test]
fn both_files_of_a_change_are_kept_or_neither() {
    const APART: &str = "src/gym/ops/cutile/scale_kernels.py";
    for factor in [0.5, 1.5] {
        let Some(gym) = gym(factor, "", false) else {
            return;
        };
        let bench = gym.read("bench/bench_scale.py");
        gym.write(
            "bench/bench_scale.py",
            bench.replace("allow_tma=False", "exhaustive_search("),
        );
        let own = gym.kernel();
        let (imports, rest) = own.split_once("from gym.backend").expect("an import");
        let kernel = rest.split_once("def work").expect("work").1;
        let kernel = kernel.split_once("@register_impl").expect("a wrapper").0;
        let buffer = "BUFFER = bytes(range(256)) * 64\n\n\n";
        gym.write(
            APART,
            format!("{imports}{buffer}def work{}\n", kernel.trim_end()),
        );
        gym.write(KERNEL, WRAPPER);
        for (name, stub) in STUBS {
            gym.write(name, stub);
        }
        let stub = gym.read("stubs/cuda/tile/__init__.py");
        let plain = "return lambda function: function";
        assert_eq!(stub.matches(plain).count(), 1, "{stub}");
        let stub = stub
            .replace(
                "def kernel(**hints: int)",
                "def kernel(function=None, **hints: int)",
            )
            .replace(
                plain,
                "return Kernel if function is None else Kernel(function)",
            );
        gym.write(
            "stubs/cuda/tile/__init__.py",
            format!("{stub}\n\nfrom cuda.tile.kernels import Kernel\n"),
        );
        gym.git(&["init", "--quiet"]);
        gym.commit("Begin");
        let before = [APART, KERNEL].map(|name| gym.read(name));
        let done = gym.perf(&["apply", "C", APART]);
        let now = [APART, KERNEL].map(|name| gym.read(name));
        assert!(gym.status().is_empty(), "{:?}", gym.status());
        if factor > 1.0 {
            done.says(1, "Reverted: slower");
            assert_eq!(now, before);
            continue;
        }
        assert_eq!(gym.last_row(), "1 PASS keep", "{done}");
        assert_eq!(
            now[0],
            before[0].replace("@ct.kernel(occupancy=2)", "@ct.kernel")
        );
        assert!(
            now[1].contains("hints_fn=lambda cfg: {\"occupancy\": cfg.occupancy}"),
            "{done}"
        );
        let committed = gym.git(&["show", "--format=", "--name-only"]);
        assert_eq!(committed, format!("{KERNEL}\n{APART}"));
        gym.perf_ok(&["undo"]);
        assert_eq!([APART, KERNEL].map(|name| gym.read(name)), before);
    }
}
