#!/usr/bin/env bash
# Runs the receiver of docs/examples against tokens of our own signer, and against host-sim:
#
#     tests/push/receiver_test.sh
#
# PyJWT is installed outside the checkout, in ${MOTE_CACHE:-~/.cache/mote}/push. Builds what is missing.
# Exit: 0 all passed, 1 something failed, 77 a tool is missing (skip).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder="${MOTE_CACHE:-$HOME/.cache/mote}/push"

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
cargo build --quiet --release --package host-sim
cargo build --quiet --package mote-tests --example sign
exec "$folder/bin/python" "$here/receiver_test.py" "${CARGO_TARGET_DIR:-target}"
