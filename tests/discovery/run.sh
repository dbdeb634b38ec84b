#!/usr/bin/env bash
# Finds devices by their names, as others in the same network would: python-zeroconf and, where it is installed, avahi.
#
#     tests/discovery/run.sh install          only installs what it needs: there is nowhere to get it from in a namespace
#     tests/discovery/run.sh sim              host-sims and clients at both ends of a cable, in two network namespaces
#     tests/hostile/wire.py tests/with-board.sh arm tests/discovery/run.sh        an emulated board, BASE_URL behind it
#
# zeroconf is installed outside the checkout, in ${MOTE_CACHE:-~/.cache/mote}/discovery. Builds what is missing.
# Exit: 0 all passed, 1 something failed, 77 a tool is missing, or there may be no namespaces (skip).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder="${MOTE_CACHE:-$HOME/.cache/mote}/discovery"

. "$here/../tools/sdks.sh"
sdks_python_tools
sdks_python "$folder" "$here/requirements.txt"
[ "${1:-}" != install ] || exit 0

cd "$here/../.."
if [ "${1:-}" = sim ]; then
    cargo build --quiet --release --package host-sim
    export MOTE_SIM=${CARGO_TARGET_DIR:-target}/release/host-sim
fi
exec "$folder/bin/python" "$here/run.py" "$@"
