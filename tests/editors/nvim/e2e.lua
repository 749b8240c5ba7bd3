--- Drives a real Neovim with the plugin and a real server through the whole of what they show.
--- Places are named by their text in the fixture workspace, never by line numbers.
local tap = require('tap')
local view = require('view')

local here = vim.env.TILEPERF_E2E
local workspace = here .. '/workspace'
local ops = workspace .. '/src/demo/ops/cutile/'

--- Enough lines that all of a fixture is drawn at once.
vim.o.lines = 140
vim.o.columns = 140

---@type string[] problems that Neovim or the plugin notified
local complaints = {}
local notify = vim.notify
vim.notify = function(message, level, options)
  if level and level >= vim.log.levels.WARN then
    table.insert(complaints, message)
  end
  return notify(message, level, options)
end

---@param file string
---@return integer buffer
local function open(file)
  vim.cmd.edit(vim.fn.fnameescape(file))
  return vim.api.nvim_get_current_buf()
end

---@param context string
---@param text string
local function put_cursor(context, text)
  local row, column = view.locate(0, context, text)
  vim.api.nvim_win_set_cursor(0, { row + 1, column })
end

---@return vim.lsp.Client?
local function client_of(buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'tileperf' })[1]
  return client and client.initialized and client or nil
end

---@param keys string
local function press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

--- The items that an LSP list function of Neovim would put into a list.
---@param call fun(on_list: fun(list: { items: table[] }))
---@return table[]
local function listed(call)
  local items
  call(function(list)
    items = list.items
  end)
  vim.wait(10000, function()
    return items ~= nil
  end, 20)
  return items or {}
end

---@param items table[]
---@param file string
---@param text string
---@return boolean
local function has_item(items, file, text)
  return vim.iter(items):any(function(item)
    return vim.endswith(item.filename or '', file) and (item.text or ''):find(text, 1, true) ~= nil
  end)
end

---@param name string
---@param lines string[]
local function keep(name, lines)
  vim.fn.writefile(lines, here .. '/out/' .. name)
end

---@param client vim.lsp.Client
---@return integer pid of its server
local function server_pid(client)
  local info = assert(require('tileperf.info').request(client))
  return info.pid
end

---@param pid integer
---@return boolean
local function alive(pid)
  return vim.uv.kill(pid, 0) == 0
end

local function attaches()
  local buffer = open(ops .. 'softmax.py')
  local client = tap.wait('the server attaches to a kernel file', function()
    return client_of(buffer)
  end, function()
    return vim.fn.execute('messages')
  end)
  if not client then
    return false
  end
  tap.equal(client.config.root_dir, workspace, 'its root is the workspace')
  tap.wait('the server says that it is ready, with kernels', function()
    local status = require('tileperf').status(buffer)
    return status and status.state == 'ready' and (status.kernels or 0) >= 4
  end, function()
    return require('tileperf').status(buffer)
  end)
  tap.ok(
    require('tileperf').statusline():match('^tileperf: %d+ kernels$'),
    'the statusline text counts them'
  )
  tap.equal(client.config.init_options.trusted, false, 'the workspace is not trusted by default')
end

local function symbols()
  open(ops .. 'softmax.py')
  local items = listed(function(on_list)
    vim.lsp.buf.document_symbol({ on_list = on_list })
  end)
  for _, kernel in ipairs({ 'softmax_kernel', 'softmax_long_kernel' }) do
    tap.ok(has_item(items, 'softmax.py', kernel), 'document symbols have ' .. kernel, items)
  end

  local found = listed(function(on_list)
    vim.lsp.buf.workspace_symbol('matmul_kernel', { on_list = on_list })
  end)
  tap.ok(
    has_item(found, 'matmul.py', 'matmul_kernel'),
    'workspace symbols find a kernel in a file that is not open',
    found
  )
end

local function hover()
  open(ops .. 'softmax.py')
  put_cursor('def softmax_kernel', 'softmax_kernel')
  vim.lsp.buf.hover()
  local lines = tap.wait('hover opens a floating window', view.float) or {}
  keep('hover.txt', lines)
  -- Markdown may escape the underscore.
  local text = table.concat(lines, '\n'):gsub('\\', '')
  tap.ok(text:find('softmax_kernel', 1, true), 'the hover names the kernel', lines)
  tap.ok(text:find('TILE', 1, true), 'the hover names its constant', lines)
  view.close_floats()
