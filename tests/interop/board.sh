#!/usr/bin/env bash
# Runs real A2A clients against an emulated board behind QEMU's own network, as run.sh does. The board is told first that it
# may call webhooks on this machine, which it finds at 10.0.2.2:
#
#     tests/with-board.sh arm tests/interop/board.sh [SUITE...]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
url=$1
shift

say() { "$here/../emulated/type.py" "$MOTE_CONSOLE" "$1"; }
say "webhooks allow http"
say "webhooks allow private"
say reboot
for _ in $(seq 100); do
    curl -fsS -m 1 -o /dev/null "$url/.well-known/agent-card.json" 2>/dev/null && break
    sleep 0.2
done
export MOTE_WEBHOOK_HOST=10.0.2.2
exec "$here/run.sh" "$url" "$@"
