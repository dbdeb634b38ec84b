#!/usr/bin/env bash
# Runs real A2A clients against a server with the sensor agent, one suite after another:
#
#     run.sh BASE_URL [SUITE...]        e.g. run.sh http://127.0.0.1:8080 js-1.3.0
#
# Exit: 0 all passed, 1 something failed, 77 a tool is missing (skip), 2 wrong usage.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/interop"
all="python-1.3.0 python-0.3.26 python-0.2.16 js-1.3.0 js-0.3.14"

if [ $# -lt 1 ]; then
    echo "usage: $0 BASE_URL [SUITE...]   suites: $all" >&2
    exit 2
fi
base=$1
shift
suites="${*:-$all}"

. "$here/suites.sh"

suite() {
    local folder="$cache/$1"
    case $1 in
        python-1.3.0) "$folder/bin/python" "$here/python/v1_3.py" "$base" ;;
        python-0.3.26) "$folder/bin/python" "$here/python/v0_3.py" "$base" ;;
        python-0.2.16) "$folder/bin/python" "$here/python/v0_2.py" "$base" ;;
        js-1.3.0) javascript "$folder" v1_3.mjs ;;
        js-0.3.14) javascript "$folder" v0_3.mjs ;;
        *)
            echo "FAIL unknown suite $1, there are: $all"
            return 1
            ;;
    esac
}

run_suites ""

echo
echo "$table"
exit "$failed"
