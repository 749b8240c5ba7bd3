--- The public side of the plugin: setup(), start(), and what statuslines ask for. Everything else
--- is internal.
local M = {}

--- A workspace is trusted when this is true, lists one of its parent folders (or itself), or is a
--- function of the root folder that says so.
---@alias tileperf.Trusted boolean|string[]|fun(root: string): boolean

---@class tileperf.Options
--- How to start the server: the path of the binary, or the whole command line.
--- Default: `$TILEPERF_SERVER_PATH`, else `tileperf` on `$PATH`.
---@field cmd? string|string[]
--- Whether the server may run code of a workspace (default: false).
---@field trusted? tileperf.Trusted
--- Server settings, as listed in docs/settings.md.
---@field settings? table
--- Show code lenses (default: true).
---@field code_lens? boolean
--- Show inlay hints (default: true).
---@field inlay_hints? boolean
--- Show results of experiments behind the line of their kernel (default: true).
---@field perf_results? boolean

---@class tileperf.Status
---@field state 'dormant'|'indexing'|'ready'|'error' dormant: no file has mentioned `cuda.tile` yet
---@field message? string the reason, for people
---@field kernels? integer kernels found in the workspace
---@field files? integer Python files that mention cuTile

---@type tileperf.Options
M.options = {
  cmd = nil,
  trusted = false,
  settings = {},
  code_lens = true,
  inlay_hints = true,
  perf_results = true,
}

---@param opts tileperf.Options
local function validate(opts)
  local expected = {
    cmd = { 'string', 'table' },
    trusted = { 'boolean', 'table', 'function' },
    settings = { 'table' },
    code_lens = { 'boolean' },
    inlay_hints = { 'boolean' },
    perf_results = { 'boolean' },
  }
  for key, value in pairs(opts) do
    local types = expected[key]
    if not types then
      local known = vim.tbl_keys(expected)
      table.sort(known)
      error(
        ('tileperf: unknown option "%s"; known are %s'):format(key, table.concat(known, ', ')),
        3
      )
    end
    if not vim.list_contains(types, type(value)) then
      error(
        ('tileperf: option "%s" must be a %s, not a %s'):format(
          key,
          table.concat(types, ' or a '),
          type(value)
        ),
        3
      )
    end
  end
end

--- Sets the options and turns the server on for Python buffers, the open ones included.
---
--- On Neovim 0.11 and newer this is `vim.lsp.config()` and `vim.lsp.enable()`; on 0.10 it is an
--- autocommand and `vim.lsp.start()`.
---@param opts? tileperf.Options
function M.setup(opts)
  opts = opts or {}
  validate(opts)
  M.options = vim.tbl_extend('force', M.options, opts)

  if vim.lsp.enable then
    -- The whole configuration, not only the changes: lsp/tileperf.lua may have been read before.
    vim.lsp.config('tileperf', require('tileperf.client').config())
    vim.lsp.enable('tileperf')
    return
  end

  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('tileperf.start', {}),
    pattern = 'python',
    desc = 'tileperf: start the server',
    callback = function(event)
      M.start(event.buf)
    end,
  })
  for _, buffer in ipairs(require('tileperf.client').python_buffers()) do
    M.start(buffer)
  end
end

--- Starts the server for one buffer, or attaches the one that already serves its workspace.
---@param buffer? integer default: the current one
---@return integer? client_id nil where it could not be started; the reason was notified
function M.start(buffer)
  return require('tileperf.client').start(buffer or vim.api.nvim_get_current_buf())
end

--- The last status that the server of this buffer sent (any server, where the buffer has none).
---
--- An autocommand `User TileperfStatus` runs whenever it changes.
---@param buffer? integer default: the current one
---@return tileperf.Status? status nil before a server has said anything
function M.status(buffer)
  return require('tileperf.status').get(buffer or vim.api.nvim_get_current_buf())
end

--- The status in a few words, for a statusline: `tileperf: 12 kernels`, or nothing.
---@param buffer? integer default: the current one
---@return string
function M.statusline(buffer)
  return require('tileperf.status').line(M.status(buffer))
end

--- The experiments on the kernels of a buffer, one entry for each kernel that has any.
---
--- An autocommand `User TileperfRun` runs whenever one of them changes.
---@param buffer? integer default: the current one
---@return tileperf.Run[]
function M.perf(buffer)
  return require('tileperf.perf.runs').of_buffer(buffer or vim.api.nvim_get_current_buf())
end

--- An experiment in a few words, for a statusline: the run that goes on, in whichever file, else
--- the last verdict on a kernel of the buffer, else nothing.
---@param buffer? integer default: the current one
---@return string
function M.perf_statusline(buffer)
  local first = require('tileperf.perf.runs').all()[1]
  local run = first and first.running and first or M.perf(buffer)[1]
  return require('tileperf.perf.text').line(run)
end

return M
