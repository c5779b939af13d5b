#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests/bench/kcsan has run, as tables: kcsan.py FOLDER SEEDS COST_SEEDS COST_ARMS FIND_ARMS GROUPS, the last five lists of words.

A race is counted by the functions of its sides, for Outrider and for KCSAN alike. It is a case's when these are the two functions of the case in
the ground truth's manifest, or one of them where the other side is not known.
"""

import json
import os
import pathlib
import re
import statistics
import sys

from figures import Figures, ratio

MANIFEST = pathlib.Path(__file__).resolve().parents[1] / "ground-truth/manifest.json"
SIDE = r"(\S+?)(?:\+0x[0-9a-f]+/0x[0-9a-f]+)?(?: \[(\w+)\])?"
TITLE = re.compile(rf"\[ *([0-9.]+)\] BUG: KCSAN: [a-z-]+ in {SIDE}(?: / {SIDE})?\s*$", re.MULTILINE)
COUNTED = re.compile(r"count (\w+) (\d+) in ([0-9.]+) s")
RAN = re.compile(r"gt: case (\w+): \w+=(\d+) \w+=(\d+) seconds=([0-9.]+)")


class Race:
    def __init__(self, at, *sides):
        """Seconds since the start, and the (module, function) of each side that is known."""
        self.at, self.sides = at, frozenset(sides)
        self.alone = len(sides) == 1

    def of(self, case, module):
        functions = {(module, side["function"]) for side in case["sides"]}
        return self.sides <= functions if self.alone else self.sides == functions


def of_kcsan(console):
    """The reports on a console, and seconds since the guest's start."""
    for at, *names in TITLE.findall(console):
        sides = [(module or None, function) for function, module in zip(names[::2], names[1::2]) if function]
        yield Race(float(at), *sides)


def of_outrider(report):
    """The races of a report, and seconds since the first point was armed."""
    for race in report["races"]:
        known = [(side["module"], side["function"]) for side in race["sides"] if not side.get("unknown") and side.get("function")]
        yield Race(race["first_s"], *known)


class Find:
    """What one guest's run of the cases has shown."""

    def __init__(self, folder, arm, cases, module):
        console = (folder / "console").read_text(encoding="utf-8", errors="replace")
        ran = RAN.findall(console)
        self.seconds = sum(float(seconds) for *_, seconds in ran)
        self.rounds = sum(int(first) + int(second) for _, first, second, _ in ran) / self.seconds
        self.lost = None
        if arm.startswith("kcsan"):
            self.races = list(of_kcsan(console))
        else:
            report = json.loads((folder / "races.json").read_text(encoding="utf-8"))
            self.races = list(of_outrider(report))
            sampling = report["summary"]["sampling"]
            self.lost = sampling["lost_us"] / 1e6 / sampling["seconds"] / report["run"]["cpus"]
        missing = {case["name"] for case in cases} - {name for name, *_ in ran}
        assert not missing, f"{folder}: these cases did not run: {missing}"
        self.found = {case["name"]: [race for race in self.races if race.of(case, module)] for case in cases}
        self.cases = {name for name, races in self.found.items() if races}
        self.elsewhere = {race.sides for race in self.races if not any(side[0] == module for side in race.sides)}
        self.first = min((race.at for races in self.found.values() for race in races), default=None)


def counted(folder):
    console = (folder / "console").read_text(encoding="utf-8", errors="replace")
    return {name: int(done) / float(seconds) for name, done, seconds in COUNTED.findall(console)}


def cost(figures, folder, seeds, arms):
    """How many times longer work takes than in the plain kernel, of each load and seed. Returns what share of the kernel's work this loses, by arm."""
    rates = {(arm, seed): counted(folder / f"count-{arm}-{seed}") for arm in arms for seed in seeds}
    looked_at = [arm for arm in arms if arm != "plain"]
    rows = [[load, *(ratio(rates["plain", seed][load] / rates[arm, seed][load] for seed in seeds) for arm in looked_at)]
            for load in rates["plain", seeds[0]]]
    figures.table("slowdown", ["work", *looked_at], rows)
    in_kernel = [(load, seed) for load in rates["plain", seeds[0]] if load != "loop" for seed in seeds]
    return {arm: 1 - 1 / statistics.geometric_mean(rates["plain", seed][load] / rates[arm, seed][load] for load, seed in in_kernel)
            for arm in looked_at}


