--- The experiments' part of the plugin that needs no server: texts, announcements, arguments.
local samples = require('samples')
local tap = require('tap')

local uri =
  vim.uri_from_fname(vim.env.TILEPERF_E2E .. '/workspace/src/demo/ops/cutile/row_scale.py')

---@param chunks [string, string][]
---@return string
local function plain(chunks)
  return vim.iter(chunks):fold('', function(text, chunk)
    return text .. chunk[1]
  end)
end

---@param chunks [string, string][]
---@param text string
---@return string? highlight group of the piece with that text
local function group_of(chunks, text)
  local chunk = vim.iter(chunks):find(function(candidate)
    return candidate[1]:find(text, 1, true) ~= nil
  end)
  return chunk and chunk[2]
end

local function texts()
  local text = require('tileperf.perf.text')
  tap.equal(text.percent(-0.0523), '−5.2 %', 'faster is a minus sign')
  tap.equal(text.percent(0.0162), '+1.6 %', 'slower a plus')
  tap.equal(text.percent(-0.0004), '0.0 %', 'next to nothing neither')

  local run = samples.run(uri, 6)
  tap.equal(
    plain(text.chunks(run)),
    '0.390000 ms, 2.10x of 0.820000 ms · [1] −22.7 % FASTER · kept: 22.68 % faster',
    'latency, configuration and verdict'
  )
  tap.equal(group_of(text.chunks(run), '[1]'), 'TileperfFaster', 'faster has its colour')

  run.stale = true
  tap.ok(vim.startswith(plain(text.chunks(run)), 'stale · 0.39'), 'stale ones are marked')
  for _, chunk in ipairs(text.chunks(run)) do
    tap.equal(chunk[2], 'TileperfStale', 'all of it dimmed: ' .. chunk[1])
  end

  run = samples.run(uri, 6)
  run.results = {
    samples.result('[1]', -0.0523, 'FASTER'),
    samples.result('[2]', 0.0012, 'SAME'),
    samples.result('[3]', 0.0301, 'AMBIGUOUS'),
    samples.result('[4]', -0.01, 'MAYBE'),
    samples.result('[5]', 0.05, 'SLOWER'),
  }
  local chunks = text.chunks(run)
  tap.ok(
    plain(chunks):find('[5] +5.0 % SLOWER, [1] −5.2 % FASTER, [2] +0.1 % SAME, +2', 1, true),
    'three configurations, what got slower first, the others counted',
    plain(chunks)
  )
  tap.equal(group_of(chunks, '[5]'), 'TileperfSlower', 'slower has its colour')
  run.results[2].direction = 'backward'
  tap.ok(
    plain(text.chunks(run)):find('[1] forward −5.2 %', 1, true)
      and plain(text.chunks(run)):find('[2] backward +0.1 %', 1, true),
    'the direction is said where there are two',
    plain(text.chunks(run))
  )

  run.results = { samples.result('[' .. ('x'):rep(50) .. ']', -0.05, 'FASTER') }
  tap.equal(
    text.results(run.results)[1][1],
    '[' .. ('x'):rep(26) .. '… −5.0 % FASTER',
    'a long name is cut off'
  )

  run = samples.run(uri, 6, {
    failures = { { uri = uri, line = 1, test = 't', message = 'm' } },
  })
  tap.equal(group_of(text.chunks(run), 'kept'), 'TileperfFailed', 'failures colour the verdict')

  run = samples.measuring(uri, 6)
  tap.equal(
    plain(text.chunks(run)),
    'Perf iteration 4: measuring (60 pairs, 2 of 9 decided) · 0.390000 ms, 2.10x of 0.820000 ms',
    'a run that goes on says where it is, and no verdict of the last one'
  )
  run.stale = true
  tap.equal(group_of(text.chunks(run), 'measuring'), 'TileperfRunning', 'and is not called stale')
  run.run.kind, run.run.stage, run.run.note = 'baseline', 'correctness', '12 tests'
  tap.equal(text.stage(run.run), 'Perf baseline: correctness (12 tests)', 'so does a baseline')

  tap.equal(
    text.chunks(samples.run(uri, 6, { phase = 'abandoned' })),
    {},
    'a session that was given up shows nothing'
  )
  local fresh = samples.run(uri, 6, { phase = 'setUp' })
  fresh.run, fresh.latency, fresh.verdict, fresh.results = nil, nil, nil, {}
  tap.equal(text.chunks(fresh), {}, 'nor does one without a baseline')
  tap.equal(text.line(fresh), '', 'nor in the statusline')
  fresh.run = samples.run(uri, 6).run
  fresh.run.sentence = 'crashed: no tests were collected'
  tap.equal(plain(text.chunks(fresh)), fresh.run.sentence, 'a baseline that crashed says so')

  tap.equal(text.line(nil), '', 'no run, no statusline')
  tap.equal(
    text.line(samples.measuring(uri, 6)),
    'row_scale_kernel: Perf iteration 4: measuring (60 pairs, 2 of 9 decided)',
    'a run that goes on in the statusline'
  )
  tap.equal(
    text.line(samples.run(uri, 6, { stale = true })),
    'row_scale_kernel: kept: 22.68 % faster (stale)',
    'the last verdict in the statusline'
  )
