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

. "$here/../tools/sdks.sh"
sdks_python_tools
sdks_python "$folder" "$here/requirements.txt"

cd "$here/../.."
cargo build --quiet --release --package host-sim
cargo build --quiet --package mote-tests --example sign
exec "$folder/bin/python" "$here/receiver_test.py" "${CARGO_TARGET_DIR:-target}"
