--- What begins when the server attaches to a buffer: asking for the state of experiments, and
--- drawing it whenever it changes.
local draw = require('tileperf.perf.draw')
local runs = require('tileperf.perf.runs')

local M = {}

--- Once for all buffers, by whichever comes first.
local function listen()
  local group = vim.api.nvim_create_augroup('tileperf.perf', {})
  require('tileperf.perf.highlights').define()
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'TileperfRun',
    desc = 'tileperf: draw the state of experiments',
    callback = function(event)
      draw.client(event.data.client_id)
    end,
  })
end

local listening = false

---@param buffer integer
---@return string
local function group_name(buffer)
  return 'tileperf.perf.buffer.' .. buffer
end

---@param client vim.lsp.Client
---@param buffer integer
function M.attach(client, buffer)
  if not listening then
    listening = true
    listen()
  end
  -- Reading a file again removes every mark in it, and the server is not told of a reason to speak.
  vim.api.nvim_create_autocmd('BufReadPost', {
    group = vim.api.nvim_create_augroup(group_name(buffer), {}),
    buffer = buffer,
    desc = 'tileperf: draw the state of experiments again',
    callback = function()
      draw.buffer(buffer)
    end,
  })
  runs.ask(client, buffer)
end

---@param buffer integer
function M.detach(buffer)
  pcall(vim.api.nvim_del_augroup_by_name, group_name(buffer))
  draw.forget(buffer)
end

return M
