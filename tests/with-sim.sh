#!/usr/bin/env bash
# Starts host-sim on a free port, runs a command with its base URL as last argument, and ends it again. The command finds
# the log at MOTE_LOG:
#
#     tests/with-sim.sh "AGENT [FLAG...]" COMMAND [ARGUMENT...]
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
read -r -a agent <<<"$1"
shift
binary=${CARGO_TARGET_DIR:-target}/release/host-sim
[ -x "$binary" ] || { echo "no $binary: cargo build --release -p host-sim"; exit 1; }

log=$(mktemp)
"$binary" --port 0 --agent "${agent[@]}" >"$log" 2>&1 &
sim=$!
trap 'kill "$sim" 2>/dev/null; wait "$sim" 2>/dev/null; rm -f "$log"' EXIT

for _ in $(seq 100); do
    url=$(grep -o -m1 'http://127\.0\.0\.1:[0-9]*' "$log") && break
    kill -0 "$sim" 2>/dev/null || { cat "$log"; exit 1; }
    sleep 0.1
done
[ -n "${url:-}" ] || { echo "host-sim did not say where it listens:"; cat "$log"; exit 1; }

MOTE_LOG=$log "$@" "$url"
status=$?
if ! kill -0 "$sim" 2>/dev/null; then
    echo "host-sim ended while it was being used:"
    cat "$log"
    exit 1
fi
exit "$status"
