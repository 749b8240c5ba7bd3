--- Asked from outside, while a person's keys drive the editor: what ought to be on the screen.
local view = require('view')

local M = {}

--- Enough of a text to recognise it where the window cuts it off.
---@param text? string
---@return string
local function start_of(text)
  return text and vim.fn.strcharpart(text, 0, 24) or ''
end

---@param marks table<integer, string>
---@return string
local function first(marks)
  local rows = vim.tbl_keys(marks)
  table.sort(rows)
  return start_of(marks[rows[1]])
end

function M.lens()
  return first(view.lenses(0))
end

function M.hint()
  return first(view.virtual_text(0, 'inlayhint'))
end

function M.perf()
  return first(view.virtual_text(0, 'tileperf.perf'))
end

--- The longest run of plain words in the hover: markup around them may be hidden on the screen.
function M.hover()
  local longest = ''
  for words in table.concat(view.float() or {}, '\n'):gmatch('%a[%a ]+%a') do
    longest = #words > #longest and words or longest
  end
  return longest
end

function M.status()
  return require('tileperf').statusline()
end

return M
