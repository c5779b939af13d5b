#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Print how often each race of a blind run was observed in a minute, there and in a run with --aim, and the ratio."""

import json
import statistics
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return {race["id"]: race for race in report["races"]}, report["summary"]["sampling"]["seconds"] / 60


def by_point(race):
    """How many of the kept instances had a rendezvous: both CPUs were held before their accesses."""
    return sum(instance["how"] == "breakpoint" for instance in race["instances"])


def main():
    (blind, blind_minutes), (aimed, aimed_minutes) = map(load, sys.argv[1:])
    ratios = []
    print(f"{'race':14}{'blind/min':>10}{'aimed/min':>10}{'ratio':>8}  by breakpoint  sites")
    for number, race in sorted(blind.items(), key=lambda item: -item[1]["count"]):
        again = aimed.get(number)
        rates = race["count"] / blind_minutes, (again["count"] if again else 0) / aimed_minutes
        ratios.append(rates[1] / rates[0])
        kept = f"{by_point(again)} of {len(again['instances'])}" if again else "-"
        print(f"{number:14}{rates[0]:10.1f}{rates[1]:10.1f}{ratios[-1]:8.1f}  {kept:13}  {' <-> '.join(side['site'] for side in race['sides'])}")
    total = [sum(race["count"] for race in races.values()) / minutes for races, minutes in ((blind, blind_minutes), (aimed, aimed_minutes))]
    again = sum(number in aimed for number in blind)
    print(f"all: {total[0]:.1f} and {total[1]:.1f} a minute, ratio {total[1] / total[0]:.1f}; median ratio {statistics.median(ratios):.1f}; "
          f"{again} of {len(blind)} races happened again, {len(aimed.keys() - blind.keys())} others were found")
    return 0 if again else 1


sys.exit(main())
