--- The verbs of `:TileperfPerf` and what each of them takes.
local M = {}

---@class tileperf.Verb
---@field command string what the server calls it
---@field options string[] what may be written behind it, beside `kernel=` and `session=`
---@field saves? boolean it measures or changes the kernel's files, so they are saved first
---@field bare? string the option that a word without `=` is for
---@field confirm? string the question to ask first

---@type table<string, tileperf.Verb>
M.verbs = {
  setup = {
    command = 'tileperf.perf.setup',
    options = { 'goal=', 'device=', 'go-on', 'fix' },
    saves = true,
  },
  baseline = { command = 'tileperf.perf.baseline', options = { 'device=' }, saves = true },
  iterate = {
    command = 'tileperf.runPerfIteration',
    options = { 'name=', 'goal=', 'device=', 'go-on', 'fix' },
    saves = true,
  },
  status = { command = 'tileperf.perf.status', options = {} },
  attach = { command = 'tileperf.perf.attach', options = {} },
  stop = { command = 'tileperf.perf.stop', options = {} },
  resume = { command = 'tileperf.perf.resume', options = { 'go-on' }, saves = true },
  finish = { command = 'tileperf.perf.finish', options = { 'commits' }, saves = true },
  undo = {
    command = 'tileperf.perf.undo',
    options = { 'iteration=' },
    saves = true,
    bare = 'iteration=',
  },
  abandon = {
    command = 'tileperf.perf.abandon',
    options = {},
    saves = true,
    confirm = 'Give the session up and put the files back as they were before it?',
  },
  report = { command = 'tileperf.perf.report', options = { 'form=' } },
}

--- In the order of a session.
---@type string[]
M.names = {
  'setup',
  'baseline',
  'iterate',
  'status',
  'attach',
  'stop',
  'resume',
  'finish',
  'undo',
  'abandon',
  'report',
}

--- Forms of a report.
---@type string[]
M.forms = { 'markdown', 'html', 'pull-request' }

return M
