#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of `outrider campaign show --format html` in a browser: its plots, its table, in both colour schemes and on a phone."""

import json
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.parse

from selenium.webdriver.common.by import By

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from campaign_nights import Nights, recorded  # noqa: E402
from browser import browser  # noqa: E402

WIDE, PHONE = 1500, 390


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        nights = Nights(cls.folder.name, ["linux", "module"])
        for number, (linux, module) in enumerate((("linux-6.1", "gt-amd"), ("linux-6.12", "gt-amd"), ("linux-6.1", "gt-dma"))):
            night = {"--json": cls.report(linux, number)}
            if number == 2:
                night |= {"--console": b"Kernel panic - not syncing: <b>Fatal</b> exception\n", "status": 4}
            nights.round(linux=night, module=cls.report(module, number))
        page = pathlib.Path(cls.folder.name, "morning.html")
        page.write_text(nights.said("show", "--format", "html"))
        cls.address = page.as_uri()
        cls.list = json.loads(nights.said("show", "--format", "json"))
        cls.text = nights.said("show")
        cls.browser = browser()
        cls.addClassCleanup(cls.browser.quit)

    @staticmethod
    def report(name, number):
        """A recorded report with two thirds of its races, which depend on `number`, and with the figures that only newer versions write."""
        document = recorded(name)
        document["races"] = [race for i, race in enumerate(document["races"]) if (i + number) % 3]
        document["run"]["options"] = ["run"]
        document["summary"]["sampling"]["stopped_us"] = 1000000 * (number + 1)
        return document

    def setUp(self):
        self.show()

    def show(self, width=WIDE, scheme="light", scripts=True):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.get("about:blank")
        self.browser.get(self.address)

    def all(self, css):
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def test_answers_are_those_of_the_text(self):
        answers = {word.text: answer.text for word, answer in zip(self.all("dl.answers dt"), self.all("dl.answers dd"))}
        self.assertEqual(list(answers), ["new", "gone", "changed", "broke", "covered"])
        # The text wraps its lines. The page does not.
        text = " ".join(self.text.split("\n\n")[0].split())
        for word, answer in answers.items():
            self.assertIn(f"{word} {answer}", text)
        self.assertEqual(self.browser.title, "nightly: round 3 against round 2")

    def test_plots_show_every_round(self):
        titles = [caption.text for caption in self.all(".plots figcaption")]
        self.assertEqual(titles, ["Races over rounds", "Pairs of sites that raced", "Coverage", "Overhead"])
        tips = self.browser.execute_script("return [...document.querySelectorAll('.plots figure:first-child g > title')].map(t => t.textContent)")
        self.assertEqual(tips, [f"Round {r['number']}: {r['races']} races, {r['by_class']['harmful candidate']} of them harmful candidates, "
                                f"{r['by_class']['unclear'] + r['by_class']['not judged']} undecided; {r['new']} new" for r in self.list["rounds"]])
        nothing = [figure.find_element(By.CSS_SELECTOR, "figcaption").text for figure in self.all(".plots figure:not(:has(svg))")]
        self.assertEqual(nothing, ["Coverage"])  # the recorded runs left none
        for figure in self.all(".plots figure:has(svg)"):
            drawing = figure.find_element(By.CSS_SELECTOR, "svg").rect
            # Everything in a plot, its numbers included, lies inside the drawing.
            for part in figure.find_elements(By.CSS_SELECTOR, "rect, path, circle, text"):
                box = part.rect
                self.assertGreaterEqual(box["x"], drawing["x"] - 1)
                self.assertGreaterEqual(box["y"], drawing["y"] - 1)
                self.assertLessEqual(box["x"] + box["width"], drawing["x"] + drawing["width"] + 1)
                self.assertLessEqual(box["y"] + box["height"], drawing["y"] + drawing["height"] + 1)

    def test_bars_are_as_high_as_their_numbers(self):
        heights = self.browser.execute_script("""return [...document.querySelectorAll('.plots figure:first-child g')].map(g =>
            ['bad', 'open', 'old'].map(c => { const r = g.querySelector('.' + c); return r ? r.height.baseVal.value : 0; }))""")
        numbers = [(r["by_class"]["harmful candidate"], r["by_class"]["unclear"] + r["by_class"]["not judged"],
                    r["by_class"]["benign"] + r["by_class"]["synchronisation"]) for r in self.list["rounds"]]
        unit = sum(map(sum, heights)) / sum(map(sum, numbers))
        for bars, counts in zip(heights, numbers):
            for height, count in zip(bars, counts):
                self.assertAlmostEqual(height, unit * count, delta=0.2)

    def test_the_table_filters(self):
        rows = [row for row in self.all("table.races tbody tr") if row.is_displayed()]
        self.assertEqual(len(rows), len(self.list["races"]))
        for button in self.all(".counts button"):
            change = button.get_attribute("data-level")
            if not change:
                continue
            button.click()
            shown = [row for row in self.all("table.races tbody tr") if row.is_displayed()]
            self.assertEqual(len(shown), self.list["summary"][change])
            button.click()

    def test_each_race_has_its_section(self):
        for race in self.list["races"]:
            section, = self.all(f"#race-{race['id']}")
            self.assertEqual(section.find_element(By.CSS_SELECTOR, "details").get_attribute("open") is not None,
                             race["change"] in ("new", "back", "changed"))

    def test_a_finding_is_text(self):
        self.assertEqual([code.text for code in self.all("section.finding code")][0], "Kernel panic - not syncing: <b>Fatal</b> exception")

    def test_likely_bugs_come_first(self):
        """Above plots and tables, each with both sides, their calls and source lines, its verdict, its run's files, and a command that aims at it."""
        wanted = [race for race in self.list["races"] if race["worse"] and race["verdict"]["class"] in ("harmful candidate", "unclear", "not judged")]
        self.assertGreater(len(wanted), 2)
        sections = self.all("section.bug")
        self.assertEqual(len(sections), len(wanted))
        self.assertLess(sections[-1].rect["y"], self.all(".plots")[0].rect["y"])
        races = {race["id"]: race for race in wanted}
        classes = []
        for section in sections:
            race = races.pop(section.find_element(By.CSS_SELECTOR, "h3 a").get_attribute("href").split("#race-")[1])
            classes.append(race["verdict"]["class"])
            self.assertIn(race["verdict"]["evidence"], section.text)
            for side in section.find_elements(By.CSS_SELECTOR, ".side"):
                self.assertRegex(side.text, r"\A(read|write|read-write|access|Changed)\b")
                self.assertLessEqual(len(side.find_elements(By.CSS_SELECTOR, "li")) - side.text.count(" inlined"), 3)
            self.assertEqual(len(section.find_elements(By.CSS_SELECTOR, ".side")), 2)
            self.assertRegex(section.text, r"\.[ch]:[1-9]\d*")
            links = {link.text: link.get_attribute("href") for link in section.find_elements(By.CSS_SELECTOR, "p a")}
            self.assertEqual(list(links), ["report", "console", "command and kernel"])
            report = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(links["report"]).path))
            again = section.find_element(By.CSS_SELECTOR, "pre.again").get_attribute("textContent")
            ids = [build["report"] for build in race["builds"]]
            self.assertRegex(again, rf" --aim '{re.escape(str(report))}#({'|'.join(ids)})' --json again\.json\Z")
            self.assertTrue({each["id"] for each in json.loads(report.read_text())["races"]} & set(ids))
            self.assertNotIn("--coverage", again)
        self.assertEqual(races, {})
        self.assertEqual(classes, sorted(classes, key=["harmful candidate", "unclear", "not judged"].index))

    def test_nothing_of_a_bug_is_cut(self):
        for width in (WIDE, PHONE):
            self.show(width)
            for details in self.all("section.bug details"):
                self.browser.execute_script("arguments[0].open = true", details)
            cut = self.browser.execute_script("""return [...document.querySelectorAll('section.bug, section.bug *')].filter(e =>
                getComputedStyle(e).display != 'inline' && e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 200))""")
            self.assertEqual(cut, [], width)

    def contrast(self, element):
        """The contrast of an element's text with the page, as WCAG 2 has it."""
        def light(colour):
            parts = [int(part) / 255 for part in colour[colour.index("(") + 1:-1].split(",")[:3]]
            linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        text, page = (light(self.browser.execute_script(f"return getComputedStyle(arguments[0]).{what}", node))
                      for what, node in (("color", element), ("backgroundColor", self.all("body")[0])))
        return (max(text, page) + 0.05) / (min(text, page) + 0.05)

    def test_both_schemes_can_be_read(self):
        backs = set()
        for scheme in ("light", "dark"):
            self.show(scheme=scheme)
            backs.add(self.browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
            for css in ("dl.answers dd", "dl.answers dt", ".new", ".gone", ".same", ".plots p", "table.plain td", "section.bug h3", "section.bug .at"):
                for element in self.all(css)[:3]:
                    self.assertGreater(self.contrast(element), 4.5, (scheme, css))
        self.assertEqual(len(backs), 2)

    def test_a_phone_needs_no_sideways_scrolling(self):
        for scripts in (True, False):
            self.show(PHONE, scripts=scripts)
            self.assertLessEqual(self.browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]["width"], PHONE)
        self.show(PHONE)
        for text in self.all("svg.plot text"):
            self.assertGreater(text.rect["height"], 9)

    def test_without_scripts_all_is_there(self):
        self.show(scripts=False)
        self.assertEqual(len([row for row in self.all("table.races tbody tr") if row.is_displayed()]), len(self.list["races"]))
        self.assertFalse(self.all("#filter")[0].is_displayed())


if __name__ == "__main__":
    unittest.main()
