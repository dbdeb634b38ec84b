#!/usr/bin/env bash
# Runs the programs of docs/clients.md, and the README's, as they stand there, against a server with the sensor agent that is
# there already:
#
#     tests/clients.sh BASE_URL
#
# A fenced block behind `<!-- run: NAME -->` is a program; its address is replaced by the given one, and it must end well and
# tell of three readings. MOTE_TOKEN is theirs to send.
set -euo pipefail

cd "$(dirname "$0")/.." || exit 1
base=$1
cache="${MOTE_CACHE:-$HOME/.cache/mote}/interop"
command -v curl >/dev/null || { echo "curl is missing"; exit 77; }
tests/interop/setup.sh
export PYTHONDONTWRITEBYTECODE=1
export NO_PROXY="127.0.0.1,localhost,::1${NO_PROXY:+,$NO_PROXY}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# block NAME: the program of that name, or the README's
block() {
    if [ "$1" = readme ]; then
        awk '/^```/ && inside { exit } inside; /^```python/ { inside = 1 }' README.md | sed "s#http://127.0.0.1:8080#$base#g"
        return
    fi
    awk -v name="$1" '
        /^```/ && inside { exit }
        inside
        $0 == "<!-- run: " name " -->" { found = 1 }
        /^```/ && found { inside = 1 }' docs/clients.md | sed "s#http://127.0.0.1:8080#$base#g"
}

# Where the packages are: node looks for them beside the script.
run() {
    case $1 in
        terminal | curl*) bash "$work/$1" ;;
        readme) "$cache/python-1.3.0/bin/python" "$work/$1" ;;
        python-*) "$cache/$1/bin/python" "$work/$1" ;;
        js-*) cp "$work/$1" "$cache/$1/client.mjs" && node "$cache/$1/client.mjs" ;;
        rust) rust ;;
        *) echo "nobody knows how to run $1"; return 1 ;;
    esac
}

# Built outside of the checkout, with the crates that its lockfile names.
rust() {
    local folder=$cache/rust
    mkdir -p "$folder/src"
    cp tests/interop/rust/Cargo.* "$folder"
    cmp -s "$work/rust" "$folder/src/main.rs" || cp "$work/rust" "$folder/src/main.rs"
    CARGO_TARGET_DIR="$folder/target" cargo run --quiet --locked --manifest-path "$folder/Cargo.toml"
}

count=0
failed=0
names=$(sed -n 's/^<!-- run: \(.*\) -->$/\1/p' docs/clients.md)
# The README's has no token to send.
[ -n "${MOTE_TOKEN:-}" ] || names="readme $names"
for name in $names; do
    count=$((count + 1))
    block "$name" >"$work/$name"
    status=0
    run "$name" >"$work/said" 2>&1 || status=$?
    # A reading is told as words beside its data; three of them came, whatever else an SDK tells.
    readings=$(grep -oE 'temperature [0-9.]+ °C|temperature [0-9.]+ \\302\\260C' "$work/said" | wc -l) || true
    if [ "$status" -eq 0 ] && [ "$readings" -ge 3 ]; then
        echo "ok $name: $readings readings"
    else
        echo "FAIL $name: status $status, $readings readings"
        cat "$work/said"
        failed=$((failed + 1))
    fi
done

echo "$((count - failed)) passed, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
