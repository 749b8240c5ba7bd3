--- Finds the server binary. Only the user's own configuration and environment are asked: nothing
--- that a workspace contains may choose which program starts.
local M = {}

local windows = vim.fn.has('win32') == 1
local binary = windows and 'tileperf.exe' or 'tileperf'

---@class tileperf.Server
---@field cmd string[] the command line, its first word an absolute path
---@field source string where it was found, for people

---@param path string
---@return boolean
local function absolute(path)
  return vim.startswith(path, '/') or (windows and path:match('^%a:[/\\]') ~= nil)
end

--- The first match on `$PATH`. Relative entries (such as `.`) are passed over: they would let the
--- folder that happens to be current, often the workspace, supply the program.
---@param name string
---@return string?
local function on_path(name)
  for folder in vim.gsplit(vim.env.PATH or '', windows and ';' or ':', { plain = true }) do
    if absolute(folder) then
      local path = vim.fs.joinpath(folder, name)
      if vim.fn.executable(path) == 1 then
        return path
      end
    end
  end
end

--- A program that the user named: a bare name is looked up on `$PATH`, a path must be absolute,
--- since a relative one would mean another program in every folder.
---@param name string
---@param source string
---@return string? path
---@return string? problem
local function named(name, source)
  local path = vim.startswith(name, '~') and vim.fs.normalize(name) or name
  if not path:find('[/\\]') then
    local found = on_path(path)
    return found, not found and ('%s names %s, which is not on $PATH'):format(source, name) or nil
  end
  if not absolute(path) then
    return nil, ('%s must be an absolute path; it is %s'):format(source, name)
  end
  if vim.fn.executable(path) == 0 then
    return nil, ('%s names %s, which is not an executable file'):format(source, name)
  end
  return path
end

--- The first place that names a program decides: one that leads nowhere is a problem to report,
--- not a reason to start some other program.
---@param cmd? string|string[] the user's `cmd` option
---@return tileperf.Server? server
---@return string? problem why there is none
function M.find(cmd)
  if cmd then
    local source = 'the `cmd` option'
    local line = type(cmd) == 'table' and vim.deepcopy(cmd) or { cmd, 'lsp' }
    if type(line[1]) ~= 'string' then
      return nil, source .. ' is empty'
    end
    local path, problem = named(line[1], source)
    if not path then
      return nil, problem
    end
    line[1] = path
    return { cmd = line, source = source }
  end

  local env = vim.env.TILEPERF_SERVER_PATH
  if env and env ~= '' then
    local source = '$TILEPERF_SERVER_PATH'
    local path, problem = named(env, source)
    if not path then
      return nil, problem
    end
    return { cmd = { path, 'lsp' }, source = source }
  end

  local path = on_path(binary)
  if path then
    return { cmd = { path, 'lsp' }, source = '$PATH' }
  end
  return nil, '`tileperf` is not on $PATH, and neither `cmd` nor $TILEPERF_SERVER_PATH is set'
end

--- Asks the binary for its version. Blocks for two seconds at most.
---@param server tileperf.Server
---@return string? version
---@return string? problem
function M.version(server)
  local ok, result = pcall(function()
    return vim.system({ server.cmd[1], '--version' }, { text = true, timeout = 2000 }):wait()
  end)
  if not ok then
    return nil, tostring(result)
  end
  if result.code ~= 0 then
    return nil, ('exit code %d: %s'):format(result.code, vim.trim(result.stderr or ''))
  end
  local said = vim.split(result.stdout or '', '\n')[1]
  local version = said:match('^tileperf (%S+)')
  if not version then
    return nil, ('it is not tileperf; it says "%s"'):format(said:sub(1, 80))
  end
  return version
end

return M
