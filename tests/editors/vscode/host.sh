#!/usr/bin/env bash
# Installs a VS Code that a test can drive: code-server (VS Code 1.100 with its real extension
# host), the browser it is shown in, and playwright-core to press its keys.
#
#   host.sh DIR
#
# Everything except the Debian packages lands in DIR. A second call with the same DIR returns at
# once: DIR/.installed names the versions it holds. Asks nothing; the caller (cargo xtask) has
# already asked. Runs as root or through sudo, on Debian or Ubuntu. About four minutes on two cores.
set -euo pipefail

readonly code_server=4.100.3 # VS Code 1.100.3, the oldest the extension promises to run on
readonly node=20.20.2        # code-server 4.100 runs on no major version but 20
readonly playwright=1.65.1
readonly stamp="code-server $code_server, node $node, playwright-core $playwright"

say() { printf 'vscode host: %s\n' "$*"; }
die() {
  printf 'vscode host: error: %s\n' "$*" >&2
  exit 1
}

[ $# -eq 1 ] || die "usage: host.sh DIR"
mkdir -p "$1" || die "cannot create $1"
dir=$(cd "$1" && pwd)
readonly dir

if [ -f "$dir/.installed" ] && [ "$(cat "$dir/.installed")" = "$stamp" ]; then
  say "already installed in $dir ($stamp)"
  exit 0
fi

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo --non-interactive "$@" || die "'sudo $*' failed; run it by hand or as root, then try again"
  else
    die "installing packages needs root, and there is no sudo here"
  fi
}

# Runs a step with its output in a log, and shows the end of that log only when the step fails.
step() {
  local name=$1
  shift
  say "$name"
  if ! "$@" >"$dir/install.log" 2>&1; then
    tail -n 40 "$dir/install.log" >&2
    die "$name: failed (the whole log is $dir/install.log)"
  fi
}

find_browser() {
  local name
  for name in chromium chromium-browser google-chrome-stable google-chrome; do
    # Ubuntu's chromium is a snap stub that exists but may not run: only --version tells.
    if command -v "$name" >/dev/null && "$name" --version >/dev/null 2>&1; then
      command -v "$name"
      return
    fi
  done
  find "$dir/browsers" -path '*chrome-linux*/chrome' -type f 2>/dev/null | head -n 1
}

debian_packages() {
  command -v apt-get >/dev/null || die "no apt-get: only Debian and Ubuntu are supported"
  local wanted=(build-essential python3 pkg-config ca-certificates)
  command -v npm >/dev/null || wanted+=(nodejs npm)
  local missing=() package
  for package in "${wanted[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ -n "$(find_browser)" ] || missing+=(chromium)
  [ ${#missing[@]} -gt 0 ] || return 0
  step "refreshing the package lists" as_root apt-get update -q
  step "installing ${missing[*]}" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

npm_packages() {
  cd "$dir"
  printf '{"name":"vscode-host","private":true}\n' >package.json
  # Install scripts would fetch prebuilt files from places that may be out of reach; the few native
  # modules that matter are built below from the sources their packages carry.
  npm install --ignore-scripts --no-audit --no-fund --save-exact \
    "code-server@$code_server" "playwright-core@$playwright" "node-linux-$arch@$node" node-gyp
}

vscode_packages() {
  cd "$dir/node_modules/code-server/lib/vscode"
  npm install --ignore-scripts --omit=dev --no-audit --no-fund
}

argon2() {
  cd "$dir/node_modules/argon2"
  npx --yes @mapbox/node-pre-gyp install --build-from-source
}

native_modules() {
  cd "$dir/node_modules/code-server/lib/vscode"
  npm rebuild @vscode/spdlog node-pty
  # Not on every platform, and VS Code does without it.
  npm rebuild native-watchdog || true
}

playwright_browser() {
  PLAYWRIGHT_BROWSERS_PATH="$dir/browsers" \
    "$dir/node_modules/.bin/playwright-core" install chromium
}

case "$(uname -m)" in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) die "unsupported machine: $(uname -m)" ;;
esac

debian_packages
step "installing code-server $code_server and playwright-core $playwright" npm_packages

# From here on the pinned node runs everything, and native modules are built for it.
node_home="$dir/node_modules/node-linux-$arch"
[ -x "$node_home/bin/node" ] || die "the package node-linux-$arch holds no bin/node"
export PATH="$node_home/bin:$dir/node_modules/.bin:$PATH"
export npm_config_nodedir="$node_home"

step "installing VS Code's own packages" vscode_packages
step "building argon2" argon2
step "building VS Code's native modules" native_modules

[ -n "$(find_browser)" ] || step "fetching a Chromium (the packaged one does not run)" playwright_browser
browser=$(find_browser)
[ -n "$browser" ] || die "no browser that runs; install chromium or google-chrome"
"$browser" --version >/dev/null 2>&1 || die "$browser does not run"

ln -sfn "$node_home/bin/node" "$dir/node"
ln -sfn "$browser" "$dir/browser"
version=$("$dir/node" "$dir/node_modules/code-server/out/node/entry.js" --version | tail -n 1)
printf '%s\n' "$stamp" >"$dir/.installed"
say "installed in $dir: $version, $("$browser" --version 2>/dev/null)"
