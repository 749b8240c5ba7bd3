import cuda.tile as ct
import torch


def rescaled(scores, peak):
    new = ct.maximum(peak, ct.max(scores, axis=1, keepdims=True))
    return ct.exp2(scores - new), new


@ct.kernel
def attend(q, k, v, out, scale: float, WIDTH: ct.Constant[int], TILE_M: ct.Constant[int], TILE_N: ct.Constant[int]):
    block, head = ct.bid(0), ct.bid(1)
    rows = ct.reshape(ct.load(q, (head, block, 0), (1, TILE_M, WIDTH)), (TILE_M, WIDTH))
    peak = ct.full((TILE_M, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((TILE_M, 1), dtype=ct.float32)
    acc = ct.zeros((TILE_M, WIDTH), dtype=ct.float32)
    for j in range(ct.cdiv(k.shape[1], TILE_N)):
        keys = ct.reshape(ct.load(k, (head, j, 0), (1, TILE_N, WIDTH)), (TILE_N, WIDTH))
        scores = ct.mma(rows, ct.transpose(keys), ct.zeros((TILE_M, TILE_N), dtype=ct.float32))
        scores = scores * scale
        before = peak
        share, peak = rescaled(scores, before)
        faded = ct.exp2(before - peak)
        total = total * faded + ct.sum(share, axis=1, keepdims=True)
        values = ct.reshape(ct.load(v, (head, j, 0), (1, TILE_N, WIDTH)), (TILE_N, WIDTH))
        acc = ct.mma(ct.astype(share, v.dtype), values, acc * faded)
    result = ct.reshape(ct.astype(acc / total, out.dtype), (1, TILE_M, WIDTH))
    ct.store(out, (head, block, 0), result)


def attention(q, k, v):
    out = torch.empty_like(q)
    tile_m, tile_n = 128, 64
    grid = (ct.cdiv(q.shape[1], tile_m), q.shape[0])
    ct.launch(
        torch.cuda.current_stream(), grid, attend, (q, k, v, out, 0.18, 64, tile_m, tile_n)
    )
    return out
