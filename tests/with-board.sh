#!/usr/bin/env bash
# Starts an emulated board, runs a command with its base URL as first argument, and ends it again. The command finds the
# token of the board's owner in MOTE_TOKEN, the board's log at MOTE_LOG and its console at MOTE_CONSOLE:
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
export MOTE_LOG=$log MOTE_CONSOLE=$folder/console
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

# It is shown once, at the first start.
MOTE_TOKEN=$(sed -n 's/.*the token of owner, shown this once: //p' "$log")
export MOTE_TOKEN
"$command" "$(sed -n 's/^ready //p' "$log")" "$@"
status=$?
if grep -qE 'ERROR|panic|WARN.*started because of' "$log"; then
    echo "the board complains:"
    grep -nE 'ERROR|panic|WARN.*started because of' "$log"
    exit 1
fi
exit "$status"
