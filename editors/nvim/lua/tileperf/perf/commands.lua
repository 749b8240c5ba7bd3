--- What the user commands and the lens of the experiments do.
local parse = require('tileperf.perf.arguments').parse
local request = require('tileperf.perf.request')
local verbs = require('tileperf.perf.verbs')

local M = {}

--- `:TileperfRunIteration [name]`
---@param name string what to call the change; may be empty
function M.iterate(name)
  local arguments = { name = name ~= '' and name or nil }
  request.send('tileperf.runPerfIteration', arguments, { saves = true })
end

--- The lens "Run perf iteration".
---@param command lsp.Command
---@param context { bufnr: integer }
function M.lens(command, context)
  local arguments = (command.arguments or {})[1] or {}
  request.send('tileperf.runPerfIteration', arguments, { saves = true, buffer = context.bufnr })
end

--- The code action "Apply and run perf iteration". Nothing is saved: what is typed would be a second
--- change, which the server refuses.
---@param command lsp.Command
---@param context { bufnr: integer }
function M.apply(command, context)
  local arguments = (command.arguments or {})[1] or {}
  request.send('tileperf.perf.apply', arguments, { buffer = context.bufnr })
end

--- The code action "Write a plan for this kernel"; the server has it opened.
---@param command lsp.Command
---@param context { bufnr: integer }
function M.plan(command, context)
  local arguments = (command.arguments or {})[1] or {}
  request.send('tileperf.perf.plan', arguments, { buffer = context.bufnr })
end

---@param problem string
local function complain(problem)
  request.say(problem, vim.log.levels.ERROR)
end

--- `:TileperfPerf[!] {verb} [options]`
---@param line string
---@param bang boolean does not ask first
function M.perf(line, bang)
  local name, rest = line:match('^%s*(%S+)%s*(.*)$')
  local arguments, problem = parse(name, rest)
  if not arguments then
    return complain(problem or '')
  end
  if name == 'report' then
    return require('tileperf.perf.report').open(arguments)
  end
  if name == 'failures' then
    return require('tileperf.perf.failures').list(arguments)
  end
  local verb = verbs.verbs[name]
  if verb.confirm and not bang and vim.fn.confirm(verb.confirm, '&Yes\n&No', 2) ~= 1 then
    return
  end
  request.send(assert(verb.command), arguments, { saves = verb.saves })
end

--- `:TileperfPerfReport[!] [file]`
---@param file string may be empty
---@param page boolean as a page in a file
function M.report(file, page)
  if file ~= '' and not page then
    return complain('a file is for the page: :TileperfPerfReport! FILE')
  end
  local path = file ~= '' and vim.fn.fnamemodify(file, ':p') or nil
  require('tileperf.perf.report').open({ form = page and 'html' or 'markdown' }, path)
end

return M
