--- `:checkhealth tileperf`
local compat = require('tileperf.compat')

local M = {}

local health = vim.health

local function check_editor()
  health.start('tileperf: editor')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.10') == 0 then
    health.error('Neovim ' .. version .. ' is too old', { 'Install Neovim 0.10 or newer.' })
    return
  end
  health.ok('Neovim ' .. version)
  if not vim.lsp.enable then
    health.info('Started by setup(); vim.lsp.enable() needs Neovim 0.11.')
  elseif not compat.enabled() then
    health.warn('tileperf is not enabled', {
      "Add vim.lsp.enable('tileperf') or require('tileperf').setup {} to your configuration.",
    })
  end
end

local function check_server()
  health.start('tileperf: server')
  local server = require('tileperf.server')
  local found, problem = server.find(require('tileperf').options.cmd)
  if not found then
    health.error('No server: ' .. problem, {
      'Put `tileperf` on $PATH, set $TILEPERF_SERVER_PATH to it, or pass `cmd` to setup().',
    })
    return
  end
  health.ok(('Found through %s: %s'):format(found.source, table.concat(found.cmd, ' ')))
  local version, failure = server.version(found)
  if version then
    health.ok('Version ' .. version)
  else
    health.error(('`%s --version`: %s'):format(found.cmd[1], failure))
  end
end

---@param client vim.lsp.Client
local function check_surfaces(client)
  local options = require('tileperf').options
  local surfaces = {
    { method = 'textDocument/codeLens', name = 'code lenses', on = options.code_lens },
    { method = 'textDocument/inlayHint', name = 'inlay hints', on = options.inlay_hints },
  }
  local buffer = compat.buffers(client)[1]
  for _, surface in ipairs(surfaces) do
    if not buffer or not compat.supports(client, surface.method, buffer) then
      health.warn(surface.name .. ': the server does not offer them')
    elseif not surface.on then
      health.info(surface.name .. ': switched off in setup()')
    else
      health.ok(surface.name .. ': available')
    end
  end
end

---@param client vim.lsp.Client
local function check_experiments(client)
  local provider = client.server_capabilities.executeCommandProvider or {}
  if not vim.list_contains(provider.commands or {}, 'tileperf.runPerfIteration') then
    health.warn('experiments: the server does not offer them')
    return
  end
  local known = require('tileperf.perf.runs').all(client.id)
  if #known == 0 then
    health.ok('experiments: available; there is none yet')
  end
  for _, run in ipairs(known) do
    local said = run.running and run.run and require('tileperf.perf.text').stage(run.run)
    health.ok(('experiment %s of %s: %s'):format(run.session, run.kernel, said or run.phase))
  end
end

--- Milliseconds for the doctor, which loads the driver of the GPU.
local DOCTOR_TIMEOUT = 20000

--- What the doctor found. Nothing of it keeps the plugin from working, so it is no error here.
---@param client vim.lsp.Client
local function check_compiler(client)
  local provider = client.server_capabilities.executeCommandProvider or {}
  if not vim.list_contains(provider.commands or {}, 'tileperf.doctor') then
    return
  end
  local params = { command = 'tileperf.doctor', arguments = {} }
  local answer, problem =
    compat.request_sync(client, 'workspace/executeCommand', params, DOCTOR_TIMEOUT)
  health.start('tileperf: compiler of ' .. (client.config.root_dir or '(single files)'))
  if not answer then
    health.warn('the doctor does not answer: ' .. problem)
    return
  end
  local report =
    { ok = health.ok, note = health.info, warning = health.warn, problem = health.warn }
  for _, check in ipairs(answer.checks or {}) do
    local cure = type(check.cure) == 'string' and { check.cure } or nil
    report[check.status](check.name .. ': ' .. check.found, cure)
  end
end

---@param client vim.lsp.Client
local function check_client(client)
  local info = require('tileperf.info')
  local root = client.config.root_dir
  health.start('tileperf: workspace ' .. (root or '(single files)'))

  local answer, problem = info.request(client)
  if not answer then
    health.error('The server does not answer: ' .. problem, { 'Try :TileperfRestart' })
    return
  end
  for _, line in ipairs(info.lines(answer)) do
    health.ok(line)
  end
  for _, line in ipairs(info.problems(answer)) do
    health.warn('setting: ' .. line)
  end

  local trusted = require('tileperf.trust').resolve(client.config.init_options.trusted, root)
  health.info(
    trusted and 'trusted: the server may run code of this workspace'
      or 'not trusted: the server runs no code of this workspace'
  )
  local buffers = compat.buffers(client)
  health.info(('attached to %d buffer(s)'):format(#buffers))
  check_surfaces(client)
  check_experiments(client)
  check_compiler(client)
end

function M.check()
  check_editor()
  check_server()
  local clients = vim.lsp.get_clients({ name = 'tileperf' })
  if #clients == 0 then
    health.start('tileperf: workspaces')
    health.warn('No server runs', {
      'Open a Python file; :TileperfLog shows why a server may have ended.',
    })
  end
  for _, client in ipairs(clients) do
    check_client(client)
  end
end

return M
