#!/usr/bin/env bash
# Everything that is asked of a board that runs: what the README says, the end-to-end suite, how deep the stack has been,
# and a restart, which begins another life and so comes last:
#
#     tests/board.sh BASE_URL
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
[ $# -eq 1 ] || { sed -n '2,5p' "$0"; exit 2; }

tests/readme.sh "$1" && tests/end-to-end.sh "$1" --skip reboot && tests/size/emulated.py "$1" && tests/end-to-end.sh "$1" reboot
