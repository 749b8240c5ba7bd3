--- What the compiler makes of kernels, with the real server and the real compiler, and the doctor.
local plant = require('plant')
local tap = require('tap')
local view = require('view')

local here = vim.env.TILEPERF_E2E
local workspace = here .. '/workspace'
local ops = workspace .. '/src/demo/ops/cutile/'

--- Milliseconds: the first compile starts Python, and tileiras takes seconds.
local COMPILING = 120000

vim.o.lines = 140
vim.o.columns = 160

---@param file string
---@return integer buffer
local function open(file)
  vim.cmd.edit(vim.fn.fnameescape(file))
  return vim.api.nvim_get_current_buf()
end

---@param buffer integer
---@param line string
---@return string hints behind the line with this text
local function hints(buffer, line)
  local row = view.locate(buffer, line, line)
  return view.virtual_text(buffer, 'inlayhint')[row] or ''
end

---@param context string
---@param text string
---@return string what the hover there says
local function hover(context, text)
  local row, column = view.locate(0, context, text)
  vim.api.nvim_win_set_cursor(0, { row + 1, column })
  vim.lsp.buf.hover()
  local lines = tap.wait('hover opens over ' .. text, view.float) or {}
  view.close_floats()
  return (table.concat(lines, '\n'):gsub('\\', ''))
end

---@param name string
---@param lines string[]
local function keep(name, lines)
  vim.fn.writefile(lines, here .. '/out/' .. name)
end

local function accesses()
  local buffer = open(ops .. 'matmul.py')
  for line, pattern in pairs({
    ['left = ct.load('] = 'TMA %d+x%d+',
    ['total = ct.mma('] = 'tensor core SM90 64x128x16',
    ['ct.store(c, index'] = 'TMA %d+x%d+',
  }) do
    tap.wait('what was compiled stands behind ' .. line, function()
      return hints(buffer, line):find(pattern)
    end, function()
      return { view.virtual_text(buffer, 'inlayhint'), vim.fn.execute('messages') }
    end, COMPILING)
  end
  tap.wait('the lens says what a block takes', function()
    return vim.iter(pairs(view.lenses(buffer))):any(function(_, text)
      return text:find('sm_90: %d+ regs, no stack, [%d.]+ KiB shared, %d+ threads') ~= nil
    end)
  end, function()
    return view.lenses(buffer)
  end)
  local text = hover('total = ct.mma(', 'mma')
  tap.ok(text:lower():find('tensor core', 1, true), "the hover has the compiler's words", text)
end

--- An action of the playbook, asked for until compiled code has proven it, then applied.
local function faster()
  local buffer = open(ops .. 'matmul.py')
  local before = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  local row, column = view.locate(buffer, 'total = ct.mma(', 'mma')
  vim.api.nvim_win_set_cursor(0, { row + 1, column })
  local kind = 'refactor.rewrite.cutile.no-tma-stores'
  local titles = {}
  tap.wait('compiled code says what an action of the playbook changes', function()
    local params = vim.lsp.util.make_range_params(0, 'utf-8')
    params.context = { diagnostics = {}, only = { kind } }
    local answers = vim.lsp.buf_request_sync(buffer, 'textDocument/codeAction', params, 10000) or {}
    titles = {}
    for _, answer in pairs(answers) do
      for _, action in ipairs(answer.result or {}) do
        table.insert(titles, action.title)
      end
    end
    return #titles == 1 and titles[1]:find('(sm_90: TMA store: 0, was 1', 1, true)
  end, function()
    return titles
  end, COMPILING)
  vim.lsp.buf.code_action({ apply = true, context = { diagnostics = {}, only = { kind } } })
  local function now()
    return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  end
  tap.wait('and the action makes it', function()
    return now():find('allow_tma=False', 1, true)
  end, now)
  vim.cmd('silent undo')
  tap.equal(now(), before, 'one undo takes it back')
end

