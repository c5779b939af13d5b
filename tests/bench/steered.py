#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests/bench/steered has run, as tables: steered.py FOLDER BUILD..., where FOLDER has WHAT-SEED/BUILD.json. The last build is compared with the first."""

import json
import os
import pathlib
import sys

from figures import Figures, pairs, ratio
from kcsan import MANIFEST, of_outrider

NAMES = {"cases": "ground truth", "stress": "mixed stress"}


class Run:
    def __init__(self, path, cases, module):
        report = json.loads(path.read_text(encoding="utf-8"))
        sampling = report["summary"]["sampling"]
        races = list(of_outrider(report))
        self.cases = {case["name"] for case in cases if any(race.of(case, module) for race in races if race.sides)}
        self.elsewhere = len({race.sides for race in races if not any(side[0] == module for side in race.sides)})
        self.lost_s = sampling["lost_us"] / 1e6
        self.lost = 100 * self.lost_s / sampling["seconds"] / report["run"]["cpus"]
        self.hits, self.windows = (sampling[key] / sampling["seconds"] for key in ("hits", "windows"))
        self.steered = 100 * sampling.get("steered_hits", 0) / max(sampling["hits"], 1)

    def rate(self):
        return self.elsewhere / self.lost_s


def main():
    folder, builds = pathlib.Path(sys.argv[1]), sys.argv[2:]
    seeds, loads, groups = (os.environ[name].split() for name in ("SEEDS", "WHAT", "GROUPS_RUN"))
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    cases = [case for case in manifest["cases"] if case["group"] in groups and case["kind"] == "racy"]
    figures = Figures("steered", seeds=seeds, case_seconds=os.environ["CASE_SECONDS"], stress_seconds=os.environ["STRESS_SECONDS"])
    rows, compared = [], []
    for load in loads:
        runs = {build: [Run(folder / f"{load}-{seed}/{build}.json", cases, manifest["module"]) for seed in seeds] for build in builds}
        for build in builds:
            mine = runs[build]
            rows.append([NAMES[load], build, ", ".join(str(len(run.cases)) for run in mine) if load == "cases" else "-",
                         ", ".join(str(run.elsewhere) for run in mine), ratio(run.lost for run in mine), ratio((run.rate() for run in mine)),
                         ratio((run.hits for run in mine), 0), ratio((run.windows for run in mine), 0), ratio((run.steered for run in mine), 0)])
        if len(builds) > 1:
            first, last = runs[builds[0]], runs[builds[-1]]
            lost = [sum(run.lost_s for run in mine) for mine in (last, first)]
            races = [sum(run.elsewhere for run in mine) for mine in (last, first)]
            compared.append([NAMES[load], f"{races[0]} : {races[1]}", f"{races[0] / lost[0] / (races[1] / lost[1]):.2f}" if races[1] else "-",
                             ratio(pairs([run.windows for run in last], [run.windows for run in first]))])
    figures.table("found", ["load", "build", f"cases of {len(cases)}, by seed", "races elsewhere, by seed", "lost %", "races elsewhere a lost CPU-second",
                            "hits/s", "windows/s", "hits at steered points, %"], rows)
    if compared:
        figures.table("compared", ["load", "races elsewhere, this : other", "races elsewhere a lost CPU-second", "windows/s"], compared)
    figures.write()


if __name__ == "__main__":
    main()
