--- States of experiments as the server sends them.
local M = {}

---@param short string
---@param change number
---@param verdict string
---@return tileperf.Result
function M.result(short, change, verdict)
  return {
    configuration = 'test_op' .. short,
    short = short,
    direction = 'forward',
    backend = 'cutile',
    base = 1.0,
    candidate = 1.0 + change,
    unit = 'ms',
    change = change,
    low = change - 0.001,
    high = change + 0.001,
    verdict = verdict,
    sentence = short .. ' ' .. verdict,
  }
end

--- A run of `row_scale_kernel` that was kept.
---@param uri string
---@param line integer 0-based, of the kernel's name
---@param changes? table fields that differ
---@return tileperf.Run
function M.run(uri, line, changes)
  local run = {
    session = 'cutile-perf-row_scale_kernel-2026-01-02',
    kernel = 'row_scale_kernel',
    uri = uri,
    range = {
      start = { line = line, character = 4 },
      ['end'] = { line = line, character = 20 },
    },
    phase = 'ready',
    running = false,
    run = {
      run = 3,
      iteration = 3,
      kind = 'iteration',
      optimization = 'occupancy=8',
      began = '2026-01-02T03:04:05Z',
      limit = 600,
      state = 'kept',
      sentence = 'kept: 22.68 % faster',
    },
    latency = {
      current = 0.39,
      baseline = 0.82,
      unit = 'ms',
      text = '0.390000 ms, 2.10x of 0.820000 ms',
    },
    verdict = 'kept: 22.68 % faster',
    results = { M.result('[1]', -0.2268, 'FASTER') },
    stale = false,
    failures = {},
    table = '',
  }
  return vim.tbl_deep_extend('force', run, changes or {})
end

--- The same while iteration 4 is measured.
---@param uri string
---@param line integer
---@param changes? table
---@return tileperf.Run
function M.measuring(uri, line, changes)
  local run = M.run(uri, line, {
    running = true,
    run = {
      run = 4,
      iteration = 4,
      stage = 'measuring',
      pairs = 60,
      decided = 2,
      of = 9,
      state = 'running',
      sentence = 'iteration 4 is measured',
    },
  })
  return vim.tbl_deep_extend('force', run, changes or {})
end

return M
