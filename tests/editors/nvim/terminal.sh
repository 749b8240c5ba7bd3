# shellcheck shell=bash disable=SC2154 # run.sh sets the variables
# Sourced by run.sh: a terminal that an editor runs in, named `editor` on the tmux server `screens`.

tmux_() { tmux -L "$screens" -f /dev/null "$@"; }
keys() { tmux_ send-keys -t editor "$@"; }
screen() { tmux_ capture-pane -t editor -p "$@"; }

on_screen() { screen | grep -qF -- "$1"; }

# keep_screen NAME
keep_screen() {
  screen >"$run/out/$1.txt"
  screen -e >"$run/out/$1.ansi"
}

ended() { ! tmux_ has-session -t editor 2>/dev/null; }
