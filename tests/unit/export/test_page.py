#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report in a browser: what its script does, what is there without the script, and what a phone shows."""

import json
import lzma
import os
import pathlib
import re
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
RUNS = ("gt-amd", "gt-dma", "linux-6.1", "made")  # watchpoints, breakpoints and an unseen writer; devices; interrupts on the held CPU; all that a timeline can show

# In the page: what is wrong with the drawings that are shown. Text must lie within its drawing, and numbers must not overlap.
DRAWINGS = """
const wrong = [], inside = (a, b) => a.left >= b.left - .5 && a.right <= b.right + .5 && a.top >= b.top - .5 && a.bottom <= b.bottom + .5;
for (const svg of document.querySelectorAll(".timeline svg")) {
  const box = svg.getBoundingClientRect(), numbers = [...svg.querySelectorAll("circle.mark")].map((c) => c.getBoundingClientRect());
  if (box.width < 200) wrong.push("narrow");
  for (const text of svg.querySelectorAll("text, circle"))
    if (!inside(text.getBoundingClientRect(), box)) wrong.push("outside: " + text.textContent);
  numbers.forEach((a, i) => numbers.slice(i + 1).forEach((b) => {
    if (a.left < b.right - .5 && b.left < a.right - .5 && a.top < b.bottom && b.top < a.bottom) wrong.push("numbers overlap");
  }));
}
return wrong;
"""

# In the page: what each race's timeline says, in the drawing and beside it.
TIMELINES = """
return Object.fromEntries([...document.querySelectorAll("section.race")].map((section) => {
  const svg = section.querySelector(".timeline svg"), texts = (from, css) => [...from.querySelectorAll(css)].map((e) => e.textContent);
  return [section.id, {
    label: svg.getAttribute("aria-labelledby") === svg.querySelector("title").id && svg.querySelector("title").textContent,
    description: svg.getAttribute("aria-describedby") === svg.querySelector("desc").id && svg.querySelector("desc").textContent,
    lanes: texts(svg, "text.lane"), numbers: texts(svg, "text.number"), orders: texts(svg, "circle.order").length,
    events: texts(section, ".timeline li span:last-child"), listed_orders: texts(section, ".timeline li.order").length,
    roles: texts(section, ".side h3 .role")}];
}));
"""


