#!/usr/bin/env bash
# The numbers of host-sim that the README shows: size of the release binary, crates in it, memory when idle.
set -euo pipefail

cd "$(dirname "$0")/../.."
binary=${CARGO_TARGET_DIR:-target}/release/host-sim
[ -x "$binary" ] || cargo build --release -p host-sim

idle() {
    local log sim
    log=$(mktemp)
    "$binary" --port 0 >"$log" 2>&1 &
    sim=$!
    until grep -q 'http://' "$log"; do kill -0 "$sim" && sleep 0.1; done
    awk '/^VmRSS/ { printf "%.1f MiB", $2 / 1024 }' "/proc/$sim/status"
    kill "$sim"
    wait "$sim" 2>/dev/null || true
    rm -f "$log"
}

printf 'host-sim release binary   %s KiB\n' $(($(stat -c %s "$binary") / 1024))
printf 'crates in host-sim        %s\n' "$(cargo tree -p host-sim -e normal --prefix none --no-dedupe | sort -u | wc -l)"
printf 'crates in protocol-core   %s\n' "$(cargo tree -p protocol-core -e normal --prefix none --no-dedupe | sort -u | wc -l)"
printf 'resident memory when idle %s\n' "$(idle)"
