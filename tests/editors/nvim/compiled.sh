# shellcheck shell=bash disable=SC2154 # run.sh sets the variables
# Sourced by run.sh: what was compiled, in a terminal.

screens=tileperf-compiled-$$
set_entry

# By way of the loader Neovim cannot start itself once more, as it does for its terminal: the two halves
# are started one by one.
"${editor[@]}" --headless --listen "$inside/socket" --cmd "cd $inside/workspace" \
  "$inside/workspace/src/demo/ops/cutile/matmul.py" </dev/null >"$run/out/editor.log" 2>&1 &
check "terminal: the editor starts" test -S "$inside/socket"
tmux_ new-session -d -s editor -x 220 -y 45 "${entry[@]}" "$nvim" --server "$inside/socket" --remote-ui
keys '/^def matmul_kernel' Enter zt

# Starting Python takes seconds on a busy machine.
patience=60
check "terminal: the compiler's words stand behind the code" on_screen 'tensor core SM90'
check "terminal: the lens says what a block takes" on_screen 'sm_90: 255 regs'
keep_screen compiled

keys ':TileperfDoctor' Enter
check "terminal: the doctor is on the screen" on_screen 'tileperf doctor'
keep_screen doctor

keys ':qall!' Enter
check "terminal: the editor ends" ended
check "terminal: leaving it leaves no server" no_server
