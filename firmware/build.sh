#!/usr/bin/env bash
# Builds the image of a board and says where it is:
#
#     firmware/build.sh BOARD [CARGO ARGUMENT...]        e.g. firmware/build.sh qemu-arm
#
# Plain cargo where rustup has the board's target (rustup target add TARGET); else Debian's compiler, which comes with
# the library's source (tests/tools/device.sh). DEFMT_LOG says how much the device tells: info unless set.
set -euo pipefail

cd "$(dirname "$0")/.."

case ${1:-} in
    core-alone | qemu-arm | w5500-pico | pico-w) target=thumbv6m-none-eabi ;;
    pico2-w) target=thumbv8m.main-none-eabihf ;;
    qemu-riscv | esp32c3) target=riscv32imc-unknown-none-elf ;;
    esp32c6) target=riscv32imac-unknown-none-elf ;;
    *)
        echo "usage: $0 qemu-arm|qemu-riscv|w5500-pico|pico-w|pico2-w|esp32c3|esp32c6 [CARGO ARGUMENT...]" >&2
        exit 2
        ;;
esac
board=$1
shift
# Espressif's radio has a heap.
case $board in
    esp*) library=core,alloc ;;
    *) library=core ;;
esac
export DEFMT_LOG=${DEFMT_LOG:-info}
# A panic says in which file: without the folders of this machine, which take flash and are nobody's business.
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
compgen -G "$sources/*/" >/dev/null || cargo fetch --locked >&2
flags=()
for folder in "$sources"/*/; do flags+=("--remap-path-prefix=$folder="); done
variable=CARGO_TARGET_$(tr 'a-z.-' 'A-Z__' <<<"$target")
arguments=(build --package firmware --bin "$board" --features "$board" --profile device --target "$target" "$@")

installed=$(rustup target list --installed 2>/dev/null || true)
library_source=$(/usr/bin/rustc --print sysroot 2>/dev/null || true)/lib/rustlib/src/rust/library
if grep -qx "$target" <<<"$installed"; then
    export "${variable}_RUSTFLAGS=${flags[*]}"
    cargo "${arguments[@]}" >&2
elif [ -x /usr/bin/cargo ] && [ -d "$library_source" ] && command -v ld.lld >/dev/null; then
    flags+=(-C linker-flavor=ld.lld --remap-path-prefix="$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/=")
    export "${variable}_LINKER=ld.lld" "${variable}_RUSTFLAGS=${flags[*]}"
    export RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc
    # Copying and dividing, which these processors do by hand, for speed: as in the library that rustup has.
    arguments+=(--config profile.device.package.compiler_builtins.opt-level=3)
    /usr/bin/cargo "${arguments[@]}" -Z "build-std=$library" >&2
else
    echo "no compiler for $target: rustup target add $target, or see tests/tools/device.sh" >&2
    exit 77
fi
echo "${CARGO_TARGET_DIR:-target}/$target/device/$board"
