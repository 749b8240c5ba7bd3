--- Commands and the attach hook. Loaded at start-up, so it must stay cheap: nothing is required
--- until a command runs or the tileperf server attaches to a buffer.
if vim.g.loaded_tileperf == 1 then
  return
end
vim.g.loaded_tileperf = 1

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('tileperf needs Neovim 0.10 or newer', vim.log.levels.WARN)
  return
end

local function command(name, run, description)
  vim.api.nvim_create_user_command(name, function()
    require('tileperf.commands')[run]()
  end, { desc = description })
end

command('TileperfRestart', 'restart', 'Stop the tileperf server and start it again')
command('TileperfLog', 'log', 'Show what the tileperf server logged')
command('TileperfCheckWorkspace', 'check_workspace', 'Check every file of the workspace')
command('TileperfDoctor', 'doctor', 'Show what compiling kernels needs and whether it is there')
command('TileperfInstallToolchain', 'install_toolchain', 'Have a compiler for kernels installed')
command('TileperfInfo', 'info', 'Show what the tileperf server knows of this workspace')

vim.api.nvim_create_user_command('TileperfSignature', function()
  require('tileperf.signatures').at_cursor()
end, { desc = 'Choose for what the compiled code of the kernel at the cursor is shown' })

vim.api.nvim_create_user_command('TileperfRunIteration', function(given)
  require('tileperf.perf.commands').iterate(given.args)
end, { nargs = '?', desc = 'Run perf iteration' })

vim.api.nvim_create_user_command('TileperfPerf', function(given)
  require('tileperf.perf.commands').perf(given.args, given.bang)
end, {
  nargs = '+',
  bang = true,
  complete = function(lead, line, cursor)
    return require('tileperf.perf.arguments').complete(lead, line:sub(1, cursor))
  end,
  desc = 'Start, follow and end the experiment on the kernel at the cursor',
})

vim.api.nvim_create_user_command('TileperfPerfReport', function(given)
  require('tileperf.perf.commands').report(given.args, given.bang)
end, {
  nargs = '?',
  bang = true,
  complete = 'file',
  desc = 'Show the report of the experiment on the kernel at the cursor',
})

local group = vim.api.nvim_create_augroup('tileperf', {})

-- An autocommand, not the `on_attach` of the configuration: a user who sets an `on_attach` of
-- their own through vim.lsp.config() replaces that field and would lose lenses and hints.
vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  desc = 'tileperf: code lenses, inlay hints, results of experiments',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'tileperf' then
      require('tileperf.workspace').attach(client, event.buf)
      require('tileperf.surfaces').attach(event.buf)
      require('tileperf.perf.attach').attach(client, event.buf)
    end
  end,
})
vim.api.nvim_create_autocmd('LspDetach', {
  group = group,
  desc = 'tileperf: stop refreshing and drawing',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'tileperf' then
      require('tileperf.surfaces').detach(event.buf)
      require('tileperf.perf.attach').detach(event.buf)
    end
  end,
})
