#!/usr/bin/env bash
# Runs everything: formatting, lints, host tests, real clients against the real binary, and the firmware on emulated
# boards. Installs what it needs (Debian packages if it may, crates, PyPI and npm packages outside the checkout) and says
# what it does.
#
#   tests/full.sh            all steps; a step whose tools are missing is skipped and named at the end
#   CI=true tests/full.sh    a skipped step is a failure
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
# One target folder for every checkout on this machine: a fresh clone does not build everything again.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${MOTE_CACHE:-$HOME/.cache/mote}/target}

passed=()
failed=()
skipped=()

# step NAME COMMAND...: runs it; status 77 means that a tool is missing
step() {
    local name=$1 status=0 start=$SECONDS
    shift
    printf '\n=== %s: %s\n' "$name" "$*"
    "$@" || status=$?
    case $status in
        0) passed+=("$name ($((SECONDS - start)) s)") ;;
        77) skipped+=("$name") ;;
        *) failed+=("$name (status $status)") ;;
    esac
}

# want COMMAND PACKAGE...: installs Debian packages if the command is missing and we may
want() {
    command -v "$1" >/dev/null && return 0
    shift
    if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
        echo "installing $*"
        apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y "$@" >/dev/null
    else
        echo "missing: $* (as root on Debian: apt-get install $*)"
    fi
}

tools() {
    command -v cargo >/dev/null || { echo "cargo is missing: https://rustup.rs"; return 1; }
    cargo --version
    want curl curl
    want perl perl
    want python3 python3 python3-venv
    want node nodejs
    want npm npm
    return 0
}

real_clients() { tests/with-sim.sh sensor tests/interop/run.sh; }
readme() { tests/with-sim.sh sensor tests/readme.sh; }
# Somebody's own skill, from the clone to the browser.
first_skill() {
    want chromium chromium
    tests/first-skill.sh "$@"
}
# The programs of docs/clients.md, at an open door and at a shut one.
clients() {
    tests/with-sim.sh sensor tests/clients.sh || return
    tests/with-sim.sh "sensor --token owner:read+act+operator:the-token-of-the-clients" tests/clients.sh
}

# The same clients where a token is needed. An agent of one dialect alone has another card, which must do, too.
real_clients_door() (
    export MOTE_TOKEN=for-tests-all-classes MOTE_OTHER_TOKEN=for-tests-only-to-read
    local sensor="sensor --token owner:read+act+operator:$MOTE_TOKEN --token other:read:$MOTE_OTHER_TOKEN"
    local door='tests/interop/door.sh "$1" $SUITES'
    tests/with-sim.sh "$sensor" tests/interop/door.sh || return
    SUITES="python-1.3.0 js-1.3.0" tests/with-sim.sh "$sensor --dialects 1.0" bash -c "$door" door || return
    SUITES="python-0.3.26 js-0.3.14" tests/with-sim.sh "$sensor --dialects 0.3" bash -c "$door" door
)

