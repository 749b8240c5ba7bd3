# shellcheck shell=bash disable=SC2154 # run.sh sets the variables
# Sourced by run.sh: the plugin in a terminal, driven by keys alone. Each screen is kept as text and
# with its colours. What ought to be seen is asked of the editor, then looked for on the screen.

screens=tileperf-$$
set_entry

headless seed.lua

tmux_ new-session -d -s editor -x 120 -y 40 "${entry[@]}" "$nvim" -i NONE \
  -u "$inside/driver/init.lua" --listen "$inside/socket" --cmd "cd $inside/workspace" \
  "$inside/workspace/src/demo/ops/cutile/softmax.py"

# shows FUNCTION: whether the text that a function of screen.lua names is there and on the screen.
shows() {
  local text
  text=$(limit=5 enter "$nvim" --headless --server "$inside/socket" \
    --remote-expr "luaeval(\"require('screen').$1()\")" 2>/dev/null) || return
  [ -n "$text" ] && screen | grep -qF -- "$text"
}

marked() { screen | grep -q '^W  *kernel = '; }
unmarked() { ! marked; }
rendered() { ! on_screen '**'; }

check "terminal: the code lens is on the screen" shows lens
check "terminal: the statusline counts the kernels" shows status
keep_screen lenses

keys '/def softmax_kernel' Enter w K
check "terminal: K shows the hover" shows hover
check "terminal: its markup is rendered" rendered
keep_screen hover

keys j ':edit src/demo/ops/cutile/matmul.py' Enter
check "terminal: the inlay hint is on the screen" shows hint
keep_screen hints

keys ':edit src/demo/ops/cutile/row_scale_op.py' Enter
check "terminal: the file of the launch is open" on_screen 'ct.launch('
keys '/row_scale_kernel, (' Enter
# A tag jump of a buffer goes to the server once that is attached.
attached() { shows status && on_screen 'row_scale_op.py'; }
check "terminal: its server is attached" attached
keys 'C-]'
check "terminal: CTRL-] jumps from the launch to the kernel" on_screen 'def row_scale_kernel'
check "terminal: where a lens is shown too" shows lens
check "terminal: and the result of its experiment" shows perf
keep_screen jump

keys ':edit src/demo/ops/cutile/row_scale_wide.py' Enter '/replace_hints' Enter
check "terminal: a finding is marked in its line" marked
keys ':lua vim.diagnostic.open_float()' Enter
check "terminal: what was found is shown with its code" on_screen '[TP101'
keep_screen finding
keys ':lua vim.lsp.buf.code_action()' Enter
check "terminal: the code actions offer to correct it" on_screen 'Remake the kernel once'
keep_screen fixes
keys 1 Enter
check "terminal: the chosen one does" on_screen '_row_scale_kernel_occupancy2 ='
check "terminal: and the finding is gone" unmarked
keep_screen fixed

keys ':TileperfCheckWorkspace' Enter
check "terminal: checking the workspace says how much it found" \
  on_screen 'tileperf: 1 error, '
keys ':lua vim.diagnostic.setqflist({ severity = { min = "WARN" } })' Enter
check "terminal: the list has a finding of a file that was not opened" on_screen 'cutile/halve.py|'
keep_screen workspace
keys ':cclose' Enter

keys ':checkhealth tileperf' Enter
check "terminal: :checkhealth reports the workspace" on_screen 'tileperf: workspace'
keep_screen checkhealth

keys ':qall!' Enter
check "terminal: the editor ends" ended
check "terminal: leaving it leaves no server" no_server
