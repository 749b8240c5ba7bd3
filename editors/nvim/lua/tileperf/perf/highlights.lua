--- Highlight groups of the experiments. All are default links, which a colour scheme or the user
--- overrules by setting the group.
local M = {}

---@type table<string, string>
M.links = {
  TileperfPerf = 'LspCodeLens',
  TileperfVerdict = 'LspCodeLens',
  TileperfFailed = 'DiagnosticError',
  TileperfRunning = 'DiagnosticInfo',
  TileperfFaster = 'DiagnosticOk',
  TileperfSlower = 'DiagnosticError',
  TileperfSame = 'LspCodeLens',
  TileperfUnclear = 'DiagnosticWarn',
  TileperfStale = 'Comment',
}

function M.define()
  for group, link in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

return M
