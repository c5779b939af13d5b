#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGKILLs of a campaign with real guests, and what its store has then.

    campaign_kills.py kill --seed N --kinds KIND,... STORE COMMAND...   run a round by COMMAND until all kills are done and it is over
    campaign_kills.py same WHAT STORE ROUND OTHER FIRST                 compare a round with all rounds of another store from FIRST on
    campaign_kills.py sums STORE OTHER                                  compare the sites that two stores have
    campaign_kills.py kept WHAT STORE                                   compare a store with what its runs have written

A KIND is one of `runner`, `supervisor` (the process between runner and run), `run` (the campaign's <emulator>), `machine` (the emulator that is
the lab), and `inside` (outrider itself, in the lab). With "+race", the kill waits until a run that it ends has reported a race. The moment
is drawn by --seed: up to --pause seconds after there was something to kill. A kill of `inside` is done by in-lab/campaign.sh: the file
`strike` in the working folder has the seconds, the emulator's script takes it, and writes how that outrider has ended into `struck`.

`same`: `runs`, or `sites`. `kept`: `reports`, `output`, or `file`."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unit/rigs"))
import campaign_rig as rig  # noqa: E402

CAP = 3600  # seconds that nothing here ever took
LOOK = 0.05
INSIDE_S = 12  # the most that an outrider in a lab is left alone before it is killed
KILLED = 128 + signal.SIGKILL
RUNS_KILLED = 2  # of one run by one runner, which takes a run that is killed three times for broken
KINDS = ("runner", "supervisor", "run", "machine", "inside")
FOLDER = re.compile(rb"(?:^|\0)--json\0([^\0]*)/races\.json(?:\0|$)")


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def kind_of(words):
    if b"qemu-system" in words:
        return "machine"
    return "run" if b"tests/lab/outrider\0" in words else None


class Run:
    """One run that a runner has at work: its processes below the supervisor."""

    def __init__(self, supervisor):
        self.folder, self.processes = None, {"supervisor": supervisor}
        for pid in rig.children(supervisor):
            words = command_line(pid)
            found = FOLDER.search(words)
            if found:
                self.folder = found.group(1).decode()
            if kind_of(words):
                self.processes[kind_of(words)] = pid

    def has_race(self):
        try:
            return bool(json.loads(pathlib.Path(self.folder, "races.json").read_bytes())["races"])
        except (OSError, ValueError, TypeError):
            return False


class Killer:
    def __init__(self, options):
        self.options, self.random = options, random.Random(options.seed)
        self.kinds = options.kinds.split(",")
        self.done = collections.Counter()
        self.end = time.monotonic() + CAP
        self.runner, self.struck = None, collections.Counter()

    def unfinished(self):
        return pathlib.Path(self.options.store).exists() and rig.ask(self.options.store, "SELECT 1 FROM part WHERE ended = 0")

    def start(self):
        words = self.options.command[:]
        if self.unfinished():
            words.insert(words.index("run") + 1, "--resume")
        self.runner, self.struck = subprocess.Popen(words, stdin=subprocess.DEVNULL), collections.Counter()

    def wait(self):
        """Returns False when the runner has ended."""
        if time.monotonic() > self.end:
            raise AssertionError("nothing happens any more")
        time.sleep(LOOK)
        return self.runner.poll() is None

    def victims(self, kind, race):
        """The processes of this kind that may be killed now, each with the folder of its run, or None."""
        runs = [Run(supervisor) for supervisor in rig.children(self.runner.pid, deep=False)]
        runs = [run for run in runs if run.folder and (run.has_race() or not race)]
        if kind == "runner":
            return [(self.runner.pid, None)] if runs else []
        return [(run.processes[kind], run.folder) for run in runs if kind in run.processes and self.struck[run.folder] < RUNS_KILLED]

    def kill(self, kind, race):
        """Returns False when the runner has ended before there was something to kill."""
        pause = self.random.uniform(0, 1 if race else self.options.pause)
        while not self.victims(kind, race):
            if not self.wait():
                return False
        begin = time.monotonic()
        while time.monotonic() < begin + pause:
            if not self.wait():
                return False
        victims = self.victims(kind, race)
        if not victims:
            return self.kill(kind, race)
        victim, folder = self.random.choice(victims)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return self.kill(kind, race)
        self.note(kind, folder, pause)
        return True

    def kill_inside(self):
        """The next run that starts and has not been killed too often."""
        strike, struck = (pathlib.Path(self.options.work, name) for name in ("strike", "struck"))
        pause = self.random.uniform(0, INSIDE_S)
        struck.unlink(missing_ok=True)
        strike.with_suffix(".next").write_text(f"{pause:.1f}\n", encoding="utf-8")
        strike.with_suffix(".next").rename(strike)
        while not struck.exists():
            if not self.wait():
                strike.unlink(missing_ok=True)
                return False
        status, folder = struck.read_text(encoding="utf-8").split()
        if int(status) != KILLED:
            return self.kill_inside()
        self.note("inside", folder, pause)
        return True

    def note(self, kind, folder, pause):
        self.done[kind] += 1
        if folder:
            self.struck[folder] += 1
        print(f"# killed: {kind}, {pause:.1f} s after it could be" + (f", of run {pathlib.Path(folder).name[:8]}" if folder else ""),
              flush=True)

    def until_killed(self):
        """One runner, from its start to its end or its kill."""
        self.start()
        while self.done.total() < len(self.kinds):
            kind, _, race = self.kinds[self.done.total()].partition("+")
            if not (self.kill_inside() if kind == "inside" else self.kill(kind, bool(race))) or kind == "runner":
                break
        self.runner.wait(timeout=CAP)
        if self.runner.returncode not in (0, -signal.SIGKILL):
            raise AssertionError(f"the runner ended with {self.runner.returncode}")

    def all(self):
        while self.done.total() < len(self.kinds) or self.unfinished():
            self.until_killed()


