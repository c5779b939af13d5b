# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for an image. A dynamic one needs its loader and shared libraries there, too, at the paths where it looks for them."""

import os
import re
import subprocess

from .error import Failure


def libraries(program):
    """Absolute paths of the loader and the shared libraries that `program` needs. A static program and a script need none."""
    try:
        with open(program, "rb") as handle:
            if handle.read(4) != b"\x7fELF":
                return []
    except OSError as error:
        raise Failure(f"cannot read {program}: {error.strerror}; check the name, or build it first") from error
    done = subprocess.run(["ldd", os.path.abspath(program)], capture_output=True, text=True, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8"))
    if done.returncode:
        if "not a dynamic executable" in done.stderr or "statically linked" in done.stdout:
            return []
        raise Failure(f"ldd cannot read {program}: {done.stderr.strip()}")
    lost = re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)
    if lost:
        raise Failure(f"{program} needs {', '.join(lost)}, which this machine does not have; run `make deps`")
    return sorted(set(re.findall(r"(/\S+) \(0x[0-9a-f]+\)$", done.stdout, re.MULTILINE)))
