#!/usr/bin/env bash
# Puts a Neovim that a test can drive into DIR, as the root folder of a small Debian.
#
#   host.sh DIR [SUITE]        SUITE: trixie (Neovim 0.10, the default) or forky (0.12)
#
# Debian's packages are downloaded, checked against their signatures and unpacked; none of their
# scripts runs, so neither mounts nor device nodes are needed and a plain container will do. A
# second call with the same arguments returns at once: DIR/.neovim-host says what DIR holds. Asks
# nothing; the caller (cargo xtask) has already asked. Packages that are missing here (debootstrap,
# tmux) are installed as root or through sudo, on Debian or Ubuntu. About half a minute.
set -euo pipefail

say() { printf 'neovim host: %s\n' "$*"; }
die() {
  printf 'neovim host: error: %s\n' "$*" >&2
  exit 1
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  die "usage: host.sh DIR [SUITE]"
fi
readonly suite=${2:-trixie}
case $suite in
  trixie) readonly expected=0.10 ;;
  forky) readonly expected=0.12 ;;
  *) die "unknown suite $suite: trixie and forky are" ;;
esac
mkdir -p "$1" || die "cannot create $1"
dir=$(cd "$1" && pwd)
readonly dir
readonly marker=$dir/.neovim-host log=$dir/.neovim-host.log
readonly stamp="Neovim $expected of Debian $suite"

if [ -f "$marker" ]; then
  if [ "$(cat "$marker")" = "$stamp" ]; then
    say "already in $dir ($stamp)"
    exit 0
  fi
  case $(cat "$marker") in
    "unfinished: $stamp") say "continuing in $dir" ;;
    *) die "$dir holds '$(cat "$marker")'; take another folder for $suite" ;;
  esac
elif [ -n "$(ls -A "$dir")" ]; then
  die "$dir is not empty and holds no Neovim host"
fi
printf 'unfinished: %s\n' "$stamp" >"$marker"

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo --non-interactive "$@"
  else
    echo "this needs root, and there is no sudo here"
    return 1
  fi
}

# Runs a step with its output in a log, and shows the end of that log only when the step fails.
step() {
  local name=$1
  shift
  say "$name"
  if ! "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die "$name: failed (the whole log is $log)"
  fi
}

missing_packages() {
  local package
  for package in debootstrap debian-archive-keyring tmux; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

unpack() {
  # Debian's packages expect these links to be there before the first file arrives.
  local link package
  for link in bin sbin lib lib64; do
    mkdir -p "$dir/usr/$link"
    ln -sfn "usr/$link" "$dir/$link"
  done
  for package in "$dir"/var/cache/apt/archives/*.deb; do
    dpkg-deb --extract "$package" "$dir" || return
  done
  rm -f "$dir"/var/cache/apt/archives/*.deb
  mkdir -p "$dir/tmp" "$dir/proc" "$dir/dev"
}

command -v apt-get >/dev/null || die "no apt-get: only Debian and Ubuntu are supported"
mapfile -t missing < <(missing_packages)
if [ ${#missing[@]} -gt 0 ]; then
  step "refreshing the package lists" as_root apt-get update -q
  step "installing ${missing[*]}" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

# Debootstrap's own list of suites may be older than the suite; "sid" is how every recent one is set
# up. The empty argument leaves the mirror to its default.
PATH=$PATH:/usr/sbin step "downloading the packages of $suite" \
  debootstrap --download-only --force-check-gpg --variant=minbase --include=neovim \
  "$suite" "$dir" "" sid
step "unpacking them" unpack

binary=$dir/usr/bin/nvim
[ -x "$binary" ] || die "the packages of $suite brought no nvim"
printf '%s\n' "$stamp" >"$marker"
say "ready in $dir ($stamp)"
