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

---@param workspace string
function M.write(workspace)
  for _, file in ipairs({ M.remade, M.uneven }) do
    vim.fn.writefile(file.lines, workspace .. file.name)
  end
end

--- The kernel that does not compile.
---@param workspace string
function M.write_refused(workspace)
  vim.fn.writefile(M.refused.lines, workspace .. M.refused.name)
end

---@param workspace string
function M.remove(workspace)
  for _, file in ipairs({ M.remade, M.uneven }) do
    vim.fn.delete(workspace .. file.name)
  end
end

return M
