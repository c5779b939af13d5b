# SPDX-License-Identifier: GPL-2.0-or-later
"""The source of Debian's stock kernel, unpacked into the cache."""

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
