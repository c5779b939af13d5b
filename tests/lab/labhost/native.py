# SPDX-License-Identifier: GPL-2.0-or-later
"""No lab: the machine itself has a KVM that works. The command sees the same folder, variables, streams and limits as in a lab."""

import os
import shutil
import subprocess

from .error import LabFailure

# A guest of an emulated lab host takes minutes to boot, and the tests have limits of their own.
PATIENT = {"OUTRIDER_WAIT_KERNEL": "2h"}


def run(command, items, disks, environment, folder, out, limit):
    """Run the command in a folder that holds its files; returns its exit status as a shell would."""
    work = folder / "lab"
    work.mkdir()
    for item in items:
        target = work / item.place
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(item.source):
            shutil.copytree(item.source, target)
        else:
            shutil.copy(item.source, target)
    for number, disk in enumerate(disks):
        # A copy, since what is written is to be lost. It takes no more room than the image does.
        copy = folder / f"disk{number}"
        done = subprocess.run(["cp", "--sparse=always", "--reflink=auto", "--no-preserve=mode", "--", disk.source, copy], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise LabFailure(f"cannot copy {disk.source}: {done.stderr.strip().rsplit(': ', 1)[-1]}")
        environment = {**environment, disk.name: str(copy)}
    left = out if out is not None else folder / "out"
    os.makedirs(left, exist_ok=True)
    variables = dict({**PATIENT, **os.environ}, **environment, LAB_OUT=os.path.abspath(left), PATH=f"{work}:{os.environ.get('PATH', '')}")
    # The shell finds the command in the new PATH, and gives 127 when there is none, as in a lab.
    words = ["setpriv", "--pdeathsig", "KILL", "/bin/sh", "-c", 'exec "$@"', "sh", *command]
    try:
        done = subprocess.run(words, cwd=work, env=variables, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                              timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabFailure(f"the command was stopped after --timeout {limit:g} seconds") from error
    return done.returncode if done.returncode >= 0 else 128 - done.returncode
