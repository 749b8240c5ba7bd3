--- What running a lens does: the uses of its kernel as a quickfix list.
local M = {}

---@param command lsp.Command
---@param context { client_id: integer }
function M.show(command, context)
  local uses = (command.arguments or {})[3]
  local client = vim.lsp.get_client_by_id(context.client_id)
  if not uses or #uses == 0 or not client then
    return
  end
  local items = vim.lsp.util.locations_to_items(uses, client.offset_encoding)
  vim.fn.setqflist({}, ' ', { title = 'tileperf: ' .. command.title, items = items })
  vim.cmd('botright copen')
end

return M
