# SPDX-License-Identifier: GPL-2.0-or-later
"""
An initramfs as an uncompressed newc cpio (Documentation/driver-api/early-userspace/buffer-format.rst). It is written without a tool,
so that the same content gives the same bytes (names are sorted, times and owners are fixed), and device nodes need no root.
"""

import os
import stat

from .error import Failure

MAGIC = b"070701"
CONSOLE = (5, 1)  # major and minor number; the kernel opens /dev/console for init before anything is mounted


class Archive:
    """Entries by path. A later entry replaces an earlier one of the same path. Parent folders are added as needed."""

    def __init__(self):
        self._entries = {}  # path without leading slash -> (mode, bytes, rdev)

    def __contains__(self, path):
        return self._name(path) in self._entries

    @staticmethod
    def _name(path):
        name = os.path.normpath("/" + path).lstrip("/")
        if not name:
            raise Failure(f"'{path}' is not a file name inside an image")
        return name

    def _put(self, path, mode, data=b"", rdev=(0, 0)):
        name = self._name(path)
        parent = os.path.dirname(name)
        if parent and parent not in self._entries:
            self._put(parent, stat.S_IFDIR | 0o755)
        if parent and not stat.S_ISDIR(self._entries[parent][0]):
            raise Failure(f"/{name}: /{parent} is already in the image and is not a folder")
        self._entries[name] = (mode, data, rdev)

    def folder(self, path):
        self._put(path, stat.S_IFDIR | 0o755)

    def data(self, path, data, executable=False):
        self._put(path, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def link(self, path, target):
        self._put(path, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, path, major, minor):
        self._put(path, stat.S_IFCHR | 0o600, b"", (major, minor))

    def copy(self, source, path):
        """Add a file, or a folder with all in it. Symbolic links are followed, so that no link points out of the image."""
        try:
            if os.path.isdir(source):
                self.folder(path)
                for name in sorted(os.listdir(source)):
                    self.copy(os.path.join(source, name), os.path.join(path, name))
                return
            with open(source, "rb") as handle:
                self.data(path, handle.read(), os.access(source, os.X_OK))
        except OSError as error:
            raise Failure(f"cannot read {source}: {error.strerror}; check the name") from error

    def write(self, out):
        """Write the whole archive to the binary stream `out`."""
        for inode, name in enumerate(sorted(self._entries), start=1):
            mode, data, rdev = self._entries[name]
            _write_entry(out, inode, name, mode, data, rdev)
        _write_entry(out, 0, "TRAILER!!!", 0, b"", (0, 0))


def _write_entry(out, inode, name, mode, data, rdev):
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    # ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
    fields = (inode, mode, 0, 0, links, 0, len(data), 0, 0, *rdev, len(encoded), 0)
    header = MAGIC + b"".join(b"%08x" % field for field in fields) + encoded
    out.write(header + b"\0" * (-len(header) % 4))
    out.write(data)
    out.write(b"\0" * (-len(data) % 4))
