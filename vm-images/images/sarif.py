# SPDX-License-Identifier: GPL-2.0-or-later
"""SARIF's JSON Schema, which Debian has since its 14th release: in a Rust library that makes its types of it."""

from . import cache
from .apt import LISTS_MAX_AGE, Apt, lists_state, unpack
from .error import Failure

SUITE = "sid"
PACKAGE = "librust-serde-sarif-dev"
SCHEMA = "schema.json"


def _build(apt, version, scratch):
    unpack(apt.download([f"{PACKAGE}={version}"], scratch), scratch)
    found = list(scratch.glob(f"usr/share/cargo/registry/serde-sarif-*/src/{SCHEMA}"))
    if len(found) != 1:
        raise Failure(f"{PACKAGE} {version} of {SUITE} has {len(found)} files src/{SCHEMA}, not one")
    found[0].rename(scratch / SCHEMA)


def fetch():
    """{"schema": path} of SARIF 2.1.0's."""
    version = cache.remember(f"newest-sarif-schema-{SUITE}", lists_state(), LISTS_MAX_AGE,
                             lambda: Apt(SUITE, bare=True).field(PACKAGE, "Version"))
    folder = cache.entry(f"sarif-schema_{version.replace(':', '%3a')}", lambda scratch: _build(Apt(SUITE, bare=True), version, scratch))
    return {"schema": folder / SCHEMA}
