#!/usr/bin/env bash
# Runs the official A2A compatibility kit against host-sim:
#
#     tests/tck.sh 1.0 FOLDER     the kit's branch 1.0-dev, checked out in FOLDER
#     tests/tck.sh 0.3 FOLDER     the kit's branch 0.3.x
#
# The kit is a repository of its own (github.com/a2aproject/a2a-tck) and comes from no package registry, so this is not a
# step of full.sh. PYTHON names an interpreter that has the kit's requirements; python3 if unset.
set -euo pipefail

version=${1:-}
folder=${2:-}
[ -f "$folder/run_tck.py" ] || { sed -n '2,8p' "$0"; exit 2; }
cd "$(dirname "$0")/.."
cargo build --release -p host-sim

kit() {
    local python=${PYTHON:-python3} folder=$1 version=$2 url=$3
    cd "$folder"
    case $version in
        1.0) "$python" run_tck.py --sut-host "$url" --transport jsonrpc -- -rfE ;;
        0.3) "$python" run_tck.py --sut-url "$url" --category all --transports jsonrpc --quality-required --features-required ;;
    esac
}
export -f kit

# No card pleases both kits (docs/decisions/0004): the one for 1.0 gets a server that speaks nothing else.
case $version in
    1.0) flags="conformance --dialects 1.0" ;;
    0.3) flags="conformance" ;;
    *) echo "there is a kit for 1.0 and one for 0.3, not for '$version'"; exit 2 ;;
esac
exec tests/with-sim.sh "$flags" bash -c 'kit "$@"' kit "$folder" "$version"