end

---@param buffer integer
---@param context string a line of the kernel's head
---@return boolean
local function has_lens(buffer, context)
  local row = view.locate(buffer, context, context)
  -- Above the decorator or above the `def` under it.
  local lenses = view.lenses(buffer)
  return lenses[row] ~= nil or lenses[row - 1] ~= nil
end

local function lenses()
  local buffer = open(ops .. 'softmax.py')
  for _, kernel in ipairs({ 'softmax_kernel', 'softmax_long_kernel' }) do
    tap.wait('a code lens is shown at ' .. kernel, function()
      return has_lens(buffer, 'def ' .. kernel .. '(')
    end, function()
      return view.lenses(buffer)
    end)
  end
  tap.note(view.lenses(buffer))

  put_cursor('return out', 'return out')
  press('oadded = 1<CR><BS><CR>@ct.kernel<CR>def added_kernel(x):<CR>pass<Esc>')
  tap.wait('a kernel that is typed gets its lens', function()
    return has_lens(buffer, 'def added_kernel(')
  end, function()
    return { view.lenses(buffer), vim.api.nvim_buf_get_lines(buffer, 40, -1, false) }
  end)
  press('u')
  tap.wait('undoing it takes the lens away', function()
    local last = vim.api.nvim_buf_line_count(buffer)
    return vim.iter(pairs(view.lenses(buffer))):all(function(row)
      return row < last - 8
    end)
  end, function()
    return view.lenses(buffer)
  end)
  vim.cmd('edit!')

  local second = open(ops .. 'row_scale.py')
  tap.wait('a second buffer gets its lens', function()
    return has_lens(second, 'def row_scale_kernel(')
  end, function()
    return view.lenses(second)
  end)
end

--- The only thing that happens in the editor is the server's own request to ask again.
local function refresh()
  local buffer = open(ops .. 'row_scale.py')
  local function lens()
    local _, text = next(view.lenses(buffer))
    return text
  end
  local before = tap.wait('the kernel has a lens', lens)
  local other = ops .. 'twice.py'
  vim.fn.writefile({
    'import cuda.tile as ct',
    'from demo.ops.cutile.row_scale import row_scale_kernel',
    '',
    '',
    'def twice(stream, x, scale, out):',
    '    ct.launch(stream, (1, 1, 1), row_scale_kernel, (x, scale, out, 64))',
  }, other)
  local after = tap.wait('a launch written to another file changes the lens', function()
    local now = lens()
    return now ~= nil and now ~= before and now
  end, lens)
  tap.note({ before, after })
  vim.fn.delete(other)
  tap.wait('removing that file changes it back', function()
    return lens() == before
  end, lens)
end

--- Where a kernel has several lenses, the one that lists its uses is chosen.
---@param items { [2]: lsp.CodeLens }[]|{ lens: lsp.CodeLens }[]
---@param on_choice fun(item?: any)
local function choose_uses(items, _, on_choice)
  on_choice(vim.iter(items):find(function(item)
    return vim.inspect(item):find('tileperf.showUses', 1, true) ~= nil
  end))
end

--- Running the lens lists where the kernel is used.
local function uses()
  local buffer = open(ops .. 'row_scale.py')
  local row = tap.wait('the lens is there to run', function()
    local at = next(view.lenses(buffer))
    return at
  end)
  -- Where a lens is drawn differs; it belongs to the line of the decorator.
  for _, line in ipairs({ row, row + 1 }) do
    local text = vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1] or ''
    if text:find('@ct.kernel', 1, true) then
      vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
    end
  end
  vim.fn.setqflist({}, 'r')
  local select = vim.ui.select
  vim.ui.select = choose_uses
  vim.lsp.codelens.run()
  tap.wait('running the lens lists the launch in the other file', function()
    return vim.iter(vim.fn.getqflist()):any(function(item)
      return vim.fn.bufname(item.bufnr):find('row_scale_op.py', 1, true) ~= nil
    end)
  end, function()
    return vim.fn.getqflist()
  end)
  vim.ui.select = select
  vim.cmd('cclose')
