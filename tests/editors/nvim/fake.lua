--- A server inside this Neovim: answers as a test tells it to, and keeps what it was asked.
local M = {}

---@class Fake
---@field client vim.lsp.Client
---@field asked { method: string, params: any }[]
---@field answers table<string, any> method -> answer, or a function of the parameters
---@field errors table<string, string> method -> message of the error to answer with
---@field send fun(method: string, params: any) a notification
---@field close fun() its process ends

--- What the real server can do, as far as the plugin asks.
local capabilities = {
  textDocumentSync = { openClose = true, change = 2, save = true },
  executeCommandProvider = { commands = { 'tileperf.runPerfIteration' } },
}

--- Attaches a client of the plugin to a buffer, with this for its server.
---@param buffer integer
---@param root string
---@return Fake
function M.start(buffer, root)
  local fake = { asked = {}, answers = {}, errors = {} }
  local closing = false
  local last = 0

  local function answer(method, params)
    if method == 'initialize' then
      return nil, { capabilities = capabilities }
    end
    if fake.errors[method] then
      return { code = -32803, message = fake.errors[method] }
    end
    local said = fake.answers[method]
    if type(said) == 'function' then
      said = said(params)
    end
    return nil, said
  end

  local function connect(dispatchers)
    fake.send = function(method, params)
      dispatchers.notification(method, params)
    end
    fake.close = function()
      closing = true
      dispatchers.on_exit(0, 15)
    end
    return {
      request = function(method, params, callback)
        table.insert(fake.asked, { method = method, params = params })
        last = last + 1
        local id = last
        local err, result = answer(method, params)
        vim.schedule(function()
          callback(err, result, id)
        end)
        return true, id
      end,
      notify = function(method, params)
        table.insert(fake.asked, { method = method, params = params })
        if method == 'exit' then
          fake.close()
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = function()
        fake.close()
      end,
    }
  end

  local config = require('tileperf.client').config()
  config.capabilities =
    vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), config.capabilities)
  config.cmd = connect
  config.root_dir = root
  local id = assert(vim.lsp.start(config, { bufnr = buffer }))
  fake.client = assert(vim.lsp.get_client_by_id(id))
  -- Reading a file again lets go of its client; the plugin attaches it by this event, too.
  vim.api.nvim_create_autocmd('FileType', {
    buffer = buffer,
    callback = function()
      vim.lsp.buf_attach_client(buffer, id)
    end,
  })
  return fake
end

--- The parameters of the last request of a method.
---@param fake Fake
---@param method string
---@return any
function M.last(fake, method)
  for index = #fake.asked, 1, -1 do
    if fake.asked[index].method == method then
      return fake.asked[index].params
    end
  end
end

return M
