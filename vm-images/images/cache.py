# SPDX-License-Identifier: GPL-2.0-or-later
"""
The cache folder, ${XDG_CACHE_HOME:-~/.cache}/outrider. An entry's name contains the version of its content. An entry appears
whole or not at all, since it is built in a temporary folder beside it and then renamed. It may be deleted at any time while
nothing uses it.
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
    The folder `name` of the cache. When it is not there, build(temporary_folder) fills it first. A build that raises leaves nothing.
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
    """Delete the entry `name`, so that the next entry() builds it anew."""
    scratch = tempfile.mkdtemp(prefix=f".{name}.", dir=root())
    with contextlib.suppress(FileNotFoundError):
        os.rename(root() / name, scratch)
    shutil.rmtree(scratch, ignore_errors=True)


def remember(name, key, age, compute):
    """
    The result of compute(), which must be of JSON's types. The result of an earlier call with this `name` is returned instead when
    that call had the same `key` and was less than `age` seconds ago. A stored result that cannot be read is not used.
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
