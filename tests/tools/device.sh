#!/usr/bin/env bash
# What building and emulating boards needs, beyond cargo:
#
#     tests/tools/device.sh [BOARD...]            says what is missing, one line each; status 1 if anything is
#     tests/tools/device.sh install [BOARD...]    installs it (Debian, as root; crates with cargo; rp2040js with npm, outside
#                                                 the checkout in ${MOTE_CACHE:-~/.cache/mote}/rp2040js)
#
# BOARD is one that tests/emulate.sh runs: arm, riscv or rp2040. Without any: whatever tests/full.sh needs, which builds
# and measures the images of all boards. Where rustup has the boards' targets, its compiler is used and Debian's is not
# needed: see firmware/build.sh.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1

is_install=
[ "${1:-}" = install ] && { is_install=yes; shift; }
targets= commands= wants_rp2040js=
# want TARGET COMMAND=PACKAGE...
want() {
    targets+="$1 "
    shift
    commands+="$* "
}
for board in "${@:-all}"; do
    case $board in
        arm) want thumbv6m-none-eabi qemu-system-arm=qemu-system-arm ;;
        riscv) want riscv32imc-unknown-none-elf qemu-system-riscv32=qemu-system-misc ;;
        rp2040)
            want thumbv6m-none-eabi qemu-system-arm=qemu-system-arm node=nodejs npm=npm
            wants_rp2040js=yes
            ;;
        all)
            want "thumbv6m-none-eabi thumbv8m.main-none-eabihf riscv32imc-unknown-none-elf riscv32imac-unknown-none-elf" \
                qemu-system-arm=qemu-system-arm qemu-system-riscv32=qemu-system-misc node=nodejs npm=npm \
                llvm-size=llvm python3=python3
            wants_rp2040js=yes
            ;;
        *)
            echo "usage: $0 [install] [arm|riscv|rp2040...]" >&2
            exit 2
            ;;
    esac
done
commands+=curl=curl

# Where rustup cannot download a target, Debian's compiler for its browsers comes with the library's source.
has_targets() {
    local installed target
    installed=$(rustup target list --installed 2>/dev/null) || return 1
    for target in $targets; do
        grep -qx "$target" <<<"$installed" || return 1
    done
}

has_debian_rust() {
    [ -x /usr/bin/cargo ] && [ -d "$(/usr/bin/rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library" ]
}

# rp2040js is good for as long as the files that ask for it have not changed.
wanted=(tests/emulated/rp2040/package.json tests/emulated/rp2040/package-lock.json)
rp2040js="${MOTE_CACHE:-$HOME/.cache/mote}/rp2040js"
stamp() { cat "${wanted[@]}" | cksum; }
has_rp2040js() {
    [ -z "$wants_rp2040js" ] || { [ -f "$rp2040js/.stamp" ] && [ "$(stamp)" = "$(cat "$rp2040js/.stamp")" ]; }
}

# The Debian packages that are missing, in one line.
packages() {
    local pair
    if ! has_targets; then
        has_debian_rust || printf 'rustc-web cargo-web rust-web-src '
        command -v ld.lld >/dev/null || printf 'lld '
    fi
    for pair in $commands; do
        command -v "${pair%=*}" >/dev/null || printf '%s ' "${pair#*=}"
    done
}

missing() {
    local packages
    packages=$(packages)
    [ -z "$packages" ] || echo "missing: ${packages% } (as root on Debian: apt-get install ${packages% })"
    case $packages in *rustc-web*) echo "         or, for the compiler: rustup target add ${targets% }" ;; esac
    command -v defmt-print >/dev/null || echo "missing: defmt-print (cargo install defmt-print --locked)"
    has_rp2040js || echo "missing: rp2040js in $rp2040js (tests/tools/device.sh install rp2040)"
}

# A qemu-utils from backports and an emulator from the release exclude each other: take the suite that is there.
install_packages() {
    local suite=()
    if dpkg-query -W -f '${Version}' qemu-utils 2>/dev/null | grep -q '~bpo12'; then
        echo "qemu-utils is from bookworm-backports: the emulators come from there, too"
        # From wherever the release itself comes.
        local archive
        archive=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' | awk '$1 == "bookworm" { print $2; exit }')
        [ -n "$archive" ] || { echo "apt does not say where bookworm comes from"; return 1; }
        echo "deb $archive bookworm-backports main" >/etc/apt/sources.list.d/mote-backports.list
        suite=(-t bookworm-backports)
    fi
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${suite[@]}" "$@" >/dev/null
}

install_rp2040js() {
    echo "installing rp2040js into $rp2040js"
    rm -rf "$rp2040js"
    mkdir -p "$rp2040js"
    cp "${wanted[@]}" "$rp2040js"
    (cd "$rp2040js" && npm ci --silent --no-audit --no-fund --ignore-scripts) && stamp >"$rp2040js/.stamp"
}

if [ -n "$is_install" ]; then
    packages=$(packages)
    if [ -n "$packages" ] && command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
        echo "installing $packages"
        # shellcheck disable=SC2086 # words on purpose
        install_packages $packages
    fi
    if ! command -v defmt-print >/dev/null; then
        echo "installing defmt-print"
        cargo install --quiet --locked defmt-print
    fi
    if ! has_rp2040js && command -v npm >/dev/null; then
        install_rp2040js
    fi
fi

found=$(missing)
[ -z "$found" ] && exit 0
echo "$found"
exit 1
