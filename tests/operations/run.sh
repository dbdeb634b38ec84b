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

python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "skipped: no python3 with venv (Debian: python3-venv)"; exit 77; }
stamp=$(cksum <"$here/requirements.txt")$(python3 --version)
if [ "$(cat "$folder/.stamp" 2>/dev/null)" != "$stamp" ]; then
    echo "installing prometheus_client into $folder"
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    echo "$stamp" >"$folder/.stamp"
fi
export PYTHONDONTWRITEBYTECODE=1
exec "$folder/bin/python" "$here/run.py" "$@"
