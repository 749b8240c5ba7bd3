--- Text in a window of its own: what the server logged or knows, and reports.
local M = {}

--- The buffer of that name. (bufnr() takes a name for a pattern.)
---@param name string
---@return integer?
local function find(name)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buffer)
    return vim.api.nvim_buf_get_name(buffer) == name
  end)
end

--- Shows lines in a window; the same one when the name is shown again. `q` closes it.
---@param name string
---@param lines string[]
---@param filetype? string
function M.show(name, lines, filetype)
  local buffer = find(name)
  if not buffer then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
    vim.bo[buffer].bufhidden = 'wipe'
    vim.keymap.set('n', 'q', '<cmd>close<cr>', { buffer = buffer, desc = 'Close this window' })
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false

  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('botright split')
    vim.api.nvim_win_set_buf(0, buffer)
  end
  if filetype then
    vim.bo[buffer].filetype = filetype
  end
end

return M
