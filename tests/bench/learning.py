# SPDX-License-Identifier: GPL-2.0-or-later
"""A table and a plot of what tests/bench/learning has run: learning.py FOLDER SECONDS ROUNDS SEED..."""

import json
import pathlib
import statistics
import sys

from plot import Plot, stairs

ARMS = {"uniform": "#b3611b", "learnt": "#1f5fa8"}


class Run:
    """What one run has found: its pairs of sites with the second at which each was seen first, and the sites that it has sampled."""

    def __init__(self, folder):
        races = json.loads((folder / "races.json").read_text())
        coverage = json.loads((folder / "coverage.json").read_text())
        self.pairs = {race["id"]: race["first_s"] for race in races["races"]}
        sites = [site for function in coverage["functions"] for site in function["armed"]]
        self.armed = {site["site"] for site in sites}
        self.hit = {site["site"] for site in sites if "hits" in site}
        self.totals = coverage["totals"]
        assert sum(site.get("hits", 0) for site in sites) == self.totals["hits"], f"{folder}: hits do not add up"


class Arm:
    """The runs of one arm with one seed, the first one first."""

    def __init__(self, folder, seed, name, rounds):
        self.runs = [Run(folder / f"{seed}-first-1"), *(Run(folder / f"{seed}-{name}-{n}") for n in range(2, rounds + 1))]

    def after(self, rounds):
        runs = self.runs[:rounds]
        return {
            "pairs": len(set().union(*(run.pairs for run in runs))),
            "hits": sum(run.totals["hits"] for run in runs),
            "windows": sum(run.totals["windows"] for run in runs),
            "conflicts": sum(run.totals["conflicts"] for run in runs),
            "armed": len(set().union(*(run.armed for run in runs))),
            "hit": len(set().union(*(run.hit for run in runs))),
            "seconds": sum(run.totals["sampled_s"] for run in runs),
        }

    def times(self, each):
        """When each new pair was found, in seconds sampled."""
        first = {}
        for number, run in enumerate(self.runs):
            for pair, at in run.pairs.items():
                first.setdefault(pair, number * each + min(at, each))
        return sorted(first.values())


def table(arms, rounds, seeds):
    print("| rounds | chosen | new site pairs | by seed | hits | windows | conflicts | sites armed | sites hit |")
    print("|---:|---|---:|---|---:|---:|---:|---:|---:|")
    for n in sorted({1, 2, 4, 8, rounds} - set(range(rounds + 1, 9))):
        for name in ARMS if n > 1 else ["uniform"]:
            each = [arms[name, seed].after(n) for seed in seeds]
            mean = {key: statistics.mean(one[key] for one in each) for key in each[0]}
            print(f"| {n} | {name if n > 1 else 'uniformly, for both'} | {mean['pairs']:.1f} | {', '.join(str(one['pairs']) for one in each)} |"
                  f" {mean['hits']:.0f} | {mean['windows']:.0f} | {mean['conflicts']:.1f} | {mean['armed']:.0f} | {mean['hit']:.0f} |")


def gain(arms, rounds, seeds):
    """New pairs that rounds with learning found, against rounds without."""
    fresh = {name: [arms[name, seed].after(rounds)["pairs"] - arms[name, seed].after(1)["pairs"] for seed in seeds] for name in ARMS}
    windows = {name: sum(arms[name, seed].after(rounds)["windows"] - arms[name, seed].after(1)["windows"] for seed in seeds) for name in ARMS}
    total = {name: sum(fresh[name]) for name in ARMS}
    print(f"\nnew in rounds 2 to {rounds}: {total['learnt']} learnt, {total['uniform']} uniform: {total['learnt'] / max(1, total['uniform']):.2f} times; "
          f"windows {windows['learnt'] / max(1, windows['uniform']):.2f} times; "
          f"better with {sum(a > b for a, b in zip(fresh['learnt'], fresh['uniform']))} of {len(seeds)} seeds")


def plot(arms, rounds, each, seeds, path):
    end = rounds * each
    drawn = Plot(f"seconds sampled, in rounds of {each:g} s", "pairs of sites that were found", end,
                 max(len(arm.times(each)) for arm in arms.values()))
    for name, colour in ARMS.items():
        every = [arms[name, seed].times(each) for seed in seeds]
        for times in every:
            counts = [[0, 0], *([at, count] for count, at in enumerate(times, 1)), [end, len(times)]]
            drawn.line(stairs(counts), colour, 0.7)
        grid = [end * n / 200 for n in range(201)]
        drawn.line([(at, statistics.mean(sum(t <= at for t in times) for times in every)) for at in grid], colour, 2.5)
        drawn.name(f"{name}: mean of {len(seeds)} seeds, and each of them as a thin line", colour)
    path.write_text(drawn.svg(), encoding="utf-8")


def main():
    folder, each, rounds, seeds = pathlib.Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    arms = {(name, seed): Arm(folder, seed, name, rounds) for name in ARMS for seed in seeds}
    table(arms, rounds, seeds)
    gain(arms, rounds, seeds)
    plot(arms, rounds, each, seeds, folder / "learning.svg")
    print(f"plot: {folder / 'learning.svg'}")


main()
