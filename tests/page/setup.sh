#!/usr/bin/env bash
# Installs what drives Chromium, and what judges whether a page is accessible, outside the checkout: in
# ${MOTE_CACHE:-~/.cache/mote}/page. Does nothing where the requirement files have not changed since the last time.
#
# Exit: 0 ready, 77 a tool is missing (skip), 1 failure.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/page"

skip() {
    echo "page: skipped: $*" >&2
    exit 77
}

command -v chromium >/dev/null || skip "chromium is not installed (Debian: chromium)"
command -v node >/dev/null || skip "node is not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "node is older than 20"
command -v npm >/dev/null || skip "npm is not installed"

wanted=("$here/package.json" "$here/package-lock.json")
# What has to be the same for an installation to be still good.
stamp() {
    cat "${wanted[@]}" | cksum
    node --version
}
[ -f "$cache/.stamp" ] && [ "$(stamp)" = "$(cat "$cache/.stamp")" ] && exit 0
echo "page: installing playwright-core and axe-core into $cache"
rm -rf "$cache/node_modules" "$cache/.stamp"
mkdir -p "$cache"
cp "${wanted[@]}" "$cache"
(cd "$cache" && npm ci --silent --no-audit --no-fund --ignore-scripts)
stamp >"$cache/.stamp"
