#!/usr/bin/env bash
# Installs what drives Chromium, and what judges whether a page is accessible, outside the checkout: in
# ${MOTE_CACHE:-~/.cache/mote}/page. Does nothing where the requirement files have not changed since the last time.
#
# Exit: 0 ready, 77 a tool is missing (skip), 1 failure.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/page"

. "$here/../tools/sdks.sh"
command -v chromium >/dev/null || sdks_skip "chromium is not installed (Debian: chromium)"
sdks_node_tools
sdks_node "$cache" "$here"
