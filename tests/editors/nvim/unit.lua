--- The parts of the plugin that need no server: where the server is found, trust, options, texts.
local tap = require('tap')

local here = vim.env.TILEPERF_E2E
local binary = here .. '/bin/tileperf'

---@param values { PATH?: string, TILEPERF_SERVER_PATH?: string }
---@param body fun()
local function with_environment(values, body)
  local before = { PATH = vim.env.PATH, TILEPERF_SERVER_PATH = vim.env.TILEPERF_SERVER_PATH }
  vim.env.TILEPERF_SERVER_PATH = values.TILEPERF_SERVER_PATH
  vim.env.PATH = values.PATH or before.PATH
  local ok, problem = xpcall(body, debug.traceback)
  vim.env.TILEPERF_SERVER_PATH = before.TILEPERF_SERVER_PATH
  vim.env.PATH = before.PATH
  assert(ok, problem)
end

---@param name string
---@param cmd? string|string[]
---@param wanted string[]
---@param source string
local function finds(name, cmd, wanted, source)
  local found, problem = require('tileperf.server').find(cmd)
  tap.equal(found, { cmd = wanted, source = source }, name)
  if problem then
    tap.note(problem)
  end
end

---@param name string
---@param cmd? string|string[]
---@param part string
local function refuses(name, cmd, part)
  local found, problem = require('tileperf.server').find(cmd)
  tap.ok(
    not found and problem and problem:find(part, 1, true),
    name,
    { found = found, problem = problem }
  )
end

local function server()
  local empty = here .. '/out'
  with_environment({ PATH = here .. '/bin' }, function()
    local option = 'the `cmd` option'
    finds('a path as `cmd` gets the subcommand', binary, { binary, 'lsp' }, option)
    finds(
      'a command line as `cmd` stays as it is',
      { binary, 'lsp', '-v' },
      { binary, 'lsp', '-v' },
      option
    )
    finds('a bare name as `cmd` is looked up', 'tileperf', { binary, 'lsp' }, option)
    finds('$PATH is searched last', nil, { binary, 'lsp' }, '$PATH')
    refuses('a relative `cmd` is refused', './tileperf', 'must be an absolute path')
    refuses('a `cmd` that is not there is refused', '/gone/tileperf', 'names /gone/tileperf')
    refuses('an empty `cmd` is refused', {}, 'is empty')
  end)
  with_environment({ PATH = empty, TILEPERF_SERVER_PATH = binary }, function()
    finds('the environment names it', nil, { binary, 'lsp' }, '$TILEPERF_SERVER_PATH')
    local version, problem =
      require('tileperf.server').version(assert(require('tileperf.server').find()))
    tap.ok(version and version:match('^%d+%.%d+'), 'the server says its version', problem)
  end)
  with_environment({ PATH = here .. '/bin', TILEPERF_SERVER_PATH = '/gone/tileperf' }, function()
    refuses('an environment that leads nowhere is a problem', nil, 'names /gone/tileperf')
  end)
  with_environment({ PATH = empty }, function()
    refuses('nothing anywhere', nil, 'not on $PATH')
  end)

  -- A program that a workspace brings along, in the current folder.
  local before = vim.fn.getcwd()
  vim.cmd.cd(here .. '/bin')
  with_environment({ PATH = '.::' .. empty }, function()
    refuses('relative entries of $PATH are passed over', nil, 'not on $PATH')
  end)
  vim.cmd.cd(before)

  local _, problem = require('tileperf.server').version({ cmd = { '/bin/sh' }, source = '' })
  tap.ok(problem, 'another program is not taken for the server', problem)
end

local function trust()
  local resolve = require('tileperf.trust').resolve
  local inside = here .. '/out/trusted/project'
  vim.fn.mkdir(inside, 'p')
  vim.fn.mkdir(here .. '/out/trusted-not', 'p')
  vim.uv.fs_symlink(here .. '/out/trusted-not', here .. '/out/trusted/link')
  local list = { here .. '/out/trusted/' }

  tap.equal(resolve(nil, inside), false, 'nothing is trusted by default')
  tap.equal(resolve(true, nil), true, 'true trusts single files too')
  tap.equal(resolve(list, inside), true, 'a folder below a listed one is trusted')
  tap.equal(resolve(list, here .. '/out/trusted'), true, 'so is the listed one')
  tap.equal(resolve(list, here .. '/out/trusted-not'), false, 'not one with a longer name')
  tap.equal(resolve(list, here .. '/out/trusted/link'), false, 'not one that a link leads out to')
  tap.equal(resolve(list, nil), false, 'a list trusts no single file')
  tap.equal(resolve({}, inside), false, 'an empty list trusts nothing')
  local function by_name(root)
    return vim.endswith(root, 'project')
  end
  tap.equal(resolve(by_name, inside), true, 'a function decides')
  tap.equal(resolve(by_name, here), false, 'either way')
  local function sloppy()
    return 'yes' --[[@as any]]
  end
  tap.equal(resolve(sloppy, inside), false, 'only true is a yes')
  vim.fn.delete(here .. '/out/trusted', 'rf')
  vim.fn.delete(here .. '/out/trusted-not', 'rf')
end

