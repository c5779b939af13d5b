#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Print what --overhead asked for and what it came to, of each report, as a table; and keep the same as figures.

overhead.py REPORT...

A report is named LOAD-PERCENT.json; beside it, LOAD-PERCENT.said has the lines of --stats-every, of which the first two are of the time in which
points were still being armed. "later" is what was reached after these. Fails when a report has no run with --overhead in it.
"""

import json
import os
import pathlib
import re
import statistics
import sys

from figures import Figures


def later(path):
    """The share after the first two lines, in percent."""
    said = pathlib.Path(path).with_suffix(".said").read_text(encoding="utf-8", errors="replace")
    return statistics.mean(float(cost) for cost in re.findall(r"s sampled: .* cost ([0-9.]+) %", said)[2:])


def measure(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    run, sampling = report["run"], report["summary"]["sampling"]
    seconds, asked = sampling["seconds"], run["overhead_percent"]
    reached = sampling["lost_us"] / 1e4 / seconds / run["cpus"]
    return {"load": pathlib.Path(path).stem.rsplit("-", 1)[0], "asked_percent": asked, "reached_of_asked": round(reached / asked, 3),
            "later_of_asked": round(later(path) / asked, 3), "hits_per_s": round(sampling["hits"] / seconds, 1),
            "windows_per_s": round(sampling["windows"] / seconds, 1)}


def main():
    rows = [measure(path) for path in sys.argv[1:]]
    figures = Figures("overhead", cpus=os.environ["CPUS"], seconds=os.environ["SECONDS_EACH"], seed=os.environ["SEED"])
    figures.table("reached", ["load", "asked", "reached, relative to asked", "from 10 s on, relative to asked", "hits/s", "windows/s"],
                  [[row["load"], f"{row['asked_percent']:g} %", row["reached_of_asked"], row["later_of_asked"], row["hits_per_s"], row["windows_per_s"]]
                   for row in rows])
    figures.write()
    return 0 if rows else 1


sys.exit(main())