end

local function hints()
  local buffer = open(ops .. 'matmul.py')
  tap.wait('inlay hints are switched on', function()
    return vim.lsp.inlay_hint.is_enabled({ bufnr = buffer })
  end)
  local row = view.locate(buffer, 'def matmul_configs', 'def matmul_configs')
  tap.wait('an inlay hint is shown at the configuration generator', function()
    return view.virtual_text(buffer, 'inlayhint')[row]
  end, function()
    return { view.virtual_text(buffer, 'inlayhint'), vim.lsp.inlay_hint.get({ bufnr = buffer }) }
  end)
  tap.note(view.virtual_text(buffer, 'inlayhint'))

  vim.lsp.inlay_hint.enable(false, { bufnr = buffer })
  vim.cmd('doautocmd BufEnter')
  vim.wait(600, function()
    return vim.lsp.inlay_hint.is_enabled({ bufnr = buffer })
  end, 20)
  tap.ok(
    not vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }),
    'hints that the user switched off stay off'
  )
  vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
end

local function plain_file()
  local buffer = open(workspace .. '/src/demo/plain.py')
  tap.wait('an ordinary Python file is attached too', function()
    return client_of(buffer)
  end)
  -- Two requests later than anything the attachment has asked for.
  vim.lsp.buf_request_sync(buffer, 'textDocument/documentSymbol', {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
  }, 5000)
  vim.wait(600, function()
    return vim.lsp.inlay_hint.is_enabled({ bufnr = buffer })
  end, 20)
  tap.equal(view.lenses(buffer), {}, 'it shows no lens')
  tap.ok(
    not vim.lsp.inlay_hint.is_enabled({ bufnr = buffer }),
    'inlay hints of other servers are not switched on in it'
  )
end

local function navigation()
  local buffer = open(ops .. 'row_scale_op.py')
  tap.wait('the file of the launch is attached', function()
    return client_of(buffer)
  end)
  put_cursor('ct.launch(', 'row_scale_kernel')
  vim.lsp.buf.definition()
  tap.wait('definition jumps from the launch to the file of the kernel', function()
    return vim.api.nvim_buf_get_name(0) == ops .. 'row_scale.py'
  end, function()
    return vim.api.nvim_buf_get_name(0)
  end)
  local row, column = view.locate(0, 'def row_scale_kernel', 'row_scale_kernel')
  tap.wait('the cursor stands on its name', function()
    return vim.deep_equal(vim.api.nvim_win_get_cursor(0), { row + 1, column })
  end, function()
    return vim.api.nvim_win_get_cursor(0)
  end)

  local items = listed(function(on_list)
    vim.lsp.buf.references(nil, { on_list = on_list })
  end)
  tap.ok(
    has_item(items, 'row_scale_op.py', 'ct.launch('),
    'references of the kernel list the launch',
    items
  )

  vim.lsp.buf.document_highlight()
  tap.wait('the name under the cursor is highlighted', function()
    for name, id in pairs(vim.api.nvim_get_namespaces()) do
      if name:find('lsp') and name:find('references') then
        return #vim.api.nvim_buf_get_extmarks(0, id, 0, -1, {}) > 0
      end
    end
  end)
  vim.lsp.buf.clear_references()
end

---@return string[]
local function checkhealth()
  vim.cmd('checkhealth tileperf')
  local buffer = vim.api.nvim_get_current_buf()
  local function lines()
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
  vim.wait(10000, function()
    return table.concat(lines(), '\n'):find('tileperf: workspace', 1, true) ~= nil
  end, 20)
  local found = lines()
  vim.cmd('bwipeout!')
  return found
end

local function health()
  local lines = checkhealth()
  keep('checkhealth.txt', lines)
  local text = table.concat(lines, '\n')
  for _, part in ipairs({
    'Neovim ',
    'bin/tileperf lsp',
    'Version ',
    'tileperf: workspace ' .. workspace,
    ' kernels, ',
    'not trusted',
    'code lenses: available',
    'inlay hints: available',
    'tileperf: compiler of ' .. workspace,
    'Python: ',
  }) do
    tap.ok(text:find(part, 1, true), ':checkhealth says "' .. part .. '"', lines)
  end
  tap.ok(not text:find('ERROR', 1, true), ':checkhealth finds no error', lines)
