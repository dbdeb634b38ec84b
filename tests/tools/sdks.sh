# Installs packages outside the checkout, for the scripts that source this file: Python environments and node_modules in
# ${MOTE_CACHE:-~/.cache/mote}. Does nothing where what is wanted has not changed since the last time.
#
# Whoever sources it is told 77 where a tool is missing.

sdks_skip() {
    echo "skipped: $*" >&2
    exit 77
}

sdks_tools() {
    sdks_python_tools
    sdks_node_tools
}

sdks_python_tools() {
    command -v python3 >/dev/null || sdks_skip "python3 is not installed"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || sdks_skip "python3 is older than 3.10"
    python3 -c 'import venv, ensurepip' 2>/dev/null || sdks_skip "python3 has no venv or no pip (Debian: python3-venv)"
}

sdks_node_tools() {
    command -v node >/dev/null || sdks_skip "node is not installed"
    [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || sdks_skip "node is older than 20"
    command -v npm >/dev/null || sdks_skip "npm is not installed"
}

# sdks_stamp FILE...: what has to be the same for an installation to be still good
sdks_stamp() {
    cat "$@" | cksum
    python3 --version 2>/dev/null || true
    node --version 2>/dev/null || true
}

# sdks_fresh FOLDER FILE...: true if FOLDER was installed from these files
sdks_fresh() {
    local folder=$1
    shift
    [ -f "$folder/.stamp" ] && [ "$(sdks_stamp "$@")" = "$(cat "$folder/.stamp")" ]
}

# sdks_python FOLDER REQUIREMENTS
sdks_python() {
    sdks_fresh "$1" "$2" && return
    echo "installing $(head -n 1 "$2") into $1"
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
    sdks_stamp "$2" >"$1/.stamp"
}

# sdks_node FOLDER FROM: what FROM/package.json and its lock file say
sdks_node() {
    sdks_fresh "$1" "$2/package.json" "$2/package-lock.json" && return
    echo "installing what $2 says into $1"
    rm -rf "$1"
    mkdir -p "$1"
    cp "$2/package.json" "$2/package-lock.json" "$1"
    (cd "$1" && npm ci --silent --no-audit --no-fund --ignore-scripts)
    sdks_stamp "$2/package.json" "$2/package-lock.json" >"$1/.stamp"
}
