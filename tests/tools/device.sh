#!/usr/bin/env bash
# What building and emulating a board needs, beyond cargo:
#
#     tests/tools/device.sh            says what is missing, one line each; status 1 if anything is
#     tests/tools/device.sh install    installs it (Debian, as root; crates with cargo; rp2040js with npm, outside the
#                                      checkout in ${MOTE_CACHE:-~/.cache/mote}/rp2040js)
#
# Where rustup has the boards' targets, its compiler is used and Debian's is not needed: see firmware/build.sh.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
wanted=(tests/emulated/rp2040/package.json tests/emulated/rp2040/package-lock.json)
rp2040js="${MOTE_CACHE:-$HOME/.cache/mote}/rp2040js"

targets="thumbv6m-none-eabi riscv32imc-unknown-none-elf riscv32imac-unknown-none-elf"

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

# What has to be the same for an installed rp2040js to be still good.
stamp() { cat "${wanted[@]}" | cksum; }

has_rp2040js() { [ -f "$rp2040js/.stamp" ] && [ "$(stamp)" = "$(cat "$rp2040js/.stamp")" ]; }

# The Debian packages that are missing, in one line.
packages() {
    if ! has_targets; then
        has_debian_rust || printf 'rustc-web cargo-web rust-web-src '
        command -v ld.lld >/dev/null || printf 'lld '
    fi
    command -v qemu-system-arm >/dev/null || printf 'qemu-system-arm '
    command -v qemu-system-riscv32 >/dev/null || printf 'qemu-system-misc '
    command -v llvm-size >/dev/null || printf 'llvm '
    command -v curl >/dev/null || printf 'curl '
    command -v node >/dev/null || printf 'nodejs '
    command -v npm >/dev/null || printf 'npm '
}

missing() {
    local packages
    packages=$(packages)
    [ -z "$packages" ] || echo "missing: ${packages% } (as root on Debian: apt-get install ${packages% })"
    command -v defmt-print >/dev/null || echo "missing: defmt-print (cargo install defmt-print --locked)"
    has_rp2040js || echo "missing: rp2040js in $rp2040js (tests/tools/device.sh install)"
}

install_rp2040js() {
    echo "installing rp2040js into $rp2040js"
    rm -rf "$rp2040js"
    mkdir -p "$rp2040js"
    cp "${wanted[@]}" "$rp2040js"
    (cd "$rp2040js" && npm ci --silent --no-audit --no-fund --ignore-scripts) && stamp >"$rp2040js/.stamp"
}

# A qemu-utils from backports and an emulator from the release exclude each other: take the suite that is there.
install_packages() {
    local suite=()
    if dpkg-query -W -f '${Version}' qemu-utils 2>/dev/null | grep -q '~bpo12'; then
        echo "qemu-utils is from bookworm-backports: the emulators come from there, too"
        # From wherever the release itself comes.
        local archive
        archive=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' | awk '$1 == "bookworm" { print $2; exit }')
        echo "deb $archive bookworm-backports main" >/etc/apt/sources.list.d/mote-backports.list
        suite=(-t bookworm-backports)
    fi
    apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${suite[@]}" "$@" >/dev/null
}

if [ "${1:-}" = install ]; then
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
