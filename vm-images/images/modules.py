# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel modules by name, with the modules that they depend on (modules.dep, modules.builtin), uncompressed."""

import hashlib
import lzma
import pathlib
import subprocess
import tempfile

from .error import Failure

DEPMOD = "/sbin/depmod"

SIGNATURE_MARKER = b"~Module signature appended~\n"
SIGNATURE_INFO = 12  # bytes of struct module_signature


def _plain(name):
    """The module's name with _ for -, which are the same in a module's name while file names use either."""
    return name.split("/")[-1].split(".ko")[0].replace("-", "_")


class Modules:
    """
    The modules folder of one kernel, lib/modules/RELEASE. A folder on which depmod was never run, as `dpkg -x` leaves it, will do:
    depmod then writes its lists elsewhere, and the folder stays as it is.
    """

    def __init__(self, folder):
        self.folder = _locate(pathlib.Path(folder)).resolve()
        self.release = self.folder.name
        self._made = {} if (self.folder / "modules.dep").is_file() else _depmod(self.folder)
        self._needs = {}  # path -> paths it needs, nearest first
        self._paths = {}  # plain name -> path
        for line in self.read("modules.dep").decode().splitlines():
            path, _, needs = line.partition(":")
            self._needs[path] = needs.split()
            self._paths[_plain(path)] = path
        builtin = self.folder / "modules.builtin"
        self._builtin = {_plain(line) for line in builtin.read_text().split()} if builtin.is_file() else set()

    def files(self):
        """Relative paths of all that depmod and modprobe look at: modules and lists, but no links to a build tree. Sorted."""
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file() and _belongs(self.folder, path)}
        return sorted(found | set(self._made))

    def read(self, name):
        """The bytes of one of files()."""
        return self._made[name] if name in self._made else (self.folder / name).read_bytes()

    def digest(self):
        """A value that differs where the content of files() does."""
        total = hashlib.sha256()
        for name in self.files():
            data = self.read(name)
            total.update(f"{name} {len(data)}\n".encode() + data)
        return total.hexdigest()

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
    if _holds_modules(folder):
        return folder
    # Packages since trixie have usr/lib/modules, to which lib may be a link.
    found = {path.resolve() for pattern in ("lib/modules/*", "usr/lib/modules/*") for path in folder.glob(pattern) if _holds_modules(path)}
    if len(found) != 1:
        what = "no kernel modules" if not found else f"the modules of {len(found)} kernels"
        raise Failure(f"{folder} holds {what} (lib/modules/RELEASE); give an unpacked kernel package, or what `vm-images/fetch kernel` prints")
    return found.pop()


def _holds_modules(folder):
    return (folder / "modules.dep").is_file() or (folder / "modules.order").is_file() or (folder / "kernel").is_dir()


def _belongs(folder, path):
    """Not of the links build and source, which lead out of the folder."""
    return path.relative_to(folder).parts[0] not in ("build", "source")


def _depmod(folder):
    """{name: bytes} of the lists that depmod makes for `folder`, made beside links to what is in it."""
    with tempfile.TemporaryDirectory() as root:
        beside = pathlib.Path(root, "lib/modules", folder.name)
        beside.mkdir(parents=True)
        given = [path for path in folder.iterdir() if _belongs(folder, path)]
        for path in given:
            (beside / path.name).symlink_to(path.resolve())
        try:
            done = subprocess.run([DEPMOD, "-b", root, folder.name], capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise Failure(f"{DEPMOD} is not installed; install kmod, or run `make deps`") from error
        if done.returncode or not (beside / "modules.dep").is_file():
            said = done.stderr.strip().splitlines() or ["no message"]
            raise Failure(f"depmod cannot read the modules in {folder}: {said[-1]}")
        return {path.name: path.read_bytes() for path in beside.iterdir() if not path.is_symlink()}


def uncompressed(path):
    return path[: path.index(".ko") + 3]
