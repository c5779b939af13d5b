#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A complaint of the guest's kernel in every format. The report is of a run in the amd lab, in which a race ended in an oops."""

import json
import lzma
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import junitparser

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RECORDED = ROOT / "tests/data/documents/complaint.json.xz"
TEXT = "BUG: kernel NULL pointer dereference, address: 0000000000000008"
WHERE = "gt_nulluse_use+0x16/0x20 [outrider_gt]"


class Complaints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.document = json.loads(lzma.decompress(RECORDED.read_bytes()))

    def report(self, *options, document=None, status=0):
        path = self.folder / "races.json"
        path.write_text(json.dumps(document or self.document))
        done = subprocess.run([BUILD / "outrider", "report", *options, path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def without(self):
        return self.document | {"complaints": []}

    def test_text(self):
        text = self.report().stdout
        self.assertLess(text.index(f"COMPLAINT oops  {TEXT}\n  where    {WHERE}, CPU 0, task gt/nulluse/use"), text.index("FOUND"))
        self.assertIn("guest's log   1 oops\n", text)
        self.assertIn("harmful candidate: kernel-complained, rank 99\n", text)
        self.assertRegex(text, rf"complaint oops within 0\.\d s of this race, same-pointer: {TEXT}\n")

    def test_no_complaint(self):
        text = self.report(document=self.without()).stdout
        self.assertIn("guest's log   no complaint of the kernel\n", text)
        self.assertNotIn("kernel-complained", text)

    def test_a_link_is_computed_and_not_read(self):
        """A file cannot claim that a complaint follows a race."""
        self.document["races"][0]["complaint"]["link"] = "same-instruction"
        self.assertNotIn("same-instruction", self.report().stdout)
        self.assertNotIn("kernel-complained", self.report(document=self.without()).stdout)

    def test_an_older_report_says_nothing_of_the_log(self):
        del self.document["complaints"]
        self.assertNotIn("guest's log", self.report().stdout)

    def test_json(self):
        races = json.loads(self.report("--format", "json").stdout)["races"]
        self.assertEqual({race["complaint"]["link"] for race in races}, {"same-pointer"})

    def test_sarif(self):
        run = json.loads(self.report("--format", "sarif").stdout)["runs"][0]
        notification, = run["invocations"][0]["toolExecutionNotifications"]
        self.assertEqual(notification, {"level": "error", "message": {"text": f"The guest's kernel complained in {WHERE}: {TEXT}"}})
        self.assertTrue(run["invocations"][0]["executionSuccessful"])
        self.assertEqual({result["ruleId"] for result in run["results"]}, {"kernel-complained"})

    def test_junit(self):
        for options, status, kind in ((), 0, junitparser.Skipped), (("--fail-on", "complaint"), 1, junitparser.Failure):
            suite, = junitparser.JUnitXml.fromstring(self.report("--format", "junit", *options, status=status).stdout.encode())
            case, = [case for case in suite if case.classname == "outrider.complaint"]
            self.assertEqual((case.name, type(case.result[0]), case.result[0].message), ("oops in gt_nulluse_use", kind, TEXT))
            self.assertEqual(suite.tests, len(list(suite)))

    def test_html(self):
        page = self.report("--format", "html").stdout
        self.assertIn(TEXT, re.search(r'<section class="complaints">.*?</section>', page, re.S)[0])
        self.assertNotIn('class="complaints"', self.report("--format", "html", document=self.without()).stdout)

    def test_kcsan(self):
        """A parser takes "BUG:" for the start of another report, so the kernel's own words are not there."""
        text = self.report("--format", "kcsan").stdout
        self.assertTrue(text.startswith(f"Outrider: the guest's kernel complained: oops in {WHERE}\n"))
        self.assertEqual(text.count("BUG: "), text.count("BUG: KCSAN: "))

    def test_gate(self):
        self.assertIn("the guest's kernel complained 1 time: exit status 1 (--fail-on complaint)",
                      self.report("--fail-on", "complaint", status=1).stderr)
        self.report("--fail-on", "complaint", document=self.without())

    def test_bad_complaints_are_refused(self):
        for key, value, said in (("kind", "sneeze", "a kind of complaint"), ("frames", [1], "a list of objects"), ("text", 3, '"text"'),
                                 ("address", "8", '"address"')):
            with self.subTest(key):
                changed = self.without() | {"complaints": [self.document["complaints"][0] | {key: value}]}
                self.assertIn(said, self.report(document=changed, status=3).stderr)

    def test_hostile_text_is_shown_harmlessly(self):
        self.document["complaints"][0]["text"] = "\033[31m<script>"
        self.assertIn("\\x1b[31m<script>", self.report().stdout)
        self.assertIn("\\x1b[31m&lt;script&gt;", self.report("--format", "html").stdout)


if __name__ == "__main__":
    unittest.main()
