--- The language client's configuration, the same for every Neovim version, and starting it.
local server = require('tileperf.server')

local M = {}

--- The marker found first in this order, in the nearest folder that has it, is the workspace root.
M.root_markers = { 'tileperf.toml', 'pyproject.toml', '.git' }

--- Puts what the server is told at start-up in its final form: only here is the root known, on
--- which trust may depend.
---@param params lsp.InitializeParams
---@param config vim.lsp.ClientConfig
local function before_init(params, config)
  local options = vim.tbl_extend('force', {}, config.init_options or {})
  options.trusted = require('tileperf.trust').resolve(options.trusted, config.root_dir)
  params.initializationOptions = options
end

--- What lenses and code actions run; the server sends the lenses that it is told of.
---@type table<string, fun(command: lsp.Command, context: table)>
local lenses = {
  ['tileperf.showUses'] = function(...)
    require('tileperf.uses').show(...)
  end,
  ['tileperf.runPerfIteration'] = function(...)
    require('tileperf.perf.commands').lens(...)
  end,
  ['tileperf.perf.apply'] = function(...)
    require('tileperf.perf.commands').apply(...)
  end,
  ['tileperf.perf.plan'] = function(...)
    require('tileperf.perf.commands').plan(...)
  end,
  ['tileperf.chooseSignature'] = function(...)
    require('tileperf.signatures').lens(...)
  end,
}

---@param client_id integer
local function on_exit(_, _, client_id)
  -- Neovim calls this outside its main loop.
  vim.schedule(function()
    require('tileperf.status').set(client_id, nil)
    require('tileperf.perf.runs').forget(client_id)
    require('tileperf.workspace').forget(client_id)
  end)
end

--- The configuration from the current options.
---@return vim.lsp.Config
function M.config()
  local options = require('tileperf').options
  local found = server.find(options.cmd)
  local settings = vim.tbl_isempty(options.settings) and vim.empty_dict() or options.settings

  ---@type vim.lsp.Config
  return {
    name = 'tileperf',
    -- A command that cannot start makes Neovim say so; :checkhealth tileperf says why.
    cmd = found and found.cmd or { 'tileperf', 'lsp' },
    filetypes = { 'python' },
    root_markers = M.root_markers,
    init_options = { trusted = options.trusted, settings = settings },
    -- Older Neovims honour these requests through our handlers, but do not say so.
    capabilities = {
      workspace = {
        codeLens = { refreshSupport = true },
        diagnostics = { refreshSupport = true },
      },
      experimental = { commands = vim.tbl_keys(lenses) },
    },
    commands = lenses,
    handlers = require('tileperf.handlers'),
    before_init = before_init,
    on_exit = on_exit,
    -- Leaving waits at most this long, in milliseconds, for the server's orderly end (0.12).
    exit_timeout = 500,
  }
end

---@param buffer integer
---@param markers (string|string[])[]
---@return string?
local function root_of(buffer, markers)
  for _, marker in ipairs(markers) do
    local root = vim.fs.root(buffer, marker)
    if root then
      return root
    end
  end
end

--- The effective configuration: on 0.11 and newer with what the user changed by vim.lsp.config().
---@return vim.lsp.ClientConfig
local function effective()
  if vim.lsp.enable then
    return vim.deepcopy(vim.lsp.config.tileperf)
  end
  local config = M.config()
  config.capabilities =
    vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), config.capabilities)
  return config
end

---@param buffer integer
---@return integer?
function M.start(buffer)
  -- Scratch, terminal and help buffers have no file behind them.
  if vim.bo[buffer].buftype ~= '' then
    return nil
  end
  local config = effective()
  if type(config.cmd) == 'table' and vim.fn.executable(config.cmd[1]) == 0 then
    local _, problem = server.find(require('tileperf').options.cmd)
    vim.notify_once(
      ('tileperf: no server: %s. See :checkhealth tileperf'):format(problem or config.cmd[1]),
      vim.log.levels.WARN
    )
    return nil
  end
  config.root_dir = root_of(buffer, config.root_markers or M.root_markers)
  return vim.lsp.start(config, { bufnr = buffer })
end

--- Loaded buffers that the server is for.
---@return integer[]
function M.python_buffers()
  return vim.tbl_filter(function(buffer)
    return vim.api.nvim_buf_is_loaded(buffer)
      and vim.bo[buffer].filetype == 'python'
      and vim.bo[buffer].buftype == ''
  end, vim.api.nvim_list_bufs())
end

return M
