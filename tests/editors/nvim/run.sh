#!/usr/bin/env bash
# Drives the Neovim plugin, with a real server, in a real Neovim: what it shows (e2e.lua, perf.lua,
# rules.lua),
# its parts without that server (unit.lua, perf_unit.lua, perf_fake.lua), a terminal whose screens
# are kept (screens.sh), and what is left after the editor was killed. Prints "ok - ..." and
# "not ok - ..." lines; exit code 1 if any failed, 2 if it could not run.
#
#   run.sh --host DIR | --nvim PATH  --server PATH --workspace DIR --artifacts DIR [--compiler PYTHON]
#
# --host       a folder made by host.sh: Neovim runs inside it (chroot; root, a user namespace or
#              sudo). Mounts are made where they are allowed, in a namespace of their own, so none
#              can be left behind; nothing needs them.
# --nvim       a Neovim of this machine instead, 0.10 or newer
# --server     the tileperf binary
# --workspace  a folder like tests/editors/fixtures; the tests work on a copy
# --artifacts  where screens, logs and reports go
# --compiler   a Python with cuTile and its compiler: only what is compiled is looked at (compiled.lua).
#              They do not fit into the folder of --host, so its Neovim runs outside, by the loader and
#              the libraries of that folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly plugin=$here/../../../editors/nvim

die() {
  printf 'neovim tests: error: %s\n' "$*" >&2
  exit 2
}

host='' nvim='' server='' workspace='' artifacts='' compiler=''
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --host) host=$2 ;;
    --nvim) nvim=$2 ;;
    --server) server=$2 ;;
    --workspace) workspace=$2 ;;
    --artifacts) artifacts=$2 ;;
    --compiler) compiler=$2 ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
if [ -n "$host" ]; then
  [ -f "$host/.neovim-host" ] || die "$host was not made by host.sh"
  [ -x "$host/usr/bin/nvim" ] || die "$host is not finished; run host.sh again"
  host=$(cd "$host" && pwd)
elif [ -n "$nvim" ]; then
  command -v "$nvim" >/dev/null || die "there is no $nvim"
else
  die "--host or --nvim is needed"
fi
[ -x "$server" ] || die "--server: there is no program '$server'"
[ -d "$workspace" ] || die "--workspace: there is no folder '$workspace'"
[ -n "$artifacts" ] || die "--artifacts is needed"
command -v tmux >/dev/null || die "there is no tmux; host.sh installs it"

[ -z "$compiler" ] || [ -x "$compiler" ] || die "--compiler: there is no program '$compiler'"

libraries=''
if [ -n "$compiler" ] && [ -n "$host" ]; then
  libraries=$host host=''
fi

# What the editor sees lies in one folder: `run` from outside, `inside` for the editor.
if [ -n "$host" ]; then
  run=$(mktemp -d "$host/e2e.XXXXXX")
  inside=/$(basename "$run")
else
  run=$(mktemp -d)
  inside=$run
fi
readonly run inside

# Puts into `entry` what comes before a command that is to run in there, the way a user's shell
# would run it: with nothing of this environment.
set_entry() {
  entry=()
  if [ -n "$host" ]; then
    # shellcheck disable=SC2016 # expanded by the inner shell
    entry=("${wrapper[@]}" sh -c '
      root=$1; shift
      mount -t proc proc "$root/proc" 2>/dev/null
      mount --rbind /dev "$root/dev" 2>/dev/null || [ -e "$root/dev/null" ] ||
        mknod -m 666 "$root/dev/null" c 1 3 2>/dev/null || : >"$root/dev/null"
      exec chroot "$root" "$@"' - "$host")
  fi
  entry+=(
    /usr/bin/env -i HOME="$inside/home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
    TERM=xterm-256color TILEPERF_E2E="$inside" TILEPERF_START="${start:-enable}"
    TILEPERF_SERVER_PATH="$inside/bin/tileperf"
  )
  [ -z "$compiler" ] || entry+=(TILEPERF_TEST_TILEIRAS="$compiler")
}

# Nothing in there may take longer than `limit` seconds: a hanging editor is a failure, not a wait.
enter() {
  set_entry
  timeout --kill-after=5 "$limit" "${entry[@]}" "$@"
}
limit=180

# How to become root with mounts of one's own; without, mounting fails and is done without.
choose_wrapper() {
  local choice
  for choice in "unshare --mount" "unshare --mount --map-root-user" "sudo -n unshare --mount"; do
    read -ra wrapper <<<"$choice"
    if "${wrapper[@]}" chroot "$host" /bin/true 2>/dev/null; then
      return
    fi
  done
  wrapper=(env)
  chroot "$host" /bin/true 2>/dev/null || die "entering $host needs root, user namespaces or sudo"
}
wrapper=()
[ -z "$host" ] || choose_wrapper
nvim=${nvim:-nvim}

# processes PATH: those that were started with this file of the run's folder as an argument.
processes() {
  # shellcheck disable=SC2062 # the files are a pattern on purpose
  grep -lszxF -f - /proc/[0-9]*/cmdline <<<"$inside/$1" | cut -d/ -f3
}

some_server() { [ -n "$(processes bin/tileperf)" ]; }
no_server() { ! some_server; }

cleanup() {
  local pid
  [ -z "${screens:-}" ] || tmux -L "$screens" kill-server 2>/dev/null || true
  for pid in $(processes driver/init.lua) $(processes bin/tileperf); do
    kill -9 "$pid" 2>/dev/null || true
  done
  # Only what was put there; a mount, though there is none, would be left alone.
  rm -rf --one-file-system "$run"
}
trap cleanup EXIT
trap 'exit 143' INT TERM HUP

mkdir -p "$run"/{bin,home,out,driver}
cp "$server" "$run/bin/tileperf"
cp -R "$plugin" "$run/plugin"
cp -R "$workspace" "$run/workspace"
cp "$here"/*.lua "$run/driver"
if [ -n "$libraries" ]; then
  nvim=$run/bin/nvim
  loaders=("$libraries"/usr/lib*/ld-linux-*.so.* "$libraries"/usr/lib/*/ld-linux-*.so.*)
  for loader in "${loaders[@]}"; do
    [ ! -x "$loader" ] || break
  done
  library=$(dirname "$(echo "$libraries"/usr/lib/*/libc.so.6)")
  # Its parsers are beside its libraries.
  cat >"$nvim" <<EOF
