#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report in a browser: what its script does, what is there without the script, and what a phone shows."""

import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from browser import browser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RECORDED = ROOT / "tests/data/recorded"
RUNS = ("gt-amd", "gt-dma", "linux-6.1")  # watchpoints, breakpoints and an unseen writer; devices; interrupts on the held CPU


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addresses, cls.races_of = {}, {}
        for run in RUNS:
            races = pathlib.Path(cls.folder.name, f"{run}.json")
            races.write_bytes(lzma.decompress((RECORDED / run / "named.json.xz").read_bytes()))
            cls.addresses[run] = cls.page(races)
            cls.races_of[run] = json.loads(cls.report(races, "json"))["races"]
        cls.races = cls.races_of["gt-amd"]
        cls.kcsan = cls.report(pathlib.Path(cls.folder.name, "gt-amd.json"), "kcsan", "--all").decode()
        cls.browser = browser()
        cls.addClassCleanup(cls.browser.quit)

    @staticmethod
    def report(path, kind, *options):
        return subprocess.run([BUILD / "outrider", "report", "--format", kind, *options, path], check=True, capture_output=True).stdout

    @classmethod
    def page(cls, races):
        """Write the page of a report beside the report. Returns its address."""
        page = races.with_suffix(".html")
        page.write_bytes(cls.report(races, "html"))
        return page.as_uri()

    def setUp(self):
        self.show(1600)

    def show(self, width, scripts=True, anchor="", run="gt-amd"):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.get("about:blank")
        self.browser.get(self.addresses[run] + anchor)

    def all(self, css):
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        return self.browser.find_element(By.CSS_SELECTOR, css)

    def rows(self):
        return [row for row in self.all("table.races tbody tr") if row.is_displayed()]

    def shown(self):
        """Ids of the races in the table, which must be those of the sections, in the same order."""
        ids = [row.get_attribute("data-race") for row in self.rows()]
        self.assertEqual(ids, [section.get_attribute("id") for section in self.all("section.race") if section.is_displayed()])
        return ids

    def column(self, number):
        return [row.find_elements(By.TAG_NAME, "td")[number].text for row in self.rows()]

    def filter(self, words):
        self.one("#filter").clear()
        self.one("#filter").send_keys(words)

    def test_title_names_the_kernel(self):
        self.assertRegex(self.browser.title, r"^Data races in Linux 6\.1\.0-\S+$")

    def test_columns_sort_and_take_the_sections_along(self):
        heads = [head.text for head in self.all("table.races th")]
        for name, key in (("Rank", int), ("Seen", int), ("Rule", str)):
            column = heads.index(name)
            head = self.all("table.races th button")[column]
            head.click()
            first = [key(text) for text in self.column(column)]
            self.assertEqual(first, sorted(first, reverse=key is int))
            self.shown()
            head.click()
            second = [key(text) for text in self.column(column)]
            self.assertEqual(second, sorted(second, reverse=key is not int))
            self.assertNotEqual(first, second)
            self.shown()

    def test_filter_looks_at_all_that_a_section_shows(self):
        comm = self.races[0]["sides"][0]["context"]["comm"]
        expected = {f"race-{race['id']}" for race in self.races if any(side.get("context", {}).get("comm") == comm for side in race["sides"])}
        self.assertLess(len(expected), len(self.races))
        self.filter(comm)
        self.assertEqual(set(self.shown()), expected)
        self.filter("harness.c")
        self.assertTrue(self.shown())
        self.filter("no such word anywhere")
        self.assertEqual(self.shown(), [])
        self.assertTrue(self.one("#none").is_displayed())
        self.one("#clear").click()
        self.assertEqual(len(self.shown()), len(self.races))
        self.assertFalse(self.one("#none").is_displayed())

    def test_counts_are_clicked_to_see_just_these(self):
        for button in self.all(".counts button"):
            if not button.get_attribute("data-level"):
                continue
            button.click()
            self.assertEqual(len(self.shown()), int(button.find_element(By.TAG_NAME, "b").text))
            self.assertEqual(button.get_attribute("aria-pressed"), "true")
            button.click()
            self.assertEqual(len(self.shown()), len(self.races))

    def test_folded_races_are_closed_and_a_link_opens_them(self):
        closed = [race["id"] for race in self.races if race["verdict"]["class"] in ("benign", "synchronisation")]
        self.assertTrue(closed)
        for race in self.races:
            body = self.one(f"#race-{race['id']} details.body")
            self.assertEqual(body.get_attribute("open") is None, race["id"] in closed)
        self.show(1600, anchor=f"#race-{closed[-1]}")
        section = self.one(f"#race-{closed[-1]}")
        self.assertTrue(section.find_element(By.CSS_SELECTOR, ".sides").is_displayed())
        self.assertTrue(self.browser.execute_script("const r = arguments[0].getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0",
                                                    section))

    def test_kcsan_text_is_that_of_the_export(self):
        for race in self.races:
            text = self.one(f"#race-{race['id']} details.kcsan pre").get_attribute("textContent")
            self.assertIn("BUG: KCSAN: ", text)
            for line in text.splitlines():
                self.assertIn(line, self.kcsan)
        # A file's page has no clipboard in every browser: the text is copied, or is selected for copying.
        self.all("section.race > details > button")[0].click()
        WebDriverWait(self.browser, 60).until(lambda _: self.all("section.race > details > button")[0].text != "Copy as KCSAN text")

    def test_each_race_has_its_times(self):
        for race in self.races:
            seen = self.all(f"#race-{race['id']} svg.times path.seen")
            self.assertEqual(len(seen), len(race["instances"]))

    def test_each_side_says_what_it_was(self):
        roles = set()
        for run in RUNS:
            self.show(1600, run=run)
            for race in self.races_of[run]:
                other = race["sides"][1]
                words = ["held", "meanwhile" if not other["unknown"] else "device" if "device" in other else "unseen writer"]
                self.assertEqual([role.get_attribute("textContent") for role in self.all(f"#race-{race['id']} .side h3 .role")], words)
                roles.update(words)
        self.assertEqual(roles, {"held", "meanwhile", "device", "unseen writer"})

    def test_a_phone_needs_no_sideways_scrolling(self):
        for scripts in (True, False):
            self.show(390, scripts)
            layout = self.browser.execute_cdp_cmd("Page.getLayoutMetrics", {})
            self.assertLessEqual(layout["cssContentSize"]["width"], 390)
        self.show(390)
        narrow = [cell.text for cell in self.all("table.races td") if cell.text and cell.size["width"] < 200]
        self.assertEqual(narrow, [])

    def test_without_scripts_all_is_there(self):
        self.show(1600, scripts=False)
        self.assertFalse(self.one("#filter").is_displayed())
        self.assertEqual(len(self.shown()), len(self.races))
        self.assertEqual(self.all("button:not([hidden] *)"), [])


if __name__ == "__main__":
    unittest.main()
