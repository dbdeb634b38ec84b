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
    qemu-arm) target=thumbv6m-none-eabi ;;
    qemu-riscv) target=riscv32imc-unknown-none-elf ;;
    *)
        echo "usage: $0 qemu-arm|qemu-riscv [CARGO ARGUMENT...]" >&2
        exit 2
        ;;
esac
board=$1
shift
export DEFMT_LOG=${DEFMT_LOG:-info}
# A panic says in which file: without the folders of this machine, which take flash and are nobody's business. 
# folder for crates.io has the same name everywhere.)
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
flags=(--remap-path-prefix="$sources/=" --remap-path-prefix="$sources/*/=")
variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")
arguments=(build --package firmware --bin "$board" --features "$board" --profile device --target "$target" "$@")

if rustup target list --installed 2>/dev/null | grep -qx "$target"; then
    export "${variable}_RUSTFLAGS=${flags[*]}"
    cargo "${arguments[@]}" >&2
elif [ -x /usr/bin/cargo ] && command -v ld.lld >/dev/null; then
    flags+=(-C linker-flavor=ld.lld --remap-path-prefix="$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/=")
    export "${variable}_LINKER=ld.lld" "${variable}_RUSTFLAGS=${flags[*]}"
    export RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc
    /usr/bin/cargo "${arguments[@]}" -Z build-std=core >&2
else
    echo "no compiler for $target: rustup target add $target, or see tests/tools/device.sh" >&2
    exit 77
fi
echo "${CARGO_TARGET_DIR:-target}/$target/device/$board"
