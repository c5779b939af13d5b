# SPDX-License-Identifier: GPL-2.0-or-later
"""
QEMU 10 or newer: the first whose SVM emulation loads DR7 on VMRUN, without which no debug register fires in a nested guest.
The machine's own if it is new enough, else bookworm-backports' unpacked into the cache, where it changes nothing.
"""

import re
import shutil
import subprocess

from . import cache
from .apt import LISTS_MAX_AGE, Apt, lists_state, unpack
from .error import Failure

OLDEST = 10
SUITE = "bookworm-backports"
PACKAGES = ["qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios"]
EMULATOR = "qemu-system-x86_64"


def _major(words, libraries):
    environment = {"LD_LIBRARY_PATH": libraries} if libraries else None
    try:
        done = subprocess.run([*words, "--version"], env=environment, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = re.search(r"version (\d+)\.", done.stdout)
    return int(found.group(1)) if found else 0


def _describe(folder):
    # Some of bookworm's packages still put theirs into /lib, which on an installed system is the same folder.
    libraries = f"{folder}/usr/lib/x86_64-linux-gnu:{folder}/lib/x86_64-linux-gnu"
    return {"emulator": folder / "usr/bin" / EMULATOR, "libraries": libraries,
            "data": f"{folder}/usr/share/qemu:{folder}/usr/share/seabios"}


def _works(paths):
    return _major([paths["emulator"]], paths["libraries"]) >= OLDEST


def fetch():
    """Paths of QEMU: emulator; libraries for LD_LIBRARY_PATH and data folders (colon-separated) for -L, or "" if not needed."""
    own = shutil.which(EMULATOR)
    if own and _major([own], "") >= OLDEST:
        return {"emulator": own, "libraries": "", "data": ""}
    version = cache.remember("newest-qemu", lists_state(), LISTS_MAX_AGE, lambda: Apt(SUITE).field(PACKAGES[0], "Version"))
    name = f"qemu-system-x86_{version.replace(':', '%3a')}"

    def build(scratch):
        apt = Apt(SUITE)
        unpack(apt.download(apt.missing_for(PACKAGES), scratch), scratch)
        if not _works(_describe(scratch)):
            raise Failure(f"QEMU {version} of {SUITE} does not start from the cache; install a QEMU of at least {OLDEST}")

    paths = _describe(cache.entry(name, build))
    if _works(paths):
        return paths
    # It holds the libraries that were missing when it was made; the machine has lost others since.
    cache.drop(name)
    return _describe(cache.entry(name, build))
