import cuda.tile as ct
import torch


@ct.kernel
def scaled(a, b, by_row, by_block, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (j, k), (tn, tk), padding_mode=ct.PaddingMode.ZERO)
        part = ct.mma(x, ct.transpose(y), ct.zeros((tm, tn), dtype=ct.float32))
        rows = ct.load(by_row, (i, k), (tm, 1), padding_mode=ct.PaddingMode.ZERO)
        block = ct.load(by_block, (j, k), (1, 1))
        acc += part * rows * block
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


def product(a, b, by_row, by_block):
    M, N = a.shape[0], b.shape[0]
    c = torch.empty((M, N), dtype=torch.bfloat16, device=a.device)
    tile_m = 64
    grid = (ct.cdiv(M, tile_m), ct.cdiv(N, 128))
    ct.launch(
        torch.cuda.current_stream(), grid, scaled, (a, b, by_row, by_block, c, tile_m, 128, 128)
    )
    return c
