#!/usr/bin/env bash
# Installs the A2A SDKs with their servers, outside the checkout, in ${MOTE_CACHE:-~/.cache/mote}/terminal. Does nothing
# where what is wanted has not changed since the last time.
#
# Exit: 0 ready, 77 a tool is missing (skip), 1 failure.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/terminal"
. "$here/../tools/sdks.sh"

sdks_tools
for version in 1.3.0 0.3.26; do
    sdks_python "$cache/python-$version" "$here/python/requirements-$version.txt"
done
for version in 1.3.0 0.3.14; do
    sdks_node "$cache/js-$version" "$here/js/$version"
    # Where a module is decides which packages it finds.
    cp "$here"/js/*.mjs "$cache/js-$version"
done
