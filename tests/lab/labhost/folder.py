# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab's own temporary folder. The lab removes it when it ends; when the lab was killed, the next lab does."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile

PREFIX = "outrider-lab-"


def _lock(path):
    """A descriptor that holds the folder for this process, or None when another process has it, or it is no folder of this user."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.fstat(folder).st_uid == os.geteuid():
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return folder
    except OSError:
        pass
    os.close(folder)
    return None


def _sweep():
    """Remove the folders of labs that were killed."""
    for path in pathlib.Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        folder = _lock(path)
        if folder is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(folder)


def _make():
    """Another lab may remove the folder before this lab locks it."""
    while True:
        path = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX))
        folder = _lock(path)
        if folder is not None and path.exists():
            return path, folder
        if folder is not None:
            os.close(folder)


@contextlib.contextmanager
def own():
    """The path, as long as the context is."""
    _sweep()
    path, folder = _make()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(folder)
