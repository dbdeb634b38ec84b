#!/usr/bin/env bash
# Does what docs/your-first-skill.md tells people to do, in a fresh copy of this tree: all of its commands in their order,
#
#     tests/first-skill.sh            on this machine
#     tests/first-skill.sh arm        and on an emulated board: riscv and rp2040 are others
#
# `git clone` gives the tracked files as they are here. `cargo run` is started on a port that is free, and ended by the next
# one; a line with `#=>` asks it, and a real browser opens its page. The blocks behind `<!-- board -->` are for the board.
#
# Exit: 0 all passed, 77 a tool is missing, if only the browser's after everything else, 1 failure.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
root=$PWD
document=$root/docs/your-first-skill.md
. tests/tools/try.sh
command -v curl >/dev/null || { echo "curl is missing"; exit 77; }
command -v perl >/dev/null || { echo "perl is missing"; exit 77; }
[ -z "${1:-}" ] || tests/tools/device.sh "$1" || exit 77
# What was built for this tree serves the copy, too.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
unset MOTE_TOKEN MOTE_OTHER_TOKEN

work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
    server=
}
trap 'finish; rm -rf "$work"' EXIT
cd "$work" || exit 1

# blocks KIND: the lines of its `sh` blocks, those for a board or the others, without comments
blocks() {
    awk -v board="$1" '
        /^```/ && inside { inside = 0; mark = ""; next }
        inside && !/^#/ && NF { print }
        /^```sh/ && (mark == "board") == board { inside = 1 }
        /^<!-- board -->/ { mark = "board"; next }
        /^[^`]/ { mark = "" }' "$document"
}

# file NAME: what the document says stands in it
file() {
    awk -v name="$1" '
        /^```/ && inside { exit }
        inside
        $0 == "<!-- file: " name " -->" { found = 1 }
        /^```/ && found { inside = 1 }' "$document"
}

# serve COMMAND: starts it and waits until it listens
serve() {
    finish
    $1 >"$work/log" 2>&1 &
    server=$!
    for _ in $(seq 6000); do
        base=$(grep -o -m1 'http://127\.0\.0\.1:[0-9]*' "$work/log") && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat "$work/log"
    return 1
}

# look COMMAND...: opens the page in a browser
blind=
look() {
    local status=0
    "$@" || status=$?
    [ "$status" -eq 77 ] || return "$status"
    blind=1
}

failed=0
count=0
while IFS= read -r line <&3; do
    count=$((count + 1))
    case $line in
        "git clone "*)
            mkdir mote
            (cd "$root" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T - 2>/dev/null) | tar -x -C mote
            ;;
        "cd "*) cd "${line#cd }" || exit 1 ;;
        "cargo run "*) echo "== $line" && serve "$line -- --port 0" && look "$root/tests/page/run.sh" --own "$base" ;;
        *"#=>"*) try_line "$line" "$base" ;;
        *) echo "== $line" && bash -c "$line" ;;
    esac || { echo "FAIL $line"; failed=$((failed + 1)); }
done 3< <(blocks 0)
finish

if [ -n "${1:-}" ]; then
    while IFS= read -r line; do
        count=$((count + 1))
        echo "== $line"
        case $line in
            "tests/emulate.sh "*)
                file firmware/src/device/agent.rs >firmware/src/device/agent.rs
                tests/with-board.sh "$1" tests/readme.sh docs/your-first-skill.md &&
                    look tests/with-board.sh "$1" tests/page/run.sh --own
                ;;
            *) bash -c "$line" ;;
        esac || { echo "FAIL $line"; failed=$((failed + 1)); }
    done < <(blocks 1)
fi

echo "$((count - failed)) passed, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ] || exit 1
[ -z "$blind" ] || exit 77
