--- Experiments with the real server, which reads journals: one that is there when the file opens,
--- then what a run in a terminal adds to it.
local journal = require('journal')
local tap = require('tap')
local view = require('view')

local here = vim.env.TILEPERF_E2E
local workspace = here .. '/workspace'
local file = 'src/demo/ops/cutile/row_scale.py'
local test_file = 'tests/ops/test_row_scale.py'

vim.o.lines = 100
vim.o.columns = 200

---@type string[]
local said = {}
vim.notify = function(message)
  table.insert(said, message)
end

---@param part string
---@return boolean
local function was_said(part)
  return vim.iter(said):any(function(message)
    return message:find(part, 1, true) ~= nil
  end)
end

---@type { title: string?, message: string?, kind: string }[]
local progress = {}
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local value = event.data.params and event.data.params.value or event.data.result.value
    table.insert(progress, value)
  end,
})

local session = journal.new(workspace, 'row_scale_kernel', file, test_file)
session:baseline()
session:keep('occupancy=8')

local failure = {
  test = 'tests/ops/test_row_scale.py::test_op[256]',
  message = 'AssertionError: Tensor-likes are not close!',
  file = test_file,
  line = nil,
  cause = 'a removed mask',
}

---@type integer
local buffer

---@return string
local function drawn()
  local row = view.locate(buffer, 'def row_scale_kernel', 'def')
  return view.virtual_text(buffer, 'tileperf.perf')[row] or ''
end

---@param part string
---@param name string
local function draws(part, name)
  tap.wait(name, function()
    return drawn():find(part, 1, true)
  end, function()
    return { drawn(), require('tileperf').perf(buffer), said }
  end)
end

---@return string
local function lenses()
  return table.concat(vim.tbl_values(view.lenses(buffer)), ' ')
end

local function opening()
  vim.cmd.edit(workspace .. '/' .. file)
  buffer = vim.api.nvim_get_current_buf()
  draws('0.800000 ms', 'an experiment that is there is shown')
  draws('−20.0 % FASTER', 'with the change of its configurations')
  draws('kept', 'and the verdict')
  tap.ok(not drawn():find('stale', 1, true), 'its code is what was measured', drawn())
  tap.wait('the lens has the latency', function()
    return lenses():find('0.800000 ms', 1, true)
  end, lenses)
  tap.wait('there is a lens to run an iteration', function()
    return lenses():find('Run perf iteration', 1, true)
  end, lenses)
  tap.ok(
    require('tileperf').perf_statusline():find('row_scale_kernel: kept', 1, true),
    'the statusline has the verdict',
    require('tileperf').perf_statusline()
  )
end

local function hover()
  local row, column = view.locate(buffer, 'def row_scale_kernel', 'row_scale_kernel')
  vim.api.nvim_win_set_cursor(0, { row + 1, column })
  vim.lsp.buf.hover()
  local lines = tap.wait('hover opens', view.float) or {}
  local text = table.concat(lines, '\n'):gsub('\\', '')
  tap.ok(text:find('FASTER', 1, true), 'hover has the configurations', lines)
  view.close_floats()
end

local function staleness()
  local row = view.locate(buffer, 'factor = ct.load', 'factor')
  local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1]
  vim.api.nvim_buf_set_lines(buffer, row, row + 1, false, { (line:gsub('factor', 'other')) })
  tap.wait('an edit makes the results stale', function()
    return vim.startswith(drawn(), 'stale')
  end, drawn)
  vim.api.nvim_buf_set_lines(buffer, row, row + 1, false, { line })
  tap.wait('taking it back makes them valid again', function()
    return drawn() ~= '' and not vim.startswith(drawn(), 'stale')
  end, drawn)
  vim.cmd('silent edit!')
end

