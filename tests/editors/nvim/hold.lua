--- Opens a kernel file, says which processes that made, and stays, so that run.sh can kill the
--- editor without warning and look for what it leaves behind.
local here = vim.env.TILEPERF_E2E

vim.fn.writefile({ tostring(vim.fn.getpid()) }, here .. '/out/editor-pid')
vim.cmd.edit(here .. '/workspace/src/demo/ops/cutile/softmax.py')
local ready = vim.wait(10000, function()
  local status = require('tileperf').status()
  return status ~= nil and status.state == 'ready'
end, 20)
if ready then
  vim.fn.writefile({ 'ready' }, here .. '/out/ready')
end
vim.wait(60000, function()
  return false
end, 1000)
