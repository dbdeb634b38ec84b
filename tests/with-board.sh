#!/usr/bin/env bash
# Starts an emulated board, runs a command with its base URL as first argument, and ends it again. The command finds the
# log at MOTE_LOG, the console at MOTE_CONSOLE, the token that the board made at its first start in MOTE_TOKEN, and that of
# somebody else who may only read in MOTE_OTHER_TOKEN:
#
#     tests/with-board.sh arm|riscv|rp2040 COMMAND [ARGUMENT...]
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
board=$1
command=$2
shift 2

folder=$(mktemp -d)
log=$folder/log
: >"$log"
export MOTE_CONSOLE=$folder/console MOTE_LOG=$log
# Any port will do that nobody has; emulate.sh refuses one that somebody has.
port=$((20000 + RANDOM % 10000))
tests/emulate.sh "$board" "$port" >"$log" 2>&1 &
emulation=$!
trap 'kill "$emulation" 2>/dev/null; wait "$emulation" 2>/dev/null; rm -rf "$folder"' EXIT

# Building comes first, and may take minutes.
until grep -q '^ready ' "$log"; do
    if ! kill -0 "$emulation" 2>/dev/null; then
        wait "$emulation"
        status=$?
        cat "$log"
        exit "$status"
    fi
    sleep 1
done
grep -E 'INFO|^ready' "$log"

# The board is shut, as it is when it is flashed. All of these are new: nothing that was known before lets anybody in.
token_of() { grep -oE "token of $1, shown this once: [A-Za-z0-9_-]{32}" | sed 's/.*: //'; }
MOTE_TOKEN=$(token_of owner <"$log")
MOTE_OTHER_TOKEN=$(tests/emulated/type.py "$MOTE_CONSOLE" "token add other read" | token_of other)
[ -n "$MOTE_TOKEN" ] && [ -n "$MOTE_OTHER_TOKEN" ] || { echo "the board has shown no token"; exit 1; }
export MOTE_TOKEN MOTE_OTHER_TOKEN

"$command" "$(sed -n 's/^ready //p' "$log")" "$@"
status=$?
if grep -qE 'ERROR|panic|WARN.*started because of' "$log"; then
    echo "the board complains:"
    grep -nE 'ERROR|panic|WARN.*started because of' "$log"
    exit 1
fi
exit "$status"
