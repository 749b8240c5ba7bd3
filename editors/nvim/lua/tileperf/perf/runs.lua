--- The last state of every experiment: what the server sends with `tileperf/run`, and answers to
--- `tileperf/runs`. Who shows it listens to `User TileperfRun`.
local compat = require('tileperf.compat')

local M = {}

---@class tileperf.Result one configuration of the last measurement
---@field configuration string
---@field short string its name in brackets, such as `[1]`
---@field direction string
---@field backend string
---@field base number
---@field candidate number
---@field unit string
---@field change number a fraction; below 0 is faster
---@field low number
---@field high number
---@field verdict 'FASTER'|'SLOWER'|'SAME'|'MAYBE'|'AMBIGUOUS'|string
---@field sentence string

---@class tileperf.Latency
---@field current number
---@field baseline number
---@field unit 'ms'|'cost'
---@field text string

---@class tileperf.Iteration the run that goes on, or the last one
---@field run integer
---@field iteration integer
---@field kind 'baseline'|'iteration'
---@field optimization? string
---@field stage? 'preparing'|'correctness'|'warming'|'measuring'|'deciding'
---@field note? string
---@field pairs? integer
---@field decided? integer
---@field of? integer
---@field began string
---@field limit integer seconds
---@field state string `running`, or how it ended
---@field sentence string

---@class tileperf.Failure
---@field uri lsp.DocumentUri
---@field line integer
---@field test string
---@field message string
---@field cause? string

---@class tileperf.Run one kernel's experiment, as the server folds it from its journal
---@field session string
---@field kernel string its qualified name
---@field uri lsp.DocumentUri
---@field range lsp.Range of the kernel's name
---@field phase 'setUp'|'ready'|'stopped'|'finished'|'abandoned'
---@field stopReason? string
---@field running boolean
---@field holder? string
---@field run? tileperf.Iteration
---@field latency? tileperf.Latency
---@field verdict? string
---@field results tileperf.Result[]
---@field stale boolean the code is not what was measured
---@field staleReason? string
---@field failures tileperf.Failure[]
---@field table string Markdown

---@type table<integer, table<string, tileperf.Run>> client -> session -> its last state
local by_client = {}

--- A run that goes on comes first, then a session that is open, then one that is over.
local ranks = { setUp = 2, ready = 2, stopped = 2, finished = 1, abandoned = 0 }

---@param run tileperf.Run
---@return integer
local function rank(run)
  return run.running and 3 or ranks[run.phase] or 0
end

---@param a tileperf.Run
---@param b tileperf.Run
---@return boolean whether `a` says more about the kernel today
local function before(a, b)
  if rank(a) ~= rank(b) then
    return rank(a) > rank(b)
  end
  local a_began, b_began = a.run and a.run.began or '', b.run and b.run.began or ''
  if a_began ~= b_began then
    return a_began > b_began
  end
  return a.session > b.session
end

--- A file as it is named on the disk, so that a link to it is the same file.
---@param name string
---@return string
local function real(name)
  return vim.uv.fs_realpath(name) or name
end

---@param client_id integer
local function changed(client_id)
  vim.api.nvim_exec_autocmds('User', {
    pattern = 'TileperfRun',
    modeline = false,
    data = { client_id = client_id },
  })
  vim.cmd.redrawstatus({ bang = true })
end

--- Takes what the server sent.
---@param client_id integer
---@param run tileperf.Run
function M.set(client_id, run)
  local runs = by_client[client_id] or {}
  by_client[client_id] = runs
  local previous = runs[run.session]
  runs[run.session] = run
  changed(client_id)
  require('tileperf.perf.announce').change(client_id, previous, run)
end

--- Forgets what a server sent, which is gone.
---@param client_id integer
function M.forget(client_id)
  if by_client[client_id] then
    by_client[client_id] = nil
    changed(client_id)
  end
end

--- Everything known, what says most first.
---@param client_id? integer default: of every server
---@return tileperf.Run[]
function M.all(client_id)
  local found = {}
  for id, runs in pairs(by_client) do
    if not client_id or id == client_id then
      vim.list_extend(found, vim.tbl_values(runs))
    end
  end
  table.sort(found, before)
  return found
end

--- What there is to say about the kernels of a buffer: one entry for each, by the order of `all`.
---@param buffer integer
---@return tileperf.Run[]
function M.of_buffer(buffer)
  local name = real(vim.api.nvim_buf_get_name(buffer))
  local seen = {}
  return vim.tbl_filter(function(run)
    if seen[run.kernel] or real(vim.uri_to_fname(run.uri)) ~= name then
      return false
    end
    seen[run.kernel] = true
    return true
  end, M.all())
end

--- Asks for the state of the experiments on a buffer's kernels, and the first time for all of them:
--- completion and the statusline know those of other files, too.
---@param client vim.lsp.Client
---@param buffer integer
function M.ask(client, buffer)
  local uri = by_client[client.id] and vim.uri_from_bufnr(buffer) or nil
  by_client[client.id] = by_client[client.id] or {}
  local params = uri and { uri = uri } or vim.empty_dict()
  compat.request(client, 'tileperf/runs', params, function(err, answer)
    local runs = by_client[client.id]
    -- An older server does not know the question, one that has just died has no answer.
    if err or type(answer) ~= 'table' or not runs then
      return
    end
    for session, run in pairs(runs) do
      if not uri or run.uri == uri then
        runs[session] = nil
      end
    end
    for _, run in ipairs(answer) do
      runs[run.session] = run
    end
    changed(client.id)
  end, buffer)
end

return M
