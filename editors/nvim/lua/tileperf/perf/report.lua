--- Opens the report of a session: Markdown in a window, or a page in a file.
local request = require('tileperf.perf.request')
local window = require('tileperf.window')

local M = {}

--- A name that can be part of a file's.
---@param answer tileperf.PerfAnswer
---@return string
local function name_of(answer)
  return ((answer.session or answer.kernel or 'report'):gsub('[^%w._-]', '-'))
end

---@param content string
---@param path string
local function write(content, path)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  local file, problem = io.open(path, 'wb')
  if not file then
    return request.say(('cannot write the report: %s'):format(problem), vim.log.levels.ERROR)
  end
  file:write(content)
  local closed, failure = file:close()
  if not closed then
    return request.say(('cannot write %s: %s'):format(path, failure), vim.log.levels.ERROR)
  end
  request.say('report written to ' .. path)
end

--- Where pages go of which the user does not say where.
---@param name string
---@return string
local function default_path(name)
  return vim.fs.joinpath(vim.fn.stdpath('cache'), 'tileperf', name .. '.html')
end

---@param arguments tileperf.PerfArguments
---@param path? string the file of a page; default: one in Neovim's cache folder
function M.open(arguments, path)
  local form = arguments.form or 'markdown'
  arguments = vim.tbl_extend('force', arguments, { form = form })
  request.send('tileperf.perf.report', arguments, {}, function(answer)
    if not answer.content then
      return request.say(answer.message)
    end
    local name = name_of(answer)
    if form == 'html' then
      return write(answer.content, path or default_path(name))
    end
    local lines = vim.split(answer.content:gsub('\n$', ''), '\n')
    window.show(('tileperf://%s/%s'):format(form, name), lines, 'markdown')
  end)
end

return M
