# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel modules by name, with the modules that they depend on (modules.dep, modules.builtin), uncompressed."""

import lzma
import pathlib
import subprocess

from .error import Failure

SIGNATURE_MARKER = b"~Module signature appended~\n"
SIGNATURE_INFO = 12  # bytes of struct module_signature


def _plain(name):
    """The module's name with _ for -, which are the same in a module's name while file names use either."""
    return name.split("/")[-1].split(".ko")[0].replace("-", "_")


class Modules:
    """The modules folder of one kernel, lib/modules/RELEASE."""

    def __init__(self, folder):
        self.folder = _locate(pathlib.Path(folder))
        self.release = self.folder.name
        self._needs = {}  # path -> paths it needs, nearest first
        self._paths = {}  # plain name -> path
        for line in (self.folder / "modules.dep").read_text().splitlines():
            path, _, needs = line.partition(":")
            self._needs[path] = needs.split()
            self._paths[_plain(path)] = path
        builtin = self.folder / "modules.builtin"
        self._builtin = {_plain(line) for line in builtin.read_text().split()} if builtin.is_file() else set()

    def closure(self, names):
        """Paths, relative to the folder, of the named modules and of all that they need, in an order in which they can be loaded."""
        order = []
        for name in names:
            plain = _plain(name)
            if plain in self._builtin:
                continue
            if plain not in self._paths:
                raise Failure(f"kernel {self.release} has no module '{name}' in {self.folder}")
            path = self._paths[plain]
            # modules.dep lists all dependencies, direct or not. The last of them is to be loaded first.
            order += [each for each in [*reversed(self._needs[path]), path] if each not in order]
        return order

    def needs(self, path):
        return self._needs[path]

    def content(self, path, signed=True):
        """The module's bytes, decompressed. Without `signed` the signature at their end is left out."""
        data = self._decompressed(path)
        return data if signed else without_signature(data)

    def _decompressed(self, path):
        data = (self.folder / path).read_bytes()
        if path.endswith(".xz"):
            return lzma.decompress(data)
        if path.endswith(".zst"):
            done = subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=False)
            if done.returncode:
                raise Failure(f"cannot decompress {path}: {done.stderr.decode(errors='replace').strip()}")
            return done.stdout
        return data


def without_signature(data):
    """
    The module without the signature at its end. A signed file consists of the module, the signature, 12 bytes of which the last 4 are
    the signature's length (big-endian), and the marker (kernel/module/signing.c, include/linux/module_signature.h).
    """
    if not data.endswith(SIGNATURE_MARKER):
        return data
    end = len(data) - len(SIGNATURE_MARKER)
    length = int.from_bytes(data[end - 4:end], "big")
    if end < SIGNATURE_INFO or length > end - SIGNATURE_INFO:
        raise Failure("a module's signature is longer than the module; its package is damaged")
    return data[: end - SIGNATURE_INFO - length]


def _locate(folder):
    """The folder lib/modules/RELEASE, given that folder itself or the root of an unpacked kernel package."""
    if (folder / "modules.dep").is_file():
        return folder
    found = sorted(folder.glob("lib/modules/*/modules.dep"))
    if len(found) != 1:
        raise Failure(f"{folder} holds no kernel modules (no modules.dep); give what `vm-images/fetch kernel` prints")
    return found[0].parent


def uncompressed(path):
    return path[: path.index(".ko") + 3]
