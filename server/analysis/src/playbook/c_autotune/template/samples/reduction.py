import cuda.tile as ct
import torch


@ct.kernel
def row_means(x, out, TILE: ct.Constant[int]):
    row = ct.bid(0)
    t = ct.load(x, (row, 0), (1, TILE), padding_mode=ct.PaddingMode.ZERO)
    total = ct.sum(ct.astype(t, ct.float32), axis=1)
    ct.store(out, (row,), total / x.shape[1])


def means(x):
    out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    tile = 1 << (x.shape[1] - 1).bit_length()
    ct.launch(torch.cuda.current_stream(), (x.shape[0],), row_means, (x, out, tile))
    return out