local function a_run_in_a_terminal()
  session:hold()
  session:begin('iteration', session:tried('a smaller tile'))
  session:stage('correctness')
  draws('Perf iteration 2: correctness', 'a run that begins elsewhere is shown')
  tap.ok(
    require('tileperf').perf_statusline():find('iteration 2', 1, true),
    'in the statusline too',
    require('tileperf').perf_statusline()
  )
  tap.wait('and as a progress', function()
    return vim.iter(progress):any(function(value)
      return (value.title or ''):find('Perf iteration 2: row_scale_kernel', 1, true) ~= nil
    end)
  end, function()
    return progress
  end)
  session:stage('measuring')
  session:add('looked', { run = session.runs, pairs = 30, decided = 1, of = 2 })
  draws('measuring (30 pairs, 1 of 2 decided)', 'with its stage')

  local lines = vim.fn.readfile(workspace .. '/' .. test_file)
  for number, line in ipairs(lines) do
    if line:find('torch.testing.assert_close', 1, true) then
      failure.line = number
    end
  end
  session:fail('a smaller tile', failure)
  session:release()
  draws('reverted: 1 test fails', 'its end is shown')
  tap.wait('and said', function()
    return was_said('row_scale_kernel')
  end, function()
    return said
  end)
  tap.wait('the progress ends', function()
    return progress[#progress].kind == 'end'
  end, function()
    return progress
  end)
end

local function diagnostics()
  vim.cmd.edit(workspace .. '/' .. test_file)
  local tests = vim.api.nvim_get_current_buf()
  local found = tap.wait('the failing assertion has a diagnostic', function()
    return vim.diagnostic.get(tests)[1]
  end)
  if found then
    tap.equal(found.lnum, failure.line - 1, 'in its line')
    tap.equal({ found.source, found.code }, { 'tileperf', 'perf-failure' }, 'from the experiment')
    tap.ok(found.message:find('a removed mask', 1, true), 'with the likely cause', found.message)
  end
  vim.cmd('silent buffer ' .. buffer)
end

local function commands()
  said = {}
  vim.cmd('TileperfRunIteration')
  tap.wait('a workspace that is not trusted is not run', function()
    return was_said('trust')
  end, function()
    return said
  end)

  said = {}
  vim.cmd('TileperfPerf status')
  tap.wait(':TileperfPerf status says how it stands', function()
    return #said > 0
  end)
  tap.note(said)

  vim.cmd('TileperfPerfReport')
  tap.wait(':TileperfPerfReport shows the report', function()
    return vim.startswith(vim.api.nvim_buf_get_name(0), 'tileperf://markdown/')
  end, function()
    return said
  end)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  tap.ok(
    vim.iter(lines):any(function(line)
      return line:find('occupancy=8', 1, true) ~= nil
    end),
    'of this experiment',
    lines
  )
  vim.cmd('close')

  local page = here .. '/out/report.html'
  vim.cmd('TileperfPerfReport! ' .. page)
  tap.wait('with ! as a page', function()
    return vim.fn.filereadable(page) == 1
  end, function()
    return said
  end)
  tap.ok(table.concat(vim.fn.readfile(page), '\n'):find('<svg', 1, true), 'which has curves')
end

local function health()
  vim.cmd('checkhealth tileperf')
  local text
  tap.wait(':checkhealth knows the experiment', function()
    text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    return text:find('experiment ' .. session.name, 1, true)
  end, function()
    return text
  end)
  vim.cmd('bwipeout!')
end

local function restarting()
  vim.cmd('silent buffer ' .. buffer)
  vim.cmd('TileperfRestart')
  tap.wait('without a server there is no text', function()
    return drawn() == ''
  end, drawn)
  draws('0.800000 ms', 'the next one shows the experiment again')
end

--- Running the lens is the same as the command, which is refused here.
local function lens()
  vim.cmd('silent buffer ' .. buffer)
  tap.wait('the lens is there to run', function()
    return lenses():find('Run perf iteration', 1, true)
  end, lenses)
  local row = view.locate(buffer, '@ct.kernel', '@')
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  local select = vim.ui.select
  vim.ui.select = function(items, _, on_choice)
    on_choice(vim.iter(items):find(function(item)
      return vim.inspect(item):find('Run perf iteration', 1, true) ~= nil
    end))
  end
  said = {}
  vim.lsp.codelens.run()
  tap.wait('running it asks the server', function()
    return was_said('trust')
  end, function()
    return said
  end)
  vim.ui.select = select
end

--- Leaves the workspace as it was for the tests after this.
local function gone()
  vim.fn.delete(workspace .. '/sandbox', 'rf')
  vim.cmd('TileperfRestart')
  tap.wait('without its journal there is no experiment', function()
    local client = vim.lsp.get_clients({ bufnr = buffer, name = 'tileperf' })[1]
    return drawn() == '' and client and client.initialized
  end, drawn)
end

tap.run({
  { 'opening', opening },
  { 'hover', hover },
  { 'staleness', staleness },
  { 'a run in a terminal', a_run_in_a_terminal },
  { 'diagnostics', diagnostics },
  { 'commands', commands },
  { 'lens', lens },
  { 'health', health },
  { 'restarting', restarting },
  { 'an experiment that is gone', gone },
})
