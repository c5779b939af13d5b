# SPDX-License-Identifier: GPL-2.0-or-later
"""
The cache folder, ${XDG_CACHE_HOME:-~/.cache}/outrider. An entry is named after its content's version, appears whole or not
at all (built in a temporary sibling, then renamed), and may be deleted at any time while nothing uses it.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import tempfile
import time

from .error import Failure


def root():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = pathlib.Path(base, "outrider")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot create the cache folder {path}: {error.strerror}; set XDG_CACHE_HOME to a writable one") from error
    return path


@contextlib.contextmanager
def lock(name):
    """Serialise several processes that fill the same entry, so that nothing is downloaded twice."""
    with open(root() / f".{name}.lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def entry(name, build):
    """
    The folder `name` of the cache; if absent, build(temporary_folder) fills it first. A build that raises leaves nothing.
    """
    final = root() / name
    if final.is_dir():
        return final
    with lock(name):
        if final.is_dir():
            return final
        scratch = pathlib.Path(tempfile.mkdtemp(prefix=f".{name}.", dir=root()))
        try:
            scratch.chmod(0o755)
            build(scratch)
            os.rename(scratch, final)
        except OSError as error:
            raise Failure(f"cannot fill the cache folder {final}: {error}") from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return final


def drop(name):
    """Forget the entry `name`, so that the next entry() makes it anew."""
    scratch = tempfile.mkdtemp(prefix=f".{name}.", dir=root())
    with contextlib.suppress(FileNotFoundError):
        os.rename(root() / name, scratch)
    shutil.rmtree(scratch, ignore_errors=True)


def remember(name, key, age, compute):
    """
    compute()'s result (JSON's types), or the one of an earlier call under this `name`, if `key` was the same and that was less
    than `age` seconds ago. A memory that cannot be read counts as none.
    """
    path = root() / f"{name}.json"
    try:
        known = json.loads(path.read_text())
        if known["key"] == key and 0 <= time.time() - path.stat().st_mtime < age:
            return known["value"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    value = compute()
    with tempfile.NamedTemporaryFile("w", dir=root(), prefix=f".{name}.", delete=False) as scratch:
        json.dump({"key": key, "value": value}, scratch)
    os.rename(scratch.name, path)
    return value
