#!/usr/bin/env python3
"""Says where the memory of a board's image goes, and fails if it takes more than it may:

    tests/size/image.py BOARD IMAGE

The ceilings are in ceilings.txt beside this file. LLVM's tools read the image (Debian: llvm).
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TOP = 10
# A radio's own programme comes with the chip and is none of ours: shown apart, and not counted.
BLOB_BYTES = 64 * 1024
# Room that linker scripts set aside: the stack has a region of its own, the others only move addresses.
INSTRUCTION_BYTES = 2
UNNAMED = "constants without a name (texts, places of panics)"
SET_ASIDE = re.compile(r"\.(stack|heap)|.*_(dummy|gap)$")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    board, image = sys.argv[1:]
    sections, symbols = read_sections(image), read_symbols(image)

    flashed = [section for section in sections if section["bytes"] and section["is_flashed"]]
    blobs = [symbol for symbol in symbols if symbol["kind"] in "rR" and symbol["bytes"] >= BLOB_BYTES]
    flash = sum(section["bytes"] for section in flashed) - sum(blob["bytes"] for blob in blobs)
    ram = sum(section["bytes"] for section in sections if section["is_ram"])
    ceilings = read_ceilings(board)

    print(f"{board}: flash {flash / 1024:.1f} KiB (at most {ceilings['flash']}), "
          f"static RAM {ram / 1024:.1f} KiB (at most {ceilings['ram']})")
    show("flash by section", {section["name"]: section["bytes"] for section in flashed})
    if blobs:
        show("not counted", {f"{blob['name']}, the radio's own": blob["bytes"] for blob in blobs})
    show("flash by crate", crates(image, sections, symbols, blobs))
    show("static RAM", {symbol["name"]: symbol["bytes"] for symbol in symbols if symbol["kind"] in "bBdD"})
    show("futures, each", futures(image))

    over = [what for what, used in (("flash", flash), ("ram", ram)) if used > ceilings[what] * 1024]
    if over:
        sys.exit(f"{board}: more {' and '.join(over)} than tests/size/ceilings.txt allows")


def show(title, sizes):
    print(f"  {title}")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:TOP]:
        print(f"    {size:8}  {name}")


def read_ceilings(board):
    for line in (Path(__file__).parent / "ceilings.txt").read_text().splitlines():
        words = line.split()
        if words and words[0] == board:
            return {"flash": int(words[1]), "ram": int(words[2])}
    sys.exit(f"{board} has no line in tests/size/ceilings.txt")


def run(*command, given=""):
    try:
        return subprocess.run(command, check=True, capture_output=True, input=given, text=True, errors="replace").stdout
    except FileNotFoundError:
        print(f"{command[0]} is missing (Debian: llvm)", file=sys.stderr)
        sys.exit(77)


def read_sections(image):
    line = re.compile(r"\s*\[ *\d+\] (\S+) +(\S+) +([0-9a-f]{8}) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Za-z]*) ")
    found = []
    for name, kind, address, size, flags in line.findall(run("llvm-readelf", "-SW", image)):
        if "A" not in flags or SET_ASIDE.match(name):
            continue
        found.append({
            "name": name,
            "address": int(address, 16),
            "bytes": int(size, 16),
            "is_flashed": kind != "NOBITS",
            # ESP's .rwtext is code that runs from RAM.
            "is_ram": "W" in flags or name.startswith((".data", ".rwtext")),
            "is_code": "X" in flags,
        })
    return found


def read_symbols(image):
    mangled = run("llvm-nm", "-S", "--defined-only", image).splitlines()
    plain = run("llvm-nm", "-S", "--defined-only", "--demangle", image).splitlines()
    found = []
    for line, name in zip(mangled, plain):
        words = line.split(maxsplit=3)
        if len(words) == 4:
            found.append({
                "address": int(words[0], 16) & ~1,
                "bytes": int(words[1], 16),
                "kind": words[2],
                "mangled": words[3],
                "name": name.split(maxsplit=3)[3],
            })
    return found


def crates(image, sections, symbols, blobs):
    """Code belongs to the crate whose source it was made from, wherever it was inlined or instantiated: a future of ours
    that lives in the executor's `poll` is ours. What came in from the standard library belongs to who called it, unless
    it is a function of its own. Constants belong to the crate that named them; most have no name."""
    sizes = Counter()
    addresses = []
    for section in sections:
        if section["is_flashed"] and section["is_code"]:
            addresses += range(section["address"], section["address"] + section["bytes"], INSTRUCTION_BYTES)
        elif section["is_flashed"]:
            sizes[UNNAMED] += section["bytes"]
    with tempfile.TemporaryDirectory() as folder:
        # The index of addresses is a copy of what the units say of themselves. With code in RAM and in flash it has ranges
        # of negative length, and one of those hides everything behind it.
        plain = f"{folder}/image"
        run("llvm-objcopy", "--remove-section=.debug_aranges", image, plain)
        places = run("llvm-symbolizer", "--inlines", "--functions=none", f"--obj={plain}", given="\n".join(map(hex, addresses)))
    for frames in places.rstrip("\n").split("\n\n"):
        sizes[crate_of_frames(frames.splitlines())] += INSTRUCTION_BYTES
    for symbol in symbols:
        if symbol["kind"] in "rR":
            sizes[UNNAMED] -= symbol["bytes"]
            if symbol not in blobs:
                sizes[crate_of_symbol(symbol["mangled"])] += symbol["bytes"]
    return sizes


def crate_of_frames(paths):
    """`paths` are the innermost function's first."""
    inlined = [path for path in paths if not re.search(r"\blibrary/(core|alloc|std)/", path)]
    path = (inlined or paths)[0]
    for pattern in (
        r"\blibrary/([\w-]+)/",  # what comes with the compiler
        r"(?:^|/)([\w-]+)-\d+\.\d+\.\d+[^/]*/",  # a package of a registry
        r"\b(protocol-core|firmware)/src/",
    ):
        if found := re.search(pattern, path):
            return found[1].replace("-", "_")
    return "code of no known crate (assembly, prebuilt)"


def crate_of_symbol(mangled):
    # A crate's name stands behind `C` and its disambiguator; that of the item, or of its impl, is the first one.
    found = re.match(r"_R.*?C(?:s[0-9A-Za-z]*_)?(\d+)_?(.*)", mangled)
    if found:
        return found[2][: int(found[1])]
    # The older scheme begins with it.
    found = re.match(r"_ZN(\d+)(.*)", mangled)
    return found[2][: int(found[1])].split("..")[0].lstrip("_$<") if found else UNNAMED


def futures(image):
    """What a task of embassy's takes, its header included."""
    entry = re.compile(r'DW_AT_name\s+\("TaskStorage<(.*)::\w+::\{async_fn_env#0\}>"\)\s+DW_AT_byte_size\s+\((\w+)\)')
    found = entry.findall(run("llvm-dwarfdump", "--regex", "--name=^TaskStorage<", image))
    return {re.sub(r"__(\w+)_task$", r"\1", name): int(size, 16) for name, size in found}


main()
