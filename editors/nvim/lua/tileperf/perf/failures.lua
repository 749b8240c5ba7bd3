--- Failing tests of the last run as a quickfix list: they are also diagnostics, but Neovim asks for
--- those of open files only.
local runs = require('tileperf.perf.runs')

local M = {}

--- Of the kernels that are named, else of those of the current buffer, else of all.
---@param arguments tileperf.PerfArguments
---@return tileperf.Run[]
local function meant(arguments)
  if arguments.session or arguments.kernel then
    return vim.tbl_filter(function(run)
      return run.session == (arguments.session or run.session)
        and run.kernel == (arguments.kernel or run.kernel)
    end, runs.all())
  end
  local here = runs.of_buffer(vim.api.nvim_get_current_buf())
  return #here > 0 and here or runs.all()
end

--- Lists them; the cursor stays where it is.
---@param arguments tileperf.PerfArguments
function M.list(arguments)
  local items = {}
  for _, run in ipairs(meant(arguments)) do
    for _, failure in ipairs(run.failures or {}) do
      local message = vim.split(failure.message, '\n')[1]
      local cause = failure.cause and (' (likely cause: %s)'):format(failure.cause) or ''
      table.insert(items, {
        filename = vim.uri_to_fname(failure.uri),
        lnum = failure.line + 1,
        type = 'E',
        text = ('%s: %s%s'):format(failure.test:match('[^:]+$') or failure.test, message, cause),
      })
    end
  end
  if #items == 0 then
    return require('tileperf.perf.request').say('no failing tests')
  end
  vim.fn.setqflist({}, ' ', { title = 'tileperf: failing tests', items = items })
  vim.cmd('botright copen | wincmd p')
end

return M
