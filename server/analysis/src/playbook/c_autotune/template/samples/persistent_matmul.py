import cuda.tile as ct
import torch


@ct.kernel
def all_tiles(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    rows = ct.cdiv(a.shape[0], tm)
    columns = ct.cdiv(b.shape[1], tn)
    for tile in range(ct.bid(0), rows * columns, ct.num_blocks(0)):
        i = tile // columns
        j = tile % columns
        acc = ct.zeros((tm, tn), dtype=ct.float32)
        for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
            x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
            y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
            acc = ct.mma(x, y, acc)
        ct.store(c, (i, j), ct.astype(acc, c.dtype))


def product(a, b):
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    tile_m, tile_n = 128, 128
    tiles = ct.cdiv(a.shape[0], tile_m) * ct.cdiv(b.shape[1], tile_n)
    blocks = torch.cuda.get_device_properties(a.device).multi_processor_count
    ct.launch(
        torch.cuda.current_stream(), (min(blocks, tiles),), all_tiles, (a, b, c, tile_m, tile_n, 64)
    )
    return c