def built(figures, folder):
    """What the two kernels cost to build, on this machine and not in a lab."""
    rows = []
    for kind in ("plain", "kcsan"):
        if not (folder / f"{kind}.cost.json").exists():
            continue
        took = json.loads((folder / f"{kind}.cost.json").read_text(encoding="utf-8"))
        rows.append([kind, round(took["cpu_s"]), round(took["wall_s"]), took["jobs"], round((folder / f"{kind}.vmlinuz").stat().st_size / 2**20, 1)])
    figures.table("build", ["kernel", "CPU seconds", "seconds", "jobs", "MiB"], rows)


def others(runs):
    """What KCSAN has found elsewhere than in the cases, in any of its runs."""
    return sorted(set().union(*(run.elsewhere for (arm, _), run in runs.items() if arm.startswith("kcsan"))), key=named)


def named(sides):
    return " / ".join(sorted(f"{module}:{function}" if module else function for module, function in sides))


def some(values, digits=1):
    values = [value for value in values if value is not None]
    return ratio(values, digits) if values else "-"


def find(figures, folder, seeds, arms, groups, lost_in_kernel):
    """What each arm found. These runs do not show what a kernel with KCSAN loses; the counted work that enters the kernel gives that share."""
    with open(MANIFEST, encoding="utf-8") as file:
        manifest = json.load(file)
    cases = [case for case in manifest["cases"] if case["group"] in groups and case["kind"] == "racy"]
    runs = {(arm, seed): Find(folder / f"find-{arm}-{seed}", arm, cases, manifest["module"]) for arm in arms for seed in seeds}
    for (arm, _), run in runs.items():
        run.lost = run.lost or lost_in_kernel.get(arm)
    rows = []
    for arm in arms:
        mine = [runs[arm, seed] for seed in seeds]
        rows.append([arm, ratio((len(run.cases) for run in mine), 0), len(set().union(*(run.cases for run in mine))), len(cases),
                     ratio((len(run.elsewhere) for run in mine), 0), some(run.first for run in mine),
                     some(100 * run.lost if run.lost is not None else None for run in mine),
                     some((len(run.cases) / (run.lost * run.seconds * 2) if run.lost else None for run in mine), 2)])
    figures.table("found", ["", "cases found", "with all seeds", "of", "other races", "first case after s", "lost %",
                            "cases per CPU second lost"], rows)
    figures.table("cases", ["case", *arms], [[case["name"], *(sum(case["name"] in runs[arm, seed].cases for seed in seeds) for arm in arms)]
                                             for case in cases])
    figures.table("others", ["KCSAN's races elsewhere", *arms],
                  [[named(sides), *(sum(sides in runs[arm, seed].elsewhere for seed in seeds) for arm in arms)] for sides in others(runs)])
    for arm in arms:
        mine = [runs[arm, seed] for seed in seeds]
        print(f"{arm}: {statistics.median(run.rounds for run in mine):.0f} rounds/s of the cases, {statistics.median(run.seconds for run in mine):.0f} s")


def main():
    folder = pathlib.Path(sys.argv[1])
    seeds, cost_seeds, cost_arms, find_arms, groups = (words.split() for words in sys.argv[2:7])
    figures = Figures("kcsan", seeds=seeds, cost_seeds=cost_seeds, count_seconds=os.environ["COUNT_SECONDS"], case_seconds=os.environ["KCSAN_SECONDS"])
    built(figures, folder)
    lost = cost(figures, folder, cost_seeds, cost_arms) if cost_arms else {}
    if find_arms:
        find(figures, folder, seeds, find_arms, groups, lost)
    figures.write()


if __name__ == "__main__":
    main()
