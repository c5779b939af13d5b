#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""replays.py MANIFEST RACES: a table of the ground truth's cases, and the outcomes of the instances that were run in both orders."""

import json
import sys

KEYS = ("no_state_change", "state_change", "replay_failure")


def main():
    with open(sys.argv[1], encoding="utf-8") as manifest, open(sys.argv[2], encoding="utf-8") as report:
        cases = {case["name"]: case for case in json.load(manifest)["cases"]}
        races = json.load(report)["races"]
    table = {}
    for race in races:
        sites = [side.get("site") or "" for side in race["sides"]]
        name = next((name for name in cases if all(site.startswith((f"outrider_gt:gt_{name}_", f"outrider_gt:gt_{name}+")) for site in sites)), None)
        if not name or not race["replay"]:
            continue
        row = table.setdefault(name, dict.fromkeys(KEYS + ("one_order_in_trouble", "not_run"), 0) | {"pairs": 0, "shows": set(), "folded": 0})
        row["pairs"] += 1
        for key in KEYS:
            row[key] += race["replay"]["counts"][key]
        for key in ("one_order_in_trouble", "not_run"):
            row[key] += race["replay"][key]
        telling = race["replay"]["telling"]
        row["shows"].update(filter(None, [telling["why_text"], *(order["trouble"] for order in telling["orders"]),
                                          *(d["name"] for d in telling["differences"][:2])]))
        row["folded"] += race["verdict"]["rule"] == "no-state-change" and cases[name]["nature"] == "harmful"
    print("| case | nature | pairs | no state change | state change | failure | one order in trouble | not run | shows |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---|")
    for name, row in table.items():
        print(f"| {name} | {cases[name]['nature']} | {row['pairs']} | " + " | ".join(str(row[key]) for key in KEYS) +
              f" | {row['one_order_in_trouble']} | {row['not_run']} | {'; '.join(sorted(row['shows']))[:120]} |")
    return sum(row["folded"] for row in table.values()) != 0


sys.exit(main())
