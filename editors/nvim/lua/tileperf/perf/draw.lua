--- Draws what is known of a kernel's experiment behind the line of its name.
local runs = require('tileperf.perf.runs')
local text = require('tileperf.perf.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('tileperf.perf')

---@type table<integer, table<string, integer>> buffer -> kernel -> its mark
local marks = {}

--- Where a word stands in a line of a buffer.
---@param buffer integer
---@param row integer
---@param word string
---@return integer? column 0-based, bytes
local function column_of(buffer, row, word)
  local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1] or ''
  local column = line:find('%f[%w_]' .. vim.pesc(word) .. '%f[^%w_]')
  return column and column - 1
end

--- The place of a kernel's name. The server's line may be that of a text one keystroke older; then
--- the mark knows better, which has moved with the text.
---@param buffer integer
---@param run tileperf.Run
---@param name string the kernel's name without what it is qualified by
---@return integer? row
---@return integer? column
local function place(buffer, run, name)
  local mark = (marks[buffer] or {})[run.kernel]
  local moved = mark and vim.api.nvim_buf_get_extmark_by_id(buffer, namespace, mark, {})[1]
  for _, row in ipairs({ run.range.start.line, moved }) do
    local column = column_of(buffer, row, name)
    if column then
      return row, column
    end
  end
end

---@param buffer integer
function M.buffer(buffer)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  local drawn = {}
  local places = {}
  if require('tileperf').options.perf_results then
    for _, run in ipairs(runs.of_buffer(buffer)) do
      local name = run.kernel:match('[%w_]+$') or run.kernel
      local row, column = place(buffer, run, name)
      local chunks = text.chunks(run)
      if row and #chunks > 0 then
        places[run.kernel] = { row = row, column = column, name = name, chunks = chunks }
      end
    end
  end

  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  for kernel, at in pairs(places) do
    drawn[kernel] = vim.api.nvim_buf_set_extmark(buffer, namespace, at.row, at.column, {
      end_col = at.column + #at.name,
      virt_text = at.chunks,
      virt_text_pos = 'eol',
      hl_mode = 'combine',
      -- The text of a name that was deleted goes with it.
      invalidate = true,
    })
  end
  marks[buffer] = drawn
end

---@param client_id integer
function M.client(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  for _, buffer in ipairs(client and require('tileperf.compat').buffers(client) or {}) do
    M.buffer(buffer)
  end
end

---@param buffer integer
function M.forget(buffer)
  marks[buffer] = nil
  if vim.api.nvim_buf_is_loaded(buffer) then
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  end
end

return M
