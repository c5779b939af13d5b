# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON Schema of SARIF 2.1.0. So far only sid has it, in the package of a Rust library that makes its types from it."""

import shutil

from . import cache
from .apt import Apt, unpack
from .error import Failure

SUITE = "sid"
PACKAGE = "librust-serde-sarif-dev"
SCHEMA = "schema.json"


def _build(folder):
    scratch = folder / "package"
    scratch.mkdir()
    unpack(Apt(SUITE, bare=True).download([PACKAGE], scratch), scratch)
    found = list(scratch.glob(f"usr/share/cargo/registry/serde-sarif-*/src/{SCHEMA}"))
    if len(found) != 1:
        raise Failure(f"{PACKAGE} of {SUITE} has {len(found)} files src/{SCHEMA}, not one")
    found[0].rename(folder / SCHEMA)
    shutil.rmtree(scratch)


def fetch():
    """{"schema": path}. The standard does not change, so a copy from any version of the package will do."""
    return {"schema": cache.entry("sarif-schema-2.1.0", _build) / SCHEMA}
