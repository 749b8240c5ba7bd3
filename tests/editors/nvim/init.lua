--- The user's configuration of a test run: nothing but the plugin, started in one of the two ways
--- that the help names. run.sh sets the environment.
local here = assert(vim.env.TILEPERF_E2E, 'run.sh sets TILEPERF_E2E')

vim.opt.runtimepath:prepend(here .. '/plugin')
package.path = here .. '/driver/?.lua;' .. package.path

vim.o.swapfile = false
vim.o.laststatus = 2
vim.o.statusline = "%f %m%=%{v:lua.require'tileperf'.statusline()} "

local compiler = vim.env.TILEPERF_TEST_TILEIRAS

if compiler then
  require('tileperf').setup({
    cmd = here .. '/bin/tileperf',
    trusted = { here },
    settings = { python = { path = compiler } },
  })
elseif vim.env.TILEPERF_START == 'enable' then
  -- The server comes from $TILEPERF_SERVER_PATH.
  vim.lsp.enable('tileperf')
else
  require('tileperf').setup({ cmd = here .. '/bin/tileperf' })
end
