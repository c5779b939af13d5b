#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Races found over time and over cost: finds.py FOLDER, which has RATE-SEED.json for each of $RATES and $SEEDS."""

import json
import os
import pathlib
import statistics
import sys

from figures import Figures

STEPS = 60


class Run:
    def __init__(self, path):
        document = json.loads(path.read_text(encoding="utf-8"))
        sampling = document["summary"]["sampling"]
        self.seconds = sampling["seconds"]
        self.found = sorted(race["first_s"] for race in document["races"])
        self.hits = sampling["hits"] / self.seconds
        self.lost = sampling["lost_us"] / 1e6
        self.harmful = sum(race["verdict"]["class"] == "harmful candidate" for race in document["races"])

    def by(self, second):
        return sum(at <= second for at in self.found)


def main():
    folder = pathlib.Path(sys.argv[1])
    seeds, rates = os.environ["SEEDS"].split(), os.environ["RATES"].split()
    cpus = int(os.environ["CPUS"])
    figures = Figures("finds", seeds=len(seeds), seconds=os.environ["SECONDS_EACH"], cpus=cpus)
    rows, times, costs = [], {}, {}
    for rate in rates:
        runs = [Run(folder / f"{rate}-{seed}.json") for seed in seeds]
        end = min(run.seconds for run in runs)
        lost = statistics.mean(run.lost / run.seconds for run in runs)
        grid = [end * n / STEPS for n in range(STEPS + 1)]
        curve = [statistics.mean(run.by(at) for run in runs) for at in grid]
        times[f"{rate} hits/s asked"] = [[round(at, 1), round(count, 2)] for at, count in zip(grid, curve, strict=True)]
        costs[f"{rate} hits/s asked"] = [[round(at * lost, 2), round(count, 2)] for at, count in zip(grid, curve, strict=True)]
        found = [len(run.found) for run in runs]
        rows.append([int(rate), round(statistics.mean(run.hits for run in runs), 1), round(100 * lost / cpus, 1), statistics.mean(found).__round__(1),
                     ", ".join(str(count) for count in found), round(statistics.mean(found) / statistics.mean(run.lost for run in runs), 2),
                     ", ".join(str(run.harmful) for run in runs)])
    figures.table("found", ["hits/s asked", "hits/s", "lost, % of vCPU time", "races", "by seed", "races a lost CPU-second", "harmful candidates, by seed"], rows)
    figures.plot("time", "seconds sampled", "different races found, mean of the seeds", times)
    figures.plot("cost", "seconds of vCPU time lost", "different races found, mean of the seeds", costs)
    figures.write()


main()
