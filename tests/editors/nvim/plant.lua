--- Files that rules find something in, put into the workspace for the tests that look for it.
local M = {}

local folder = '/src/demo/ops/cutile/'

--- A kernel is remade with other hints at every call (TP101), which can be corrected.
M.remade = {
  name = folder .. 'row_scale_wide.py',
  lines = {
    '"""Launches the row-scaling kernel for wide rows."""',
    '',
    'import cuda.tile as ct',
    'import torch',
    '',
    'from demo.ops.cutile.row_scale import row_scale_kernel',
    '',
    'TILE = 4096',
    '',
    '',
    'def row_scale_wide(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:',
    '    """Scales row `i` of `x` by `scale[i]`."""',
    '    rows, columns = x.shape',
    '    out = torch.empty_like(x)',
    '    kernel = row_scale_kernel.replace_hints(occupancy=2)',
    '    grid = (rows, ct.cdiv(columns, TILE), 1)',
    '    ct.launch(torch.cuda.current_stream(), grid, kernel, (x, scale, out, TILE))',
    '    return out',
  },
}

--- A tile of 96 elements (TP204).
M.uneven = {
  name = folder .. 'halve.py',
  lines = {
    '"""Halves a vector."""',
    '',
    'import cuda.tile as ct',
    '',
    '',
    '@ct.kernel',
    'def halve_kernel(x, out):',
    '    """`out = x / 2`, 96 elements for each block."""',
    '    block = ct.bid(0)',
    '    tile = ct.load(x, index=(block,), shape=(96,))',
    '    ct.store(out, index=(block,), tile=tile * 0.5)',
  },
}

--- Two shapes that do not go together meet in a helper: only the compiler sees it (TP501).
M.refused = {
  name = folder .. 'widen.py',
  lines = {
    '"""Adds a row to each row of a matrix."""',
    '',
    'import cuda.tile as ct',
    '',
    '',
    'def widened(tile):',
    '    """The tile, and half a row of zeros."""',
    '    return tile + ct.zeros((1, 48 - 16), ct.float32)',
    '',
    '',
    '@ct.kernel',
    'def widen_kernel(x, out):',
    '    """`out = x + 0`, a row of 64 for each block."""',
    '    row = ct.bid(0)',
    '    tile = ct.load(x, index=(row, 0), shape=(1, 64), padding_mode=ct.PaddingMode.ZERO)',
    '    ct.store(out, index=(row, 0), tile=widened(ct.astype(tile, ct.float32)))',
  },
}

--- A kernel that is launched with tiles of two sizes: two signatures.
M.square = {
  name = folder .. 'square.py',
  lines = {
    '"""Multiplies a matrix with itself."""',
    '',
    'import cuda.tile as ct',
    '',
    '',
    '@ct.kernel',
    'def square_kernel(x, out, TILE: ct.Constant[int]):',
    '    """`out = x @ x`, a square of TILE for each block."""',
    '    i, j = ct.bid(0), ct.bid(1)',
    '    total = ct.zeros((TILE, TILE), dtype=ct.float32)',
    '    for k in range(ct.num_tiles(x, 1, (TILE, TILE))):',
    '        first = ct.load(x, index=(i, k), shape=(TILE, TILE))',
    '        second = ct.load(x, index=(k, j), shape=(TILE, TILE))',
    '        total = ct.mma(first, second, total)',
    '    ct.store(out, index=(i, j), tile=ct.astype(total, out.dtype))',
    '',
    '',
    'def square(x, out, stream, rows):',
    '    """Large tiles only where there are enough of them."""',
    '    if rows > 4096:',
    '        ct.launch(stream, (rows // 64, rows // 64, 1), square_kernel, (x, out, 64))',
    '    else:',
    '        ct.launch(stream, (rows // 32, rows // 32, 1), square_kernel, (x, out, 32))',
  },
}

---@param workspace string
function M.write(workspace)
  for _, file in ipairs({ M.remade, M.uneven }) do
    vim.fn.writefile(file.lines, workspace .. file.name)
  end
end

--- The kernel that does not compile, and the one with two signatures.
---@param workspace string
function M.write_compiled(workspace)
  for _, file in ipairs({ M.refused, M.square }) do
    vim.fn.writefile(file.lines, workspace .. file.name)
  end
end

---@param workspace string
function M.remove(workspace)
  for _, file in ipairs({ M.remade, M.uneven }) do
    vim.fn.delete(workspace .. file.name)
  end
end

return M
