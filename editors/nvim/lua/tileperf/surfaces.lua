--- Code lenses and inlay hints of the buffers that the server is attached to: when they are asked
--- for and when they are switched on.
local compat = require('tileperf.compat')

local M = {}

--- Milliseconds from the last change to a request; a burst of changes costs one request.
local DELAY = 150

---@type table<integer, integer> buffer -> id of the refresh that is waiting
local waiting = {}
local refreshes = 0
---@type table<integer, { version: integer, hints: lsp.InlayHint[] }> buffer -> answered last
local answered = {}

---@param buffer integer
---@return string
local function group_name(buffer)
  return 'tileperf.buffer.' .. buffer
end

--- Draws the lenses of this client alone: vim.lsp.codelens.refresh() would ask every server of the
--- buffer and show lenses that the user never switched on.
---@param client vim.lsp.Client
---@param buffer integer
local function draw_lenses(client, buffer)
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

--- Switches a surface on in a buffer the first time that the server has something to show there.
--- Neovim's switches are for a buffer, not for a server: turned on everywhere, they would also show
--- what other Python servers offer, in files that have nothing to do with kernels. Done once, so
--- that a user who turns it off again is not overruled.
---@param client vim.lsp.Client
---@param buffer integer
---@param method string
---@param params table
---@param enable fun(enable: boolean, filter: { bufnr: integer })
local function switch_on(client, buffer, method, params, enable)
  local done = 'tileperf_' .. method:match('%w+$')
  if vim.b[buffer][done] then
    return
  end
  params.textDocument = vim.lsp.util.make_text_document_params(buffer)
  compat.request(client, method, params, function(err, result)
    local found = not err and result and #result > 0
    if found and vim.api.nvim_buf_is_loaded(buffer) and not vim.b[buffer][done] then
      vim.b[buffer][done] = true
      enable(true, { bufnr = buffer })
    end
  end, buffer)
end

---@param client vim.lsp.Client
---@param buffer integer
local function refresh_lenses(client, buffer)
  local method = 'textDocument/codeLens'
  if not require('tileperf').options.code_lens or not compat.supports(client, method, buffer) then
    return
  end
  if compat.native_code_lens then
    switch_on(client, buffer, method, {}, vim.lsp.codelens.enable)
  else
    draw_lenses(client, buffer)
  end
end

---@param client vim.lsp.Client
---@param buffer integer
local function refresh_hints(client, buffer)
  local method = 'textDocument/inlayHint'
  if not require('tileperf').options.inlay_hints or not compat.supports(client, method, buffer) then
    return
  end
  local range = {
    start = { line = 0, character = 0 },
    ['end'] = { line = vim.api.nvim_buf_line_count(buffer), character = 0 },
  }
  switch_on(client, buffer, method, { range = range }, vim.lsp.inlay_hint.enable)
end

---@param buffer integer
local function refresh(buffer)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer, name = 'tileperf' })) do
    refresh_lenses(client, buffer)
    refresh_hints(client, buffer)
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
  local client = vim.lsp.get_client_by_id(client_id)
  for _, buffer in ipairs(client and compat.buffers(client) or {}) do
    M.refresh(buffer)
  end
end

---@param buffer integer
function M.attach(buffer)
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

--- Takes an answer to Neovim's own question for hints.
---
--- Neovim draws the hints of a line once for each version of the text, and what the compiler says
--- changes while the text does not. Switching hints on where they are on makes it forget what it
--- has drawn, and ask again: the answer that then comes is the same as this one, and is drawn.
---@type lsp.Handler
function M.take_hints(err, result, context, config)
  local buffer = context.bufnr
  local native = vim.lsp.handlers['textDocument/inlayHint']
  if err or not buffer or not vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }) then
    return native(err, result, context, config)
  end
  local before = answered[buffer]
  local changed = before
    and before.version == context.version
    and not vim.deep_equal(before.hints, result or {})
  -- Neovim writes into what it is given.
  answered[buffer] = { version = context.version, hints = vim.deepcopy(result or {}) }
  if changed then
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
    return
  end
  return native(err, result, context, config)
end

---@param buffer integer
function M.detach(buffer)
  waiting[buffer] = nil
  answered[buffer] = nil
  pcall(vim.api.nvim_del_augroup_by_name, group_name(buffer))
end

return M