local function options()
  local tileperf = require('tileperf')
  local ok, problem = pcall(tileperf.setup, { trused = true })
  tap.ok(not ok and problem:find('unknown option "trused"'), 'an unknown option is named', problem)
  ok, problem = pcall(tileperf.setup, { code_lens = 'no' })
  tap.ok(not ok and problem:find('"code_lens" must be a boolean'), 'so is a wrong type', problem)

  local before = tileperf.options
  tileperf.options = vim.tbl_extend('force', before, {
    trusted = { here },
    settings = { hover = { enable = false } },
  })
  local config = require('tileperf.client').config()
  local params = {}
  config.root_dir = here
  config.before_init(params, config)
  tap.equal(
    vim.json.decode(vim.json.encode(params.initializationOptions)),
    { trusted = true, settings = { hover = { enable = false } } },
    'what the server is told at start-up'
  )
  tileperf.options = before

  local empty = require('tileperf.client').config().init_options.settings
  tap.equal(vim.json.encode(empty), '{}', 'no settings are an object, not a list')
end

local function texts()
  local line = require('tileperf.status').line
  tap.equal(line(nil), '', 'no status, no text')
  tap.equal(line({ state = 'dormant' }), '', 'a dormant server is not mentioned')
  tap.equal(line({ state = 'ready', kernels = 1 }), 'tileperf: 1 kernel', 'one kernel')
  tap.equal(line({ state = 'error', message = 'disk full' }), 'tileperf: disk full', 'its message')

  local log = require('tileperf.log')
  for number = 1, 2500 do
    log.add({ type = 3, message = 'line ' .. number })
  end
  local text = table.concat(log.lines(), '\n')
  tap.ok(text:find('info line 2500', 1, true), 'the log keeps the newest lines')
  tap.ok(not text:find('info line 500\n', 1, true), 'and lets go of old ones')

  local path = vim.lsp.log.get_filename()
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  vim.fn.writefile({
    '[ERROR][2025-01-01 00:00:00] x.lua:1\t"rpc"\t"/usr/bin/tileperf"\t"stderr"\t"one\\ntwo\\n"',
    '[ERROR][2025-01-01 00:00:00] x.lua:1\t"rpc"\t"/usr/bin/other"\t"stderr"\t"three\\n"',
  }, path, 'a')
  text = table.concat(log.lines(), '\n')
  tap.ok(text:find('\none\ntwo', 1, true), 'the log shows the standard error of the server', text)
  tap.ok(not text:find('three', 1, true), 'and of no other')
end

local function help()
  vim.cmd.helptags(here .. '/plugin/doc')
  local tags = vim.fn.readfile(here .. '/plugin/doc/tags')
  tap.ok(#tags > 5, 'help tags are made')
  for _, topic in ipairs({
    'tileperf',
    'tileperf.setup()',
    'tileperf-trust',
    ':TileperfRestart',
    ':TileperfLog',
    ':TileperfInfo',
    ':TileperfRunIteration',
    ':TileperfPerf',
    ':TileperfPerfReport',
    'tileperf-highlights',
  }) do
    local ok = pcall(vim.cmd.help, topic)
    local name = vim.api.nvim_buf_get_name(0)
    tap.ok(ok and vim.endswith(name, '/doc/tileperf.txt'), ':help ' .. topic .. ' opens', name)
    vim.cmd('helpclose')
  end

  -- Links between |bars| lead somewhere: into this file or into Neovim's own help.
  local long, lost, links = {}, {}, 0
  for _, line in ipairs(vim.fn.readfile(here .. '/plugin/doc/tileperf.txt')) do
    if #line > 78 then
      table.insert(long, line)
    end
    for link in line:gmatch('|([^|%s]+)|') do
      links = links + 1
      if #vim.fn.getcompletion(link, 'help') == 0 then
        table.insert(lost, link)
      end
    end
  end
  tap.equal(long, {}, 'no help line is too long')
  tap.ok(links > 10, 'the help has links')
  tap.equal(lost, {}, 'every help link leads somewhere')
end

local function modules()
  for file, kind in vim.fs.dir(here .. '/plugin/lua/tileperf', { depth = 2 }) do
    if kind == 'file' then
      local module = 'tileperf.' .. file:gsub('%.lua$', ''):gsub('/', '.')
      local ok, problem = pcall(require, module)
      tap.ok(ok, module .. ' loads', problem)
    end
  end
  local ok, config = pcall(dofile, here .. '/plugin/lsp/tileperf.lua')
  tap.ok(ok and vim.deep_equal(config.filetypes, { 'python' }), 'lsp/tileperf.lua loads', config)
end

local function health_without_server()
  local before = require('tileperf').options
  require('tileperf').options = vim.tbl_extend('force', before, { cmd = '/gone/tileperf' })
  vim.cmd('checkhealth tileperf')
  local text
  vim.wait(10000, function()
    text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    return text:find('No server runs', 1, true) ~= nil
  end, 20)
  tap.ok(text:find('names /gone/tileperf', 1, true), ':checkhealth says why there is none', text)
  vim.cmd('bwipeout!')
  require('tileperf').options = before
end

tap.run({
  { 'server', server },
  { 'trust', trust },
  { 'options', options },
  { 'texts', texts },
  { 'help', help },
  { 'modules', modules },
  { 'health without a server', health_without_server },
})
