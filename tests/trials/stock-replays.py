#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stock-replays.py REPORT...: the outcome of each race of these reports that was run in both orders, beside the verdict by hand of
docs/evaluation, and sums of each report. Ends with status 1 when a race that is harmful by hand was folded."""

import json
import pathlib
import re
import sys

DOCUMENTS = pathlib.Path(__file__).resolve().parents[2] / "docs/evaluation"
FOLDED = ("benign", "synchronisation")
COUNTS = ("no_state_change", "state_change", "replay_failure")


def load(path):
    with open(path, encoding="utf-8") as report:
        return json.load(report)


def total(races, member):
    return sum(race["replay"][member] if member in race["replay"] else race["replay"]["counts"][member] for race in races)


def sums(path, report):
    run = [race for race in report["races"] if race["replay"]]
    print(f"# {path}: {report['summary']['sampling']['seconds']:.0f} s, {len(report['races'])} races, {len(run)} of them run in both orders: " +
          ", ".join(f"{total(run, member)} {member.replace('_', ' ')}" for member in COUNTS + ("not_run", "one_order_in_trouble")))


def hand_verdicts():
    """By id of a race: whether it is harmful by hand, the document, and what the race is. Races of a folded group are harmless, all of them."""
    known = {}
    for document in sorted(DOCUMENTS.glob("*.md")):
        columns = []
        for line in document.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            if not cells:
                columns = []
            elif not columns:
                columns = cells
            row = dict(zip(columns, cells))
            for race in re.findall(r"\b[0-9a-f]{12}\b", row.get("race", "") + " " + row.get("ids", "")):
                if "what it is" in row:
                    known.setdefault(race, (row.get("harmful?", "no"), document.name, row["what it is"]))
    return known


def shown(telling):
    """What the kept instance of a race shows (`telling` in docs/report-format.md), in few words."""
    words = [telling["why_text"]] if telling["why_text"] else []
    words += [order["trouble"] for order in telling["orders"] if order["trouble"]]
    words += [difference["name"] or difference["address"] or difference["physical"] for difference in telling["differences"][:3]]
    return "; ".join(words)


def main():
    hand, races, wrong = hand_verdicts(), {}, 0
    for path in sys.argv[1:]:
        report = load(path)
        sums(path, report)
        for race in report["races"]:
            if race["replay"]:
                races.setdefault(race["id"], []).append(race)
    print("| race | sites | datum | no state change | state change | failure | not run | shows | verdict | by hand | what it is |")
    print("|---|---|---|---:|---:|---:|---:|---|---|---|---|")
    for name, seen in races.items():
        sites = " / ".join(side["site"] or "unknown" for side in seen[-1]["sides"])
        telling = max(seen, key=lambda race: race["replay"]["counts"]["state_change"])["replay"]["telling"]
        verdict = seen[-1]["verdict"]
        harmful, document, what = hand.get(name, ("not read", "", ""))
        wrong += verdict["class"] in FOLDED and not harmful.startswith("no")
        print(f"| {name} | {sites} | {(seen[-1].get('datum') or {}).get('name') or ''} | " +
              " | ".join(str(total(seen, member)) for member in COUNTS + ("not_run",)) +
              f" | {shown(telling)} | {verdict['class']}: {verdict['rule']} | {harmful} {document} | {what} |")
    return wrong != 0


sys.exit(main())
