#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of windows goes, by the number of vCPUs: phases.py FOLDER BUILD..., where BUILD-CPUS-ROUND.json are the reports of tests/bench/phases."""

import json
import os
import pathlib
import sys

from figures import Figures, pairs, ratio

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


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def compared(this, other):
    """How many times as much a run has as the other build's run of the same round."""
    figure = {"windows a hit": lambda report: report["windows"] / report["hits"],
              "windows/s": lambda report: report["windows"] / report["seconds"],
              "held, s": lambda report: report["phases"]["held"]["sum_ns"] / 1e9,
              "lost": lambda report: report["lost_us"]}
    cells = {name: ratio(pairs(map(of, this), map(of, other))) for name, of in figure.items()}
    # A run may find no race, so races are added up.
    races, lost = ([sum(report[key] for report in reports) for reports in (this, other)] for key in ("races", "lost_us"))
    cells["races, in all"] = f"{races[0]} : {races[1]}"
    cells["races a lost CPU-second"] = f"{races[0] / lost[0] / (races[1] / lost[1]):.2f}" if races[1] else ""
    return cells


def main():
    folder, builds = pathlib.Path(sys.argv[1]), sys.argv[2:]
    rounds = int(os.environ["ROUNDS"])
    figures = Figures("phases", vcpus=os.environ["VCPUS"], seconds=os.environ["SECONDS_EACH"], rounds=rounds, load=os.environ["LOAD"])
    times, costs, reasons, others = [], [], [], []

    def read(build, cpus, number):
        report = json.loads((folder / f"{build}-{cpus}-{number}.json").read_text(encoding="utf-8"))
        return {**report["summary"]["sampling"], "races": len(report["races"])}

    for cpus in os.environ["VCPUS"].split():
        reports = [read("this", cpus, number + 1) for number in range(rounds)]
        total = {key: sum(report[key] for report in reports)
                 for key in ("hits", "windows", "seconds", "exits", "kicks", "ioctls", "passes", "cut_short", "cut_idle", "cut_turn", "lost_us", *REASONS)}
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
        reasons.append([int(cpus), hits, *(share(total[key], hits) for key in REASONS), *(share(total[key], windows) for key in ("cut_short", "cut_idle", "cut_turn")),
                        round(total["passes"] / windows, 2) if windows else ""])
        if "other" in builds:
            figure = compared(reports, [read("other", cpus, number + 1) for number in range(rounds)])
            others.append([int(cpus), *figure.values()])
    figures.table("times", ["vCPUs", "windows", *PHASES], times)
    figures.table("costs", ["vCPUs", "hits/s", "windows/s", "exits a window", "kicks a window", "ioctls a window", "lost, % of vCPU time"], costs)
    figures.table("reasons", ["vCPUs", "hits", *REASONS.values(), "windows cut by another context", "windows cut, no vCPU ran", "windows cut for the last vCPU",
                              "passes a window"], reasons)
    if others:
        figures.table("compared", ["vCPUs", *figure], others)
    figures.write()


main()
