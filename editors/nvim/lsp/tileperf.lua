--- What `vim.lsp.enable('tileperf')` reads (Neovim 0.11 and newer).
---
--- Change anything of it as for every other server: `vim.lsp.config('tileperf', { ... })`, or
--- through `require('tileperf').setup { ... }`. See |tileperf|.
return require('tileperf.client').config()
