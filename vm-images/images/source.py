# SPDX-License-Identifier: GPL-2.0-or-later
"""The source of Debian's stock kernel, unpacked into the cache."""

import hashlib
import pathlib
import re
import shutil

from . import cache, kernel
from .apt import Apt, command, unpack
from .error import Failure


def fetch():
    """The source of the kernel that kernel.fetch() gets. Returns its Debian version and the path tree, some 1.4 GB."""
    image, version = kernel.resolve()
    series = re.match(r"linux-image-(\d+\.\d+)", image).group(1)
    package = f"linux-source-{series}"

    def build(scratch):
        parts, tree = scratch / "parts", scratch / "tree"
        parts.mkdir()
        tree.mkdir()
        unpack(Apt().download([f"{package}={version}"], parts), parts)
        archive, = parts.glob(f"usr/src/{package}.tar.*")
        command(["tar", "-x", "-f", str(archive), "--strip-components=1", "-C", str(tree)])
        shutil.rmtree(parts)

    folder = cache.entry(f"{package}_{version}", build)
    if not (folder / "tree/Kconfig").is_file():
        raise Failure(f"{folder} has no kernel's source; delete it and try again")
    return {"version": version, "tree": folder / "tree"}


def _apply(patch, tree):
    """Apply a patch to a tree whose files are links to another one's."""
    for name in re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(encoding="utf-8", errors="replace"), flags=re.MULTILINE):
        file = tree / name
        copy = file.with_name(file.name + ".outrider-copy")
        if file.is_file():
            shutil.copyfile(file, copy)
            copy.rename(file)
    try:
        command(["patch", "--batch", "--forward", "--silent", "-p1", "-d", str(tree), "-i", str(patch)])
    except Failure as error:
        raise Failure(f"{patch} does not apply to {tree}: {error}") from error


def patched(got, patches):
    """
    The source that fetch() got, with these patches in this order. Files that no patch names are links to those of the source, so the result
    takes little space. Returns the path of the tree.
    """
    patches = [pathlib.Path(patch).resolve() for patch in patches]
    try:
        digest = hashlib.sha256(b"".join(patch.read_bytes() for patch in patches)).hexdigest()
    except OSError as error:
        raise Failure(f"cannot read {error.filename}: {error.strerror}") from error

    def build(scratch):
        command(["cp", "-a", "-l", str(got["tree"]), str(scratch / "tree")])
        for patch in patches:
            _apply(patch, scratch / "tree")

    return cache.entry(f"linux-source_{got['version']}_{digest[:16]}", build) / "tree"
