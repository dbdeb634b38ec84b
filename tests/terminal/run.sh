#!/usr/bin/env bash
# Lets the terminal talk to agents on the official SDKs, one after another:
#
#     run.sh [AGENT...]        e.g. run.sh python-1.3.0 js-0.3.14; all of them unless told
#
# Exit: 0 all passed, 1 something failed, 77 a tool is missing (skip).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/terminal"
agents="${*:-python-1.3.0 python-0.3.26 js-1.3.0 js-0.3.14}"

"$here/setup.sh"
cd "$here/../.."
cargo build --quiet -p host-sim
program=${CARGO_TARGET_DIR:-target}/debug/host-sim

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

pid=
stop() { [ -z "$pid" ] || { kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; }; pid=; }
trap stop EXIT

export PYTHONDONTWRITEBYTECODE=1
failed=0
for agent in $agents; do
    port=$(free_port)
    log=$(mktemp)
    folder=$cache/$agent
    case $agent in
        python-1.3.0) version=1.0; "$folder/bin/python" "$here/python/v1_3.py" "$port" >"$log" 2>&1 & ;;
        python-0.3.26) version=0.3; "$folder/bin/python" "$here/python/v0_3.py" "$port" >"$log" 2>&1 & ;;
        js-1.3.0) version=1.0; node "$folder/v1_3.mjs" "$port" >"$log" 2>&1 & ;;
        js-0.3.14) version=0.3; node "$folder/v0_3.mjs" "$port" >"$log" 2>&1 & ;;
        *) echo "FAIL unknown agent $agent"; exit 1 ;;
    esac
    pid=$!
    url=http://127.0.0.1:$port
    for _ in $(seq 150); do
        "$program" card "$url" >/dev/null 2>&1 && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.2
    done
    echo "--- $agent"
    if ! "$here/cases.py" "$program" "$url" "$version"; then
        failed=1
        echo "what the agent says:"
        tail -n 40 "$log"
    fi
    stop
    rm -f "$log"
done
exit "$failed"
