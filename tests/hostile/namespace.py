"""A network namespace of one's own."""

import os
import shutil
import subprocess
import sys


def enter(inside, *wanted, mounts=True):
    """Runs this program again in a namespace that ends with it, unless it is there already, which the variable `inside` says.
    `wanted` are commands and files that it needs beside unshare and ip; `mounts` is whether it has mounts of its own, too."""
    if os.environ.get(inside) == "1":
        return
    wanted = ["unshare", "ip", *wanted]
    if not all(shutil.which(it) or (it.startswith("/") and os.path.exists(it)) for it in wanted):
        print(f"missing one of {' '.join(wanted)} (as root on Debian: apt-get install util-linux iproute2)")
        sys.exit(77)
    way = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--net", *(["--mount"] if mounts else [])]
    if subprocess.run([*way, "true"], check=False).returncode != 0:
        print("there may be no network namespace here: be root")
        sys.exit(77)
    program = [sys.executable, os.path.abspath(sys.argv[0]), *sys.argv[1:]]
    os.execvpe(way[0], [*way, *program], dict(os.environ, **{inside: "1"}))
