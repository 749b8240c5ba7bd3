--- An experiment in a few words: the virtual text of its kernel, and a statusline's.
local M = {}

--- Configurations named one by one; the others are counted.
local NAMED = 3

--- Characters of a configuration's name: the id of a test can be a paragraph.
local LABEL = 28

local SEPARATOR = ' · '

local verdicts = {
  FASTER = 'TileperfFaster',
  SLOWER = 'TileperfSlower',
  SAME = 'TileperfSame',
  ['NO-CHANGE'] = 'TileperfSame',
}

---@param verdict string
---@return string highlight group
local function group(verdict)
  return verdicts[verdict] or 'TileperfUnclear'
end

---@param count integer
---@param noun string
---@return string
local function counted(count, noun)
  return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
end

--- `-0.0523` as "−5.2 %".
---@param fraction number
---@return string
function M.percent(fraction)
  local digits = ('%.1f'):format(math.abs(fraction * 100))
  if digits == '0.0' then
    return '0.0 %'
  end
  return ('%s%s %%'):format(fraction < 0 and '−' or '+', digits)
end

--- What goes on: "Perf iteration 3: measuring (60 pairs, 2 of 9 decided)".
---@param run tileperf.Iteration
---@return string
function M.stage(run)
  local text = run.kind == 'baseline' and 'Perf baseline' or 'Perf iteration ' .. run.iteration
  if not run.stage then
    return text
  end
  local details = {}
  if run.stage == 'measuring' and run.pairs then
    table.insert(details, counted(run.pairs, 'pair'))
    if run.of and run.of > 1 then
      table.insert(details, ('%d of %d decided'):format(run.decided or 0, run.of))
    end
  elseif run.note then
    table.insert(details, run.note)
  end
  local said = #details > 0 and (' (%s)'):format(table.concat(details, ', ')) or ''
  return ('%s: %s%s'):format(text, run.stage, said)
end

--- Whether the results differ in a field, which then has to be said with each of them.
---@param results tileperf.Result[]
---@param field string
---@return boolean
local function differ(results, field)
  return vim.iter(results):any(function(result)
    return result[field] ~= results[1][field]
  end)
end

--- What got slower first, for it decides.
---@param results tileperf.Result[]
---@return tileperf.Result[]
local function ordered(results)
  local first, then_ = {}, {}
  for _, result in ipairs(results) do
    table.insert(result.verdict == 'SLOWER' and first or then_, result)
  end
  return vim.list_extend(first, then_)
end

---@param result tileperf.Result
---@param said string[] fields that tell the results apart
---@return string
local function label(result, said)
  local words = { result.short }
  for _, field in ipairs(said) do
    table.insert(words, result[field])
  end
  local text = table.concat(words, ' ')
  if vim.fn.strcharlen(text) > LABEL then
    return vim.fn.strcharpart(text, 0, LABEL - 1) .. '…'
  end
  return text
end

--- "[1] −5.2 % FASTER, [4] −5.6 % FASTER, +6"
---@param results tileperf.Result[]
---@return [string, string][]
function M.results(results)
  local chunks = {}
  local said = vim.tbl_filter(function(field)
    return differ(results, field)
  end, { 'direction', 'backend' })
  for index, result in ipairs(vim.list_slice(ordered(results), 1, NAMED)) do
    local words = { label(result, said), result.verdict }
    if result.change then
      table.insert(words, 2, M.percent(result.change))
    end
    if index > 1 then
      table.insert(chunks, { ', ', 'TileperfPerf' })
    end
    table.insert(chunks, { table.concat(words, ' '), group(result.verdict) })
  end
  if #results > NAMED then
    table.insert(chunks, { (', +%d'):format(#results - NAMED), 'TileperfPerf' })
  end
  return chunks
end

--- Whether a run goes on. Its process can hold the session without one, as on finishing.
---@param run tileperf.Run
---@return boolean
local function goes_on(run)
  return run.running and run.run ~= nil and run.run.state == 'running'
end

--- The parts of a kernel's virtual text, without what separates them.
---@param run tileperf.Run
---@return [string, string][][]
local function parts(run)
  local found = {}
  if goes_on(run) then
    table.insert(found, { { M.stage(run.run), 'TileperfRunning' } })
  end
  if run.latency then
    table.insert(found, { { run.latency.text, 'TileperfPerf' } })
  end
  -- While the next change is measured, the last one's numbers would be taken for its own.
  if goes_on(run) then
    return found
  end
  if #(run.results or {}) > 0 then
    table.insert(found, M.results(run.results))
  end
  -- With failing tests, the verdict says how many.
  local outcome = run.verdict or (run.run and run.run.sentence)
  if outcome then
    local failed = #(run.failures or {}) > 0
    local text = outcome:gsub('%s+', ' ')
    table.insert(found, { { text, failed and 'TileperfFailed' or 'TileperfVerdict' } })
  end
  return found
end

--- A kernel's virtual text: pieces of text, each with its highlight group. Empty where there is
--- nothing to say, as of a session that was given up.
---@param run tileperf.Run
---@return [string, string][]
function M.chunks(run)
  if run.phase == 'abandoned' then
    return {}
  end
  local chunks = {}
  for _, part in ipairs(parts(run)) do
    if #chunks > 0 then
      table.insert(chunks, { SEPARATOR, 'TileperfPerf' })
    end
    vim.list_extend(chunks, part)
  end
  -- What is typed during a run is not what it measures, and does not make it stale.
  if run.stale and not goes_on(run) and #chunks > 0 then
    table.insert(chunks, 1, { 'stale' .. SEPARATOR, 'TileperfStale' })
    for _, chunk in ipairs(chunks) do
      chunk[2] = 'TileperfStale'
    end
  end
  return chunks
end

--- One run for a statusline: the stage of one that goes on, else the last verdict.
---@param run? tileperf.Run
---@return string
function M.line(run)
  if not run or run.phase == 'abandoned' then
    return ''
  end
  if goes_on(run) then
    return ('%s: %s'):format(run.kernel, M.stage(run.run))
  end
  local said = run.verdict or (run.latency and run.latency.text)
  if not said then
    return ''
  end
  return ('%s: %s%s'):format(run.kernel, said, run.stale and ' (stale)' or '')
end

return M