--- An action on a kernel that is launched from another file: both change.
local function apart()
  local kernel = open(ops .. 'row_scale.py')
  local function text_of(buffer)
    return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  end
  local before = text_of(kernel)
  local row, column = view.locate(kernel, 'def row_scale_kernel(', 'row_scale_kernel')
  vim.api.nvim_win_set_cursor(0, { row + 1, column })
  local only = { 'refactor.rewrite.cutile.autotune' }
  vim.lsp.buf.code_action({ apply = true, context = { diagnostics = {}, only = only } })
  tap.wait('a search takes the hint from the kernel', function()
    return text_of(kernel):find('@ct.kernel\n', 1, true)
  end, function()
    return text_of(kernel)
  end)
  local host = vim.fn.bufnr(ops .. 'row_scale_op.py')
  local tuned = host > 0 and text_of(host) or ''
  tap.ok(
    tuned:find('kernel=row_scale_kernel,', 1, true) and tuned:find('tuned_kernel, (x', 1, true),
    'and goes into the file that launches it',
    tuned
  )
  vim.cmd('silent undo')
  tap.equal(text_of(kernel), before, 'undo gives the hint back')
  vim.cmd('bwipeout! ' .. host)
end

local function signatures()
  local buffer = open(workspace .. plant.square.name)
  local load = 'first = ct.load('
  local function shows(size)
    tap.wait('the load is shown as compiled for ' .. size, function()
      return hints(buffer, load):find('TMA ' .. size, 1, true)
    end, function()
      return { view.virtual_text(buffer, 'inlayhint'), vim.fn.execute('messages') }
    end, COMPILING)
  end
  shows('64x64')
  tap.wait('a lens says how many signatures there are', function()
    return vim.iter(pairs(view.lenses(buffer))):any(function(_, text)
      return text:find('2 signatures', 1, true) ~= nil
    end)
  end, function()
    return view.lenses(buffer)
  end)
  local select, offered = vim.ui.select, nil
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.ui.select = function(items, options, done)
    offered = vim.tbl_map(options.format_item, items)
    done(items[2], 2)
  end
  local row, column = view.locate(buffer, load, 'ct')
  vim.api.nvim_win_set_cursor(0, { row + 1, column })
  vim.cmd('TileperfSignature')
  shows('32x32')
  vim.ui.select = select
  tap.ok(
    offered
      and offered[1]:find('TILE: 64 (from a launch in the code, dtypes assumed, shown)', 1, true)
      and offered[2]:find('TILE: 32 (from a launch in the code', 1, true),
    'each is offered with its origin',
    offered
  )
end

local function refused()
  local buffer = open(workspace .. plant.refused.name)
  local one = tap.wait("what does not compile has a diagnostic with cuTile's message", function()
    return vim.iter(vim.diagnostic.get(buffer)):find(function(diagnostic)
      return diagnostic.code == 'TP501' and diagnostic.message:find('not broadcastable', 1, true)
    end)
  end, function()
    return vim.diagnostic.get(buffer)
  end, COMPILING)
  if not one then
    return
  end
  local row = view.locate(buffer, 'return tile + ct.zeros(', 'tile')
  tap.equal(one.lnum, row, 'where the compiler points')
  local text = hover('return tile + ct.zeros(', 'tile + ')
  tap.ok(
    text:find('tileperf explain not-broadcastable', 1, true),
    'the hover says where such errors come from',
    text
  )
end

local function doctor()
  vim.cmd('TileperfDoctor')
  local lines
  tap.wait('the doctor lists what there is', function()
    lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
    return table.concat(lines, '\n'):find('✓ cuda-tile: 1.7.0', 1, true)
  end, function()
    return lines
  end)
  keep('TileperfDoctor.txt', lines)
  vim.cmd('close')

  vim.cmd('checkhealth tileperf')
  local buffer = vim.api.nvim_get_current_buf()
  tap.wait('and so does :checkhealth', function()
    lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
    return table.concat(lines, '\n'):find('cuda-tile: 1.7.0', 1, true)
  end, function()
    return lines
  end)
  keep('checkhealth.txt', lines)
  vim.cmd('bwipeout!')
end

plant.write_compiled(workspace)

tap.run({
  { 'accesses', accesses },
  { 'faster', faster },
  { 'apart', apart },
  { 'signatures', signatures },
  { 'refused', refused },
  { 'doctor', doctor },
})
