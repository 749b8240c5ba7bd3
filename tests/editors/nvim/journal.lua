--- Writes the journal of an experiment into a workspace, as `tileperf perf` in a terminal does: the
--- server reads nothing else.
local M = {}

---@class Journal
---@field root string
---@field folder string
---@field name string of the session
---@field kernel string
---@field file string relative to the root
---@field seq integer
---@field runs integer
---@field rows integer
---@field latency number of the last kept row
---@field lock? integer file descriptor
local Journal = {}
Journal.__index = Journal

--- Two configurations of the made-up benchmark, and their milliseconds at first.
local benchmark = {
  { id = 'tests/ops/test_row_scale.py::test_perf[256-cutile]', cost = 0.5 },
  { id = 'tests/ops/test_row_scale.py::test_perf[4096-cutile]', cost = 2.0 },
}

---@param id string
---@return table
local function key(id)
  return { configuration = id, backend = 'cutile', direction = 'forward' }
end

---@param change number a fraction
---@param verdict string
---@param reason string
---@return table
local function judged(change, verdict, reason)
  local effect = math.log(1 + change)
  return {
    verdict = verdict,
    estimate = {
      effect = effect,
      low = effect - 0.004,
      high = effect + 0.004,
      level = 0.9875,
      standard_error = 0.001,
      pairs = 30,
      blocks = 15,
      dropped = 0,
      method = 'bootstrap',
    },
    reason = { reason = reason },
  }
end

--- Appends an event.
---@param event string
---@param fields table
function Journal:add(event, fields)
  local entry = vim.tbl_extend('force', fields, {
    schema = 1,
    seq = self.seq,
    at = os.date('!%Y-%m-%dT%H:%M:%SZ'),
    event = event,
  })
  local journal = assert(io.open(self.folder .. '/journal.jsonl', 'ab'))
  journal:write(vim.json.encode(entry), '\n')
  journal:close()
  self.seq = self.seq + 1
end

--- Keeps the present version of the kernel's file, and names it.
---@return table[]
function Journal:stored()
  local file = assert(io.open(self.root .. '/' .. self.file, 'rb'))
  local bytes = file:read('*a')
  file:close()
  local hash = vim.fn.sha256(bytes)
  local object = assert(io.open(self.folder .. '/objects/' .. hash, 'wb'))
  object:write(bytes)
  object:close()
  return { { path = self.file, hash = hash } }
end

--- Begins a session.
---@param root string
---@param kernel string
---@param file string
---@param test_file string
---@return Journal
function M.new(root, kernel, file, test_file)
  local name = 'cutile-perf-' .. kernel .. '-20260102'
  local self = setmetatable({
    root = root,
    folder = root .. '/sandbox/tileperf/' .. name,
    name = name,
    kernel = kernel,
    file = file,
    seq = 0,
    runs = 0,
    rows = 0,
    latency = 1.0,
  }, Journal)
  vim.fn.mkdir(self.folder .. '/objects', 'p')
  local base = self:stored()
  self:add('set_up', {
    session = name,
    root = root,
    plan = {
      kernel = kernel,
      file = file,
      files = { file },
      test_file = test_file,
      correctness = { '{python}', '-m', 'pytest', '{test_file}' },
      benchmark = { '{python}', '-m', 'pytest', '{test_file}', '-k', 'test_perf' },
      python = '/usr/bin/python3',
      place = 'auto',
      ['repeat'] = true,
      record = true,
      limit = 600,
      device = 'cpu',
    },
    found = base,
    base = base,
  })
  return self
end

---@param kind 'baseline'|'iteration'
---@param tried? table
function Journal:begin(kind, tried)
  self:add('run_started', {
    run = self.runs,
    kind = kind,
    iteration = self.rows,
    pid = vim.fn.getpid(),
    host = 'here',
    tried = tried,
    device = { id = 'cpu', name = 'CPU' },
    limit = 600,
    tileperf = '0.1.0',
  })
end

---@param stage string
---@param note? string
function Journal:stage(stage, note)
  self:add('stage', { run = self.runs, stage = stage, note = note })
end

