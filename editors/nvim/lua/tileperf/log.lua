--- What the server logged: its `window/logMessage` notifications, kept here because Neovim drops
--- those below its log level, and its standard error, which Neovim writes to its LSP log file.
local M = {}

--- Lines kept; memory must not grow with the days.
local LIMIT = 2000

---@type string[]
local lines = {}

local levels = { 'error', 'warning', 'info', 'log', 'debug' }

---@param params lsp.LogMessageParams
function M.add(params)
  local prefix = os.date('%H:%M:%S ') .. (levels[params.type] or 'log') .. ' '
  for _, line in ipairs(vim.split(vim.trim(params.message), '\n')) do
    table.insert(lines, prefix .. line)
  end
  if #lines > LIMIT then
    lines = vim.list_slice(lines, #lines - LIMIT + 1)
  end
end

--- The server's part of Neovim's LSP log, its last 256 KiB at most.
---@param path string
---@return string[]
local function standard_error(path)
  local file = io.open(path, 'r')
  if not file then
    return {}
  end
  file:seek('set', math.max(file:seek('end') - 256 * 1024, 0))
  local text = file:read('*a')
  file:close()

  local found = {}
  for line in vim.gsplit(text, '\n') do
    -- Fields are separated by tabs: time and place, "rpc", the program, "stderr", its output.
    local program, output = line:match('\t"rpc"\t"(.-)"\t"stderr"\t"(.*)"$')
    if program and vim.fs.basename(program):match('^tileperf') then
      for part in vim.gsplit(output:gsub('\\n$', ''), '\\n', { plain = true }) do
        table.insert(found, part)
      end
    end
  end
  return found
end

---@return string[]
function M.lines()
  local path = vim.lsp.log.get_filename()
  local out = { 'Messages of the tileperf server' }
  vim.list_extend(out, #lines > 0 and lines or { '(none)' })
  vim.list_extend(out, { '', 'Its standard error, from ' .. path })
  local errors = standard_error(path)
  return vim.list_extend(out, #errors > 0 and errors or { '(none)' })
end

return M
