--- The few calls whose shape differs between Neovim 0.10, 0.11 and 0.12, in one place.
local M = {}

--- From 0.11 on the methods of a client take the client itself; the older form is deprecated.
local methods = vim.fn.has('nvim-0.11') == 1

--- From 0.12 on Neovim requests, refreshes and draws code lenses by itself once they are enabled.
M.native_code_lens = vim.lsp.codelens.enable ~= nil

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param handler? lsp.Handler default: Neovim's own
---@param buffer? integer
---@return boolean sent false where the client is shutting down
function M.request(client, method, params, handler, buffer)
  local sent
  if methods then
    sent = client:request(method, params, handler, buffer)
  else
    sent = client.request(method, params, handler, buffer)
  end
  return sent
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param timeout integer milliseconds
---@return any result
---@return string? problem
function M.request_sync(client, method, params, timeout)
  local answer, problem
  if methods then
    answer, problem = client:request_sync(method, params, timeout, 0)
  else
    answer, problem = client.request_sync(method, params, timeout, 0)
  end
  if not answer then
    return nil, problem or 'no answer'
  end
  if answer.err then
    return nil, answer.err.message or vim.inspect(answer.err)
  end
  return answer.result
end

---@param client vim.lsp.Client
---@param method string
---@param buffer integer
---@return boolean
function M.supports(client, method, buffer)
  if methods then
    return client:supports_method(method, buffer)
  end
  return client.supports_method(method, { bufnr = buffer })
end

---@param client vim.lsp.Client
---@param force? boolean
function M.stop(client, force)
  if methods then
    client:stop(force)
  else
    client.stop(force)
  end
end

---@param client vim.lsp.Client
---@return boolean
function M.stopped(client)
  if methods then
    return client:is_stopped()
  end
  return client.is_stopped()
end

--- Whether vim.lsp.enable() governs the server. The first 0.11 could not be asked; on it, enabling
--- is the only way that the help names.
---@return boolean
function M.enabled()
  if not vim.lsp.enable then
    return false
  end
  return not vim.lsp.is_enabled or vim.lsp.is_enabled('tileperf')
end

--- Buffers that the server of a client is attached to. (The function of vim.lsp for it goes away.)
---@param client vim.lsp.Client
---@return integer[]
function M.buffers(client)
  return vim.tbl_keys(client.attached_buffers)
end

return M
