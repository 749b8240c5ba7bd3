--- What Neovim shows, read from its own state: lens and hint marks, floating windows.
local M = {}

--- The first occurrence of `text` after the first line that contains `context`.
---@param buffer integer
---@param context string
---@param text string
---@return integer row 0-based
---@return integer column 0-based, bytes
function M.locate(buffer, context, text)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for row, line in ipairs(lines) do
    if line:find(context, 1, true) then
      local column = line:find(text, 1, true)
      assert(column, ('no "%s" in the line "%s"'):format(text, line))
      return row - 1, column - 1
    end
  end
  error(('no line with "%s" in %s'):format(context, vim.api.nvim_buf_get_name(buffer)))
end

---@param chunks [string, any][]
---@return string
local function joined(chunks)
  local text = ''
  for _, chunk in ipairs(chunks) do
    text = text .. chunk[1]
  end
  return vim.trim(text)
end

--- Virtual text of the namespaces whose name contains `name`, by row. Drawn first, since some of it
--- comes to be only when its line is drawn.
---@param buffer integer
---@param name string
---@return table<integer, string>
function M.virtual_text(buffer, name)
  vim.cmd('redraw!')
  local found = {}
  for namespace, id in pairs(vim.api.nvim_get_namespaces()) do
    if namespace:lower():find(name, 1, true) then
      local marks = vim.api.nvim_buf_get_extmarks(buffer, id, 0, -1, { details = true })
      for _, mark in ipairs(marks) do
        local row, details = mark[2], mark[4]
        local text = joined(details.virt_text or (details.virt_lines or {})[1] or {})
        -- A mark whose text was deleted stays, for undo, and is not drawn.
        if text ~= '' and not details.invalid then
          found[row] = (found[row] and found[row] .. ' ' or '') .. text
        end
      end
    end
  end
  return found
end

--- Code lenses by row, however this version of Neovim draws them.
---@param buffer integer
---@return table<integer, string>
function M.lenses(buffer)
  return M.virtual_text(buffer, 'codelens')
end

--- Lines of the floating window, if there is one.
---@return string[]?
function M.float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    end
  end
end

function M.close_floats()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      vim.api.nvim_win_close(window, true)
    end
  end
end

return M
