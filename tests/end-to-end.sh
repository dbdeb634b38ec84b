#!/usr/bin/env bash
# Runs the end-to-end suite against a device that is there already, a board or host-sim --preset pico:
#
#     tests/end-to-end.sh BASE_URL [NAME...]        all cases, or those whose names contain one of the words; one of them
#                                                   restarts the device
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
[ $# -ge 1 ] || { sed -n '2,5p' "$0"; exit 2; }
export MOTE_URL=$1
shift

# One thread: the cases take turns anyway, and so it shows which one is running.
exec cargo test --quiet --package mote-tests --test end_to_end -- --format pretty --test-threads 1 "$@"