# Status 77 where the tools are missing and may not be installed.
board_tools() { tests/tools/device.sh install || return 77; }
rp2040_parts() {
    tests/tools/device.sh rp2040 >/dev/null || return 77
    node --test tests/emulated/rp2040/*.test.mjs
}

# Hostile clients, against a board's limits and a laptop's at the same time: most of it is waiting for deadlines.
hostile_sim() {
    local status=0 laptop laptops_log keys
    local -x MOTE_TOKEN=the-token-of-the-hostile-suite MOTE_OTHER_TOKEN=a-token-that-may-only-read
    laptops_log=$(mktemp)
    keys="--token owner:read+act+operator:$MOTE_TOKEN --token other:read:$MOTE_OTHER_TOKEN"
    tests/with-sim.sh "sensor $keys" tests/hostile/run.py >"$laptops_log" 2>&1 &
    laptop=$!
    tests/with-sim.sh "sensor --preset pico $keys" tests/hostile/run.py || status=$?
    wait "$laptop" || status=$?
    cat "$laptops_log"
    rm -f "$laptops_log"
    return "$status"
}

# The board has a network of its own: there its clients have TCP and addresses of their own, and can vanish.
hostile_arm() {
    want ip iproute2
    want unshare util-linux
    tests/hostile/wire.py tests/with-board.sh arm tests/hostile/run.py
}

# An hour's worth of work over a bad network.
soak() {
    want ip iproute2
    want unshare util-linux
    tests/hostile/wire.py --loss 1 --reorder 2 --twice 1 --delay 1 --jitter 3 \
        tests/with-board.sh arm tests/hostile/soak.py
}

# Webhooks that answer rightly, wrongly, late and never, over TLS and without; in a network of their own.
push_tools() {
    want ip iproute2
    want unshare util-linux
    want openssl openssl
}
push_sim() {
    push_tools
    tests/push/run.py sim
}
push_arm() {
    push_tools
    tests/hostile/wire.py tests/with-board.sh arm tests/push/run.py
}

# The page in a real browser: against host-sim, and what a board can do against one.
page_sim() {
    want chromium chromium
    tests/page/run.sh
}
page_arm() {
    want chromium chromium
    tests/with-board.sh arm tests/page/run.sh
}

# Others in the same network, who look for a name: real clients, at the other end of a cable.
discovery_tools() {
    want ip iproute2
    want unshare util-linux
    want avahi-daemon avahi-daemon avahi-utils libnss-mdns dbus
    tests/discovery/run.sh install
}
discovery_sim() {
    discovery_tools || return
    tests/discovery/run.sh sim
}
discovery_board() {
    discovery_tools || return
    tests/hostile/wire.py tests/with-board.sh "$1" tests/discovery/run.sh
}

# Nobody else may ask meanwhile: what is counted is held against what was sent.
operations_sim() {
    local keys="--token owner:read+act+operator:the-token-of-operations --token other:read:a-token-that-may-only-read"
    tests/with-sim.sh "sensor --preset pico $keys" tests/operations/run.sh
}
operations_arm() { tests/with-board.sh arm tests/operations/run.sh; }

# image BOARD: builds it; a warning of ours is a failure
image() {
    local log status=0
    log=$(mktemp)
    firmware/build.sh "$1" 2>&1 | tee "$log" || status=$?
    ! grep -qE 'warning: `(firmware|protocol-core)`' "$log" || status=1
    rm -f "$log"
    return "$status"
}

# Two boards in one image: firmware/build/board.rs says in our words what is wrong, and fails before anything is linked.
one_board() {
    local folder said
    folder=$(mktemp -d)
    rustc --edition 2024 --crate-name build -o "$folder/build" - <<'EOF' || return 1
#[path = "firmware/build/board.rs"]
mod board;
fn main() {
    board::arrange();
}
EOF
    said=$(OUT_DIR=$folder CARGO_FEATURE_PICO_W=1 CARGO_FEATURE_ESP32C6=1 "$folder/build")
    rm -rf "$folder"
    grep '^cargo::error=an image is for one board' <<<"$said"
}

step tools tools
step format cargo fmt --all --check
step lints cargo clippy --workspace --all-targets -- -D warnings
step lints-log cargo clippy -p firmware --features log -- -D warnings
step lints-unsigned cargo clippy -p firmware -p host-sim --no-default-features -- -D warnings
step tests-unsigned cargo test --quiet -p firmware --lib --no-default-features
step tests cargo test --workspace
step docs env RUSTDOCFLAGS="-D warnings -D missing_docs" cargo doc --workspace --no-deps --quiet
step fuzz tests/fuzz.sh 20
step release cargo build --release -p host-sim
step size tests/size/host.sh
step readme readme
step first-skill first_skill
step clients clients
step receiver tests/push/receiver_test.sh
# Shut, as a board is.
step end-to-end tests/with-sim.sh "sensor --preset pico --token owner:read+act+operator:end-to-end-token" tests/end-to-end.sh
step real-clients real_clients
step real-clients-door real_clients_door
step terminal tests/terminal/run.sh
step hostile-sim hostile_sim
step push-sim push_sim
step page-sim page_sim
step discovery-sim discovery_sim
step operations-sim operations_sim
step board-tools board_tools
step one-board one_board
step rp2040-parts rp2040_parts
for board in qemu-arm w5500-pico qemu-riscv; do step "image-$board" image "$board"; done
step panics tests/size/panics.py
step arm-board tests/with-board.sh arm tests/board.sh
step riscv-board tests/with-board.sh riscv tests/board.sh
step rp2040-board tests/with-board.sh rp2040 tests/board.sh
step first-skill-board first_skill arm
step arm-board-client tests/with-board.sh arm tests/interop/board.sh python-1.3.0
for board in arm riscv rp2040; do step "$board-life" tests/emulated/life.py "$board"; done
step hostile-arm hostile_arm
step push-arm push_arm
step page-arm page_arm
step operations-arm operations_arm
for board in arm riscv rp2040; do step "discovery-$board" discovery_board "$board"; done
step soak soak
step arm-numbers tests/size/emulated.py
for board in pico-w pico2-w esp32c3 esp32c6; do step "image-$board" image "$board"; done
step board-size tests/size/boards.sh

printf '\n=== summary\n'
printf 'passed   %s\n' "${passed[@]}"
[ ${#skipped[@]} -eq 0 ] || printf 'skipped  %s (a tool is missing, see above)\n' "${skipped[@]}"
[ ${#failed[@]} -eq 0 ] || printf 'FAILED   %s\n' "${failed[@]}"
if [ "${CI:-}" = true ] && [ ${#skipped[@]} -gt 0 ]; then
    echo "CI: a skipped step is a failure"
    exit 1
fi
[ ${#failed[@]} -eq 0 ]