def kill(options):
    killer = Killer(options)
    try:
        killer.all()
    finally:
        if killer.runner and killer.runner.poll() is None:
            killer.runner.kill()
    print(f"# {killer.done.total()} kills: " + ", ".join(f"{count} of {kind}" for kind, count in sorted(killer.done.items())))
    return 0


# ---- checks after the kills ----

def runs_of(store, number):
    """The runs of a round that are done: {cell: (seed, outcome, detail, folder)}, and how many attempts were not."""
    rows = rig.ask(store, "SELECT r.cell, r.seed, r.outcome, r.detail, r.folder, r.state FROM run r JOIN round o ON o.id = r.round_id "
                          f"WHERE o.number = {int(number)}")
    return {row[0]: tuple(row[1:5]) for row in rows if "~" not in row[0] and row[5] == "1"}, sum("~" in row[0] for row in rows)


def sites_of(folder):
    coverage = json.loads(pathlib.Path(folder, "coverage.json").read_text(encoding="utf-8"))
    return coverage["build_id"], frozenset(site["site"] for function in coverage["functions"] for site in function["armed"])


def alike(one, other):
    """A seed arms the sites in the same order each time. A run ends when it has seen its races, and on a busy machine it may have armed fewer
    sites by then than all: the first of those that the other run has armed, and most of them."""
    few, many = sorted((one[1], other[1]), key=len)
    return one[0] == other[0] and few <= many and len(few) * 2 >= len(many) > 0


def same_round(what, expected, found):
    if what == "runs":
        return {cell: run[:3] for cell, run in expected.items()} == {cell: run[:3] for cell, run in found.items()}
    sites = {cell: sites_of(run[3]) for cell, run in expected.items()}
    print(f"# sites: {len(set.union(*({(build, site) for site in names} for build, names in sites.values())))} of "
          f"{len({build for build, _ in sites.values()})} kernels, in {len(sites)} runs")
    again = {cell: sites_of(run[3]) for cell, run in found.items()}
    return sites.keys() == again.keys() and all(alike(sites[cell], again[cell]) for cell in sites)


def same(options):
    expected, _ = runs_of(options.store, options.round)
    rounds = [row[0] for row in rig.ask(options.other, f"SELECT number FROM round WHERE number >= {int(options.first)}")]
    good = bool(expected and rounds)
    for number in rounds:
        found, asides = runs_of(options.other, number)
        print(f"# round {number}: {len(found)} of {len(expected)} runs are done, {asides} unfinished attempts are kept")
        if not same_round(options.what, expected, found):
            print(f"# they differ:\n# {expected}\n# {found}")
            good = False
    return not good


def sums(options):
    """Both stores have the same sites, which were sampled at least once, and the same races."""
    stores = [rig.dump(store) for store in (options.store, options.other)]
    sites = [{tuple(row[:2]) for row in store["sites"] if int(row[2])} for store in stores]
    races = [{tuple(row) for row in store["races"]} for store in stores]
    print(f"# sites: {len(sites[0])} and {len(sites[1])}; races: {len(races[0])} and {len(races[1])}; not in both: "
          f"{len(sites[0] ^ sites[1])} sites, {len(races[0] ^ races[1])} races")
    return sites[0] != sites[1] or not sites[0]


def kept_reports(options):
    """Each race of each run's own report, of killed runs too, is in the store, as often as it was seen."""
    expected, found = rig.reported(pathlib.Path(options.store).parent / "runs"), rig.stored(options.store)
    attempts = {tuple(row[:2]) for row in expected}
    print(f"# {len(expected)} races of {len(attempts)} reports, {sum('~' in run for _, run in attempts)} of them of killed runs; "
          f"{sum(row not in found for row in expected)} are lost")
    return not expected or expected != found


def kept_output(options):
    """Each race that a run has printed to its standard output is in the store."""
    found = {tuple(row[:3]) for row in rig.stored(options.store)}
    told = set()
    for path in (pathlib.Path(options.store).parent / "runs").glob("*/*/stdout.log"):
        ids = re.findall(r"^RACE ([0-9a-f]+) ", path.read_text(encoding="utf-8", errors="replace"), re.M)
        told |= {(path.parts[-3], path.parts[-2], race) for race in ids}
    print(f"# {len(told)} races in the output of {len({row[:2] for row in told})} runs; {len(told - found)} are lost")
    return not told or not told <= found


def kept_file(options):
    return not pathlib.Path(options.store).exists() or rig.check_file(options.store) != "ok"


KEPT = {"reports": kept_reports, "output": kept_output, "file": kept_file}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    killing = commands.add_parser("kill")
    killing.add_argument("--seed", type=int, default=1)
    killing.add_argument("--kinds", required=True)
    killing.add_argument("--pause", type=float, default=15)
    killing.add_argument("--work", required=True)
    killing.add_argument("store")
    killing.add_argument("command", nargs=argparse.REMAINDER)
    killing.set_defaults(do=kill)
    comparing = commands.add_parser("same")
    comparing.add_argument("what", choices=("runs", "sites"))
    for name in ("store", "round", "other", "first"):
        comparing.add_argument(name)
    comparing.set_defaults(do=same)
    summing = commands.add_parser("sums")
    summing.add_argument("store")
    summing.add_argument("other")
    summing.set_defaults(do=sums)
    keeping = commands.add_parser("kept")
    keeping.add_argument("what", choices=KEPT)
    keeping.add_argument("store")
    keeping.set_defaults(do=lambda options: KEPT[options.what](options))
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    sys.exit(arguments.do(arguments))
