#!/usr/bin/env bash
# Finds devices by their names, as others in the same network would: python-zeroconf and, where it is installed, avahi.
#
#     tests/discovery/run.sh sim              host-sims and clients at both ends of a cable, in two network namespaces
#     tests/hostile/wire.py tests/with-board.sh arm tests/discovery/run.sh        an emulated board, BASE_URL behind it
#
# zeroconf is installed outside the checkout, in ${MOTE_CACHE:-~/.cache/mote}/discovery. Builds what is missing.
# Exit: 0 all passed, 1 something failed, 77 a tool is missing, or there may be no namespaces (skip).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder="${MOTE_CACHE:-$HOME/.cache/mote}/discovery"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "python3.10 is missing" >&2; exit 77; }
python3 -c 'import venv, ensurepip' || { echo "python3 has no venv (Debian: python3-venv)" >&2; exit 77; }

stamp() {
    cksum <"$here/requirements.txt"
    python3 --version
}
if ! [ -f "$folder/.stamp" ] || [ "$(stamp)" != "$(cat "$folder/.stamp")" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    stamp >"$folder/.stamp"
fi

cd "$here/../.."
if [ "${1:-}" = sim ]; then
    cargo build --quiet --release --package host-sim
    export MOTE_SIM=${CARGO_TARGET_DIR:-target}/release/host-sim
fi
exec "$folder/bin/python" "$here/run.py" "$@"
