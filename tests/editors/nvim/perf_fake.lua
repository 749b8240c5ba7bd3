--- The experiments against a server that says what the test wants: what is asked, sent and drawn.
local fake = require('fake')
local samples = require('samples')
local tap = require('tap')
local view = require('view')

local here = vim.env.TILEPERF_E2E
local file = here .. '/workspace/src/demo/ops/cutile/row_scale.py'
local uri = vim.uri_from_fname(file)

---@type { message: string, level: integer }[]
local said = {}
vim.notify = function(message, level)
  table.insert(said, { message = message, level = level })
end

---@return string the last message, or nothing
local function last_message()
  return said[#said] and said[#said].message or ''
end

---@param line string
---@return string[]
local function completed(line)
  return vim.fn.getcompletion(line, 'cmdline')
end

local function completion(server)
  local names = require('tileperf.perf.verbs').names
  tap.equal(completed('TileperfPerf '), names, 'verbs are completed, in the order of a session')
  tap.equal(completed('TileperfPerf st'), { 'status', 'stop' }, 'those that fit')
  tap.equal(
    completed('TileperfPerf setup '),
    { 'goal=', 'device=', 'go-on', 'fix', 'kernel=', 'session=' },
    'then options'
  )
  tap.equal(
    completed('TileperfPerf setup goal=2x fix g'),
    { 'go-on' },
    'without those that are written already'
  )
  tap.equal(completed('TileperfPerf nonsense '), {}, 'nothing for what is no verb')
  tap.equal(
    completed('TileperfPerf report form=p'),
    { 'form=pull-request' },
    'the forms of a report'
  )
  server.send('tileperf/run', samples.run(uri, 6))
  tap.wait('known kernels are completed', function()
    return vim.deep_equal(completed('TileperfPerf undo kernel=row'), { 'kernel=row_scale_kernel' })
  end)
  tap.equal(
    completed('TileperfPerf undo iteration='),
    { 'iteration=1', 'iteration=2', 'iteration=3' },
    'and iterations'
  )
end

---@param buffer integer
---@return table<integer, string>
local function drawn(buffer)
  return view.virtual_text(buffer, 'tileperf.perf')
end

local function asks(server, buffer)
  local told = fake.last(server, 'initialize').capabilities.experimental.commands
  tap.ok(
    vim.list_contains(told, 'tileperf.runPerfIteration'),
    'the server is told that the lens can be run',
    told
  )
  tap.wait('after attaching it is asked for the runs', function()
    return fake.last(server, 'tileperf/runs')
  end)
  tap.equal(fake.last(server, 'tileperf/runs'), {}, 'of all files, the first time')
  local row = view.locate(buffer, 'def row_scale_kernel', 'def')
  tap.wait('its answer is drawn behind the name of the kernel', function()
    return (drawn(buffer)[row] or ''):find('kept: 22.68 %% faster')
  end, function()
    return drawn(buffer)
  end)
end

local function drawing(server, buffer)
  local row = view.locate(buffer, 'def row_scale_kernel', 'def')
  local changed = 0
  local id = vim.api.nvim_create_autocmd('User', {
    pattern = 'TileperfRun',
    callback = function()
      changed = changed + 1
    end,
  })
  server.send('tileperf/run', samples.measuring(uri, row))
  tap.wait('a notification changes it', function()
    return (drawn(buffer)[row] or ''):find('measuring (60 pairs', 1, true)
  end, function()
    return drawn(buffer)
  end)
  tap.equal(changed, 1, 'and is an event')
  vim.api.nvim_del_autocmd(id)
  tap.equal(
    require('tileperf').perf_statusline(),
    'row_scale_kernel: Perf iteration 4: measuring (60 pairs, 2 of 9 decided)',
    'the statusline has it'
  )
  tap.equal(#require('tileperf').perf(buffer), 1, 'and the table behind it')

  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '# one', '# two' })
  tap.ok(drawn(buffer)[row + 2], 'it moves with the text', drawn(buffer))
  server.send('tileperf/run', samples.measuring(uri, row, { run = { pairs = 120 } }))
  tap.wait('a notification with the old line does not take it back', function()
    return (drawn(buffer)[row + 2] or ''):find('120 pairs', 1, true)
  end, function()
    return drawn(buffer)
  end)
  server.answers['tileperf/runs'] = { samples.measuring(uri, row, { run = { pairs = 120 } }) }
  vim.cmd('silent edit!')
  tap.wait('reading the file again keeps it', function()
    return (drawn(buffer)[row] or ''):find('120 pairs', 1, true)
  end, function()
    return drawn(buffer)
  end)

  server.send('tileperf/run', samples.run(uri, row, { stale = true, run = { run = 4 } }))
  tap.wait('results of other code are marked', function()
    return vim.startswith(drawn(buffer)[row] or '', 'stale ·')
  end, function()
    return drawn(buffer)
  end)
  tap.equal(
    vim.api.nvim_get_hl(0, { name = 'TileperfStale' }).link,
    'Comment',
    'and dimmed as comments are'
  )
  tap.equal(
    last_message(),
    'tileperf: row_scale_kernel: kept: 22.68 % faster',
    'the end of the run was announced'
  )

  vim.api.nvim_buf_set_lines(buffer, row, row + 1, false, {})
  tap.equal(drawn(buffer), {}, 'without its line there is nothing to draw')
  vim.cmd('silent edit!')

  local tileperf = require('tileperf')
  tileperf.options.perf_results = false
  server.send('tileperf/run', samples.run(uri, row))
  tap.wait('it can be switched off', function()
    return vim.tbl_isempty(drawn(buffer))
  end)
  tileperf.options.perf_results = true
