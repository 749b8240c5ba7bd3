import cuda.tile as ct
import torch


@ct.kernel
def times(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int], FLIPPED: ct.Constant[bool]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        if FLIPPED:
            y = ct.transpose(ct.load(b, (j, k), (tn, tk), padding_mode=ct.PaddingMode.ZERO))
            acc = ct.mma(x, y, acc)
        else:
            y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
            acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


def product(a, b):
    c = torch.empty((a.shape[0], b.shape[0]), dtype=a.dtype, device=a.device)
    tile_m, tile_n = 128, 128
    grid = (ct.cdiv(a.shape[0], tile_m), ct.cdiv(b.shape[0], tile_n))
    ct.launch(torch.cuda.current_stream(), grid, times, (a, b, c, tile_m, tile_n, 64, True))
    return c
