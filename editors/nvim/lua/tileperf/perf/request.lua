--- Sends a command of the experiments to the server, about the kernel that is meant.
local compat = require('tileperf.compat')
local runs = require('tileperf.perf.runs')

local M = {}

---@class tileperf.PerfAnswer
---@field session? string
---@field kernel? string
---@field message string
---@field content? string a report

---@param message string
---@param level? integer
function M.say(message, level)
  vim.notify('tileperf: ' .. message, level or vim.log.levels.INFO)
end

---@param problem string
local function complain(problem)
  M.say(problem, vim.log.levels.WARN)
end

--- The server that a buffer is of; for a buffer of no workspace, such as a report, the only one.
---@param buffer integer
---@return vim.lsp.Client? client
---@return string? problem
local function client_for(buffer)
  local own = vim.lsp.get_clients({ bufnr = buffer, name = 'tileperf' })[1]
  local all = vim.lsp.get_clients({ name = 'tileperf' })
  if own or #all == 1 then
    return own or all[1]
  end
  if #all == 0 then
    return nil, 'no server runs. See :checkhealth tileperf'
  end
  return nil, 'this buffer is of no workspace; go to one of the kernel you mean'
end

--- Completes what the user said: the kernel at the cursor, where none was named.
---@param client vim.lsp.Client
---@param buffer integer
---@param arguments tileperf.PerfArguments
---@return tileperf.PerfArguments
local function aimed(client, buffer, arguments)
  arguments = vim.deepcopy(arguments)
  if arguments.uri then
    return arguments
  end
  local known = vim.iter(runs.all(client.id)):find(function(run)
    if arguments.session then
      return run.session == arguments.session
    end
    return run.kernel == arguments.kernel
  end)
  if known then
    arguments.uri = known.uri
  elseif client.attached_buffers[buffer] and not arguments.session then
    arguments.uri = vim.uri_from_bufnr(buffer)
  end
  if arguments.uri and not known and not arguments.kernel then
    local here = vim.lsp.util.make_position_params(0, client.offset_encoding)
    arguments.position = here.position
  end
  return arguments
end

--- Writes the kernel's buffer: what is measured is the file on the disk.
---@param client vim.lsp.Client
---@param uri lsp.DocumentUri
---@return string? problem
local function save(client, uri)
  local name = vim.uri_to_fname(uri)
  local buffer = vim.iter(compat.buffers(client)):find(function(attached)
    return vim.api.nvim_buf_get_name(attached) == name
  end)
  if not buffer or not vim.bo[buffer].modified then
    return nil
  end
  local ok, problem = pcall(vim.api.nvim_buf_call, buffer, function()
    vim.cmd('silent update')
  end)
  if not ok or vim.bo[buffer].modified then
    local reason = ok and '' or ': ' .. tostring(problem):gsub('^.-(E%d+:)', '%1'):gsub('\n.*', '')
    return ('cannot save %s%s'):format(vim.fn.fnamemodify(name, ':.'), reason)
  end
end

--- Sends `command`, and tells the user what the server says to it.
---@param command string
---@param arguments tileperf.PerfArguments
---@param options? { buffer?: integer, saves?: boolean }
---@param done? fun(answer: tileperf.PerfAnswer) default: its message is shown
function M.send(command, arguments, options, done)
  options = options or {}
  local buffer = options.buffer or vim.api.nvim_get_current_buf()
  local client, problem = client_for(buffer)
  if not client then
    return complain(problem or 'no server')
  end
  arguments = aimed(client, buffer, arguments)
  problem = options.saves and arguments.uri and save(client, arguments.uri) or nil
  if problem then
    return complain(problem)
  end

  local params = {
    command = command,
    arguments = { vim.tbl_isempty(arguments) and vim.empty_dict() or arguments },
  }
  local sent = compat.request(client, 'workspace/executeCommand', params, function(err, answer)
    if err then
      complain(err.message)
    elseif done then
      done(answer or { message = '' })
    elseif answer and answer.message then
      M.say(answer.message)
    end
  end)
  if not sent then
    complain('the server is shutting down')
  end
end

return M
