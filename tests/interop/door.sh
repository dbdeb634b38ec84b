#!/usr/bin/env bash
# Runs real A2A clients against a server with the sensor agent and a shut door, one suite after another. They show their
# tokens through the SDK's own means, so what passes here is understood from the card and from WWW-Authenticate:
#
#     MOTE_TOKEN=... MOTE_OTHER_TOKEN=... door.sh BASE_URL [SUITE...]
#
# MOTE_TOKEN is that of a principal with all classes, named MOTE_NAME (owner); MOTE_OTHER_TOKEN that of one who may only
# read. If MOTE_LOG names the server's log, it is searched for both.
#
# Exit: 0 all passed, 1 something failed, 77 a tool is missing (skip), 2 wrong usage.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/interop"
all="python-1.3.0 python-0.3.26 python-0.2.16 js-1.3.0 js-0.3.14 http-0.1"

if [ $# -lt 1 ] || [ -z "${MOTE_TOKEN:-}" ] || [ -z "${MOTE_OTHER_TOKEN:-}" ]; then
    echo "usage: MOTE_TOKEN=... MOTE_OTHER_TOKEN=... $0 BASE_URL [SUITE...]   suites: $all" >&2
    exit 2
fi
base=$1
shift
suites="${*:-$all}"

. "$here/suites.sh"

suite() {
    local folder="$cache/$1"
    case $1 in
        python-1.3.0) "$folder/bin/python" "$here/python/door_1_3.py" "$base" ;;
        python-0.3.26) "$folder/bin/python" "$here/python/door_0_3.py" "$base" ;;
        python-0.2.16) "$folder/bin/python" "$here/python/door_0_2.py" "$base" ;;
        js-1.3.0) javascript "$folder" door_1_3.mjs ;;
        js-0.3.14) javascript "$folder" door_0_3.mjs ;;
        http-0.1) "$cache/python-1.3.0/bin/python" "$here/python/door_0_1.py" "$base" ;;
        *)
            echo "FAIL unknown suite $1, there are: $all"
            return 1
            ;;
    esac
}

run_suites "door-"

if [ -n "${MOTE_LOG:-}" ] && grep -qF -e "$MOTE_TOKEN" -e "$MOTE_OTHER_TOKEN" "$MOTE_LOG"; then
    echo "FAIL a token is in the server's log"
    failed=1
fi

echo
echo "$table"
exit "$failed"
