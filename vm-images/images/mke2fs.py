# SPDX-License-Identifier: GPL-2.0-or-later
"""
mke2fs 1.47.1 or newer, the first that makes a file system of a tar archive: owners, modes and times come from the archive, so no root
is needed and the same archive gives the same bytes. The machine's own is used if it can do that, else the next release's.
"""

import os
import re
import shutil
import subprocess
import tarfile
import tempfile

from . import cache, foreign
from .apt import LISTS_MAX_AGE, Apt, lists_state
from .error import Failure

OLDEST = (1, 47, 1)
SUITE = "trixie-backports"  # the same private lists as for QEMU, of which only trixie is used
PACKAGES = ["e2fsprogs", "libarchive13t64"]
PROGRAM = "mke2fs"
STARTER = "start-mke2fs"
PLACES = "/usr/sbin:/sbin"  # where mke2fs is, which not every user has in PATH


def _version(program):
    try:
        done = subprocess.run([program, "-V"], capture_output=True, text=True, check=False)
    except OSError:
        return (0, 0, 0)
    found = re.search(r"mke2fs (\d+)\.(\d+)\.(\d+)", done.stderr)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)


def _reads_archives(program):
    """Try it: mke2fs looks for the library that reads archives only then, and packages only recommend that library."""
    if _version(program) < OLDEST:
        return False
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, "tar")
        tarfile.open(archive, "w").close()
        return subprocess.run([program, "-q", "-d", archive, os.path.join(folder, "image"), "1M"], capture_output=True,
                              check=False).returncode == 0


def _build(scratch):
    starter = foreign.install(Apt(SUITE, bare=True), PACKAGES, scratch, STARTER, f"usr/sbin/{PROGRAM}")
    if not _reads_archives(starter):
        raise Failure(f"mke2fs of {SUITE} does not work from the cache; install libarchive13 and an e2fsprogs "
                      f"of at least {'.'.join(map(str, OLDEST))}")


def fetch():
    """(program, version) of an mke2fs that reads archives."""
    own = shutil.which(PROGRAM, path=PLACES)
    if own and _reads_archives(own):
        return own, ".".join(map(str, _version(own)))

    def newest():
        return Apt(SUITE, bare=True).field(PACKAGES[0], "Version")

    version = cache.remember(f"newest-mke2fs-{SUITE}", lists_state(), LISTS_MAX_AGE, newest)
    return cache.entry(f"mke2fs_{version}", _build) / STARTER, version
