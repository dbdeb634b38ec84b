#!/usr/bin/env python3
"""Lists the ways to panic in what a peer's bytes reach, and fails if there is one that is not explained here:

    tests/size/panics.py [BOARD...]        core-alone and qemu-arm unless named; firmware/build.sh builds them

Every branch to a function of the core library that panics is found in the machine code, so what the compiler has proved
impossible is not there. Whose it is, line tables say: inlined code belongs to the line that it stands in. All of protocol-core,
the HTTP edge (firmware/src/http), firmware/src/mdns and firmware/src/signing are looked at; in the image of protocol-core alone the functions of libraries, too.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

# Ours, and reached by bytes of a peer.
LOOKED_AT = re.compile(r"(protocol-core/src/.*|firmware/src/(?:http/.*|mdns/.*|signing/.*|app\.rs|status\.rs))$")

OURS = re.compile(r"\b(protocol_core|firmware)::")
STANDARD = re.compile(r"\blibrary/(core|alloc|std)/")

# What panics, by its plain name.
PANICS = re.compile(
    r"^(core::panicking::.*|core::(slice|str)::.*_fail(::.*)?|core::(option|result)::(unwrap|expect)_failed"
    r"|core::cell::panic_already.*)$"
)

# Ways to panic that stay: where, which, what the line says (nothing where lines were merged), and why no byte of a peer
# gets there.
EXPLAINED = [
    ("", "panic_const_async_fn_resumed", "", "a future that is polled behind its end: only an executor could"),
    ("http/mod.rs", "panic_fmt", "assert!", "buffers that are too small: the board lends them"),
    ("http/handler.rs", "^panic$", None, "a `Map` of futures-util that is polled behind its end: picoserve does not"),
    ("http/body.rs", "slice_index_fail", None, "embedded-io's `read_exact`, which trusts the count of our own reader"),
    ("engine/wait.rs", "panic_bounds_check", "self.jobs[worker]", "a worker's number, which the firmware gives it"),
    ("signing/keys.rs", "panic_already", "self.keys", "a borrow that outlives its call: nobody keeps one"),
    ("src/node.rs", "panic_already", ".borrow", "a borrow that outlives its call: nobody keeps one"),
]

# The same for libraries, where all of an image calls nothing but protocol-core: function, and why.
LIBRARIES = [
    ("<core_alone::", "the agent of that image, polled behind its end"),
    ("<heapless::vec::VecInner", "adds lengths of which it has just checked that they fit"),
    ("<core::net::ip_addr::Ipv6Addr as core::str::", "copies the groups that it has just counted"),
    ("<core::str::pattern::CharSearcher", "looks at the bytes of the one character it looks for"),
]
ONLY_CORE = "core-alone"


def main():
    boards = sys.argv[1:] or [ONLY_CORE, "qemu-arm"]
    new = sum(look(board, build(board)) for board in boards)
    if new:
        sys.exit(f"{new} ways to panic that tests/size/panics.py does not explain")


def build(board):
    made = subprocess.run([ROOT / "firmware/build.sh", board, "--quiet"], stdout=subprocess.PIPE, text=True)
    if made.returncode:
        sys.exit(made.returncode)
    # Cargo's folder may be named from the root of the checkout.
    return ROOT / made.stdout.strip()


def look(board, image):
    functions, branches = read_code(image)
    sites = [(at, target) for at, target in branches if PANICS.match(functions[target])]
    found = defaultdict(set)
    for (at, target), frames in zip(sites, read_places(image, [at for at, _ in sites])):
        panic = functions[target].removeprefix("core::").removeprefix("panicking::")
        # What came in from the standard library belongs to who called it.
        name, path, line = next((frame for frame in frames if not STANDARD.search(frame[1])), frames[-1])
        # Where lines were merged, the function says whose it is.
        if (ours := LOOKED_AT.search(path)) and (line or OURS.search(name)):
            path = ours[1]
            found[f"{path}:{line} {name}: {panic}", explanation(path, line, panic)].add(at)
        elif board == ONLY_CORE and not PANICS.match(frames[-1][0]):
            why = next((why for begins, why in LIBRARIES if name.startswith(begins)), None)
            found[f"{name}: {panic}", why].add(at)
    print(f"{board}: {len(sites)} branches to a panic, {sum(map(len, found.values()))} of them where a peer's bytes go")
    new = 0
    for (what, why), places in sorted(found.items(), key=str):
        print(f"  {what}" + (f" ({why})" if why else f" NEW, at {', '.join(map(hex, sorted(places)))}"))
        new += not why
    return new


def explanation(path, line, panic):
    lines = (ROOT / path).read_text().splitlines()
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    for file, which, says, why in EXPLAINED:
        if path.endswith(file) and re.search(which, panic) and (line == 0 if says is None else says in text):
            return why
    return None


def run(*command, given=""):
    try:
        return subprocess.run(command, check=True, capture_output=True, input=given, text=True, errors="replace").stdout
    except FileNotFoundError:
        print(f"{command[0]} is missing (Debian: llvm)", file=sys.stderr)
        sys.exit(77)


def read_code(image):
    """The functions by their addresses, and every branch to the beginning of one as (from, to)."""
    functions, branches = {}, []
    head = re.compile(r"([0-9a-f]{8}) <(.*)>:$")
    # A call through a register has no target; none of these go to a panic.
    branch = re.compile(r"\s*([0-9a-f]+):\s+(?:b|cb)[a-z.]*\s+(?:r\d+, )?0x([0-9a-f]+) <")
    for line in run("llvm-objdump", "-d", "--demangle", "--no-show-raw-insn", image).splitlines():
        if found := head.match(line):
            # Where code begins behind data, there is a mark and no function.
            if not found[2].startswith("$"):
                functions[int(found[1], 16)] = plain(found[2])
        elif found := branch.match(line):
            branches.append((int(found[1], 16), int(found[2], 16)))
    return functions, [(at, target) for at, target in branches if target in functions]


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
            frames.append((plain(name), path, int(line)))
        places.append(frames)
    return places


main()
