# SPDX-License-Identifier: GPL-2.0-or-later
"""
crash 9 or newer. Older ones read a stack of no bytes from the core of a machine that did not panic, and give up, and they miss tasks where
struct pid ends in a flexible array. sid's is unpacked into the cache with all its libraries, where it changes nothing on the machine.
"""

import re
import shutil
import subprocess

from . import cache, foreign
from .apt import LISTS_MAX_AGE, Apt, lists_state
from .error import Failure

OLDEST = 9
SUITE = "sid"
PROGRAM = "crash"
STARTER = "start-crash"


def _version(program):
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = re.search(r"^crash (\d+)\.", done.stdout, re.MULTILINE)
    return int(found.group(1)) if found else 0


def _build(apt, scratch):
    starter = foreign.install(apt, [PROGRAM], scratch, STARTER, f"usr/bin/{PROGRAM}")
    if _version(starter) < OLDEST:
        raise Failure(f"crash of {SUITE} does not start from the cache; install one of at least version {OLDEST}")


def fetch():
    """{"program": path} of the program to start; it finds its libraries by itself."""
    own = shutil.which(PROGRAM)
    if own and _version(own) >= OLDEST:
        return {"program": own}

    def newest():
        return Apt(SUITE, bare=True).field(PROGRAM, "Version")

    version = cache.remember(f"newest-crash-{SUITE}", lists_state(), LISTS_MAX_AGE, newest).replace(":", "%3a").replace("~", "-")
    folder = cache.entry(f"crash_{version}", lambda scratch: _build(Apt(SUITE, bare=True), scratch))
    return {"program": folder / STARTER}
