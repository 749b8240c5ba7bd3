--- What the user commands of plugin/tileperf.lua do.
local compat = require('tileperf.compat')
local window = require('tileperf.window')

local M = {}

--- Milliseconds that a server gets to end by itself before it is ended.
local STOP_TIMEOUT = 3000

--- All clients, those whose server has not answered `initialize` too: a server that hangs there is
--- a reason to restart it.
---@return vim.lsp.Client[]
local function clients()
  return vim.lsp.get_clients({ name = 'tileperf', _uninitialized = true })
end

--- Calls `done` once Neovim has let go of all of them.
---@param stopping vim.lsp.Client[]
---@param done fun()
local function when_gone(stopping, done)
  local deadline = vim.uv.now() + STOP_TIMEOUT
  local forced = false
  local function check()
    local left = vim.tbl_filter(function(client)
      return vim.lsp.get_client_by_id(client.id) ~= nil
    end, stopping)
    if #left == 0 then
      return done()
    end
    if vim.uv.now() > deadline and not forced then
      forced = true
      for _, client in ipairs(left) do
        compat.stop(client, true)
      end
    end
    vim.defer_fn(check, 30)
  end
  check()
end

--- Starts the server for the open buffers, the way it was started before.
local function start()
  if compat.enabled() then
    vim.lsp.enable('tileperf')
    return
  end
  local buffers = require('tileperf.client').python_buffers()
  if #buffers == 0 then
    vim.notify('tileperf: no Python buffer to start the server for', vim.log.levels.INFO)
  end
  for _, buffer in ipairs(buffers) do
    require('tileperf').start(buffer)
  end
end

function M.restart()
  local stopping = clients()
  for _, client in ipairs(stopping) do
    compat.stop(client)
  end
  when_gone(stopping, start)
end

function M.log()
  window.show('tileperf://log', require('tileperf.log').lines())
end

--- Runs a command of the server for each workspace that has one.
---@param command string
---@param done fun(answer: table, client: vim.lsp.Client)
local function each(command, done)
  local found = vim.lsp.get_clients({ name = 'tileperf' })
  if #found == 0 then
    vim.notify('No tileperf server runs. See :checkhealth tileperf', vim.log.levels.WARN)
  end
  for _, client in ipairs(found) do
    local params = { command = command, arguments = {} }
    compat.request(client, 'workspace/executeCommand', params, function(err, answer)
      if err then
        vim.notify('tileperf: ' .. err.message, vim.log.levels.ERROR)
      else
        done(answer, client)
      end
    end)
  end
end

--- Findings of files that are not open become diagnostics too.
function M.check_workspace()
  each('tileperf.checkWorkspace', function(answer, client)
    vim.notify('tileperf: ' .. answer.message, vim.log.levels.INFO)
    require('tileperf.workspace').pull(client)
  end)
end

--- What compiling needs, and what to do where it is not there.
function M.doctor()
  each('tileperf.doctor', function(answer, client)
    local name = 'tileperf://doctor' .. (client.config.root_dir or '')
    window.show(name, vim.split(vim.trim(answer.content), '\n'), 'markdown')
  end)
end

--- The server asks first; all that becomes of it are messages and progress of its own.
function M.install_toolchain()
  each('tileperf.installToolchain', function() end)
end

function M.info()
  local info = require('tileperf.info')
  local found = vim.lsp.get_clients({ name = 'tileperf' })
  local lines = {}
  if #found == 0 then
    lines = { 'No tileperf server runs. See :checkhealth tileperf' }
  end
  for _, client in ipairs(found) do
    table.insert(lines, ('tileperf server of %s'):format(client.config.root_dir or 'single files'))
    local answer, problem = info.request(client)
    if answer then
      for _, line in ipairs(info.lines(answer)) do
        table.insert(lines, '  ' .. line)
      end
      for _, line in ipairs(info.problems(answer)) do
        table.insert(lines, '  problem: ' .. line)
      end
      table.insert(lines, '  settings:')
      for _, line in ipairs(info.settings(answer)) do
        table.insert(lines, '    ' .. line)
      end
    else
      table.insert(lines, '  does not answer: ' .. problem)
    end
  end
  window.show('tileperf://info', lines)
end

return M
