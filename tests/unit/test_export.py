#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `outrider report --format` writes for other tools, read back by readers that are not ours."""

import html.parser
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import jsonschema
import junitparser

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
NASTY = "</pre><script>x</script>&\"'"

# As Documentation/dev-tools/kcsan.rst lays a report out.
CALL = r" (\? )?[\w.]+\+0x[0-9a-f]+(/0x[0-9a-f]+)?( \[\w+\])?"
ACCESS = (r"(read|write|read-write|unknown)( \(marked\))? to 0x[0-9a-f]{16} of \d+ bytes by (task \d+|interrupt|unknown task) "
          r"on cpu \d+:")


def written(folder):
    path = os.path.join(folder, "races.json")
    subprocess.run([BUILD / "unit/test_report_json", "--write", path], check=True)
    return path


def report(path, kind):
    return subprocess.run([BUILD / "outrider", "report", "--format", kind, path], check=True, capture_output=True, text=True).stdout


class Page(html.parser.HTMLParser):
    """Which elements are open, where ids and links are, and what is fetched from elsewhere."""

    EMPTY = {"meta", "br", "input", "link", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.fetched, self.scripts, self.wrong = [], [], [], [], 0, []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.fetched += [attrs[key] for key in ("src", "srcset", "data") if key in attrs]
        self.fetched += [attrs["href"]] if tag == "link" else []
        self.scripts += tag == "script"
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class OfReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = written(cls.folder.name)
        with open(cls.path, encoding="utf-8") as file:
            cls.document = json.load(file)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def nasty(self):
        """The same with text from the guest that would break out of anything not escaped."""
        document = json.loads(json.dumps(self.document))
        for race in document["races"]:
            for side in race["sides"]:
                if not side["unknown"]:
                    side["site"] = NASTY
                if side.get("function"):
                    side["function"] = side["context"]["comm"] = NASTY[:15]
        document["kernel"]["banner"] = NASTY
        path = os.path.join(self.folder.name, "nasty.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path


class Sarif(OfReport):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        schema = subprocess.run([ROOT / "vm-images/fetch", "sarif-schema", "--print", "schema"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout.strip()
        with open(schema, encoding="utf-8") as file:
            cls.schema = jsonschema.Draft7Validator(json.load(file))

    def check(self, text):
        log = json.loads(text)
        self.schema.validate(log)
        self.assertEqual(len(log["runs"]), 1)
        run = log["runs"][0]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        for result in run["results"]:
            self.assertIn(result["ruleId"], rules)
            self.assertTrue(result["message"]["text"])
        return run["results"]

    def test_every_race(self):
        results = self.check(report(self.path, "sarif"))
        self.assertEqual([result["partialFingerprints"]["outriderRace/v1"] for result in results],
                         [race["id"] for race in self.document["races"]])
        self.assertEqual(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "fs/ext4/file.c")

    def test_nasty_names(self):
        self.check(report(self.nasty(), "sarif"))

    def test_published_example(self):
        text = (ROOT / "docs/evaluation/example.sarif").read_text(encoding="utf-8")
        self.assertEqual(len(self.check(text)), 8)


class Exports(OfReport):
    def test_published_examples(self):
        folder = ROOT / "docs/evaluation"
        for kind, name in (("sarif", "example.sarif"), ("junit", "example.xml"), ("html", "example.html"),
                           ("kcsan", "example.kcsan.txt")):
            self.assertEqual(report(folder / "example.json", kind), (folder / name).read_text(encoding="utf-8"))

    def test_junit(self):
        for path in (self.path, self.nasty()):
            suites = junitparser.JUnitXml.fromstring(report(path, "junit").encode())
            cases = [case for suite in suites for case in suite]
            self.assertEqual(len(cases), 3)
            for suite in suites:
                self.assertEqual((suite.tests, suite.failures, suite.errors, suite.skipped), (3, 3, 0, 0))
            for case, race in zip(cases, self.document["races"]):
                self.assertIn(race["id"], case.name)
                self.assertIn(f"RACE {race['id']}", case.result[0].text)

    def test_kcsan(self):
        reports = report(self.path, "kcsan").split("=" * 66 + "\n")
        self.assertEqual([text for text in reports[0::2] if text], [])
        self.assertEqual(len(reports[1::2]), 3)
        whole = re.compile(
            rf"BUG: KCSAN: data-race in [\w.]+( / [\w.]+)?\n\n({ACCESS}\n({CALL}\n| 0x[0-9a-f]{{16}}\n)+\n)?"
            rf"(race at unknown origin, with )?{ACCESS}\n({CALL}\n| 0x[0-9a-f]{{16}}\n)+\n"
            r"(value changed: 0x[0-9a-f]+ -> 0x[0-9a-f]+\n\n)?"
            r"Reported by Kernel Concurrency Sanitizer on:\nCPU: \d+ PID: -?\d+ Comm: .* Not tainted .*\nHardware name: .*\n")
        for text in reports[1::2]:
            self.assertRegex(text, whole)
            self.assertEqual(whole.match(text).end(), len(text), text)

    def test_html(self):
        for path in (self.path, self.nasty()):
            page = Page()
            page.feed(report(path, "html"))
            self.assertEqual((page.open, page.wrong), ([], []))
            self.assertEqual(page.fetched, [])
            self.assertEqual(page.scripts, 1)
            self.assertEqual(len(page.ids), len(set(page.ids)))
            self.assertEqual({link.removeprefix("#") for link in page.links}, {f"race-{r['id']}" for r in self.document["races"]})
            self.assertTrue(all(link.removeprefix("#") in page.ids for link in page.links))


if __name__ == "__main__":
    unittest.main()
