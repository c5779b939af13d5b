#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of windows goes, by the number of vCPUs: phases.py FOLDER, which has CPUS-ROUND.json for each of $VCPUS and $ROUNDS."""

import json
import os
import pathlib
import sys

from figures import Figures

PHASES = ["lock", "open", "watch", "held", "close"]
REASONS = {"skipped_stack": "on the stack", "skipped_memory": "no memory", "skipped_short": "may not be held there", "skipped_last": "on the last CPU",
           "stale_hits": "point removed"}


def time(ns):
    """A time for people, with two digits or more."""
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.{0 if ns >= 10 * size else 1}f} {unit}"
    return f"{ns:.0f} ns"


def added(reports, phase):
    """One phase of several runs: the number of windows, the sum, and the buckets."""
    buckets = {}
    for report in reports:
        for below, count in report["phases"][phase]["below_ns"]:
            buckets[below] = buckets.get(below, 0) + count
    return sum(report["phases"][phase]["count"] for report in reports), sum(report["phases"][phase]["sum_ns"] for report in reports), buckets


def quantile(buckets, share):
    """A time below which this share of them is, exact to a factor of two."""
    wanted = share * sum(buckets.values())
    for below in sorted(buckets):
        wanted -= buckets[below]
        if wanted <= 0:
            return below
    return 0


def main():
    folder = pathlib.Path(sys.argv[1])
    figures = Figures("phases", vcpus=os.environ["VCPUS"], seconds=os.environ["SECONDS_EACH"], rounds=os.environ["ROUNDS"], load=os.environ["LOAD"])
    times, costs, reasons = [], [], []
    for cpus in os.environ["VCPUS"].split():
        reports = [json.loads((folder / f"{cpus}-{number + 1}.json").read_text(encoding="utf-8"))["summary"]["sampling"]
                   for number in range(int(os.environ["ROUNDS"]))]
        total = {key: sum(report[key] for report in reports)
                 for key in ("hits", "windows", "seconds", "exits", "kicks", "ioctls", "passes", "cut_short", "cut_idle", "lost_us", *REASONS)}
        cells = []
        for phase in PHASES:
            count, sum_ns, buckets = added(reports, phase)
            cells.append(f"{time(sum_ns / count)} (< {time(quantile(buckets, 0.5))}, < {time(quantile(buckets, 0.99))})" if count else "")
        windows, hits = total["windows"], total["hits"]
        assert hits, f"{cpus} vCPUs: no hits"
        times.append([int(cpus), windows, *cells])
        costs.append([int(cpus), round(hits / total["seconds"], 1), round(windows / total["seconds"], 1),
                      *(round(total[key] / windows, 2) if windows else "" for key in ("exits", "kicks", "ioctls")),
                      round(total["lost_us"] / 1e4 / total["seconds"] / int(cpus), 1)])
        reasons.append([int(cpus), hits, *(f"{100 * total[key] / hits:.1f} %" for key in REASONS),
                        *(f"{100 * total[key] / windows:.1f} %" if windows else "" for key in ("cut_short", "cut_idle")),
                        round(total["passes"] / windows, 2) if windows else ""])
    figures.table("times", ["vCPUs", "windows", *PHASES], times)
    figures.table("costs", ["vCPUs", "hits/s", "windows/s", "exits a window", "kicks a window", "ioctls a window", "lost, % of vCPU time"], costs)
    figures.table("reasons", ["vCPUs", "hits", *REASONS.values(), "windows cut by another context", "windows cut, nobody ran", "passes a window"], reasons)
    figures.write()


main()
