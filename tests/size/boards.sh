#!/usr/bin/env bash
# Where the flash and the static RAM of the boards' images go, and whether they keep to tests/size/ceilings.txt:
#
#     tests/size/boards.sh [BOARD...]        all boards unless named
#
# firmware/build.sh builds the images that are not there. All of an image counts: ours, the network stack, the start-up
# code; the stack does not.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
if [ $# -eq 0 ]; then
    # Those that have a line and a binary.
    mapfile -t boards < <(grep -v '^#' tests/size/ceilings.txt | cut -d' ' -f1)
    for board in "${boards[@]}"; do [ -e "firmware/src/bin/$board.rs" ] && set -- "$@" "$board"; done
fi

status=0
for board in "$@"; do
    image=$(firmware/build.sh "$board" --quiet) && tests/size/image.py "$board" "$image" || status=$?
    [ "$status" -ne 77 ] || exit 77
done
exit "$status"
