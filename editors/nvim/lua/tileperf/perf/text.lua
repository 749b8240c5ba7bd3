--- An experiment in a few words: the virtual text of its kernel, and a statusline's.
local M = {}

--- Configurations named one by one; the others are counted.
local NAMED = 3

local SEPARATOR = ' · '

local verdicts = {
  FASTER = 'TileperfFaster',
  SLOWER = 'TileperfSlower',
  SAME = 'TileperfSame',
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
  return (('%+.1f %%'):format(fraction * 100):gsub('^%-', '−'))
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

--- "[1] −5.2 % FASTER, [4] backward +1.6 % SLOWER, +6 (1 SLOWER)"
---@param results tileperf.Result[]
---@return [string, string][]
function M.results(results)
  local chunks = {}
  local said = vim.tbl_filter(function(field)
    return differ(results, field)
  end, { 'backend', 'direction' })
  for index, result in ipairs(vim.list_slice(results, 1, NAMED)) do
    local words = { result.short }
    for _, field in ipairs(said) do
      table.insert(words, result[field])
    end
    if result.change then
      table.insert(words, M.percent(result.change))
    end
    table.insert(words, result.verdict)
    if index > 1 then
      table.insert(chunks, { ', ', 'TileperfPerf' })
    end
    table.insert(chunks, { table.concat(words, ' '), group(result.verdict) })
  end

  local others = vim.list_slice(results, NAMED + 1)
  if #others > 0 then
    -- A configuration that got slower decides the iteration: it is not passed over in silence.
    local slower = #vim.tbl_filter(function(result)
      return result.verdict == 'SLOWER'
    end, others)
    table.insert(chunks, { (', +%d'):format(#others), 'TileperfPerf' })
    if slower > 0 then
      table.insert(chunks, { (' (%d SLOWER)'):format(slower), 'TileperfSlower' })
    end
  end
  return chunks
end

--- The parts of a kernel's virtual text, without what separates them.
---@param run tileperf.Run
---@return [string, string][][]
local function parts(run)
  local found = {}
  if run.running and run.run then
    table.insert(found, { { M.stage(run.run), 'TileperfRunning' } })
  end
  if run.latency then
    table.insert(found, { { run.latency.text, 'TileperfPerf' } })
  end
  -- While the next change is measured, the last one's numbers would be taken for its own.
  if run.running then
    return found
  end
  if run.verdict then
    table.insert(found, { { run.verdict, 'TileperfVerdict' } })
  elseif run.run and not run.latency then
    table.insert(found, { { run.run.sentence, 'TileperfVerdict' } })
  end
  if #(run.results or {}) > 0 then
    table.insert(found, M.results(run.results))
  end
  if #(run.failures or {}) > 0 then
    table.insert(found, { { counted(#run.failures, 'failing test'), 'TileperfSlower' } })
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
  if run.stale and #chunks > 0 then
    table.insert(chunks, { SEPARATOR .. 'stale', 'TileperfStale' })
    for _, chunk in ipairs(chunks) do
      chunk[2] = chunk[2] == 'TileperfRunning' and chunk[2] or 'TileperfStale'
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
  if run.running and run.run then
    return ('%s: %s'):format(run.kernel, M.stage(run.run))
  end
  local said = run.verdict or (run.latency and run.latency.text)
  if not said then
    return ''
  end
  return ('%s: %s%s'):format(run.kernel, said, run.stale and ' (stale)' or '')
end

return M
