--- Assertions that print "ok - ..." or "not ok - ...", and waits that poll instead of sleeping.
local M = {}

local failures = 0
local count = 0

---@param line string
local function say(line)
  io.stdout:write(line, '\n')
  io.stdout:flush()
end

--- A remark, shown as a comment.
---@param text any
function M.note(text)
  local lines = type(text) == 'string' and text or vim.inspect(text)
  for _, line in ipairs(vim.split(lines, '\n')) do
    say('# ' .. line)
  end
end

---@param condition any
---@param name string
---@param detail? any shown when it fails
---@return boolean
function M.ok(condition, name, detail)
  count = count + 1
  if condition then
    say('ok - ' .. name)
    return true
  end
  failures = failures + 1
  say('not ok - ' .. name)
  if detail ~= nil then
    M.note(detail)
  end
  return false
end

---@param got any
---@param wanted any
---@param name string
---@return boolean
function M.equal(got, wanted, name)
  return M.ok(
    vim.deep_equal(got, wanted),
    name,
    { got = got == nil and 'nil' or got, wanted = wanted == nil and 'nil' or wanted }
  )
end

--- Polls until `probe` returns something true, ten seconds at most.
---@generic T
---@param name string
---@param probe fun(): T
---@param detail? fun(): any what there is instead, shown when it fails
---@param limit? integer milliseconds, for what takes longer
---@return T?
function M.wait(name, probe, detail, limit)
  local value
  vim.wait(limit or 10000, function()
    value = probe()
    return value and true or false
  end, 20)
  M.ok(value, name, detail and detail() or nil)
  return value
end

--- Runs the steps and leaves Neovim the ordinary way, with exit code 1 if anything failed. A step
--- that raises is a failure, and the next one runs; one that returns false leaves nothing to test.
---@param steps { [1]: string, [2]: fun(): boolean? }[]
function M.run(steps)
  for _, step in ipairs(steps) do
    M.note(step[1])
    local ok, problem = xpcall(step[2], debug.traceback)
    if not ok then
      M.ok(false, step[1] .. ' raised', problem)
    elseif problem == false then
      M.ok(false, 'the other steps were not run')
      break
    end
  end
  M.ok(count > 0, 'assertions ran')
  vim.cmd(failures > 0 and '1cquit' or 'qall!')
end

--- Runs a script once Neovim has started up: before that, parts of it behave differently.
---@param script string
function M.drive(script)
  local function body()
    local ok, problem = xpcall(dofile, debug.traceback, script)
    if not ok then
      io.stderr:write(problem, '\n')
      vim.cmd('2cquit')
    end
  end
  vim.api.nvim_create_autocmd('VimEnter', { once = true, callback = vim.schedule_wrap(body) })
end

return M
