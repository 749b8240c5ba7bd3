--- Says once what became of a run, and lets Neovim read the files that the decision wrote.
local compat = require('tileperf.compat')

local M = {}

--- Ends of a run that somebody has to look at.
local serious = { crashed = true, refused = true, interrupted = true }

--- What a change of state means for people; nil where it means nothing.
---@param previous? tileperf.Run
---@param run tileperf.Run
---@return string? message
---@return integer? level
function M.message(previous, run)
  if not previous then
    return nil
  end
  local parts, level = {}, vim.log.levels.INFO
  local last = run.run
  local anew = last and (not previous.run or previous.run.run ~= last.run)
  if last and not run.running and (previous.running or anew) then
    -- A sentence, which may not be the end of this one.
    table.insert(parts, (last.sentence:gsub('%.$', '')))
    level = serious[last.state] and vim.log.levels.WARN or level
  end
  -- Other phases come from somebody who asks for them and is answered.
  if previous.phase ~= run.phase and run.phase == 'stopped' then
    table.insert(parts, run.stopReason and ('stopped: ' .. run.stopReason) or 'stopped')
  end
  if #parts == 0 then
    return nil
  end
  return ('tileperf: %s: %s'):format(run.kernel, table.concat(parts, '; ')), level
end

--- One line of the screen: a longer message would stop the user, who is typing, for a key.
---@param text string
---@return string
local function short(text)
  local width = math.max(vim.o.columns - 12, 40)
  text = text:gsub('%s+', ' ')
  if vim.fn.strdisplaywidth(text) <= width then
    return text
  end
  return vim.fn.strcharpart(text, 0, width - 1) .. '…'
end

--- Reads files again that changed on the disk: a change was reverted, undone, given up. Buffers
--- with changes of their own are left alone, and so is everything without 'autoread'.
---@param client_id integer
local function read_again(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  for _, buffer in ipairs(client and compat.buffers(client) or {}) do
    local autoread = vim.bo[buffer].autoread
    -- Nothing of its own: the global value counts.
    if autoread == nil then
      autoread = vim.go.autoread
    end
    if autoread and not vim.bo[buffer].modified then
      vim.cmd('checktime ' .. buffer)
    end
  end
end

---@param client_id integer
---@param previous? tileperf.Run
---@param run tileperf.Run
function M.change(client_id, previous, run)
  if not run.running then
    read_again(client_id)
  end
  local message, level = M.message(previous, run)
  if message then
    vim.notify(short(message), level)
  end
end

return M
