--- What the server sends on its own account.
---@type table<string, lsp.Handler>
local M = {}

M['tileperf/status'] = function(_, status, context)
  require('tileperf.status').set(context.client_id, status)
end

M['tileperf/run'] = function(_, run, context)
  require('tileperf.perf.runs').set(context.client_id, run)
end

M['window/logMessage'] = function(err, params, context, config)
  require('tileperf.log').add(params)
  return vim.lsp.handlers['window/logMessage'](err, params, context, config)
end

M['textDocument/inlayHint'] = function(...)
  return require('tileperf.surfaces').take_hints(...)
end

M['workspace/codeLens/refresh'] = function(err, result, context, config)
  require('tileperf.surfaces').refresh_all(context.client_id)
  -- Neovim before 0.12 has no handler of its own.
  local native = vim.lsp.handlers['workspace/codeLens/refresh']
  return native and native(err, result, context, config) or vim.NIL
end

M['workspace/inlayHint/refresh'] = function(err, result, context, config)
  require('tileperf.surfaces').refresh_all(context.client_id)
  return vim.lsp.handlers['workspace/inlayHint/refresh'](err, result, context, config)
end

M['workspace/diagnostic/refresh'] = function(err, result, context, config)
  require('tileperf.workspace').refresh(context.client_id)
  -- Neovim before 0.11 has no handler of its own.
  local native = vim.lsp.handlers['workspace/diagnostic/refresh']
  return native and native(err, result, context, config) or vim.NIL
end

return M
