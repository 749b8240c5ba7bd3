import cuda.tile as ct
import torch


@ct.kernel
def attend_each(q, k, v, starts, out, scale: float, WIDTH: ct.Constant[int], TILE_M: ct.Constant[int], TILE_N: ct.Constant[int]):
    block, sequence = ct.bid(0), ct.bid(1)
    first = ct.load(starts, (sequence,), (1,)).item()
    last = ct.load(starts, (sequence + 1,), (1,)).item()
    if block * TILE_M < last - first:
        queries = q.slice(axis=0, start=first, stop=last)
        keys = k.slice(axis=0, start=first, stop=last)
        values = v.slice(axis=0, start=first, stop=last)
        results = out.slice(axis=0, start=first, stop=last)
        zero = ct.PaddingMode.ZERO
        rows = ct.load(queries, (block, 0), (TILE_M, WIDTH), padding_mode=zero)
        peak = ct.full((TILE_M, 1), -1.0e30, dtype=ct.float32)
        total = ct.zeros((TILE_M, 1), dtype=ct.float32)
        acc = ct.zeros((TILE_M, WIDTH), dtype=ct.float32)
        for j in range(ct.cdiv(last - first, TILE_N)):
            other = ct.load(keys, (j, 0), (TILE_N, WIDTH), padding_mode=zero)
            scores = ct.mma(rows, ct.transpose(other), ct.zeros((TILE_M, TILE_N), dtype=ct.float32))
            columns = j * TILE_N + ct.arange(TILE_N, dtype=ct.int32)
            scores = ct.where(columns[None, :] < last - first, scores * scale, -1.0e30)
            new = ct.maximum(peak, ct.max(scores, axis=1, keepdims=True))
            share = ct.exp2(scores - new)
            faded = ct.exp2(peak - new)
            peak = new
            total = total * faded + ct.sum(share, axis=1, keepdims=True)
            held = ct.load(values, (j, 0), (TILE_N, WIDTH), padding_mode=zero)
            acc = ct.mma(ct.astype(share, v.dtype), held, acc * faded)
        ct.store(results, (block, 0), ct.astype(acc / total, out.dtype))


def attention(q, k, v, starts, longest):
    out = torch.empty_like(q)
    tile_m, tile_n = 64, 64
    grid = (ct.cdiv(longest, tile_m), starts.shape[0] - 1)
    ct.launch(
        torch.cuda.current_stream(), grid, attend_each, (q, k, v, starts, out, 0.18, 64, tile_m, tile_n)
    )
    return out
