#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Print what --overhead asked for and what it came to, of each report, as a table; and write the same as JSON.

overhead.py OUT.json REPORT...

A report is named LOAD-PERCENT.json; beside it, LOAD-PERCENT.said has the lines of --stats-every, of which the first two are of the time in which
points were still being armed. "later" is what was reached after these. Fails when a report has no run with --overhead in it.
"""

import json
import pathlib
import re
import statistics
import sys

COLUMNS = ["load", "asked_percent", "reached_percent", "reached_of_asked", "later_percent", "later_of_asked", "hits_per_s", "windows_per_s", "hits_too_dear_per_s",
           "races", "seconds"]


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
    return {"load": pathlib.Path(path).stem.rsplit("-", 1)[0], "asked_percent": asked, "reached_percent": round(reached, 3),
            "reached_of_asked": round(reached / asked, 3), "later_percent": round(later(path), 2),
            "later_of_asked": round(later(path) / asked, 3), "hits_per_s": round(sampling["hits"] / seconds, 1),
            "windows_per_s": round(sampling["windows"] / seconds, 1),
            "hits_too_dear_per_s": round(sampling["skipped_cost"] / seconds, 1), "races": len(report["races"]),
            "seconds": round(seconds, 1)}


def main():
    out, *reports = sys.argv[1:]
    rows = [measure(path) for path in reports]
    print("| " + " | ".join(name.replace("_", " ") for name in COLUMNS) + " |")
    print("|---|" + "---:|" * (len(COLUMNS) - 1))
    for row in rows:
        print("| " + " | ".join(str(row[name]) for name in COLUMNS) + " |")
    with open(out, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
        file.write("\n")
    return 0 if rows else 1


sys.exit(main())
