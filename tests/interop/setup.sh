#!/usr/bin/env bash
# Installs the A2A SDKs that run.sh drives, outside the checkout: three Python environments and two node_modules in
# ${MOTE_CACHE:-~/.cache/mote}/interop. Does nothing where the requirement files have not changed since the last time.
#
# Exit: 0 ready, 77 a tool is missing (skip), 1 failure.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache="${MOTE_CACHE:-$HOME/.cache/mote}/interop"

skip() {
    echo "interop: skipped: $*" >&2
    exit 77
}

command -v python3 >/dev/null || skip "python3 is not installed"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "python3 is older than 3.10"
python3 -c 'import venv, ensurepip' 2>/dev/null || skip "python3 has no venv or no pip (Debian: python3-venv)"
command -v node >/dev/null || skip "node is not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "node is older than 20"
command -v npm >/dev/null || skip "npm is not installed"

# stamp FILE...: what has to be the same for an installation to be still good
stamp() {
    cat "$@" | cksum
    python3 --version
    node --version
}

# fresh FOLDER FILE...: true if FOLDER was installed from these files
fresh() {
    local folder=$1
    shift
    [ -f "$folder/.stamp" ] && [ "$(stamp "$@")" = "$(cat "$folder/.stamp")" ]
}

for version in 1.3.0 0.3.26 0.2.16; do
    folder="$cache/python-$version"
    wanted="$here/python/requirements-$version.txt"
    fresh "$folder" "$wanted" && continue
    echo "interop: installing a2a-sdk $version into $folder"
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted"
    stamp "$wanted" >"$folder/.stamp"
done

for version in 1.3.0 0.3.14; do
    folder="$cache/js-$version"
    wanted=("$here/js/$version/package.json" "$here/js/$version/package-lock.json")
    fresh "$folder" "${wanted[@]}" && continue
    echo "interop: installing @a2a-js/sdk $version into $folder"
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "${wanted[@]}" "$folder"
    (cd "$folder" && npm ci --silent --no-audit --no-fund --ignore-scripts)
    stamp "${wanted[@]}" >"$folder/.stamp"
done
