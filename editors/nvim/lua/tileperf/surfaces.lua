--- Code lenses and inlay hints of the buffers that the server is attached to: when they are asked
--- for and when they are switched on.
local compat = require('tileperf.compat')

local M = {}

--- Milliseconds from the last change to a request; a burst of changes costs one request.
local DELAY = 150

---@type table<integer, integer> buffer -> id of the refresh that is waiting
local waiting = {}
local refreshes = 0

---@param buffer integer
---@return string
local function group_name(buffer)
  return 'tileperf.buffer.' .. buffer
end

--- Requests the lenses of this client alone: vim.lsp.codelens.refresh() would ask every server of
--- the buffer and show lenses that the user never switched on.
---@param client vim.lsp.Client
---@param buffer integer
local function request_lenses(client, buffer)
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  compat.request(client, 'textDocument/codeLens', params, function(err, result, context)
    -- An answer for an older text would put lenses on the wrong lines; that change has its own
    -- refresh on the way.
    local loaded = vim.api.nvim_buf_is_loaded(buffer)
    if loaded and tick == vim.api.nvim_buf_get_changedtick(buffer) then
      vim.lsp.codelens.on_codelens(err, result, context)
    end
  end, buffer)
end

--- Switches inlay hints on in a buffer the first time that the server has one for it. Neovim has
--- one switch for a buffer, not one for a server: switched on everywhere, it would also show the
--- hints of other Python servers in files that have nothing to do with kernels. Done once, so that
--- a user who switches them off again is not overruled.
---@param client vim.lsp.Client
---@param buffer integer
local function request_hints(client, buffer)
  if vim.b[buffer].tileperf_hints then
    return
  end
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = {
      start = { line = 0, character = 0 },
      ['end'] = { line = vim.api.nvim_buf_line_count(buffer), character = 0 },
    },
  }
  compat.request(client, 'textDocument/inlayHint', params, function(err, result)
    if err or not result or #result == 0 or not vim.api.nvim_buf_is_loaded(buffer) then
      return
    end
    if not vim.b[buffer].tileperf_hints then
      vim.b[buffer].tileperf_hints = true
      vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
    end
  end, buffer)
end

---@param buffer integer
local function refresh(buffer)
  local options = require('tileperf').options
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer, name = 'tileperf' })) do
    if
      options.code_lens
      and not compat.native_code_lens
      and compat.supports(client, 'textDocument/codeLens', buffer)
    then
      request_lenses(client, buffer)
    end
    if options.inlay_hints and compat.supports(client, 'textDocument/inlayHint', buffer) then
      request_hints(client, buffer)
    end
  end
end

--- Asks anew shortly, once for all calls until then.
---@param buffer integer
function M.refresh(buffer)
  refreshes = refreshes + 1
  local id = refreshes
  waiting[buffer] = id
  vim.defer_fn(function()
    if waiting[buffer] ~= id then
      return
    end
    waiting[buffer] = nil
    if vim.api.nvim_buf_is_loaded(buffer) then
      refresh(buffer)
    end
  end, DELAY)
end

--- Asks anew for every buffer of a server, which said that its answers changed.
---@param client_id integer
function M.refresh_all(client_id)
  for _, buffer in ipairs(vim.lsp.get_buffers_by_client_id(client_id)) do
    M.refresh(buffer)
  end
end

---@param client vim.lsp.Client
---@param buffer integer
function M.attach(client, buffer)
  local options = require('tileperf').options
  if options.code_lens and compat.native_code_lens then
    vim.lsp.codelens.enable(true, { bufnr = buffer, client_id = client.id })
  end

  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'BufWritePost', 'TextChanged' }, {
    group = vim.api.nvim_create_augroup(group_name(buffer), {}),
    buffer = buffer,
    desc = 'tileperf: ask for code lenses and inlay hints',
    callback = function()
      M.refresh(buffer)
    end,
  })
  M.refresh(buffer)
end

---@param buffer integer
function M.detach(buffer)
  waiting[buffer] = nil
  pcall(vim.api.nvim_del_augroup_by_name, group_name(buffer))
end

return M
