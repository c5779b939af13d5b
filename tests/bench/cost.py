#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What sampling costs by the guest's own count of its work, and by outrider's account: cost.py FOLDER of tests/bench/cost-in-lab.sh."""

import os
import pathlib
import re
import statistics
import sys

from figures import Figures, pairs, ratio


class Guest:
    """What one guest has counted, and what its outrider reported for the same seconds."""

    def __init__(self, folder, arm, number):
        console = (folder / f"{arm}-{number}.console").read_text(encoding="utf-8", errors="replace")
        said = (folder / f"{arm}-{number}.said").read_text(encoding="utf-8", errors="replace")
        counted = re.findall(r"count ([a-z]+) (\d+) in ([\d.]+) s", console)
        self.speed = {name: int(times) / float(seconds) for name, times, seconds in counted}
        lines = re.findall(r"s sampled: .*?([\d.]+) hits/s.* cost ([\d.]+) %", said)
        marks = [int(mark) for mark in (folder / f"{arm}-{number}.marks").read_text().split()]
        assert len(counted) == 5 and len(marks) == 6, f"{arm}-{number}: {len(counted)} works were counted"
        self.lost, self.hits = {}, {}
        for (name, _, _), begin, end in zip(counted, marks, marks[1:], strict=False):
            # The first line covers the work before, and the time until this work has settled.
            within = lines[begin + 1:end] if arm.startswith("rate") else []
            self.hits[name] = statistics.mean(float(hits) for hits, _ in within) if within else 0
            self.lost[name] = statistics.mean(float(cost) for _, cost in within) / 100 if within else 0


def main():
    folder = pathlib.Path(sys.argv[1])
    rounds, rates = int(os.environ["ROUNDS"]), os.environ["RATES"].split()
    arms = ["none", "idle", *(f"rate-{rate}" for rate in rates)]
    guests = {arm: [Guest(folder, arm, number + 1) for number in range(rounds)] for arm in arms}
    words = {"idle": "nothing armed", **{f"rate-{rate}": f"{rate} hits/s asked" for rate in rates}}
    rows = []
    for work in guests["none"][0].speed:
        bare = [guest.speed[work] for guest in guests["none"]]
        for arm in arms[1:]:
            of_bare = pairs([guest.speed[work] for guest in guests[arm]], bare)
            lost = statistics.median(guest.lost[work] for guest in guests[arm])
            rows.append([work, words[arm], round(statistics.median(guest.hits[work] for guest in guests[arm]), 1), ratio(of_bare),
                         round(1 - lost, 2) if arm != "idle" else ""])
    figures = Figures("cost", rounds=rounds, seconds=os.environ["COUNT_SECONDS"], cpus=os.environ["CPUS"])
    figures.table("work", ["work", "sampling", "hits/s", "work done, relative to bare", "left by outrider's account"], rows)
    figures.write()


main()
