--- What the rules find, with the real server: in the open file, corrected by a code action, and in
--- a file that is not open.
local plant = require('plant')
local tap = require('tap')
local view = require('view')

local workspace = vim.env.TILEPERF_E2E .. '/workspace'
local remade = workspace .. plant.remade.name
local uneven = workspace .. plant.uneven.name

plant.write(workspace)

---@type string[]
local said = {}
vim.notify = function(message)
  table.insert(said, message)
end

---@return vim.lsp.Client?
local function client_of(buffer)
  local client = vim.lsp.get_clients({ bufnr = buffer, name = 'tileperf' })[1]
  return client and client.initialized and client or nil
end

---@param buffer integer
---@param code string
---@return vim.Diagnostic[]
local function found(buffer, code)
  return vim.tbl_filter(function(diagnostic)
    return diagnostic.code == code
  end, vim.diagnostic.get(buffer))
end

---@param buffer integer
---@return string
local function text_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

---@type integer the buffer that the findings are corrected in
local buffer

local function finding()
  vim.cmd.edit(remade)
  buffer = vim.api.nvim_get_current_buf()
  local one = tap.wait('a kernel that is remade at every call has a diagnostic', function()
    return found(buffer, 'TP101')[1]
  end, function()
    return vim.diagnostic.get(buffer)
  end)
  if not one then
    return false
  end
  local row, column = view.locate(buffer, 'kernel = row_scale_kernel', 'replace_hints')
  tap.equal({ one.lnum, one.col }, { row, column }, 'at the call that does it')
  tap.equal(one.source, 'tileperf', 'from tileperf')
  tap.equal(one.severity, vim.diagnostic.severity.WARN, 'as a warning')
  local link = vim.tbl_get(one, 'user_data', 'lsp', 'codeDescription', 'href') or ''
  tap.ok(link:match('^https://.+replace%-hints%-hot%-path$'), 'with a link to its rule', one)
end

local function fix()
  local before = text_of(buffer)
  local row, column = view.locate(buffer, 'kernel = row_scale_kernel', 'replace_hints')
  vim.api.nvim_win_set_cursor(0, { row + 1, column })
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.isPreferred and vim.startswith(action.title, 'Remake the kernel once')
    end,
  })
  tap.wait('the quick fix remakes it once, for the module', function()
    return text_of(buffer):find('\n_[%w_]+ = row_scale_kernel%.replace_hints%(occupancy=2%)\n')
  end, function()
    return { said, text_of(buffer) }
  end)
  tap.wait('and the finding is gone', function()
    return #found(buffer, 'TP101') == 0
  end, function()
    return vim.diagnostic.get(buffer)
  end)
  vim.cmd('silent undo')
  tap.equal(text_of(buffer), before, 'one undo takes the fix back')
  tap.wait('and the finding is there again', function()
    return #found(buffer, 'TP101') == 1
  end, function()
    return vim.diagnostic.get(buffer)
  end)
end

--- Findings in the file that is not open.
local function elsewhere()
  local other = vim.fn.bufnr(uneven)
  return other > 0 and found(other, 'TP204') or {}
end

local function all()
  return { said, vim.diagnostic.get() }
end

---@param name string
local function check_workspace(name)
  said = {}
  vim.cmd('TileperfCheckWorkspace')
  tap.wait(name, function()
    return #elsewhere() == 1
  end, all)
end

local function whole_workspace()
  tap.equal(elsewhere(), {}, 'a file that is not open has no diagnostics')
  check_workspace(':TileperfCheckWorkspace finds what is wrong in it')
  local other = vim.fn.bufnr(uneven)
  tap.ok(other > 0 and not vim.api.nvim_buf_is_loaded(other), 'without opening it')
  tap.ok(
    vim.iter(said):any(function(message)
      return message:find('^tileperf: %d+ error.* in %d+ files$') ~= nil
    end),
    'and says how much it found, and in how many files',
    said
  )
  tap.equal(#found(buffer, 'TP101'), 1, 'the open file keeps its one diagnostic')

  vim.diagnostic.setqflist({ open = false })
  tap.ok(
    vim.iter(vim.fn.getqflist()):any(function(item)
      return item.bufnr == other and item.text:find('96', 1, true) ~= nil
    end),
    'the list of all diagnostics names it',
    vim.fn.getqflist()
  )
end

local function restarting()
  local old = assert(client_of(buffer))
  vim.cmd('TileperfRestart')
  tap.wait('findings of files that are not open go with their server', function()
    return #elsewhere() == 0
  end, all)
  tap.wait('another server is there', function()
    local client = client_of(buffer)
    return client and client.id ~= old.id and #found(buffer, 'TP101') == 1
  end, all)
  check_workspace('which finds the same')
end

local function opening()
  vim.cmd.edit(uneven)
  local other = vim.api.nvim_get_current_buf()
  tap.wait('the file is attached when it is opened', function()
    return client_of(other)
  end)
  tap.wait('its finding is there once', function()
    return #found(other, 'TP204') == 1
  end, all)
  local row = view.locate(other, 'shape=(96,)', '96')
  local line = vim.api.nvim_buf_get_lines(other, row, row + 1, false)[1]
  vim.api.nvim_buf_set_lines(other, row, row + 1, false, { (line:gsub('96', '128')) })
  tap.wait('and goes when the code is corrected', function()
    return #found(other, 'TP204') == 0
  end, all)
end

tap.run({
  { 'finding', finding },
  { 'fix', fix },
  { 'whole workspace', whole_workspace },
  { 'restarting', restarting },
  { 'opening', opening },
  {
    'cleaning up',
    function()
      plant.remove(workspace)
    end,
  },
})
