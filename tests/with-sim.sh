#!/usr/bin/env bash
# Starts host-sim on a free port, runs a command with its base URL as last argument, and ends it again. The command finds
# the log at MOTE_LOG:
#
#     tests/with-sim.sh "AGENT [FLAG...]" COMMAND [ARGUMENT...]
#
# It is open, whatever the environment has in MOTE_TOKEN, unless there is --token NAME:CLASSES:TOKEN among the flags: then
# the command finds that token in MOTE_TOKEN, and the one of a second --token in MOTE_OTHER_TOKEN.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
read -r -a agent <<<"$1"
shift
unset MOTE_TOKEN MOTE_OTHER_TOKEN
tokens=()
for place in "${!agent[@]}"; do
    [ "${agent[place]}" != --token ] || tokens+=("${agent[place + 1]#*:*:}")
done
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

environment=("MOTE_LOG=$log")
[ -z "${tokens[0]:-}" ] || environment+=("MOTE_TOKEN=${tokens[0]}")
[ -z "${tokens[1]:-}" ] || environment+=("MOTE_OTHER_TOKEN=${tokens[1]}")
env "${environment[@]}" "$@" "$url"
status=$?
if ! kill -0 "$sim" 2>/dev/null; then
    echo "host-sim ended while it was being used:"
    cat "$log"
    exit 1
fi
exit "$status"
