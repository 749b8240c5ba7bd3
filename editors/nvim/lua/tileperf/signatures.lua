--- For which of its signatures a kernel's compiled code is shown: the user picks one.
local compat = require('tileperf.compat')

local M = {}

---@param text string
---@param level? integer
local function say(text, level)
  vim.notify('tileperf: ' .. text, level or vim.log.levels.INFO)
end

--- Runs a command of the server.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param done fun(answer: table)
local function execute(client, command, argument, done)
  local params = { command = command, arguments = { argument } }
  compat.request(client, 'workspace/executeCommand', params, function(err, answer)
    if err then
      say(err.message, vim.log.levels.ERROR)
    else
      done(answer)
    end
  end)
end

--- `1. x: float16[2], TILE: 64 (from the compile cache, shown)`; what is assumed of arrays where two
--- look alike.
---@param all table[]
---@return fun(one: table): string
local function words(all)
  local seen = {}
  for _, one in ipairs(all) do
    seen[one.signature] = (seen[one.signature] or 0) + 1
  end
  return function(one)
    local text = ('%s (%s%s)'):format(one.signature, one.origin, one.shown and ', shown' or '')
    return seen[one.signature] > 1 and text .. ' ' .. one.assumed or text
  end
end

---@param client vim.lsp.Client
---@param place { uri: string, position: lsp.Position }
local function choose(client, place)
  execute(client, 'tileperf.signatures', place, function(known)
    vim.ui.select(known.signatures, {
      prompt = ('Show compiled code of %s for'):format(known.kernel),
      format_item = words(known.signatures),
      kind = 'tileperf_signature',
    }, function(one)
      if not one then
        return
      end
      execute(client, 'tileperf.showSignature', {
        uri = place.uri,
        kernel = known.kernel,
        ordinal = known.ordinal,
        number = one.number,
        signature = one.signature,
      }, function() end)
    end)
  end)
end

--- `:TileperfSignature`: of the kernel at the cursor.
function M.at_cursor()
  local client = vim.lsp.get_clients({ name = 'tileperf', bufnr = 0 })[1]
  if not client then
    return say('no server runs for this buffer', vim.log.levels.WARN)
  end
  local place = vim.lsp.util.make_position_params(0, client.offset_encoding)
  choose(client, { uri = place.textDocument.uri, position = place.position })
end

--- The lens and the code action.
---@param command lsp.Command
---@param context { client_id: integer }
function M.lens(command, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local place = (command.arguments or {})[1]
  if client and place then
    choose(client, place)
  end
end

return M
