# shellcheck shell=bash disable=SC2154 # run.sh sets the variables
# Sourced by run.sh: the plugin in a terminal, driven by keys alone. Each screen is kept as text and
# with its colours. What ought to be seen is asked of the editor, then looked for on the screen.

screens=tileperf-$$
set_entry

tmux_() { tmux -L "$screens" -f /dev/null "$@"; }
keys() { tmux_ send-keys -t editor "$@"; }
screen() { tmux_ capture-pane -t editor -p "$@"; }

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

on_screen() { screen | grep -qF -- "$1"; }

# keep_screen NAME
keep_screen() {
  screen >"$run/out/$1.txt"
  screen -e >"$run/out/$1.ansi"
}

rendered() { ! on_screen '**'; }
ended() { ! tmux_ has-session -t editor 2>/dev/null; }

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

keys ':checkhealth tileperf' Enter
check "terminal: :checkhealth reports the workspace" on_screen 'tileperf: workspace'
keep_screen checkhealth

keys ':qall!' Enter
check "terminal: the editor ends" ended
check "terminal: leaving it leaves no server" no_server
