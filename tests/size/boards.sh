#!/usr/bin/env bash
# Flash and static RAM of the emulated boards' images, which firmware/build.sh builds if they are not there. All of it:
# ours, the network stack, the start-up code; the stack is not in it.
set -euo pipefail

cd "$(dirname "$0")/../.."
command -v llvm-size >/dev/null || { echo "llvm-size is missing (Debian: llvm)"; exit 77; }
printf '%-12s %12s %12s\n' board flash 'static RAM'
for board in qemu-arm qemu-riscv; do
    image=$(firmware/build.sh "$board" --quiet)
    # text and data are flashed, data and bss are RAM
    llvm-size "$image" | awk -v board="$board" 'NR == 2 { printf "%-12s %8.1f KiB %8.1f KiB\n", board, ($1 + $2) / 1024, ($2 + $3) / 1024 }'
done
