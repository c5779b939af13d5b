# SPDX-License-Identifier: GPL-2.0-or-later
"""
What goes into a lab, and what comes out: a tar on a raw disk each way.

In:  lab/ (files for the command, its working folder), lab.d/ (command, environment), and shared libraries at their own paths.
Out: lab.d/status ("NONCE STATUS") and lab-out/ (what the command left in $LAB_OUT).
"""

import io
import os
import pathlib
import re
import shlex
import tarfile

from .error import LabFailure

SECTOR = 512  # bytes
DISK_STEP = 16 * 63 * 512  # a whole cylinder, which the emulators' disk geometry wants


class Item:
    """A file or folder SRC that the command finds at the relative path DST."""

    def __init__(self, word):
        source, _, place = word.partition(":")
        self.source = source
        self.place = os.path.normpath(place or os.path.basename(source.rstrip("/")))
        if not os.path.exists(source):
            raise LabFailure(f"no such file: {source}")
        if os.path.isabs(self.place) or self.place.split("/")[0] in ("..", "."):
            raise LabFailure(f"--file {word}: DST must be a path inside the command's working folder")


class Disk:
    """A raw image that the command finds as a block device, whose path is in the variable NAME. `setting` is (NAME, IMAGE)."""

    def __init__(self, setting):
        self.name, self.source = setting
        if not os.path.isfile(self.source):
            raise LabFailure(f"--disk {self.name}: no such file: {self.source}")
        if os.path.getsize(self.source) % SECTOR or not os.path.getsize(self.source):
            raise LabFailure(f"--disk {self.name}: {self.source} is not a raw disk image, whose size is a multiple of {SECTOR} bytes")
        if not os.access(self.source, os.R_OK):
            raise LabFailure(f"cannot read {self.source}: Permission denied")


def round_up(size):
    return -(-size // DISK_STEP) * DISK_STEP


def command_script(command, environment):
    """A shell script that becomes the command; quoting keeps every argument as it was given."""
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())
    return f"{exports}exec {' '.join(map(shlex.quote, command))}\n"


def _add(tar, source, place):
    """Files and folders, links followed, owned by root; nothing else of the source's identity."""
    entry = tarfile.TarInfo(place)
    if os.path.isdir(source):
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(entry)
        for name in sorted(os.listdir(source)):
            _add(tar, os.path.join(source, name), f"{place}/{name}")
        return
    try:
        with open(source, "rb") as handle:
            entry.size = os.fstat(handle.fileno()).st_size
            entry.mode = 0o755 if os.access(source, os.X_OK) else 0o644
            tar.addfile(entry, handle)
    except OSError as error:
        raise LabFailure(f"cannot read {source}: {error.strerror}") from error


def _add_text(tar, place, text):
    data = text.encode()
    entry = tarfile.TarInfo(place)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))


def write_payload(disk, items, libraries, command, environment, nonce, disks):
    """
    Make the payload disk: `items` for the command, `libraries` (absolute paths), the command and its environment. The lab's init
    waits for `disks` block devices more.
    """
    with tarfile.open(disk, "w", format=tarfile.GNU_FORMAT) as tar:
        for item in items:
            _add(tar, item.source, f"lab/{item.place}")
        for path in libraries:
            _add(tar, path, path.lstrip("/"))
        _add_text(tar, "lab.d/command", command_script(command, environment))
        _add_text(tar, "lab.d/environment", f"LAB_NONCE={shlex.quote(nonce)}\nLAB_DISKS={disks}\n")
    os.truncate(disk, round_up(os.path.getsize(disk)))


def make_result_disk(disk, size):
    """A sparse disk of at least `size` bytes for the results."""
    with open(disk, "wb") as handle:
        handle.truncate(round_up(size))


def read_results(disk, nonce, out):
    """Copy what the command left to the folder `out` (None: nowhere), and return the command's exit status."""
    status = None
    try:
        with tarfile.open(disk, "r:") as tar:
            for entry in tar:
                if entry.name == "lab.d/status" and entry.isreg():
                    status = _status(tar.extractfile(entry).read(256).decode(errors="replace"), nonce)
                elif out is not None:
                    _extract(tar, entry, pathlib.Path(out))
    except tarfile.TarError as error:
        raise LabFailure(f"the lab's result disk cannot be read: {error}", show_console=True) from error
    if status is None:
        raise LabFailure("the lab left no exit status on its result disk", show_console=True)
    return status


def _status(text, nonce):
    found = re.fullmatch(r"(\S+) ([0-9]{1,3})\n", text)
    if not found or found.group(1) != nonce:
        raise LabFailure("the lab's exit status is not of this run", show_console=True)
    return int(found.group(2))


def _extract(tar, entry, out):
    """Only plain files, no larger than the disk, and folders under lab-out/, only inside `out`: the tar comes from the lab."""
    parts = pathlib.PurePosixPath(entry.name).parts
    if parts[:1] != ("lab-out",) or ".." in parts:
        return
    target = out.joinpath(*parts[1:])
    if entry.isdir():
        target.mkdir(parents=True, exist_ok=True)
    elif entry.isreg() and not entry.issparse():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(tar.extractfile(entry).read())
        target.chmod(0o755 if entry.mode & 0o100 else 0o644)
