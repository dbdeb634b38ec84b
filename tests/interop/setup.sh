#!/usr/bin/env bash
# Installs the A2A SDKs that run.sh drives, outside the checkout: three Python environments and two node_modules in
# ${MOTE_CACHE:-~/.cache/mote}/interop. Does nothing where the requirement files have not changed since the last time.
#
# Exit: 0 ready, 77 a tool is missing (skip), 1 failure.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/interop"
. "$here/../tools/sdks.sh"

sdks_tools
for version in 1.3.0 0.3.26 0.2.16; do
    sdks_python "$cache/python-$version" "$here/python/requirements-$version.txt"
done
for version in 1.3.0 0.3.14; do
    sdks_node "$cache/js-$version" "$here/js/$version"
done
