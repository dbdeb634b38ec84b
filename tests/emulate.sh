#!/usr/bin/env bash
# Runs the firmware on an emulated board, in the foreground, with its HTTP port on this machine:
#
#     tests/emulate.sh arm|riscv|rp2040 PORT        e.g. tests/emulate.sh arm 8080
#
# Says "ready http://127.0.0.1:PORT" when it answers, and what the board logs; Ctrl-C ends it. Installs nothing: status
# 77 and a line for each missing tool. arm and riscv are machines of QEMU, rp2040 is the image of a W5500-EVB-Pico as it
# is flashed, in rp2040js. What is typed in this terminal goes to the board's serial console, try `help`; a program finds
# the console at MOTE_CONSOLE=PATH, a socket that is made there. MOTE_QEMU_FLAGS are passed on to QEMU, MOTE_RP2040_FLAGS
# to tests/emulated/rp2040/main.mjs; MOTE_IMAGE is run instead of a fresh build; DEFMT_LOG says how much is logged. They
# can be at the end of another cable, MOTE_NETDEV, where they answer at MOTE_BOARD_URL: tests/hostile/wire.py.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1

usage() {
    echo "usage: $0 arm|riscv|rp2040 PORT" >&2
    exit 2
}
[ $# -eq 2 ] || usage
port=$2
case $port in '' | *[!0-9]*) usage ;; esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
input=/dev/null
usb=()
if [ -n "${MOTE_CONSOLE:-}" ]; then
    serial="unix:$MOTE_CONSOLE,server=on,wait=off"
    usb=(--console "$MOTE_CONSOLE")
elif [ "$1" = rp2040 ]; then
    # It reads the terminal by itself.
    [ ! -t 0 ] || input=/dev/tty
    serial=null
elif [ -t 0 ]; then
    mkfifo "$folder/console.in" "$folder/console.out"
    serial="pipe:$folder/console"
else
    serial=null
fi
network=(-netdev "${MOTE_NETDEV:-user,id=n0,hostfwd=tcp:127.0.0.1:$port-:80}")
url=${MOTE_BOARD_URL:-http://127.0.0.1:$port}
common=(-display none -monitor none -serial "$serial" -semihosting-config "enable=on,target=native")
# Each takes the image as its last word. Flags from the environment are words on purpose.
# shellcheck disable=SC2206
case $1 in
    arm)
        board_name=qemu-arm
        emulator=(qemu-system-arm -M mps2-an385 "${common[@]}" "${network[@]}" -net "nic,model=lan9118,netdev=n0"
            ${MOTE_QEMU_FLAGS:-} -kernel)
        ;;
    riscv)
        board_name=qemu-riscv
        emulator=(qemu-system-riscv32 -M virt -m 16M -bios none "${common[@]}" "${network[@]}"
            -device "virtio-net-device,netdev=n0" ${MOTE_QEMU_FLAGS:-} -kernel)
        ;;
    rp2040)
        board_name=w5500-pico
        emulator=(node tests/emulated/rp2040/main.mjs --port "$port" "${usb[@]}" ${MOTE_RP2040_FLAGS:-})
        ;;
    *) usage ;;
esac

# Whoever has the port would answer in the board's place.
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "port $port of 127.0.0.1 is taken, choose another one" >&2
    exit 1
fi

missing=$(tests/tools/device.sh "$1") || { echo "$missing" >&2; exit 77; }
image=${MOTE_IMAGE:-$(firmware/build.sh "$board_name")} || exit 1

# A pipe with a name: the emulator and the decoder are both children whose ids we know, and end by them.
mkfifo "$folder/log"
board= decoder= typist= reader=
finish() {
    # shellcheck disable=SC2086 # one or none of each
    [ -z "$typist$reader" ] || kill $typist $reader 2>/dev/null
    [ -z "$board" ] || kill "$board" 2>/dev/null
    [ -z "$board" ] || wait "$board" 2>/dev/null
    # The decoder ends with the board's last word.
    [ -z "$decoder" ] || wait "$decoder" 2>/dev/null
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 0' INT TERM

defmt-print -e "$image" <"$folder/log" &
decoder=$!
if [ -p "$folder/console.in" ]; then
    cat <&0 >"$folder/console.in" &
    typist=$!
    cat "$folder/console.out" &
    reader=$!
fi
"${emulator[@]}" "$image" >"$folder/log" <"$input" &
board=$!

# QEMU takes connections before the board does: only an answer counts, and only while it runs. If it could not have the
# port it ends at once, and the answer was somebody else's.
is_ready=
for _ in $(seq 60); do
    kill -0 "$board" 2>/dev/null || break
    if curl -fsS -m 1 -o /dev/null "$url/.well-known/agent-card.json" 2>/dev/null; then
        sleep 0.5
        kill -0 "$board" 2>/dev/null && is_ready=yes
        break
    fi
    sleep 0.2
done
if [ -n "$is_ready" ]; then
    echo "ready $url"
elif kill -0 "$board" 2>/dev/null; then
    echo "the board does not answer" >&2
    exit 1
fi

wait "$board"
status=$?
board=
echo "the board ended (status $status)" >&2
exit "$((status == 0 ? 1 : status))"
