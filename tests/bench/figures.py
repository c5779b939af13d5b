# SPDX-License-Identifier: GPL-2.0-or-later
"""What a benchmark has measured: named tables and plots, shown as Markdown and kept as JSON. tests/bench/page puts them into docs/performance.md.

    figures = Figures("cost", rounds=3)
    figures.table("slowdown", ["load", "rate", "ratio"], [["loop", 10, "0.99 (0.98 to 1.01)"]])
    figures.plot("races", "seconds sampled", "races found", {"10 hits/s": [[0, 0], [12.5, 1]]}, steps=True)
    figures.write()

The file is $BENCH_OUT/cost.json (build/bench/cost.json where BENCH_OUT is not set). It has "bench", "made" (a day), "machine" (in words), "options"
(how the benchmark was called), "tables" and "plots". The names of tables and plots are those of the markers in the page.
"""

import datetime
import json
import os
import pathlib
import statistics


def ratio(values, digits=2):
    """The median of ratios and, if there are several, their extremes, as the text of a cell."""
    values = list(values)
    spread = f" ({min(values):.{digits}f} to {max(values):.{digits}f})" if len(values) > 1 else ""
    return f"{statistics.median(values):.{digits}f}{spread}"


def pairs(above, below):
    """The ratios of what was measured in the same rounds."""
    return [a / b for a, b in zip(above, below, strict=True)]


def machine():
    """The machine in words, without its host name."""
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) / 2**20
    cpus = os.cpu_count()
    kvm = "its own KVM" if os.path.exists("/dev/kvm") else "no KVM of its own: guests run on a real KVM inside an emulator"
    return f"{cpus} CPU{'s' if cpus != 1 else ''}, {memory:.0f} GiB of memory, {kvm}"


def markdown(table):
    """The lines of a table. Columns of which every cell is a number are set flush right."""
    columns, rows = table["columns"], table["rows"]
    numbers = [all(isinstance(row[n], (int, float)) for row in rows) for n in range(len(columns))]
    return ["| " + " | ".join(columns) + " |",
            "|" + "|".join("---:" if flush else "---" for flush in numbers) + "|",
            *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)]


class Figures:
    def __init__(self, bench, **options):
        self.kept = {"bench": bench, "made": datetime.date.today().isoformat(), "machine": machine(), "options": options, "tables": {}, "plots": {}}

    def table(self, name, columns, rows):
        """Rows are lists of numbers and of texts, one cell a column."""
        rows = [list(row) for row in rows]
        for row in rows:
            assert len(row) == len(columns), f"table {name}: {len(row)} cells for {len(columns)} columns"
        self.kept["tables"][name] = {"columns": list(columns), "rows": rows}
        print(f"\n{name}\n")
        print("\n".join(markdown(self.kept["tables"][name])), flush=True)

    def plot(self, name, x, y, series, steps=False):
        """Series are lists of [x, y] by name, in the order of x. With `steps` a value holds until the next one."""
        self.kept["plots"][name] = {"x": x, "y": y, "steps": steps, "series": series}

    def write(self):
        """Write all figures at once, so that an interrupted benchmark leaves the figures of the run before it. Returns the file's path."""
        folder = pathlib.Path(os.environ.get("BENCH_OUT", "build/bench"))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.kept['bench']}.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.kept, indent=1) + "\n", encoding="utf-8")
        part.replace(path)
        print(f"\nfigures: {path}")
        return path
