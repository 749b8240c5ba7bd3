--- The last `tileperf/status` of each server, for statuslines.
local M = {}

---@type table<integer, tileperf.Status>
local by_client = {}
---@type integer?
local latest

---@param client_id integer
---@param status? tileperf.Status nil when the server is gone
function M.set(client_id, status)
  by_client[client_id] = status
  if status then
    latest = client_id
  elseif latest == client_id then
    latest = next(by_client)
  end
  vim.api.nvim_exec_autocmds('User', { pattern = 'TileperfStatus', modeline = false })
  vim.cmd.redrawstatus({ bang = true })
end

---@param buffer integer
---@return tileperf.Status?
function M.get(buffer)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buffer, name = 'tileperf' })) do
    if by_client[client.id] then
      return by_client[client.id]
    end
  end
  return by_client[latest]
end

--- Nothing while the server is dormant: a Python project without kernels need not see it.
---@param status? tileperf.Status
---@return string
function M.line(status)
  if not status or status.state == 'dormant' then
    return ''
  end
  if status.state == 'ready' then
    local kernels = status.kernels or 0
    return ('tileperf: %d kernel%s'):format(kernels, kernels == 1 and '' or 's')
  end
  return ('tileperf: %s'):format(status.message or status.state)
end

return M
