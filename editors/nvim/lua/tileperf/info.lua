--- The server's answer to `tileperf/serverInfo`, and that answer as lines for people.
local compat = require('tileperf.compat')

local M = {}

---@class tileperf.ServerInfo
---@field version string
---@field pid integer
---@field encoding string the position encoding agreed on
---@field files integer Python files that mention cuTile
---@field kernels integer
---@field indexSeconds? number nil until the first index is complete
---@field compiler? string what kernels are compiled with, or why they are not
---@field compiling string[] what is being compiled
---@field settings table<string, { value: string, origin: string }> those in force, by key
---@field problems string[] settings that were not understood

--- Milliseconds to wait for the answer; the server answers this without waiting for its index.
local TIMEOUT = 2000

---@param client vim.lsp.Client
---@return tileperf.ServerInfo? info
---@return string? problem
function M.request(client)
  return compat.request_sync(client, 'tileperf/serverInfo', vim.empty_dict(), TIMEOUT)
end

---@param problem any a sentence, or an object with a message
---@return string
local function sentence(problem)
  if type(problem) == 'table' and problem.message then
    return tostring(problem.message)
  end
  return type(problem) == 'string' and problem or vim.inspect(problem)
end

---@param info tileperf.ServerInfo
---@return string[] problems as lines
function M.problems(info)
  return vim.tbl_map(sentence, type(info.problems) == 'table' and info.problems or {})
end

---@param info tileperf.ServerInfo
---@return string[] settings, one a line with where it comes from
function M.settings(info)
  local keys = vim.tbl_keys(type(info.settings) == 'table' and info.settings or {})
  table.sort(keys)
  return vim.tbl_map(function(key)
    local setting = info.settings[key]
    if type(setting) ~= 'table' or setting.value == nil then
      return ('%s = %s'):format(key, vim.inspect(setting, { newline = ' ', indent = '' }))
    end
    return ('%s = %s (%s)'):format(key, setting.value, setting.origin)
  end, keys)
end

---@param info tileperf.ServerInfo
---@return string[]
function M.lines(info)
  local seconds = type(info.indexSeconds) == 'number'
      and (', indexed in %.2f s'):format(info.indexSeconds)
    or ', index not complete yet'
  local lines = {
    ('version: %s'):format(info.version),
    ('process: %s'):format(info.pid),
    ('position encoding: %s'):format(info.encoding),
    ('workspace: %s kernels, %s files mention cuTile%s'):format(info.kernels, info.files, seconds),
  }
  if type(info.compiler) == 'string' then
    table.insert(lines, 'compiler: ' .. info.compiler)
  end
  if type(info.compiling) == 'table' and #info.compiling > 0 then
    table.insert(lines, 'being compiled: ' .. table.concat(info.compiling, ', '))
  end
  return lines
end

return M
