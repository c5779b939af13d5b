#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What sampling drivers costs a guest, and what following their locks costs beside that: locks.py FOLDER of tests/bench/locks-in-lab.sh."""

import json
import os
import pathlib
import sys

from figures import Figures, pairs, ratio

BARE, SAMPLED, LOCKS = "outrider-no-detector", "outrider-drivers", "outrider-drivers-locks"


def main():
    folder = pathlib.Path(sys.argv[1])
    rounds = int(os.environ["ROUNDS"])
    values = {}
    for line in (folder / "measured").read_text(encoding="utf-8").splitlines():
        arm, name, value = line.split()
        values.setdefault(name, {}).setdefault(arm, []).append(float(value))
    rows = []
    for name, by in values.items():
        assert all(len(by.get(arm, [])) == rounds for arm in (BARE, SAMPLED, LOCKS)), f"{name}: not measured in each round"
        rows.append([name.rsplit("-", 1)[0], ratio(pairs(by[SAMPLED], by[BARE])), ratio(pairs(by[LOCKS], by[BARE])), ratio(pairs(by[LOCKS], by[SAMPLED]))])
    figures = Figures("locks", rounds=rounds, count=os.environ["COUNT"], cpus=os.environ["CPUS"])
    figures.table("guest", ["what", "sampled, relative to bare", "with locks, relative to bare", "with locks, relative to sampled"], rows)
    counts = []
    for arm in (SAMPLED, LOCKS):
        reports = [json.loads((folder / f"{arm}-{number + 1}.json").read_text(encoding="utf-8"))["summary"] for number in range(rounds)]
        total = {key: sum(report["sampling"][key] for report in reports) for key in ("hits", "windows", "seconds", "lost_us")}
        counts.append([arm.removeprefix("outrider-"), round(total["hits"] / total["seconds"], 1), round(total["windows"] / total["seconds"], 1),
                       round(total["lost_us"] / 1e4 / total["seconds"] / int(os.environ["CPUS"]), 1)])
    figures.table("sampling", ["run", "hits/s", "windows/s", "lost, % of vCPU time"], counts)
    figures.write()


main()
