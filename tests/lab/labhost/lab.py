# SPDX-License-Identifier: GPL-2.0-or-later
"""One lab from payload to results."""

import dataclasses
import os
import pathlib
import secrets
import shutil
import sys

from . import amd, folder as folders, images, intel, native, payload
from .error import LabFailure
from .watch import Watch

KINDS = {"amd": amd, "intel": intel}
CONSOLE_TAIL = 40  # lines
ALIVE = "outrider-lab: alive"  # labhost/init says it every ten seconds
# In a lab the command's PATH has its own folder first, so that `outrider` and `./outrider` are the same.
DISKS = "/dev/lab"  # where labhost/init has links to the block devices of --disk
LAB_PATH = "/lab:/bin:/sbin:/usr/bin:/usr/sbin"


@dataclasses.dataclass
class Spec:
    """What an emulator needs to boot a lab. All paths are in `folder`, which is this lab's own."""

    folder: pathlib.Path
    cpus: int
    memory: int  # MiB
    disks: list  # payload.Disk, in addition to the lab's own
    line: str    # path of the Unix socket at which the third serial line ends, or None
    append: str  # more words for the kernel's command line

    def __post_init__(self):
        self.console = self.folder / "console.log"  # first serial line: kernel and init
        self.output = self.folder / "output"        # second serial line: the command
        self.emulator_log = self.folder / "emulator.log"
        self.payload = self.folder / "payload.img"
        self.results = self.folder / "results.img"


def run(options):
    """The command's exit status. `options` are those of tests/lab/run."""
    items = [payload.Item(word) for word in options.file]
    programs = [payload.Item(word) for word in options.bin]
    disks = [payload.Disk(setting) for setting in options.disk]
    environment = {"LAB_KIND": options.kvm, **dict(options.env)}
    with folders.own() as folder:
        if options.kvm == "native":
            if options.line:
                raise LabFailure("--line is of the amd lab: a command on this machine itself can be reached without it")
            if options.append:
                raise LabFailure("--append is of the labs: this machine's kernel has booted already")
            note(options, "running on this machine itself")
            return native.run(options.command, items + programs, disks, environment, folder, options.out, options.timeout)
        return _emulated(options, items, programs, disks, environment, folder)


def _emulated(options, items, programs, disks, environment, folder):
    kind = KINDS[options.kvm]
    spec = Spec(folder, options.cpus or kind.CPUS, options.memory or kind.MEMORY, disks, options.line, options.append)
    nonce = secrets.token_hex(8)
    libraries = images.libraries([program.source for program in programs])
    variables = {**native.PATIENT, **environment, "LAB_OUT": "/lab-out", "PATH": LAB_PATH, "HOME": "/", "TERM": "dumb"}
    variables |= {disk.name: f"{DISKS}/disk{number}" for number, disk in enumerate(disks)}
    payload.write_payload(spec.payload, items + programs, libraries, options.command, variables, nonce, len(disks))
    payload.make_result_disk(spec.results, spec.memory << 20)
    note(options, f"booting {kind.NAME}, {spec.cpus} CPU{'s' * (spec.cpus > 1)}, {spec.memory} MiB")
    try:
        started = _boot_and_follow(kind, spec, nonce, options.timeout, options.still or kind.STILL)
        status = payload.read_results(spec.results, nonce, options.out)
    except LabFailure as failure:
        if failure.show_console:
            show_console(spec)
        raise
    finally:
        keep_console(spec, options.console)
    note(options, f"command started after {started:.1f} s, ended with status {status}")
    return status


def _boot_and_follow(kind, spec, nonce, limit, still):
    """Boot, watch to the end, and end every process. Returns the seconds until the command started."""
    process, terminal = kind.start(spec)
    try:
        watch = Watch(process, spec.console, spec.output, nonce, kind.BOOT_LIMIT, limit, still, terminal)
        watch.follow()
        return watch.started or 0.0
    finally:
        process.kill()
        process.wait()
        if terminal is not None:
            os.close(terminal)


def note(options, text):
    if not options.quiet:
        print(f"lab: {text}", file=sys.stderr, flush=True)


def show_console(spec):
    """The end of what the emulator and the lab's kernel said, so that a failed lab explains itself."""
    for path in (spec.emulator_log, spec.console):
        if not path.exists():
            continue
        lines = path.read_bytes().decode(errors="replace").replace("\r", "").splitlines()
        lines = [line for line in lines if line != ALIVE][-CONSOLE_TAIL:]
        print(f"lab: end of {path.name}:", file=sys.stderr)
        for line in lines:
            print(f"  | {line}", file=sys.stderr)


def keep_console(spec, target):
    if target is not None and spec.console.exists():
        shutil.copyfile(spec.console, target)
