# SPDX-License-Identifier: GPL-2.0-or-later
"""What one run says of the bug."""

import dataclasses
import itertools
import json
import re

from .bug import Unusable

HARMFUL = "harmful candidate"


@dataclasses.dataclass
class Row:
    bug: object
    kernel: str  # one of bug.ARMS
    seed: str
    seconds: float  # of sampling after the trigger was ready
    found_after: float  # seconds from then to the first race of the bug; None: not found
    windows: int  # of the whole run
    races: list  # of the bug, as in the report
    others: list  # the other races, as in the report
    complaints: list
    end: str

    @property
    def as_expected(self):
        if self.kernel == "fixed" and not self.bug.in_both:
            return not self.races or bool(self.bug.fixed_differs)
        if self.kernel.startswith("kcsan"):
            return True  # what a peer finds is no test of ours
        return bool(self.races) and not (self.bug.control and any(is_harmful(race) for race in self.races))


def is_harmful(race):
    return race["verdict"]["class"] == HARMFUL


def functions(side):
    """The functions of an access: its own and those of its call stack, but none of a context that the access's own has interrupted."""
    frames = (side.get("stack") or {}).get("frames") or []
    own = itertools.takewhile(lambda frame: frame["context"] == frames[0]["context"], frames)
    return {name for name in [side.get("function"), *(frame.get("function") for frame in own)] if name}


def is_the_bugs(one, race):
    if len(race["sides"]) != 2 or any(one.is_lock(side.get("function") or "") for side in race["sides"]):
        return False
    first, second = (functions(side) for side in race["sides"])
    return one.is_side(0, first) and one.is_side(1, second) or one.is_side(1, first) and one.is_side(0, second)


def _kcsan_sides(block):
    """The functions of each access of a report of KCSAN, and of its call stack."""
    parts = re.split(r"(?:read|write|read-write|assert no accesses|assert no writes)\b[^\n]* to 0x[^\n]* by [^\n]*:", block)[1:]
    return [set(re.findall(r"([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+", part)) for part in parts]


def of_kcsan(one, kernel, seed, seconds, console):
    """What KCSAN said on the console. The time counts from when the guest's init started the trigger, by the kernel's clock."""
    blocks = [block for block in console.split("=" * 66) if "BUG: KCSAN: " in block and "Reported by Kernel" in block]
    mine = []
    for block in blocks:
        sides = _kcsan_sides(block)
        if not all(sides):
            raise Unusable(f"a report of KCSAN has no call stacks, so nobody can say whose it is: {block.strip().splitlines()[0]}")
        if len(sides) == 2 and any(one.is_side(a, sides[0]) and one.is_side(1 - a, sides[1]) for a in (0, 1)):
            mine.append(block)
    began = re.search(r"\[ *([0-9.]+)\] bench: the trigger starts", console)
    at = re.search(r"\[ *([0-9.]+)\] BUG: KCSAN", mine[0]) if mine else None
    after = float(at.group(1)) - float(began.group(1)) if at and began else None
    return Row(one, kernel, seed, seconds, after, 0, [], [], [], f"{len(mine)} of {len(blocks)} reports of KCSAN are of the bug")


def _ready(folder, seed):
    console = (folder / f"{seed}.console").read_bytes().decode(errors="replace")
    if "trigger: ready" not in console:
        said = [line.strip() for line in console.splitlines() if "trigger: " in line] or ["it said nothing"]
        raise Unusable(f"{folder.name}: the trigger was never ready in the run of seed {seed}: {said[0]}")
    ready, end = (folder / f"{seed}.times").read_text().split()
    return float(ready), float(end)


def run(one, kernel, seed, folder):
    """The row of this run. Unusable if it says nothing about the bug."""
    ready, end = _ready(folder, seed)
    if kernel.startswith("kcsan"):
        return of_kcsan(one, kernel, seed, end - ready, (folder / f"{seed}.console").read_bytes().decode(errors="replace"))
    try:
        report = json.loads((folder / f"{seed}.json").read_text())
    except (OSError, ValueError) as error:
        raise Unusable(f"{folder.name}: seed {seed} left no report ({error}); {seed}.err says why") from error
    found = folder / f"{seed}.found"
    mine = [race for race in report["races"] if is_the_bugs(one, race)]
    after = max(0.0, float(found.read_text()) - ready) if found.exists() else None
    return Row(one, kernel, seed, end - ready, after, report["summary"]["sampling"]["windows"], mine,
               [race for race in report["races"] if race not in mine], report.get("complaints") or [], report["summary"]["end"])
