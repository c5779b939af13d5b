# SPDX-License-Identifier: GPL-2.0-or-later
"""
QEMU 10.2 or newer. 10.0 is the first whose SVM emulation loads DR7 on VMRUN, without which no debug register fires in a nested
guest. Up to 10.1 QEMU's CPU threads change the word of pending interrupts without a lock, of which nested guests and their hosts
die. The machine's own QEMU is used if it is new enough. Else it is the next release's backport with all its libraries, unpacked
into the cache, where it changes nothing on the machine.
"""

import re
import shutil
import subprocess

from . import cache, foreign
from .apt import LISTS_MAX_AGE, Apt, lists_state
from .error import Failure

OLDEST = (10, 2)
SUITE = "trixie-backports"
PACKAGES = ["qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios"]
EMULATOR = "qemu-system-x86_64"
STARTER = "start-qemu"
OPTIONS = '-L "$root/usr/share/qemu" -L "$root/usr/share/seabios"'


def _version(program):
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return (0, 0)
    found = re.search(r"version (\d+)\.(\d+)", done.stdout)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def _build(apt, scratch):
    starter = foreign.install(apt, PACKAGES, scratch, STARTER, f"usr/bin/{EMULATOR}", OPTIONS)
    if _version(starter) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise Failure(f"QEMU of {SUITE} does not start from the cache; install one of at least {wanted}")


def fetch():
    """{"emulator": path} of the program to start; it finds its libraries and data by itself."""
    own = shutil.which(EMULATOR)
    if own and _version(own) >= OLDEST:
        return {"emulator": own}

    def newest():
        return Apt(SUITE, bare=True).field(PACKAGES[0], "Version")

    version = cache.remember(f"newest-qemu-{SUITE}", lists_state(), LISTS_MAX_AGE, newest).replace(":", "%3a")
    folder = cache.entry(f"qemu-system-x86_{version}", lambda scratch: _build(Apt(SUITE, bare=True), scratch))
    return {"emulator": folder / STARTER}
