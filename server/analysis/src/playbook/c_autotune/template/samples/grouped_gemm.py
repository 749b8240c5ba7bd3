import cuda.tile as ct
import torch


@ct.kernel
def each_group(a, b, offsets, c, groups: int, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    tile = ct.bid(0)
    columns = ct.cdiv(b.shape[2], tn)
    done = 0
    for g in range(groups):
        first = ct.load(offsets, (g,), (1,)).item()
        last = ct.load(offsets, (g + 1,), (1,)).item()
        here = ct.cdiv(last - first, tm) * columns
        while tile >= done and tile < done + here:
            i = (tile - done) // columns
            j = (tile - done) % columns
            rows = a.slice(axis=0, start=first, stop=last)
            results = c.slice(axis=0, start=first, stop=last)
            acc = ct.zeros((tm, tn), dtype=ct.float32)
            for k in range(ct.cdiv(a.shape[1], tk)):
                x = ct.load(rows, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
                y = ct.load(b, (g, k, j), (1, tk, tn), padding_mode=ct.PaddingMode.ZERO)
                acc = ct.mma(x, ct.reshape(y, (tk, tn)), acc)
            ct.store(results, (i, j), ct.astype(acc, c.dtype))
            tile += ct.num_blocks(0)
        done += here


def products(a, b, offsets):
    c = torch.empty((a.shape[0], b.shape[2]), dtype=a.dtype, device=a.device)
    tile_m, tile_n = 64, 128
    tiles = (ct.cdiv(a.shape[0], tile_m) + b.shape[0]) * ct.cdiv(b.shape[2], tile_n)
    blocks = torch.cuda.get_device_properties(a.device).multi_processor_count
    ct.launch(
        torch.cuda.current_stream(),
        (min(blocks, tiles),),
        each_group,
        (a, b, offsets, c, b.shape[0], tile_m, tile_n, 64),
    )
    return c
