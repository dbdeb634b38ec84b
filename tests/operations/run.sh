#!/usr/bin/env bash
# What an operator has of a device, against one that is there already and that nobody else uses meanwhile: host-sim --preset
# pico or a board.
#
#     tests/operations/run.sh BASE_URL [NAME...]        all cases, or those whose names contain one of the words
#
# Installs Prometheus's Python client outside the checkout, in ${MOTE_CACHE:-~/.cache/mote}/operations. Exit: 77 where python3
# or its venv is missing.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,8p' "$0"; exit 2; }
folder="${MOTE_CACHE:-$HOME/.cache/mote}/operations"

. "$here/../tools/sdks.sh"
sdks_python_tools
sdks_python "$folder" "$here/requirements.txt"
export PYTHONDONTWRITEBYTECODE=1
exec "$folder/bin/python" "$here/run.py" "$@"
