# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes into an initramfs: busybox, stock modules, files, programs and the init."""

import os
import subprocess

from .error import Failure
from .modules import uncompressed
from .newc import CONSOLE, Archive
from .programs import libraries

BUSYBOX = "/bin/busybox"
FOLDERS = ("bin", "dev", "proc", "root", "run", "sbin", "sys", "tmp")


def skeleton():
    """An archive with the folders and the console's device node, which every init expects."""
    archive = Archive()
    for folder in FOLDERS:
        archive.folder(folder)
    archive.character_device("dev/console", *CONSOLE)
    return archive


def add_busybox(archive):
    """Add static busybox, and a link for each of its applets in /bin or /sbin, whichever busybox itself names."""
    if libraries(BUSYBOX):
        raise Failure(f"{BUSYBOX} is not static; install busybox-static, or run `make deps`")
    archive.copy(BUSYBOX, "bin/busybox")
    for path in subprocess.run([BUSYBOX, "--list-full"], capture_output=True, text=True, check=True).stdout.split():
        place = f"{'sbin' if '/sbin/' in '/' + path else 'bin'}/{os.path.basename(path)}"
        if place not in archive:
            archive.link(place, "/bin/busybox")


def add_modules(archive, modules, names, signed=True):
    """
    Add the modules, and the modules that they need, at their stock paths. A modules.dep of just these is for modprobe, and
    /lib/modules/load-order, with one absolute path a line, is for an init that only has insmod. Without `signed` the modules have no
    signatures, which an emulated CPU takes seconds to check. The kernel then marks itself as tainted by an unsigned module.
    """
    base = f"lib/modules/{modules.release}"
    order = modules.closure(names)
    for path in order:
        archive.data(f"{base}/{uncompressed(path)}", modules.content(path, signed))
    lines = [f"{uncompressed(path)}:{''.join(' ' + uncompressed(need) for need in modules.needs(path))}" for path in order]
    archive.data(f"{base}/modules.dep", "".join(line + "\n" for line in lines).encode())
    archive.data("lib/modules/load-order", "".join(f"/{base}/{uncompressed(path)}\n" for path in order).encode())


def add_program(archive, program):
    """Add `program` as the executable /bin/NAME, with its shared libraries."""
    archive.copy(program, f"bin/{os.path.basename(program)}")
    for path in libraries(program):
        archive.copy(path, path)


def add_init(archive, program):
    """Add `program` as /init, with its shared libraries."""
    archive.copy(program, "init")
    if not os.access(program, os.X_OK):
        raise Failure(f"{program} is not executable; an init must be")
    for path in libraries(program):
        archive.copy(path, path)
