--- Decides whether a workspace is trusted. Neovim has no workspace trust of its own, so the answer
--- comes from the user's configuration and is "no" by default.
local M = {}

--- The path with symbolic links resolved, so that a link cannot carry a workspace in or out of a
--- trusted folder. A path that does not exist stays as it is written.
---@param path string
---@return string
local function real(path)
  path = vim.fs.normalize(path)
  return vim.fs.normalize(vim.uv.fs_realpath(path) or path)
end

---@param trusted? tileperf.Trusted
---@param root? string the workspace's root folder, nil for a single file
---@return boolean
function M.resolve(trusted, root)
  if type(trusted) == 'boolean' then
    return trusted
  end
  if not root then
    return false
  end
  if type(trusted) == 'function' then
    return trusted(root) == true
  end
  if type(trusted) ~= 'table' then
    return false
  end
  local folder = real(root)
  for _, parent in ipairs(trusted) do
    parent = real(parent)
    if folder == parent or vim.startswith(folder, (parent:gsub('/*$', '/'))) then
      return true
    end
  end
  return false
end

return M