#!/bin/sh
export VIMRUNTIME='$libraries/usr/share/nvim/runtime'
exec '$loader' --library-path '$library' '$libraries/usr/bin/nvim' \\
  --cmd 'set runtimepath+=$libraries/usr/lib/nvim' "\$@"
EOF
  chmod +x "$nvim"
fi
mkdir -p "$artifacts"
artifacts=$(cd "$artifacts" && pwd)
readonly artifacts

editor=(enter "$nvim" -i NONE -u "$inside/driver/init.lua")
version=$(enter "$nvim" --version | sed -n '1s/^NVIM v//p')
[ -n "$version" ] || die "Neovim does not start"
minor=$(cut -d. -f2 <<<"$version")

passed=0 failed=0
# Counts the results that go through it.
tally() {
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
      'ok - '*) passed=$((passed + 1)) ;;
      'not ok - '*) failed=$((failed + 1)) ;;
    esac
  done
}

# check NAME COMMAND...: one assertion, the command polled for `patience` seconds.
patience=10
check() {
  local name=$1 deadline=$((SECONDS + patience))
  shift
  until "$@"; do
    if [ "$SECONDS" -gt "$deadline" ]; then
      tally <<<"not ok - $name"
      return
    fi
    sleep 0.05
  done
  tally <<<"ok - $name"
}

# headless SCRIPT: a Neovim without a screen that runs one of the scripts beside this file.
headless() {
  "${editor[@]}" --headless -c "lua require('tap').drive('$inside/driver/$1')" </dev/null
}

# drive NAME: runs NAME.lua and counts what it says.
drive() {
  local name=$1 code=0
  headless "$name.lua" >"$run/out/$name.tap" 2>"$run/out/$name.stderr" || code=$?
  tally <"$run/out/$name.tap"
  # A crash half-way must not pass for success.
  if [ "$code" -ne 0 ] && ! grep -q '^not ok' "$run/out/$name.tap"; then
    tally <<<"not ok - $name ended with exit code $code: $(tail -n 5 "$run/out/$name.stderr")"
  elif ! grep -qx 'ok - assertions ran' "$run/out/$name.tap"; then
    tally <<<"not ok - $name did not run to its end: $(tail -n 5 "$run/out/$name.stderr")"
  fi
}

# Moves what a part left behind to the artifacts.
keep() {
  local folder=$artifacts/nvim-$version-$1
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$run"/out/* "$folder"
  cp "$run/home/.local/state/nvim/lsp.log" "$folder" 2>/dev/null || true
  rm -rf "${run:?}/out" "${run:?}/home"
  mkdir "$run/out" "$run/home"
}

killed_editor() {
  headless hold.lua >/dev/null 2>&1 &
  local editor_job=$!
  check "an editor to be killed has started a server" test -s "$run/out/ready"
  check "its server runs" some_server
  kill -9 "$(cat "$run/out/editor-pid")" || true
  wait "$editor_job" 2>/dev/null || true
  check "killing the editor leaves no server" no_server
}

# shellcheck source=terminal.sh
source "$here/terminal.sh"
starts=(setup)
[ "$minor" -lt 11 ] || starts=(enable setup)
echo "# Neovim $version"
if [ -n "$compiler" ]; then
  start=setup
  drive compiled
  check "leaving the editor leaves no server" no_server
  # shellcheck source=compiled.sh
  source "$here/compiled.sh"
  keep compiled
  echo "neovim: $passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
fi
drive unit
drive perf_unit
drive perf_fake
for start in "${starts[@]}"; do
  drive e2e
  drive perf
  drive rules
  check "leaving the editor leaves no server" no_server
  keep "$start"
done
start=${starts[0]}
killed_editor
# shellcheck source=screens.sh
source "$here/screens.sh"
keep screens

echo "neovim: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
