#!/usr/bin/env bash
# Where the flash and the static RAM of the boards' images go, whether they keep to tests/size/ceilings.txt, and a table:
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
[ $# -gt 0 ] || exit 1

failed= missing= table=
for board in "$@"; do
    status=0
    said=$(image=$(firmware/build.sh "$board" --quiet) && tests/size/image.py "$board" "$image" 2>&1) || status=$?
    echo "$said"
    table+="$(head -n 1 <<<"$said")"$'\n'
    case $status in
        0) ;;
        77) missing=yes ;;
        *) failed=yes ;;
    esac
done
printf '\n%s' "$table"
[ -z "$failed" ] || exit 1
[ -z "$missing" ] || exit 77
