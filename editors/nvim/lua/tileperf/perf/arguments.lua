--- What is written behind `:TileperfPerf`: read into what the server is sent, and completed.
local runs = require('tileperf.perf.runs')
local verbs = require('tileperf.perf.verbs')

local M = {}

---@class tileperf.PerfArguments the argument of every command of the server; all of it is optional
---@field uri? lsp.DocumentUri
---@field position? lsp.Position
---@field kernel? string
---@field session? string
---@field name? string what to call the change
---@field optimization? string a letter or name of the playbook
---@field variant? string which of its ways
---@field goal? string
---@field goOn? boolean
---@field fix? boolean
---@field device? string
---@field commits? boolean
---@field iteration? integer
---@field form? 'markdown'|'html'|'pull-request'

--- The server's name of each option.
local fields = { ['go-on'] = 'goOn' }

--- Options of every verb.
local common = { 'kernel=', 'session=' }

---@param verb tileperf.Verb
---@return string[]
local function options_of(verb)
  return vim.list_extend(vim.list_slice(verb.options), common)
end

---@param key string
---@param value string
---@return any value
---@return string? problem
local function checked(key, value)
  if value == '' then
    return nil, ('%s= needs a value'):format(key)
  end
  if key == 'iteration' then
    local number = value:match('^%d+$') and tonumber(value)
    return number, not number and ('iteration= is a number, not "%s"'):format(value) or nil
  end
  if key == 'form' and not vim.list_contains(verbs.forms, value) then
    return nil, ('form= is one of %s'):format(table.concat(verbs.forms, ', '))
  end
  return value
end

--- Reads the options of a verb. `name=` takes the rest of the line, since names have spaces.
---@param name string the verb
---@param line string what is written behind it
---@return tileperf.PerfArguments? arguments
---@return string? problem
function M.parse(name, line)
  local verb = verbs.verbs[name]
  if not verb then
    return nil, ('no verb "%s"; there are %s'):format(name, table.concat(verbs.names, ', '))
  end
  local known = options_of(verb)
  local arguments = {}
  local rest = vim.trim(line)
  while rest ~= '' do
    local word, after = rest:match('^(%S+)%s*(.*)$')
    if vim.startswith(word, 'name=') and vim.list_contains(known, 'name=') then
      word, after = rest, ''
    elseif verb.bare and not word:find('=') and not vim.list_contains(known, word) then
      word = verb.bare .. word
    end
    local key, value = word:match('^([%w-]+)=(.*)$')
    if not vim.list_contains(known, key and key .. '=' or word) then
      return nil,
        ('"%s" means nothing to %s; it takes %s'):format(word, name, table.concat(known, ', '))
    end
    local problem
    if key then
      value, problem = checked(key, value)
    else
      key, value = word, true
    end
    if problem then
      return nil, problem
    end
    arguments[fields[key] or key] = value
    rest = after
  end
  return arguments
end

--- What may be written behind `key=`.
---@param key string
---@return string[]
local function values(key)
  if key == 'form' then
    return verbs.forms
  end
  local found = {}
  for _, run in ipairs(runs.all()) do
    if key == 'kernel' or key == 'session' then
      found[run[key]] = true
    elseif key == 'iteration' and run.run then
      for iteration = 1, run.run.iteration do
        found[tostring(iteration)] = true
      end
    end
  end
  found = vim.tbl_keys(found)
  table.sort(found, function(a, b)
    return (tonumber(a) or 0) < (tonumber(b) or 0) or (tonumber(a) == tonumber(b) and a < b)
  end)
  return found
end

--- Candidates for the word that is being written.
---@param lead string that word, so far
---@param line string the command line up to the cursor
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line, '%s+', { trimempty = true })
  -- The command itself, and without the word at the cursor.
  table.remove(words, 1)
  if lead ~= '' then
    table.remove(words)
  end
  local verb = verbs.verbs[words[1]]
  local candidates
  local key = lead:match('^([%w-]+)=')
  if #words == 0 then
    candidates = verbs.names
  elseif not verb then
    candidates = {}
  elseif key then
    candidates = vim.tbl_map(function(value)
      return key .. '=' .. value
    end, values(key))
  else
    candidates = vim.tbl_filter(function(option)
      return not vim.iter(words):any(function(word)
        return word == option or (vim.endswith(option, '=') and vim.startswith(word, option))
      end)
    end, options_of(verb))
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
