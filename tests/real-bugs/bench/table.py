# SPDX-License-Identifier: GPL-2.0-or-later
"""The bench's results as Markdown."""

from .judge import is_harmful

HEAD = """| bug | kernel | seed | found after | windows | verdict, rank | both orders | kernel complained | other harmful | end |
|---|---|---|---|---|---|---|---|---|---|"""


def _worst(races):
    return max(races, key=lambda race: (is_harmful(race), race["verdict"]["rank"]), default=None)


def _orders(races):
    """The outcome of both orders, with --replay: the worst one of these races."""
    run = [race["replay"] for race in races if race.get("replay")]
    trouble = sum(replay["one_order_in_trouble"] for replay in run)
    if trouble:
        return f"one ends in trouble, {trouble} times"
    return ", ".join(sorted({replay["outcome"] for replay in run})) or "-"


def _line(row):
    worst = _worst(row.races)
    verdict = f"{worst['verdict']['class']}: {worst['verdict']['rule']}, {worst['verdict']['rank']}" if worst else "-"
    complaints = ", ".join(f"{one['kind']} in {(one.get('where') or {}).get('function') or '?'}" for one in row.complaints[:2]) or "-"
    if row.found_after is not None:
        found = f"{row.found_after:.1f} s"
    else:
        found = "seen" if row.races else f"not in {row.seconds:.0f} s"
    others = sum(is_harmful(race) for race in row.others)
    return f"| {row.bug.name} | {row.kernel} | {row.seed} | {found} | {row.windows} | {verdict} | {_orders(row.races)} | {complaints} | {others} | {row.end} |"


def show_last(rows, count):
    """Say how the last runs went, while others are still to come."""
    for row in rows[-count:]:
        print(f"# {_line(row)}", flush=True)


def _harmful(rows):
    """Every race that was called harmful, with the runs that have it."""
    seen = {}
    for row in rows:
        for race in [*row.races, *row.others]:
            if is_harmful(race):
                sides = " / ".join(f"{side['access']['kind']} {side['site']}" if side.get("access") else "unseen writer" for side in race["sides"])
                whose = "the bug" if race in row.races else "other"
                key = (row.bug.name, whose, sides, race.get("name") or "", race["verdict"]["rule"])
                seen.setdefault(key, []).append(f"{row.kernel} {row.seed}")
    print("\n| bug | whose | sides | datum | rule | runs |\n|---|---|---|---|---|---|")
    for key, runs in sorted(seen.items()):
        print(f"| {' | '.join(key)} | {', '.join(runs)} |")


def show(rows, harmful):
    print(HEAD)
    for row in rows:
        print(_line(row))
    if harmful:
        _harmful(rows)
