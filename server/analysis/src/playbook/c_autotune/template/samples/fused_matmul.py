import cuda.tile as ct
import torch


@ct.kernel
def bottleneck(x, down, up, out, RANK: ct.Constant[int], tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    small = ct.zeros((tm, RANK), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
        rows = ct.load(x, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        small = ct.mma(rows, ct.load(down, (k, 0), (tk, RANK), padding_mode=ct.PaddingMode.ZERO), small)
    small = small / (1.0 + ct.exp(-small))
    columns = ct.load(up, (0, j), (RANK, tn), padding_mode=ct.PaddingMode.ZERO)
    acc = ct.mma(ct.astype(small, up.dtype), columns, ct.zeros((tm, tn), dtype=ct.float32))
    ct.store(out, (i, j), ct.astype(acc, out.dtype))


def through(x, down, up):
    out = torch.empty((x.shape[0], up.shape[1]), dtype=x.dtype, device=x.device)
    tile_m, tile_n = 128, 64
    grid = (ct.cdiv(x.shape[0], tile_m), ct.cdiv(up.shape[1], tile_n))
    ct.launch(
        torch.cuda.current_stream(), grid, bottleneck, (x, down, up, out, 64, tile_m, tile_n, 64)
    )
    return out