end

local function several_sessions(server, buffer)
  local row = view.locate(buffer, 'def row_scale_kernel', 'def')
  local new = 'cutile-perf-row_scale_kernel-2026-02-03'
  server.send('tileperf/run', samples.run(uri, row, { phase = 'finished' }))
  server.send('tileperf/run', samples.run(uri, row, { session = new, verdict = 'the new one' }))
  tap.wait('an open session is shown, not one that is over', function()
    return (drawn(buffer)[row] or ''):find('the new one', 1, true)
  end, function()
    return drawn(buffer)
  end)
  tap.equal(#require('tileperf').perf(buffer), 1, 'one for a kernel')
  server.send('tileperf/run', samples.run(uri, row, { session = new, phase = 'abandoned' }))
  tap.wait('until it is given up', function()
    return (drawn(buffer)[row] or ''):find('kept: 22.68', 1, true)
  end, function()
    return drawn(buffer)
  end)
end

--- The file as it was.
local original = vim.fn.readfile(file)

local function commands(server, buffer)
  server.answers['workspace/executeCommand'] = { message = 'iteration 4 began' }
  local row = view.locate(buffer, 'def row_scale_kernel', 'row_scale_kernel')
  vim.api.nvim_win_set_cursor(0, { row + 2, 4 })
  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '# an edit' })
  vim.cmd('TileperfRunIteration two tiles at once')
  tap.wait('its answer is said', function()
    return last_message() == 'tileperf: iteration 4 began'
  end, last_message)
  tap.equal(vim.fn.readfile(file, '', 1), { '# an edit' }, 'the edit was saved first')
  tap.equal(vim.bo[buffer].modified, false, 'by the buffer itself')
  local order = vim.tbl_map(function(asked)
    return asked.method
  end, server.asked)
  tap.equal(
    { order[#order - 1], order[#order] },
    { 'textDocument/didSave', 'workspace/executeCommand' },
    'which the server heard before the command',
    order
  )
  tap.equal(fake.last(server, 'workspace/executeCommand'), {
    command = 'tileperf.runPerfIteration',
    arguments = {
      { uri = uri, position = { line = row + 2, character = 4 }, name = 'two tiles at once' },
    },
  }, 'the kernel at the cursor is meant')

  vim.cmd('TileperfPerf setup goal=1.2x fix')
  tap.equal(
    fake.last(server, 'workspace/executeCommand').arguments[1],
    { uri = uri, position = { line = row + 2, character = 4 }, goal = '1.2x', fix = true },
    'a verb sends its options'
  )
  vim.cmd('TileperfPerf stop session=other')
  tap.equal(fake.last(server, 'workspace/executeCommand'), {
    command = 'tileperf.perf.stop',
    arguments = { { session = 'other' } },
  }, 'a session that is named needs no kernel')

  vim.api.nvim_buf_set_lines(buffer, 0, 0, false, { '# another edit' })
  vim.cmd('TileperfPerf status')
  tap.equal(vim.bo[buffer].modified, true, 'a verb that only looks saves nothing')
  vim.bo[buffer].readonly = true
  local before = #server.asked
  vim.cmd('TileperfRunIteration')
  tap.equal(#server.asked, before, 'what cannot be saved is not measured')
  tap.ok(
    last_message():find('tileperf: cannot save .*row_scale.py: E45'),
    'the reason is said',
    said
  )
  vim.bo[buffer].readonly = false
  vim.cmd('silent edit!')

  server.errors['workspace/executeCommand'] = 'this workspace is not trusted'
  vim.cmd('TileperfPerf baseline')
  tap.wait('an error is said', function()
    return last_message() == 'tileperf: this workspace is not trusted'
  end, last_message)
  tap.equal(said[#said].level, vim.log.levels.WARN, 'as a warning')
  server.errors = {}

  local confirm = vim.fn.confirm
  local questions = 0
  vim.fn.confirm = function()
    questions = questions + 1
    return 2
  end
  before = #server.asked
  vim.cmd('TileperfPerf abandon')
  tap.equal(
    { questions, #server.asked },
    { 1, before },
    'giving up asks, and takes no for an answer'
  )
  vim.cmd('TileperfPerf! abandon')
  tap.equal(questions, 1, 'with ! it does not ask')
  tap.equal(
    fake.last(server, 'workspace/executeCommand').command,
    'tileperf.perf.abandon',
    'and does it'
  )
  vim.fn.confirm = confirm

  vim.cmd('TileperfPerf nonsense')
  tap.ok(last_message():find('no verb "nonsense"', 1, true), 'nonsense is refused', said)
end

local function lens(server, buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, 1, false, { '# a lens' })
  vim.cmd('split ' .. here .. '/workspace/src/demo/plain.py')
  server.client.commands['tileperf.runPerfIteration']({
    title = 'Run perf iteration',
    command = 'tileperf.runPerfIteration',
    arguments = { { uri = uri, kernel = 'row_scale_kernel' } },
  }, { bufnr = buffer, client_id = server.client.id })
  tap.equal(fake.last(server, 'workspace/executeCommand'), {
    command = 'tileperf.runPerfIteration',
    arguments = { { uri = uri, kernel = 'row_scale_kernel' } },
  }, 'the lens sends what it was given')
  tap.equal(vim.bo[buffer].modified, false, 'after saving its file, wherever the cursor is')
  vim.api.nvim_buf_set_lines(buffer, 0, 1, false, { '# typed' })
  local change = { uri = uri, kernel = 'row_scale_kernel', optimization = 'E' }
  server.client.commands['tileperf.perf.apply']({
    title = 'E: Apply and run perf iteration',
    command = 'tileperf.perf.apply',
    arguments = { change },
  }, { bufnr = buffer, client_id = server.client.id })
  tap.equal(fake.last(server, 'workspace/executeCommand'), {
    command = 'tileperf.perf.apply',
    arguments = { change },
  }, 'so does the code action of a change of the playbook')
  tap.equal(vim.bo[buffer].modified, true, 'which saves no other change')
  vim.api.nvim_buf_call(buffer, function()
    vim.cmd('silent update')
  end)
  vim.cmd('TileperfPerf undo kernel=row_scale_kernel')
  tap.equal(
    fake.last(server, 'workspace/executeCommand').arguments,
    { { uri = uri, kernel = 'row_scale_kernel' } },
    'a kernel with an experiment is known by name in every file'
  )
  vim.cmd('close')
end

local function reread(server, buffer)
  local row = view.locate(buffer, 'def row_scale_kernel', 'def')
  server.send('tileperf/run', samples.measuring(uri, row, { run = { run = 9 } }))
  vim.fn.writefile(original, file)
  -- One second is as fine as some file systems tell the time.
  vim.uv.fs_utime(file, os.time() + 5, os.time() + 5)
  server.send('tileperf/run', samples.run(uri, row, { run = { run = 9, state = 'reverted' } }))
  tap.wait('a file that the decision wrote is read again', function()
    return vim.deep_equal(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), original)
  end, function()
    return vim.api.nvim_buf_get_lines(buffer, 0, 3, false)
  end)
end

local function reports(server)
  server.answers['workspace/executeCommand'] = function(params)
    local form = params.arguments[1].form
    return { session = 'a session/x', message = 'here it is', content = '# As ' .. form .. '\n' }
  end
  vim.cmd('TileperfPerfReport')
  tap.wait('the report opens in a window', function()
    return vim.api.nvim_buf_get_name(0) == 'tileperf://markdown/a-session-x'
  end, function()
    return vim.api.nvim_buf_get_name(0)
  end)
  tap.equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), { '# As markdown' }, 'with its text')
  tap.equal(vim.bo.filetype, 'markdown', 'as Markdown')
  local windows = #vim.api.nvim_list_wins()
  vim.cmd('TileperfPerfReport')
  tap.wait('a second time it uses the only server, from the report itself', function()
    return #vim.tbl_filter(function(asked)
      return asked.params.command == 'tileperf.perf.report'
    end, server.asked) == 2
  end)
  vim.wait(50)
  tap.equal(#vim.api.nvim_list_wins(), windows, 'and the same window')
  vim.cmd('close')

  vim.cmd('TileperfPerf report form=pull-request')
  tap.wait('so does the text of a pull request', function()
    return vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == '# As pull-request'
  end)
  vim.cmd('close')

  local page = here .. '/out/folder/page.html'
  vim.cmd('TileperfPerfReport! ' .. page)
  tap.wait('with ! a page is written', function()
    return last_message() == 'tileperf: report written to ' .. page
  end, last_message)
  tap.equal(vim.fn.readfile(page), { '# As html' }, 'to the file that was named')
  vim.cmd('TileperfPerfReport!')
  local default = vim.fn.stdpath('cache') .. '/tileperf/a-session-x.html'
  tap.wait('or to one in the cache folder', function()
    return vim.fn.filereadable(default) == 1
  end)
  vim.fn.delete(here .. '/out/folder', 'rf')
end

local function failures(server, buffer)
  local row = view.locate(buffer, 'def row_scale_kernel', 'def')
  vim.cmd('TileperfPerf failures')
  tap.equal(last_message(), 'tileperf: no failing tests', 'without failures there is no list')
  local tests = here .. '/workspace/tests/ops/test_row_scale.py'
  server.send(
    'tileperf/run',
    samples.run(uri, row, {
      failures = {
        {
          uri = vim.uri_from_fname(tests),
          line = 16,
          test = 'tests/ops/test_row_scale.py::test_op[256]',
          message = 'AssertionError: not close\nmore of it',
          cause = 'a removed mask',
        },
      },
    })
  )
  local window = vim.api.nvim_get_current_win()
  vim.cmd('TileperfPerf failures')
  local item = vim.fn.getqflist()[1] or {}
  tap.equal({ vim.fn.bufname(item.bufnr):match('[^/]+$'), item.lnum, item.text }, {
    'test_row_scale.py',
    17,
    'test_op[256]: AssertionError: not close (likely cause: a removed mask)',
  }, 'failing tests are listed where they fail')
  tap.equal(vim.api.nvim_get_current_win(), window, 'the cursor stays in its window')
  vim.cmd('cclose')
  vim.fn.setqflist({}, 'r')
  vim.cmd('TileperfPerf failures session=other')
  tap.equal(vim.fn.getqflist(), {}, 'those of the session that was named')
end

local function forgotten(server, buffer)
  server.close()
  tap.wait('a server that is gone leaves no text', function()
    return vim.tbl_isempty(drawn(buffer)) and #require('tileperf').perf(buffer) == 0
  end, function()
    return drawn(buffer)
  end)
  tap.equal(require('tileperf').perf_statusline(), '', 'nor a statusline')
  vim.cmd('TileperfRunIteration')
  tap.ok(last_message():find('no server runs', 1, true), 'and running says why not', said)
end

-- Only the fake server is to answer.
if vim.lsp.enable then
  vim.lsp.enable('tileperf', false)
end
pcall(vim.api.nvim_del_augroup_by_name, 'tileperf.start')

vim.cmd.edit(file)
local buffer = vim.api.nvim_get_current_buf()
local server = fake.start(buffer, here .. '/workspace')
local row = view.locate(buffer, 'def row_scale_kernel', 'def')
server.answers['tileperf/runs'] = { samples.run(uri, row) }

---@param step fun(server: Fake, buffer: integer)
---@return fun()
local function with_server(step)
  return function()
    step(server, buffer)
  end
end

tap.run({
  { 'asking', with_server(asks) },
  { 'drawing', with_server(drawing) },
  { 'completion', with_server(completion) },
  { 'several sessions', with_server(several_sessions) },
  { 'commands', with_server(commands) },
  { 'lens', with_server(lens) },
  { 'reading again', with_server(reread) },
  { 'reports', with_server(reports) },
  { 'failures', with_server(failures) },
  { 'a server that is gone', with_server(forgotten) },
})