def made(document):
    """Add to the races of a recorded run what only newer versions record: the course of each window, and the locks of each side."""
    def lock(name, kind, shared=False):
        return {"name": name, "kind": kind, "address": "0xffff888000001000", "shared": shared, "maybe": False}
    locks = [{"complete": True, "held": [lock("gt_inode.i_lock", "spin"), lock("rtnl_mutex", "mutex")]},
             {"complete": True, "held": [lock("gt_lock_with_a_long_name.member_with_a_long_name", "rwsem", True)]}]
    for race in document["races"]:
        held = race["instances"][0]["held_us"]
        race["window"] = {"hold_us": 20000, "watched_us": min(41, held), "returns": 9, "return_us": [held * i // 9 for i in range(1, 9)]}
        for side, names in zip(race["sides"], locks):
            if not side["unknown"]:
                side["locks"] = names
    return document


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.addresses, cls.races_of, cls.groups_of = {}, {}, {}
        for run in RUNS:
            races = pathlib.Path(cls.folder.name, f"{run}.json")
            document = lzma.decompress((RECORDED / (run if run != "made" else "gt-amd") / "named.json.xz").read_bytes())
            races.write_bytes(document if run != "made" else json.dumps(made(json.loads(document))).encode())
            cls.addresses[run] = cls.page(races)
            document = json.loads(cls.report(races, "json"))
            cls.races_of[run], cls.groups_of[run] = document["races"], document["groups"]
        cls.races, cls.groups = cls.races_of["gt-amd"], cls.groups_of["gt-amd"]
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
        """Ids of the groups in the table, which must be those of the sections, in the same order."""
        ids = [row.get_attribute("data-group") for row in self.rows()]
        self.assertEqual(ids, [section.get_attribute("id") for section in self.all("div.group") if section.is_displayed()])
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
        expected = {f"group-{race['group']}" for race in self.races if any(side.get("context", {}).get("comm") == comm for side in race["sides"])}
        self.assertLess(len(expected), len(self.groups))
        self.filter(comm)
        self.assertEqual(set(self.shown()), expected)
        self.filter("harness.c")
        self.assertTrue(self.shown())
        self.filter("no such word anywhere")
        self.assertEqual(self.shown(), [])
        self.assertTrue(self.one("#none").is_displayed())
        self.one("#clear").click()
        self.assertEqual(len(self.shown()), len(self.groups))
        self.assertFalse(self.one("#none").is_displayed())

    def test_counts_are_clicked_to_see_just_these(self):
        for button in self.all(".counts button"):
            if not button.get_attribute("data-level"):
                continue
            button.click()
            self.assertEqual(len(self.shown()), int(button.find_element(By.TAG_NAME, "b").text))
            self.assertEqual(button.get_attribute("aria-pressed"), "true")
            button.click()
            self.assertEqual(len(self.shown()), len(self.groups))

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

    def test_a_link_opens_the_other_races_of_a_group(self):
        group = max(self.groups, key=lambda one: len(one["races"]))
        other = f"#race-{group['races'][-1]}"
        self.assertGreater(len(group["races"]), 2)
        self.assertFalse(self.one(other).is_displayed())
        self.show(1600, anchor=other)
        self.assertTrue(self.one(other).is_displayed())
        row = self.one(f"tr[data-group=group-{group['id']}]")
        self.assertIn(str(len(group["races"])), row.text.split())

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
            timelines = self.browser.execute_script(TIMELINES)
            for race in self.races_of[run]:
                other = race["sides"][1]
                words = ["held", "meanwhile" if not other["unknown"] else "device" if "device" in other else "unseen writer"]
                self.assertEqual(timelines[f"race-{race['id']}"]["roles"], words)
                roles.update(words)
        self.assertEqual(roles, {"held", "meanwhile", "device", "unseen writer"})

    def test_each_race_has_a_timeline(self):
        for run in RUNS:
            self.show(1600, run=run)
            timelines = self.browser.execute_script(TIMELINES)
            for race in self.races_of[run]:
                with self.subTest(run=run, race=race["id"]):
                    self.check_timeline(race, timelines[f"race-{race['id']}"])

    def check_timeline(self, race, timeline):
        held, other = race["sides"]
        lanes = [f"CPU {held['cpu']}, held", f"CPU {other.get('cpu')}, meanwhile"]
        if held["cpu"] == other.get("cpu"):
            lanes = [f"CPU {held['cpu']}, both sides"]
        elif other["unknown"]:
            lanes[1] = "device" if "device" in other else "unseen writer"
        self.assertEqual([lane.split(":")[0] for lane in timeline["lanes"]], lanes)
        self.assertEqual(timeline["label"], "Timeline of the first instance")
        self.assertGreaterEqual(len(timeline["events"]), 4)
        for number, event in enumerate(timeline["events"], 1):
            self.assertRegex(timeline["description"], rf"\b{number}, [a-z0-9., ]+: {re.escape(event)}\. ")
        self.assertEqual(sorted(map(int, timeline["numbers"])), list(range(1, len(timeline["events"]) + 1)))
        self.assertEqual(timeline["orders"], timeline["listed_orders"])

    def test_timelines_are_whole_on_every_screen(self):
        for run in RUNS:
            for width in (390, 768, 1600):
                with self.subTest(run=run, width=width):
                    self.show(width, run=run)
                    self.browser.execute_script("for (const body of document.querySelectorAll('details.body')) body.open = true")
                    self.assertEqual(len(self.all(".timeline svg")), len(self.races_of[run]))
                    self.assertEqual(self.browser.execute_script(DRAWINGS), [])

    def test_a_phone_needs_no_sideways_scrolling(self):
        for run in RUNS:
            for scripts in (True, False):
                self.show(390, scripts, run=run)
                layout = self.browser.execute_cdp_cmd("Page.getLayoutMetrics", {})
                self.assertLessEqual(layout["cssContentSize"]["width"], 390)
        self.show(390)
        narrow = [cell.text for cell in self.all("table.races td") if cell.text and cell.size["width"] < 200]
        self.assertEqual(narrow, [])

    def test_without_scripts_all_is_there(self):
        self.show(1600, scripts=False)
        self.assertFalse(self.one("#filter").is_displayed())
        self.assertEqual(len(self.shown()), len(self.groups))
        self.assertEqual(len(self.all("section.race")), len(self.races))
        self.assertEqual(self.all("button:not([hidden] *)"), [])
        opened = [race["id"] for race in self.races if race["verdict"]["class"] not in ("benign", "synchronisation")]
        self.assertTrue(opened)
        for race in opened:
            self.assertTrue(self.one(f"#race-{race} .timeline svg").is_displayed())
            self.assertTrue(self.one(f"#race-{race} .timeline li").is_displayed())


if __name__ == "__main__":
    unittest.main()
