--- The verbs of `:TileperfPerf` and what each of them takes.
local M = {}

---@class tileperf.Verb
--- What the server calls it; nil for what needs no server.
---@field command? string
--- What may be written behind it, beside `kernel=` and `session=`.
---@field options string[]
--- It measures what is on the disk, so that is saved first. What puts other code there saves
--- nothing: the server refuses to do so over unsaved edits.
---@field saves? boolean
--- The option that a word without `=` is for.
---@field bare? string
--- The question to ask first.
---@field confirm? string

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
  apply = {
    command = 'tileperf.perf.apply',
    options = { 'optimization=', 'variant=', 'goal=', 'device=', 'go-on', 'fix' },
    bare = 'optimization=',
  },
  plan = { command = 'tileperf.perf.plan', options = {} },
  status = { command = 'tileperf.perf.status', options = {} },
  failures = { options = {} },
  attach = { command = 'tileperf.perf.attach', options = {} },
  stop = { command = 'tileperf.perf.stop', options = {} },
  resume = { command = 'tileperf.perf.resume', options = { 'go-on' }, saves = true },
  finish = { command = 'tileperf.perf.finish', options = { 'commits' } },
  undo = {
    command = 'tileperf.perf.undo',
    options = { 'iteration=' },
    bare = 'iteration=',
  },
  abandon = {
    command = 'tileperf.perf.abandon',
    options = {},
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
  'apply',
  'plan',
  'status',
  'failures',
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
