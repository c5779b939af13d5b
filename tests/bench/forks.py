#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Print, and write as JSON, how many copies were run in a minute and how much memory they had, from runs that recorded both (forks-in-lab.sh).

forks.py OUT.json NAME=PREFIX...
"""

import json
import statistics
import sys


def samples(path):
    """Each sample: {process: (parent, KiB that only it has, KiB of its share)}."""
    now = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("at "):
                if now:
                    yield now
                now = {}
            else:
                process, parent, own, share = map(int, line.split())
                now[process] = parent, own, share
    if now:
        yield now


def depth(process, sample):
    """0: outrider run, which samples. 1: the process that holds a copy. 2: a run of one order."""
    steps = 0
    while sample[process][0] in sample and steps < 8:
        process = sample[process][0]
        steps += 1
    return steps


def copies(sample):
    """MiB of each copy that is run, in a sample: what its holder and the runs have to themselves, and their shares of all that they have."""
    families = {}
    parents = {parent for parent, _, _ in sample.values()}
    for process in sample:
        top = process
        while depth(top, sample) > 1:
            top = sample[top][0]
        if depth(top, sample) == 1 and top in parents:  # Another child of outrider's reads debug files.
            own, share = families.get(top, (0, 0))
            families[top] = own + sample[process][1] / 1024, share + sample[process][2] / 1024
    return list(families.values())


def measure(prefix):
    with open(prefix + ".json", encoding="utf-8") as file:
        report = json.load(file)
    seconds = report["summary"]["sampling"]["seconds"]
    counts = [race["replay"]["counts"] for race in report["races"] if race["replay"]]
    replays = sum(count[key] for count in counts for key in ("no_state_change", "state_change", "replay_failure"))
    every = list(samples(prefix + ".memory"))
    of_copies = [copy for sample in every for copy in copies(sample)]
    guest = [sample[p][2] / 1024 for sample in every for p in sample if depth(p, sample) == 0]
    return {
        "seconds": seconds,
        "replays": replays,
        "replays_per_minute": replays * 60 / seconds,
        "forks_per_minute": replays * 5 * 60 / seconds,
        "instances_per_minute": sum(race["count"] for race in report["races"]) * 60 / seconds,
        "copies_at_once": max((len(copies(sample)) for sample in every), default=0),
        "samples_of_copies": len(of_copies),
        "own_mib_median": statistics.median(own for own, _ in of_copies) if of_copies else None,
        "own_mib_most": max((own for own, _ in of_copies), default=None),
        "share_mib_median": statistics.median(share for _, share in of_copies) if of_copies else None,
        "share_mib_most": max((share for _, share in of_copies), default=None),
        "guest_share_mib_median": statistics.median(guest) if guest else None,
    }


def main():
    out, *runs = sys.argv[1:]
    results = {}
    for run in runs:
        name, prefix = run.split("=", 1)
        results[name] = measure(prefix)
    with open(out, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=2)
        file.write("\n")
    print(f"{'':28}" + "".join(f"{name:>16}" for name in results))
    for key in next(iter(results.values())):
        cells = (results[name][key] for name in results)
        print(f"{key.replace('_', ' '):28}" + "".join(f"{'-' if cell is None else format(cell, '.1f'):>16}" for cell in cells))
    return 0 if all(result["replays"] for result in results.values()) else 1


sys.exit(main())
