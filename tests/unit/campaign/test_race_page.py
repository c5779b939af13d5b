#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of `outrider campaign show RACE --format html`: all that the store has of a race, on every screen and without scripts."""

import json
import pathlib
import re
import sys
import tempfile
import unittest

from selenium.webdriver.common.by import By

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from campaign_nights import Nights, recorded  # noqa: E402
from browser import browser  # noqa: E402

WIDE, PHONE = 1600, 390
CHANGED = 2  # the round whose runs judge the race otherwise
NOTE = "link and rename: <b>both</b> count & neither locks, as a mail to the list said in words that are long enough for a phone"


class RacePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.nights = Nights(folder.name, ["one", "other"])
        for number in (1, 2, 3):
            cls.nights.round(one=cls.report(number, "gt-amd"), other=cls.report(number, "gt-intel"))
        races = json.loads(cls.nights.said("show", "--all", "--format", "json"))["races"]
        cls.race = next(race["id"] for race in races if "gt_rwrace_writer" in json.dumps(race))
        cls.nights.said("triage", cls.race, "known", "--note", NOTE, "--who", "ada")
        cls.history = json.loads(cls.nights.said("show", cls.race, "--format", "json"))
        page = pathlib.Path(folder.name, "race.html")
        page.write_text(cls.nights.said("show", cls.race, "--format", "html"))
        cls.address = page.as_uri()
        cls.browser = browser()
        cls.addClassCleanup(cls.browser.quit)

    @staticmethod
    def report(number, name):
        document = recorded(name)
        document["run"]["options"] = ["run"]
        for race in document["races"]:
            if race["id"] == "f5b4a133e53e" and number == CHANGED:
                race["verdict"].update({"class": "benign", "rule": "statistics-counter", "rank": 12})
        return document

    def show(self, width=WIDE, scripts=True):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.get("about:blank")
        self.browser.get(self.address)

    def rows(self, table):
        """The rows of a table, each as a dict by the heads."""
        heads = [head.text for head in self.browser.find_elements(By.CSS_SELECTOR, f"#{table} th")]
        self.assertTrue(heads)
        return [dict(zip(heads, [cell.text for cell in row.find_elements(By.TAG_NAME, "td")], strict=True))
                for row in self.browser.find_elements(By.CSS_SELECTOR, f"#{table} tbody tr")]

    def setUp(self):
        self.show()

    def test_head_says_what_it_is(self):
        race = self.history["race"]
        self.assertIn(" against ", self.browser.title)
        self.assertIn("gt_rwrace", self.browser.title)
        verdict = self.browser.find_element(By.ID, "verdict").text
        self.assertTrue(verdict.startswith(f"{race['verdict']['class']} by the rule {race['verdict']['rule']}, rank {race['verdict']['rank']}"), verdict)
        facts = self.browser.find_element(By.CSS_SELECTOR, "dl.run").text
        for fact in (self.race, "3 rounds", "known", f"{self.history['instances']} times in {self.history['runs']} runs"):
            self.assertIn(fact, facts)
        last = self.rows("runs")[0]
        aim = f"--aim {last['Files']}/races.json#{last['Race in its report']} added to this command"
        self.assertIn(aim, facts)
        self.assertTrue(pathlib.Path(last["Files"], "races.json").exists())
        self.assertRegex(facts, r"Run again\n?.* run .*--json " + re.escape(last["Files"]))

    def test_rounds_show_when_the_verdict_changed(self):
        rows = self.rows("rounds")
        rounds = self.history["rounds"][::-1]
        self.assertEqual([(row["Round"], row["Seen"], row["Runs"]) for row in rows],
                         [(str(r["number"]), str(r["instances"]), str(r["runs"])) for r in rounds])
        self.assertEqual([row["Verdict"] for row in rows],
                         ["harmful candidate, no-benign-pattern changed", "benign, statistics-counter changed", "harmful candidate, no-benign-pattern"])

    def test_runs_builds_and_triage(self):
        runs = self.rows("runs")
        self.assertEqual(len(runs), self.history["runs"])
        self.assertEqual(len(runs), 6)
        self.assertEqual(sum(int(run["Seen"]) for run in runs), self.history["instances"])
        started = [run["Started"] for run in runs]
        self.assertEqual(started, sorted(started, reverse=True))
        for run in runs:
            folder = pathlib.Path(run["Files"])
            report = json.loads((folder / "races.json").read_text())
            (seen,) = [race for race in report["races"] if race["id"] == run["Race in its report"]]
            self.assertEqual((run["Seen"], run["First, s"]), (str(seen["count"]), f"{seen['first_s']:.3f}"))
            self.assertEqual(run["Verdict"], seen["verdict"]["class"])
        self.assertEqual([row["Build id"] for row in self.rows("builds")], [build["build_id"] for build in self.history["race"]["builds"]])
        (said,) = self.rows("triage")
        self.assertEqual((said["State"], said["Who"], said["Note"]), ("known", "ada", NOTE))

    def test_report_shows_both_sides_and_the_timeline(self):
        roles = [role.text for role in self.browser.find_elements(By.CSS_SELECTOR, ".side .role")]
        self.assertEqual(roles, ["held", "meanwhile"])
        self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, ".timeline svg desc")), 1)
        text = self.browser.find_element(By.CSS_SELECTOR, "section.race").text
        for side in self.history["report"]["sides"]:
            self.assertIn(side["site"], text)

    def test_every_screen_shows_all_of_it(self):
        for width, scripts in ((WIDE, True), (WIDE, False), (PHONE, True), (PHONE, False)):
            with self.subTest(width=width, scripts=scripts):
                self.show(width, scripts)
                self.assertLessEqual(self.browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]["width"], width)
                self.assertEqual(len(self.browser.find_elements(By.CSS_SELECTOR, "#runs tbody tr")), 6)
        self.show(PHONE)
        cut = self.browser.execute_script("return [...document.querySelectorAll('table.races')].filter((table) => table.scrollWidth > "
                                          "table.parentElement.clientWidth).map((table) => table.id)")
        self.assertEqual(cut, [])
        unlabelled = self.browser.execute_script("return [...document.querySelectorAll('table.races td')].filter((cell) => cell.textContent && "
                                                 "!/^\"[A-Z]/.test(getComputedStyle(cell, '::before').content)).map((cell) => cell.textContent)")
        self.assertEqual(unlabelled, [])

    def test_scripts_do_not_fail(self):
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser") if entry["source"] == "javascript"], [])


if __name__ == "__main__":
    unittest.main()
