--- Writes the journal of an experiment, and files that rules find something in, for the terminal's
--- tests.
require('plant').write(vim.env.TILEPERF_E2E .. '/workspace')

local session = require('journal').new(
  vim.env.TILEPERF_E2E .. '/workspace',
  'row_scale_kernel',
  'src/demo/ops/cutile/row_scale.py',
  'tests/ops/test_row_scale.py'
)
session:baseline()
session:keep('occupancy=8')
vim.cmd('qall!')