end

local function announcements()
  local message = require('tileperf.perf.announce').message
  local running, kept = samples.measuring(uri, 6), samples.run(uri, 6, { run = { run = 4 } })
  tap.equal(message(nil, kept), nil, 'what was there before is not announced')
  tap.equal(message(running, running), nil, 'nor what goes on')
  tap.equal(message(kept, kept), nil, 'nor what is over')
  tap.equal(
    message(running, kept),
    'tileperf: row_scale_kernel: kept: 22.68 % faster',
    'the end of a run is'
  )
  tap.equal(
    message(samples.run(uri, 6), kept),
    'tileperf: row_scale_kernel: kept: 22.68 % faster',
    'also of one too short to be seen running'
  )
  local crashed = samples.run(uri, 6, { run = { state = 'crashed', sentence = 'crashed: OOM' } })
  local text, level = message(running, crashed)
  tap.equal(text, 'tileperf: row_scale_kernel: crashed: OOM', 'a crash too')
  tap.equal(level, vim.log.levels.WARN, 'louder')
  tap.equal(
    message(
      running,
      samples.run(uri, 6, { run = { run = 4 }, phase = 'stopped', stopReason = 'goal reached' })
    ),
    'tileperf: row_scale_kernel: kept: 22.68 % faster; stopped: goal reached',
    'with the reason to stop'
  )
  tap.equal(
    message(kept, samples.run(uri, 6, { run = { run = 4 }, phase = 'finished' })),
    nil,
    'the end of a session was asked for'
  )
end

local function arguments()
  local parse = require('tileperf.perf.arguments').parse
  for _, case in ipairs({
    { 'setup', 'goal=1.2x go-on', { goal = '1.2x', goOn = true } },
    { 'iterate', 'fix name=use  two tiles', { fix = true, name = 'use  two tiles' } },
    { 'apply', 'E variant=latency=3', { optimization = 'E', variant = 'latency=3' } },
    { 'undo', '3', { iteration = 3 } },
    { 'undo', 'iteration=3 kernel=a.b', { iteration = 3, kernel = 'a.b' } },
    { 'finish', ' commits ', { commits = true } },
    { 'report', 'form=pull-request', { form = 'pull-request' } },
    { 'stop', 'session=s', { session = 's' } },
    { 'status', '', {} },
  }) do
    local got, problem = parse(case[1], case[2])
    tap.equal(got, case[3], (':TileperfPerf %s %s'):format(case[1], case[2]))
    tap.equal(problem, nil, 'without a problem')
  end
  for _, case in ipairs({
    { 'measure', '', 'no verb "measure"' },
    { 'stop', 'fix', '"fix" means nothing to stop' },
    { 'stop', '3', '"3" means nothing to stop' },
    { 'status', 'go-on=yes', '"go-on=yes" means nothing' },
    { 'undo', 'x', 'is a number, not "x"' },
    { 'report', 'form=pdf', 'is one of markdown, html' },
    { 'setup', 'goal=', 'goal= needs a value' },
  }) do
    local got, problem = parse(case[1], case[2])
    tap.ok(
      not got and problem and problem:find(case[3], 1, true),
      (':TileperfPerf %s %s is refused'):format(case[1], case[2]),
      { got = got, problem = problem }
    )
  end
end

tap.run({
  { 'texts', texts },
  { 'announcements', announcements },
  { 'arguments', arguments },
})
