--- Diagnostics that Neovim does not ask for by itself: those of files that are not open (it does
--- from 0.12 on, and only after the first time), and new ones of an open file with the same text.
local compat = require('tileperf.compat')

local M = {}

--- Neovim before 0.12 keeps what is shown here in the namespace for diagnostics that a server sends
--- unasked, which is empty otherwise. An opened file is asked about in the usual way.
---@param client vim.lsp.Client
---@param buffer integer
local function clear(client, buffer)
  vim.diagnostic.reset(vim.lsp.diagnostic.get_namespace(client.id), buffer)
end

---@param client vim.lsp.Client
---@param reports lsp.WorkspaceDocumentDiagnosticReport[]
local function show(client, reports)
  for _, report in ipairs(reports) do
    local buffer = vim.fn.bufnr(vim.uri_to_fname(report.uri))
    local is_open = buffer > 0 and client.attached_buffers[buffer]
    if report.kind == 'full' and not is_open then
      local found = { uri = report.uri, diagnostics = report.items }
      vim.lsp.diagnostic.on_publish_diagnostics(nil, found, { client_id = client.id })
    end
  end
end

--- Shows what the server finds in files that are not open.
---@param client vim.lsp.Client
function M.pull(client)
  local provider = client.server_capabilities.diagnosticProvider
  if not provider or not provider.workspaceDiagnostics then
    return
  end
  if vim.lsp.buf.workspace_diagnostics then
    vim.lsp.buf.workspace_diagnostics({ client_id = client.id })
    return
  end
  local params = { identifier = provider.identifier, previousResultIds = {} }
  compat.request(client, 'workspace/diagnostic', params, function(err, answer)
    if err then
      vim.notify('tileperf: ' .. err.message, vim.log.levels.ERROR)
    elseif answer then
      show(client, answer.items)
    end
  end)
end

--- Asks anew for the open files of a server, which said that its answers changed: kernels were
--- compiled. Neovim before 0.11 does not, and newer ones ask for files that are not open instead,
--- where a server has those too.
---@param client_id integer
function M.refresh(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  local provider = client and client.server_capabilities.diagnosticProvider
  if not client or not provider then
    return
  end
  for _, buffer in ipairs(compat.buffers(client)) do
    local params = {
      identifier = provider.identifier,
      textDocument = vim.lsp.util.make_text_document_params(buffer),
    }
    compat.request(client, 'textDocument/diagnostic', params, nil, buffer)
  end
end

--- The buffer of a file is attached: what was shown while it was not open goes.
---@param client vim.lsp.Client
---@param buffer integer
function M.attach(client, buffer)
  if not vim.lsp.buf.workspace_diagnostics then
    clear(client, buffer)
  end
end

--- The server is gone, and with it everything that it found. Neovim forgets it in open files only.
---@param client_id integer
function M.forget(client_id)
  for id, namespace in pairs(vim.diagnostic.get_namespaces()) do
    local owner = namespace.name:match('^n?vim%.lsp%.tileperf%.(%d+)')
    if tonumber(owner) == client_id then
      vim.diagnostic.reset(id)
    end
  end
end

return M
