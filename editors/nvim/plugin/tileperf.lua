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
command('TileperfInfo', 'info', 'Show what the tileperf server knows of this workspace')

local group = vim.api.nvim_create_augroup('tileperf', {})

-- An autocommand, not the `on_attach` of the configuration: a user who sets an `on_attach` of
-- their own through vim.lsp.config() replaces that field and would lose lenses and hints.
vim.api.nvim_create_autocmd('LspAttach', {
  group = group,
  desc = 'tileperf: code lenses and inlay hints',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'tileperf' then
      require('tileperf.surfaces').attach(event.buf)
    end
  end,
})
vim.api.nvim_create_autocmd('LspDetach', {
  group = group,
  desc = 'tileperf: stop refreshing',
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'tileperf' then
      require('tileperf.surfaces').detach(event.buf)
    end
  end,
})
