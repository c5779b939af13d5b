# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs outrider explore in a lab, with the two sides of a bug's trigger as its programs."""

import dataclasses
import json
import shutil
import subprocess

from . import guest
from .bug import Unusable

PREPARE = "sh /prepare"
# The trigger makes the step of a side, and says how it ended.
SIDE = "echo >/tmp/go.{0}; read s </tmp/done.{0}; exit $s"
LAB_S = 3000  # most seconds of a lab: many times what one exploration ever took
# A trigger's side ends with another status than 0 only if it sees a wrong state: its exit status is a verdict, not a question.
FOUND = ("complaint", "hang", "killed", "freed-twice", "leak", "status")


@dataclasses.dataclass
class Explored:
    bug: object
    kernel: str
    status: int  # outrider's
    result: dict  # the JSON of outrider explore; {}: it said why it could not
    said: str  # the last line of its messages

    @property
    def findings(self):
        return [trial for trial in self.result.get("trials", []) if trial["outcome"] in FOUND]

    def candidate(self, trial):
        return self.result["candidates"][trial["candidate"]]


def build(one, kernel, work):
    """The trigger, and the guest's kernel and initramfs with the guest agent: work/vmlinuz, work/initrd.img."""
    guest.build(one, kernel, work, ["--init", str(guest.BUILD / "guest-agent"), "--file", f"{guest.HERE / 'explored-prepare'}:/prepare"])


def _lab(one, work, options):
    settings = {"A": SIDE.format(0), "B": SIDE.format(1), "PREPARE": PREPARE, "APPEND": f"quiet {one.append} {one.explored_append} -- pair", "MEMORY": f"{one.memory}M",
                "OPTIONS": " ".join(["--trials", str(options.trials), *one.explored_options, options.options])}
    lab = ["tests/lab/run", "--kvm", options.kvm or guest.output(["tests/lab/pick", "--outrider", str(guest.BUILD / "outrider")]),
           "--timeout", str(LAB_S), "--bin", str(guest.BUILD / "outrider"), "--out", str(work / "new"), "--console", str(work / "lab.console")]
    for file in (work / "vmlinuz", work / "initrd.img", guest.HERE / "explored-in-lab.sh"):
        lab += ["--file", str(file)]
    for name, value in settings.items():
        lab += ["--env", f"{name}={value}"]
    shutil.rmtree(work / "new", ignore_errors=True)
    with open(work / "lab.log", "w", encoding="utf-8") as log:
        done = subprocess.run([*lab, "--", "sh", "explored-in-lab.sh"], cwd=guest.TREE, stdout=log, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise Unusable(f"{one.name}: the lab ended with status {done.returncode}; {work / 'lab.log'} says why")


def explore(one, kernel, options):
    """Explore in this kernel, if the result is not there yet. Returns it."""
    work = options.out.resolve() / f"{one.name}-{kernel}"
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "new" / "status").exists():
        build(one, kernel, work)
        _lab(one, work, options)
    errors = (work / "new" / "err").read_text(errors="replace").strip().splitlines()
    text = (work / "new" / "json").read_text(errors="replace")
    return Explored(one, kernel, int((work / "new" / "status").read_text()), json.loads(text) if text.strip() else {}, errors[-1] if errors else "")
