#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What attach gets through a gdbstub, and what it pays: stub.py FOLDER BUILD..., where BUILD-OVERHEAD-ROUND.json are the reports of tests/bench/stub."""

import json
import os
import pathlib
import sys

from figures import Figures, pairs, ratio


def main():
    folder, builds = pathlib.Path(sys.argv[1]), sys.argv[2:]
    rounds = int(os.environ["ROUNDS"])
    figures = Figures("stub", rounds=rounds, seconds=os.environ["SECONDS_EACH"], load=os.environ["LOAD"])
    rows, compared = [], []
    for overhead in os.environ["OVERHEADS"].split():
        runs = {build: [json.loads((folder / f"{build}-{overhead}-{number + 1}.json").read_text(encoding="utf-8"))["summary"]["sampling"]
                        for number in range(rounds)] for build in builds}
        # In the protocol of a gdbstub, exits are stops of the machine, and ioctls are round trips.
        figure = {"hits/s": lambda run: run["hits"] / run["seconds"],
                  "windows/s": lambda run: run["windows"] / run["seconds"],
                  "planted/s": lambda run: run["planted"] / run["seconds"],
                  "stood still, %": lambda run: run["still_us"] / 1e4 / run["seconds"],
                  "ms a stop": lambda run: run["still_us"] / 1e3 / run["exits"],
                  "round trips a stop": lambda run: run["ioctls"] / run["exits"],
                  "ms a round trip": lambda run: run["still_us"] / 1e3 / run["ioctls"]}
        rows.append([f"{overhead} %", *(ratio((of(run) for run in runs["this"]), 2) for of in figure.values())])
        if "other" in runs:
            compared.append([f"{overhead} %", *(ratio(pairs(map(of, runs["this"]), map(of, runs["other"]))) for of in figure.values())])
    figures.table("got", ["asked", *figure], rows)
    if compared:
        figures.table("compared", ["asked", *figure], compared)
    figures.write()


main()
