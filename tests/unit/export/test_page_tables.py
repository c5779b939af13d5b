#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the pages of `report` and `locks` in a browser: on a phone each cell has its label, and numbers sit under their heads."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from browser import browser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
TABLES = "table.races, table.replay"

# In the page: what is wrong with the cells of tables on a narrow screen.
CELLS = f"""
const wrong = [], of = (cell) => cell.closest("table").className + ": " + cell.textContent;
for (const cell of document.querySelectorAll(":is({TABLES}) td")) {{
  if (!cell.textContent || !cell.getClientRects().length) continue;
  const label = getComputedStyle(cell, "::before").content, box = cell.getBoundingClientRect();
  if (!/^"[A-Za-z#]/.test(label)) wrong.push("no label: " + of(cell));
  if (box.width < 300) wrong.push("narrow: " + of(cell));
}}
for (const head of document.querySelectorAll(":is({TABLES}) thead th"))
  if (head.getClientRects().length && !head.querySelector("button")) wrong.push("a head that does nothing: " + of(head));
return wrong;
"""

# In the page: the columns whose numbers are not under their heads. A column of numbers is aligned to the right.
COLUMNS = f"""
const wrong = [];
for (const table of document.querySelectorAll("{TABLES}"))
  for (const row of table.tBodies[0].rows)
    [...row.cells].forEach((cell, i) => {{
      const head = table.tHead.rows[0].cells[i];
      if (!/^-?[0-9]+( of [0-9]+)?$/.test(cell.textContent)) return;
      if (getComputedStyle(cell).textAlign !== "right" || getComputedStyle(head).textAlign !== "right")
        wrong.push(head.textContent + ": " + cell.textContent);
    }});
return wrong;
"""


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        subprocess.run([BUILD / "unit/report/test_json", "--write", folder / "races.json"], check=True)
        (folder / "assertions").write_text("[assert]\ndatum = ext4_inode_cache+0x78\nunder = ext4_inode_cache+0x80\n")
        cls.addresses = {}
        for name, command in (("report", ["report"]), ("locks", ["locks", "--assert", folder / "assertions"])):
            page = folder / f"{name}.html"
            # A broken assertion is an exit code of its own; a page without the table is found below.
            page.write_bytes(subprocess.run([BUILD / "outrider", *command, "--format", "html", folder / "races.json"], check=False,
                                            capture_output=True).stdout)
            cls.addresses[name] = page.as_uri()
        cls.browser = browser()
        cls.addClassCleanup(cls.browser.quit)

    def show(self, name, width):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.get(self.addresses[name])

    def heads(self):
        return set(self.browser.execute_script(f"return [...document.querySelectorAll(':is({TABLES}) th')].map((th) => th.textContent)"))

    def test_all_tables_are_here(self):
        self.show("report", 1600)
        self.assertLessEqual({"Rank", "Seen", "Goes first", "What differs", "What the locks say"}, self.heads())
        self.show("locks", 1600)
        self.assertLessEqual({"Rank", "Broken by", "RCU reads"}, self.heads())

    def test_a_phone_labels_each_cell(self):
        for name in self.addresses:
            with self.subTest(name):
                self.show(name, 390)
                self.assertEqual(self.browser.execute_script(CELLS), [])
                self.assertLessEqual(self.browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]["width"], 390)

    def test_numbers_sit_under_their_heads(self):
        for name in self.addresses:
            with self.subTest(name):
                self.show(name, 1600)
                self.assertEqual(self.browser.execute_script(COLUMNS), [])

    def test_scripts_do_not_fail(self):
        for name in self.addresses:
            with self.subTest(name):
                self.show(name, 1600)
                self.assertEqual([entry["message"] for entry in self.browser.get_log("browser") if entry["source"] == "javascript"], [])


if __name__ == "__main__":
    unittest.main()
