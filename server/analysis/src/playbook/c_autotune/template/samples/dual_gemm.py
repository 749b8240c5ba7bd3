import cuda.tile as ct
import torch


@ct.kernel
def gated(x, gate, up, out, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    opened = ct.zeros((tm, tn), dtype=ct.float32)
    raised = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
        rows = ct.load(x, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        opened = ct.mma(rows, ct.load(gate, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO), opened)
        raised = ct.mma(rows, ct.load(up, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO), raised)
    result = opened / (1.0 + ct.exp(-opened)) * raised
    ct.store(out, (i, j), ct.astype(result, out.dtype))


def swiglu(x, gate, up):
    out = torch.empty((x.shape[0], gate.shape[1]), dtype=x.dtype, device=x.device)
    tile_m, tile_n = 128, 128
    grid = (ct.cdiv(x.shape[0], tile_m), ct.cdiv(gate.shape[1], tile_n))
    ct.launch(
        torch.cuda.current_stream(), grid, gated, (x, gate, up, out, tile_m, tile_n, 64)
    )
    return out
