//! The worked examples: a reduction, a matrix multiplication, a kernel that works in place.

use super::*;
use crate::playbook::Numerics;

#[test]
fn a_reduction() {
    let action = becomes(
        RMS,
        "occupancy",
        &[
            "@ct.kernel(occupancy=4)",
            "    ct.launch(torch.cuda.current_stream(), grid, _rms_norm, (x, weight, y, tile, eps))",
        ],
        &[
            "    for occupancy in (1, 2, 4, 8):\n        yield SimpleNamespace(occupancy=occupancy)\n",
            "grid_fn=lambda cfg: (min(num_sms * cfg.occupancy, rows), 1, 1),",
            "cache_key = (x.shape, weight.shape, x.dtype, weight.dtype, str(x.device), tile, disabled)",
            "            cfg = SimpleNamespace(occupancy=4)\n",
            "        (min(num_sms * cfg.occupancy, rows), 1, 1),\n        tuned_kernel,\n",
        ],
    );
    assert!(action.effects.is_empty());
    assert_eq!(action.numerics, Numerics::Same);
}

#[test]
fn a_matrix_multiplication() {
    let action = becomes(
        GEMM,
        "full",
        &[
            "@ct.kernel(occupancy=2)",
            "        grid,",
            "        gemm_kernel,",
            "        (a, b, c, tile_m, tile_n, 64),  # rows, columns, sum",
        ],
        &[
            "    yield SimpleNamespace(tm=128, tn=128, tk=64, occupancy=2, num_ctas=None)\n",
            "        (math.ceil(rows / cfg.tm), ct.cdiv(cols, cfg.tn)),\n        tuned_kernel,\n",
            "        (a, b, c, cfg.tm, cfg.tn, cfg.tk),  # rows, columns, sum\n",
            "args_fn=lambda cfg: (a, b, c, cfg.tm, cfg.tn, cfg.tk),",
        ],
    );
    assert_eq!(action.numerics, Numerics::Different);
    assert_eq!(action.premises.len(), 1);
}

#[test]
fn in_place() {
    becomes(
        ROPE,
        "occupancy",
        &["        ct.launch(stream, (flat.shape[0],), _rope, (flat, cos, sin, half))"],
        &[
            "                flat_scratch = flat.clone()\n                cfg = exhaustive_search(",
            "args_fn=lambda _: (flat_scratch, cos, sin, half),",
            "        ct.launch(stream, (flat.shape[0],), tuned_kernel, (flat, cos, sin, half))\n",
        ],
    );
}
