//! Lists of Triton configurations: which vendor's they are, and what filters read of them.

use super::cases::check;

#[test]
fn branches_of_other_vendors_are_not_taken() {
    for (given, wanted) in [
        ("is_hip()", "1"),
        ("not is_cuda()", "1"),
        ("is_hip_cdna2()", "1"),
        ("platforms.current.is_rocm()", "1"),
        ("torch.version.hip", "1"),
        ("torch.version.hip is not None", "1"),
        ("torch.xpu.is_available()", "1"),
        (
            "triton.runtime.driver.active.get_current_target().backend == 'hip'",
            "1",
        ),
        ("target().backend in ('hip', 'xpu')", "1"),
        ("target().arch >= 90", "1 2 2 2"),
        ("target().warp_size == 64", "1"),
        // Nobody knows.
        ("HAS_TMA", "1..2"),
        (
            "triton.runtime.driver.active.utils.get_device_properties(0)['max_shared_mem'] > 1",
            "1..2",
        ),
    ] {
        let text = format!(
            "
import torch, triton, platforms
from utils import is_hip, is_cuda, is_hip_cdna2, HAS_TMA
def target():
    return triton.runtime.driver.active.get_current_target()
def configs():
    yield 1
    if {given}:
        yield 2
"
        );
        check(&[(text.as_str(), wanted)]);
    }
    // A function of the workspace says itself what it is.
    check(&[(
        "
def is_hip():
    return True
search([1, 2] if is_hip() else [1])
",
        "2",
    )]);
}

#[test]
fn what_filters_read() {
    for (filter, wanted) in [
        ("c.kwargs['M'] > 16", "2"),
        ("c.kwargs.get('M', 0) * c.num_warps < 200", "2"),
        ("c.num_stages == 3", "3"),
        ("c.num_stages == 2", "1"),
        ("c.num_ctas == 1 and c.maxnreg is None", "4"),
        ("c.pre_hook is None", "3"),
        ("c.ir_override", "0..4"),
    ] {
        let text = format!(
            "
import triton
from triton import Config as C
def hook(x):
    pass
def keep(c):
    return {filter}
LIST = [
    triton.Config({{'M': 16}}, num_warps=4),
    triton.Config(kwargs={{'M': 64}}, num_warps=8, num_stages=2),
    C(kwargs=dict(M=128), pre_hook=hook),
    C({{}}, 4, 3),
]
LIST = [c for c in LIST if 'M' in c.kwargs] + LIST[3:]
search(list(filter(keep, LIST)))
"
        );
        let text = text.replace("c.kwargs['M'] > 16", "c.kwargs.get('M', 1) > 16");
        check(&[(text.as_str(), wanted)]);
    }
}
