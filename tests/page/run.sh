#!/usr/bin/env bash
# The page of the device in a real Chromium:
#
#     tests/page/run.sh [--keep] [WORDS]         against host-sim processes of its own
#     tests/page/run.sh URL [WORDS]              what a board can do, against the device at URL, with MOTE_TOKEN
#     tests/page/run.sh --own URL                the agent of docs/your-first-skill.md, or a copy of it, at URL
#
# WORDS choose the cases whose name contains them. Screenshots are written into ${MOTE_CACHE:-~/.cache/mote}/page/shots,
# with --keep those of the README into docs/images as well.
#
# Exit: 0 all passed, 77 a tool is missing (skip), 1 failure.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
tests/page/setup.sh || exit
export MOTE_PAGE_CACHE="${MOTE_CACHE:-$HOME/.cache/mote}/page"
export MOTE_SIM=${CARGO_TARGET_DIR:-target}/release/host-sim
if [ "${1:-}" = --own ]; then
    export MOTE_BOARD_PAGE=$2
    set -- --own "${@:3}"
elif [[ ${1:-} == http://* ]]; then
    export MOTE_BOARD_PAGE=$1
    shift
else
    [ -x "$MOTE_SIM" ] || { echo "no $MOTE_SIM: cargo build --release -p host-sim"; exit 1; }
fi
exec node tests/page/main.mjs "$@"
