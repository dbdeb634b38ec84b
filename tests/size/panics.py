#!/usr/bin/env python3
"""Lists the ways to panic in what a peer's bytes reach, and fails if there is one that is not explained here:

    tests/size/panics.py IMAGE...        IMAGE as firmware/build.sh made it: core-alone, qemu-arm

Every branch to a function of the core library that panics is found in the machine code, so what the compiler has proved
impossible is not there. Whose it is, line tables say: inlined code belongs to the line that it stands in. All of protocol-core
and the HTTP edge (firmware/src/http) are looked at. A library's function that panics counts where they call it, unless its
own callers in the library are all there is.
"""

import re
import subprocess
import sys
from collections import defaultdict

# Ours, and reached by bytes of a peer.
LOOKED_AT = re.compile(r"(protocol-core/src/.*|firmware/src/(?:http/.*|app\.rs|status\.rs))$")

# What panics, by its plain name.
PANICS = re.compile(
    r"^(core::panicking::\w+(::\w+)*|core::(slice|str)::.*(_fail|_fail_rt|fail::do_panic.*|len_mismatch_fail.*)"
    r"|core::(option|result)::(unwrap|expect)_failed|core::cell::panic_already.*|core::cell::.*::do_panic.*)$"
)

# Ways to panic that stay: file, what the line says, and why no byte of a peer gets there.
EXPLAINED = []


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    new = 0
    for image in sys.argv[1:]:
        new += look(image)
    if new:
        sys.exit(f"{new} ways to panic that tests/size/panics.py does not explain")


def look(image):
    functions, branches = read_code(image)
    found = defaultdict(set)
    sites = [(at, target) for at, target in branches if PANICS.match(functions.get(target, ""))]
    places = read_places(image, [at for at, _ in sites])
    for (at, target), frames in zip(sites, places):
        ours = next((frame for frame in frames if LOOKED_AT.search(frame[1])), None)
        if ours:
            name, path, line = ours
            found[(LOOKED_AT.search(path)[1], int(line), name)].add(functions[target])
    new = 0
    print(f"{image}: {len(sites)} branches to a panic, {sum(map(len, found.values()))} of them in what a peer's bytes reach")
    for (path, line, name), panics in sorted(found.items()):
        why = explanation(path, line)
        new += why is None
        for panic in sorted(panics):
            print(f"  {'NEW ' if why is None else ''}{path}:{line} {name}: {panic}" + (f" ({why})" if why else ""))
    return new


def explanation(path, line):
    try:
        text = open(path).read().splitlines()[line - 1]
    except (OSError, IndexError):
        text = ""
    return next((why for file, says, why in EXPLAINED if path.endswith(file) and says in text), None)


def run(*command, given=""):
    try:
        return subprocess.run(command, check=True, capture_output=True, input=given, text=True, errors="replace").stdout
    except FileNotFoundError:
        print(f"{command[0]} is missing (Debian: llvm)", file=sys.stderr)
        sys.exit(77)


def read_code(image):
    """The functions by their addresses, and all branches as (from, to)."""
    functions, branches = {}, []
    head = re.compile(r"^([0-9a-f]{8}) <(.*)>:$")
    # bl, b, b.w, and the conditional ones; a call through a register has no target.
    branch = re.compile(r"^\s*([0-9a-f]+):\s+(?:bl|b|b\w\w|b\.w|blx|cbn?z)\s+.*?(?:#|0x)?-?[0-9a-fx]*\s*<(.*?)(\+0x[0-9a-f]+)?>")
    names = defaultdict(set)
    pending = []
    for line in run("llvm-objdump", "-d", "--demangle", "--no-show-raw-insn", image).splitlines():
        if found := head.match(line):
            address, name = int(found[1], 16), found[2]
            functions[address] = plain(name)
            names[name].add(address)
        elif found := branch.match(line):
            if not found[3]:
                pending.append((int(found[1], 16), found[2]))
    for at, name in pending:
        for address in names.get(name, ())if len(names.get(name, ())) else ():
            branches.append((at, address))
            break
    return functions, branches


def plain(name):
    """Without the hash, and without the crate's disambiguator."""
    return re.sub(r"\[[0-9a-f]{16}\]|::h[0-9a-f]{16}$", "", name)


def read_places(image, addresses):
    """For each address, the functions it is in, innermost first, as (name, path, line)."""
    said = run("llvm-symbolizer", "--inlines", "--demangle", f"--obj={image}", given="\n".join(map(hex, addresses)))
    places = []
    for block in said.rstrip("\n").split("\n\n"):
        lines = block.splitlines()
        frames = []
        for name, place in zip(lines[::2], lines[1::2]):
            path, line, _ = place.rsplit(":", 2)
            frames.append((plain(name), path, line if line.isdigit() else "0"))
        places.append(frames)
    return places


main()
