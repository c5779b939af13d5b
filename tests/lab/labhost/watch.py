# SPDX-License-Identifier: GPL-2.0-or-later
"""Watch a booted lab: its command's output goes on to ours as it comes, its console is read for how far it got."""

import os
import re
import select
import sys
import time

from .error import LabFailure

POLL = 0.03  # seconds between looks at the serial files
GRACE = 10   # seconds an emulator may take to end after the results are stored
SAYS = re.compile(rb"outrider-lab: (.*?)\r?\n")
PANIC = re.compile(rb"Kernel panic - not syncing: (.*?)\r?\n")


class Tail:
    """New bytes of a growing file."""

    def __init__(self, path):
        self.path = path
        self._handle = None

    def read(self):
        if self._handle is None:
            if not os.path.exists(self.path):
                return b""
            self._handle = open(self.path, "rb", buffering=0)  # noqa: SIM115, lives as long as the watch
        return self._handle.read(1 << 20) or b""


class Watch:
    """
    One lab's progress. `console` and `output` are the files its two serial lines go to, `process` the emulator, `terminal` the
    emulator's own terminal to be drained or None, `boot_limit` and `limit` seconds from now (limit None: no limit). A lab has
    failed that has said nothing for `still` seconds after its command has started (None: no limit).
    """

    def __init__(self, process, console, output, nonce, boot_limit, limit, still, terminal=None):
        self._process, self._nonce, self._terminal = process, nonce.encode(), terminal
        self._console, self._output = Tail(console), Tail(output)
        self._seen = b""
        self._begin = time.monotonic()
        self._boot_limit, self._limit, self._still = boot_limit, limit, still
        self._heard = self._begin  # when the lab said something last
        self.started = None  # seconds until the command started
        self._done_at = None

    def follow(self):
        """Return when the emulator is gone, or lingers though the results are stored. LabFailure when the lab itself failed."""
        while True:
            ended = self._process.poll() is not None
            self._step()
            # Kernel messages may cut our own console lines in two, so an emulator that ended is not blamed here: whether
            # there is an exit status on the result disk decides.
            if ended and self._process.returncode < 0 and self._done_at is None:
                raise LabFailure(f"the emulator was killed by signal {-self._process.returncode}", show_console=True)
            if ended or (self._done_at is not None and time.monotonic() > self._done_at + GRACE):
                return
            self._check_limits()
            self._drain(POLL)

    def _step(self):
        while data := self._output.read():
            _pass_on(data)
            self._heard = time.monotonic()
        if data := self._console.read():
            self._heard = time.monotonic()
        self._seen += data
        for said in SAYS.findall(self._seen):
            self._hear(said)
        panic = PANIC.search(self._seen)
        if panic:
            raise LabFailure(f"the lab's kernel panicked: {panic.group(1).decode(errors='replace')}", show_console=True)
        self._seen = self._seen[self._seen.rfind(b"\n") + 1:]

    def _hear(self, said):
        if said.startswith(b"failed: "):
            raise LabFailure(f"the lab {said.decode(errors='replace')}", show_console=True)
        if said == b"command starts" and self.started is None:
            self.started = time.monotonic() - self._begin
        if said == self._nonce + b" done" and self._done_at is None:
            self._done_at = time.monotonic()

    def _check_limits(self):
        now = time.monotonic() - self._begin
        if self._limit is not None and now > self._limit:
            raise LabFailure(f"the lab was stopped after --timeout {self._limit:g} seconds", show_console=True)
        if self._still is not None and self.started is not None and time.monotonic() > self._heard + self._still:
            raise LabFailure(f"the lab host hangs: it has said nothing for {self._still:g} seconds", show_console=True)
        if self.started is None and now > self._boot_limit:
            raise LabFailure(f"the lab did not start the command within {self._boot_limit:g} seconds", show_console=True)

    def _drain(self, seconds):
        """Wait, and read the terminal meanwhile: an emulator blocks when its terminal is full."""
        if self._terminal is None:
            time.sleep(seconds)
            return
        readable, _, _ = select.select([self._terminal], [], [], seconds)
        if readable:
            try:
                os.read(self._terminal, 1 << 16)
            except OSError:  # the emulator closed its end
                self._terminal = None


def _pass_on(data):
    sys.stdout.flush()
    while data:
        data = data[os.write(1, data):]