---@param failures table[]
function Journal:tested(failures)
  self:add('tested', {
    run = self.runs,
    tests = {
      variant = 'candidate',
      passed = { 'tests/ops/test_row_scale.py::test_op[256]' },
      failures = failures,
      skipped = {},
      seconds = 1.5,
    },
  })
end

---@param change number the same of every configuration
---@param verdict string
---@param reason string
---@return table[] configurations
function Journal:measured(change, verdict, reason)
  local configurations = vim.tbl_map(function(configuration)
    local base = configuration.cost * self.latency
    return {
      key = key(configuration.id),
      weight = 1.0,
      base = base,
      candidate = base * (1 + change),
      is_time = true,
      verdict = judged(change, verdict, reason),
    }
  end, benchmark)
  self:add('measured', { run = self.runs, configurations = configurations })
  return configurations
end

---@param optimization string
---@param passed boolean
---@param status 'keep'|'revert'|'crash'
function Journal:ended(optimization, passed, status)
  self:add('run_ended', {
    run = self.runs,
    ['end'] = { ended = 'completed' },
    row = {
      iteration = self.rows,
      optimization = optimization,
      latency_ms = self.latency,
      correctness = passed and 'PASS' or 'FAIL',
      status = status,
    },
    seconds = 12.5,
  })
  self.runs = self.runs + 1
  self.rows = self.rows + 1
end

--- Iteration 0.
function Journal:baseline()
  self:begin('baseline')
  self:stage('correctness')
  self:tested({})
  self:measured(0.0, 'SAME', 'within_one_percent')
  self:add('baseline_kept', { run = self.runs })
  self:ended('baseline', true, 'keep')
end

---@param optimization string
---@return table
function Journal:tried(optimization)
  local files = self:stored()
  return {
    optimization = optimization,
    origin = { by = 'user' },
    base = files,
    candidate = files,
  }
end

---@param correctness table
---@param why table
---@param configurations table[]
---@param total? table
function Journal:decided(correctness, why, configurations, total)
  local keys = vim.tbl_map(function(configuration)
    return configuration.key
  end, configurations)
  self:add('decided', {
    run = self.runs,
    candidate = {
      correctness = correctness,
      configurations = vim.tbl_map(function(configuration)
        return {
          key = configuration.key,
          weight = configuration.weight,
          verdict = configuration.verdict,
        }
      end, configurations),
      sets = { common = keys, changes = {}, unmeasured = {} },
    },
    decision = {
      why = why,
      total = total,
      faster = keys,
      slower = {},
      perhaps_slower = {},
      perhaps_faster = {},
      undecided = {},
      appeared = {},
    },
  })
end

--- An iteration that makes every configuration 20 % faster.
---@param optimization string
function Journal:keep(optimization)
  self:begin('iteration', self:tried(optimization))
  self:stage('measuring')
  self:tested({})
  local configurations = self:measured(-0.2, 'FASTER', 'clearly_faster')
  local effect = math.log(0.8)
  local total = { effect = effect, low = effect - 0.003, high = effect + 0.003, p_faster = 0 }
  self:decided({ correctness = 'passed' }, { why = 'large_gain' }, configurations, total)
  self:add('kept', { run = self.runs })
  self.latency = self.latency * 0.8
  self:ended(optimization, true, 'keep')
end

--- The end of an iteration that began, and whose tests failed.
---@param optimization string
---@param failure table
function Journal:fail(optimization, failure)
  self:tested({ failure })
  self:decided(
    { correctness = 'failed', tests = { failure.test } },
    { why = 'incorrect', tests = { failure.test } },
    {}
  )
  self:add('reverted', { run = self.runs })
  self:ended(optimization, false, 'revert')
end

local ffi = require('ffi')
ffi.cdef('int flock(int fd, int operation);')

--- Holds the session's lock, as the process that runs it does.
function Journal:hold()
  local path = self.folder .. '/lock'
  vim.fn.writefile({ 'process 1 on here' }, path)
  self.lock = assert(vim.uv.fs_open(path, 'r+', 420))
  assert(ffi.C.flock(self.lock, 2) == 0, 'flock')
end

function Journal:release()
  vim.uv.fs_close(self.lock)
  self.lock = nil
end

return M