end

local function windows()
  for _, case in ipairs({
    { command = 'TileperfInfo', part = 'position encoding: utf-' },
    { command = 'TileperfLog', part = 'Its standard error, from ' },
  }) do
    vim.cmd(case.command)
    local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    keep(case.command .. '.txt', lines)
    local text = table.concat(lines, '\n')
    tap.ok(text:find(case.part, 1, true), ':' .. case.command .. ' opens a window', lines)
    local before = #vim.api.nvim_list_wins()
    vim.cmd(case.command)
    tap.equal(#vim.api.nvim_list_wins(), before, 'a second time it reuses that window')
    vim.cmd('close')
  end
end

--- What comes is asked of a child of the server.
local function doctor()
  local before = #vim.api.nvim_list_wins()
  vim.cmd('TileperfDoctor')
  local lines
  tap.wait(':TileperfDoctor opens a window with what was found', function()
    lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    return lines[1] == '# tileperf doctor'
  end, function()
    return lines
  end)
  keep('TileperfDoctor.txt', lines)
  tap.ok(table.concat(lines, '\n'):find(' Python: ', 1, true), 'Python among it', lines)
  tap.equal(#vim.api.nvim_list_wins(), before + 1, 'the window is one of its own')
  vim.cmd('close')

  local earlier = complaints
  complaints = {}
  vim.cmd('TileperfInstallToolchain')
  tap.wait('nothing is installed for a workspace that is not trusted', function()
    return complaints[1] and complaints[1]:find('not trusted', 1, true)
  end, function()
    return complaints
  end)
  complaints = earlier
  vim.v.errmsg = ''
end

local function restart()
  local buffer = open(ops .. 'softmax.py')
  local old = assert(client_of(buffer))
  local old_pid = server_pid(old)
  vim.cmd('TileperfRestart')
  local new = tap.wait(':TileperfRestart attaches a new server', function()
    local client = client_of(buffer)
    return client and client.id ~= old.id and client
  end)
  tap.wait('the old one is gone', function()
    return not alive(old_pid)
  end)
  tap.equal(#vim.lsp.get_clients({ name = 'tileperf' }), 1, 'there is one server')
  tap.wait('the lenses are back', function()
    return has_lens(buffer, 'def softmax_kernel(')
  end, function()
    return view.lenses(buffer)
  end)

  vim.uv.kill(server_pid(assert(new)), 'sigkill')
  tap.wait('a server that dies is noticed', function()
    return #vim.lsp.get_clients({ name = 'tileperf' }) == 0
  end)
  tap.wait('and its status is forgotten', function()
    return require('tileperf').status(buffer) == nil
  end)
  complaints = vim.tbl_filter(function(message)
    return not message:find('quit with exit code', 1, true)
  end, complaints)
  vim.cmd('TileperfRestart')
  tap.wait(':TileperfRestart starts one where none runs', function()
    return client_of(buffer)
  end)
end

local function no_complaints()
  tap.equal(complaints, {}, 'nothing was complained about')
  tap.equal(vim.v.errmsg, '', 'no error message was left')
  -- Neovim 0.10 has no such report; there a deprecated call notifies, which is counted above.
  if pcall(require, 'vim.deprecated.health') then
    vim.cmd('checkhealth vim.deprecated')
    local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    tap.ok(text:find('No deprecated functions', 1, true), 'nothing deprecated is used', text)
  end
end

tap.note('Neovim ' .. tostring(vim.version()) .. ', started by ' .. vim.env.TILEPERF_START)
tap.run({
  { 'attach', attaches },
  { 'symbols', symbols },
  { 'hover', hover },
  { 'lenses', lenses },
  { 'uses', uses },
  { 'refresh', refresh },
  { 'hints', hints },
  { 'plain file', plain_file },
  { 'navigation', navigation },
  { 'health', health },
  { 'windows', windows },
  { 'doctor', doctor },
  { 'restart', restart },
  { 'complaints', no_complaints },
})
