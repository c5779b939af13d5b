#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates that cannot pass by accident: made-up reports against every gate and what each format says of them.

The table of expectations is the one in docs/report-format.md, so the document is tested, too."""

import copy
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "tests/data/ground-truth-races.json"
DOCUMENT = ROOT / "docs/report-format.md"
WORDS = ("harmful", "unclear", "any-new", "suspicion", "atomicity", "unsampled", "unfinished")
SUPPRESSED = "f5b4a133e53e"  # gt_rwrace_reader() against gt_rwrace_writer(), a harmful candidate

DATUM = {"kind": "module data", "variable": "nic", "module": "e100", "cpu": None, "cache": None, "object": "0xffffffffc0108000",
         "object_size": 64, "offset": 0, "type": None, "member": None}
HELD = {"lock": 0, "no_softirq": False, "no_irq": False, "shared": False, "maybe": False}
SUSPICION = {"id": "0123456789ab", "kind": "unprotected", "sides": [{"index": 0, "site": "e100:up+0x1c"}, {"index": 1, "site": "e100:dog+0x33"}],
             "lock": 0, "held": 412, "total": 418, "met": True, "rank": 80, "text": "nic.flags: nic.lock is missing in dog()",
             "proof": {"state": "given-up", "reached": [120, 70]}}

ATOMICITY = SUSPICION | {"kind": "atomicity", "pattern": "check-then-act", "between": {"index": 1, "site": "e100:dog+0x33"}, "by_hold": 1,
                         "sides": [{"index": 0, "site": "e100:up+0x1c"}, {"index": 0, "site": "e100:up+0x1c"}]}


def access(site, function, held, name):
    return {"site": site, "pc": "0xffffffffc0100000", "name": name, "kind": "write", "locked": False, "address": "0xffffffffc0108000", "size": 4,
            "life": 0, "memory": DATUM, "context": "task", "irqs_off": False, "preempt_off": False, "in_rcu": False, "held": held,
            "held_overflow": False, "function": function, "operation": function, "count": 9, "count_shared": 9, "who": 42 + function,
            "several": False, "first_ns": 1, "last_ns": 1000}


def locks(suspicions=(), name="nic.flags"):
    return {"moments": {"accesses": 18, "takes": 9, "gives": 9, "frees": 0, "lost": 0}, "functions": ["e100:up", "e100:dog"],
            "locks": [{"name": "nic.lock", "kind": "spin", "address": "0xffffffffc0108010", "memory": DATUM | {"offset": 16}}],
            "accesses": [access("e100:up+0x1c", 0, [HELD], name), access("e100:dog+0x33", 1, [HELD], name)], "pairs": [], "takes": [],
            "suspicions": list(suspicions),
            "left_out": {"unpublished": 0, "per-cpu": 0, "marked": 0, "rcu": 0, "apart": 0, "maybe": 0, "handed-over": 0, "ordered": 0, "lost": 0}}


def outrider(*words):
    return subprocess.run([BUILD / "outrider", *map(str, words)], capture_output=True, text=True, check=False)


def table():
    """{report: {column: cell}} of the table of gates in the document."""
    text = DOCUMENT.read_text()
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")]
            for line in re.search(r"^\| report +\|.*?(?=^$)", text, re.M | re.S).group(0).splitlines()]
    return {row[0]: dict(zip(rows[0][1:], row[1:])) for row in rows[2:]}


class Gates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        cls.races = json.loads(RACES.read_text())
        judged = json.loads(outrider("report", "--format", "json", RACES).stdout)["races"]
        cls.of = {}
        for race in judged:
            cls.of.setdefault(race["verdict"]["class"], []).append(race["id"])
        assert SUPPRESSED in cls.of["harmful candidate"]
        cls.known = cls.top / "known.conf"
        cls.known.write_text("[suppress]\nsite = gt_rwrace_*\nsite = gt_rwrace_*\nreason = known\n")
        cls.asserted = cls.top / "asserted.conf"
        cls.asserted.write_text("[assert]\ndatum = nic.flags\nunder = nic.lock\n")
        cls.files = cls.make()

    @classmethod
    def save(cls, name, ids=(), sampling=None, **members):
        document = copy.deepcopy(cls.races)
        document["races"] = [race for race in document["races"] if race["id"] in ids]
        document["locks"] = locks()
        document["summary"]["sampling"].update(sampling or {})
        document.update(members)
        document["run"]["seed"] = str(len(list(cls.top.iterdir())))
        path = cls.top / f"{name.replace(' ', '-').replace(',', '')}.json"
        path.write_text(json.dumps({key: value for key, value in document.items() if value is not None or key == "summary"}))
        return path

    @classmethod
    def make(cls):
        harmful = [SUPPRESSED]
        unfinished = {"complete": False, "summary": None, "locks": None}
        files = {
            "clean": cls.save("clean"),
            "benign only": cls.save("benign", cls.of["benign"][:1]),
            "unclear only": cls.save("unclear", cls.of["unclear"][:1]),
            "harmful": cls.save("harmful", [race for race in cls.of["harmful candidate"] if race != SUPPRESSED][:1]),
            "harmful, suppressed": cls.save("suppressed", harmful),
            "no point armed": cls.save("unarmed", sampling={"seconds": 0, "hits": 0, "windows": 0}),
            "armed, no hit": cls.save("unhit", sampling={"hits": 0, "windows": 0}),
            "hits, no window": cls.save("no-window", sampling={"windows": 0}),
            "unfinished": cls.save("unfinished", **unfinished),
            "unfinished, harmful": cls.save("both", [race for race in cls.of["harmful candidate"] if race != SUPPRESSED][:1], **unfinished),
            "suspicion only": cls.save("suspicion", locks=locks([SUSPICION])),
            "atomicity suspicion only": cls.save("atomicity", locks=locks([ATOMICITY])),
            "assertion never checked": cls.save("unchecked", locks=locks(name="nic.other")),
            "empty file": cls.top / "empty.json",
            "truncated file": cls.top / "truncated.json",
        }
        files["empty file"].write_bytes(b"")
        whole = files["harmful"].read_bytes()
        files["truncated file"].write_bytes(whole[:len(whole) // 2])
        return files

    def test_the_table_has_every_report(self):
        self.assertEqual(list(table()), list(self.files))

    def test_report(self):
        for name, row in table().items():
            for word in WORDS:
                for kind in ("text", "json", "sarif", "kcsan", "html", "junit") if word == "harmful" else ("text", "json"):
                    with self.subTest(report=name, word=word, kind=kind):
                        done = outrider("report", "--format", kind, "--suppress", self.known, "--fail-on", word, self.files[name])
                        self.assertEqual(str(done.returncode), row[word], done.stderr)
                        # One line gives the reason for each status that is not 0.
                        self.assertEqual(done.returncode == 1, "exit status 1 (--fail-on " in done.stderr, done.stderr)
                        if done.returncode == 3:
                            self.assertRegex(done.stderr, r"\Aoutrider: [^\n]*(empty|truncated)\.json: [^\n]*\n\Z")

    def test_report_without_a_gate(self):
        for name in table():
            with self.subTest(report=name):
                self.assertEqual(outrider("report", self.files[name]).returncode, 3 if "file" in name else 0)

    def test_what_is_left_out(self):
        """A doubt that the user leaves out fails nothing, and is said all the same."""
        for name, word in (("no point armed", "unsampled"), ("armed, no hit", "unsampled"), ("hits, no window", "unsampled"), ("unfinished", "unfinished")):
            for words in (f"harmful,no-{word}", f"no-{word}", f"{word},no-{word}", f"any-new,no-{word},unclear"):
                with self.subTest(report=name, words=words):
                    done = outrider("report", "--format", "json", "--fail-on", words, self.files[name])
                    self.assertEqual((done.returncode, len(done.stderr.splitlines())), (0, 1))
                    self.assertNotIn("exit status", done.stderr)
            self.assertEqual(outrider("report", "--fail-on", f"no-{word}", "--fail-on", word, self.files[name]).returncode, 1)
        self.assertEqual(outrider("report", "--fail-on", "harmful,no-unfinished", self.files["unfinished, harmful"]).returncode, 1)
        self.assertEqual(outrider("report", "--fail-on", "unfinished", self.files["harmful"]).returncode, 0)

    def test_one_bad_run_of_several(self):
        self.assertEqual(outrider("report", "--fail-on", "harmful", self.files["clean"], self.files["armed, no hit"]).returncode, 1)

    def test_other_spellings(self):
        for word in ("new", "new-race"):
            self.assertEqual(outrider("report", "--fail-on", word, self.files["benign only"]).returncode, 1)
            self.assertEqual(outrider("report", "--fail-on", word, self.files["clean"]).returncode, 0)
        self.assertNotIn("new-race", outrider("report", "--help").stdout)

    def test_wrong_lists(self):
        for words in ("", "harmful,", ",harmful", "harmful,,unclear", "no-harmful", "harmful unclear", "x" * 100):
            with self.subTest(words):
                done = outrider("report", f"--fail-on={words}", self.files["clean"])
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)

    def test_diff(self):
        for name, row in table().items():
            with self.subTest(report=name):
                done = outrider("diff", "--suppress", self.known, "--fail-on", "harmful", self.files["clean"], self.files[name])
                self.assertEqual(str(done.returncode), row["diff"] if name != "clean" else "0", done.stderr)

    def test_locks(self):
        for name, row in table().items():
            with self.subTest(report=name):
                done = outrider("locks", "--fail-on", "suspicion", self.files[name])
                self.assertEqual(str(done.returncode), row["locks"], done.stderr)
                done = outrider("locks", "--assert", self.asserted, self.files[name])
                self.assertEqual(str(done.returncode), row["assert"], done.stderr)

    def test_sarif(self):
        for name, row in table().items():
            with self.subTest(report=name):
                done = outrider("report", "--format", "sarif", self.files[name])
                if row["SARIF"] == "-":
                    self.assertEqual((done.returncode, done.stdout), (3, ""))
                    continue
                for run in json.loads(done.stdout)["runs"]:
                    invocation, = run["invocations"]
                    self.assertEqual(str(invocation["executionSuccessful"]).lower(), row["SARIF"])
                    said = invocation.get("toolExecutionNotifications", [])
                    self.assertEqual([n["level"] for n in said], ["error"] if row["SARIF"] == "false" else [])
                    if said:
                        self.assertRegex(said[0]["message"]["text"], "not finished" if "unfinished" in name else "^Nothing was sampled: ")

    def test_junit(self):
        for name, row in table().items():
            with self.subTest(report=name):
                done = outrider("report", "--format", "junit", "--suppress", self.known, self.files[name])
                if row["JUnit"] == "-":
                    self.assertEqual((done.returncode, done.stdout), (3, ""))
                    continue
                suite = xml.etree.ElementTree.fromstring(done.stdout).find("testsuite")
                counts = [suite.get(key) for key in ("tests", "failures", "errors", "skipped")]
                self.assertEqual("/".join(counts), row["JUnit"])
                cases = suite.findall("testcase")
                self.assertEqual(counts, [str(len(cases)), *(str(sum(case.find(tag) is not None for case in cases)) for tag in ("failure", "error", "skipped"))])

    def test_junit_follows_the_gate(self):
        """What the user leaves out is skipped, so that the page is as green as the exit status."""
        done = outrider("report", "--format", "junit", "--fail-on", "harmful,no-unsampled", self.files["armed, no hit"])
        suite = xml.etree.ElementTree.fromstring(done.stdout).find("testsuite")
        self.assertEqual((done.returncode, suite.get("tests"), suite.get("errors"), suite.get("skipped")), (0, "1", "0", "1"))

    def test_prune_and_locks_say_it_first(self):
        for name, row in table().items():
            if row["SARIF"] == "-":
                continue
            word = "UNFINISHED" if "unfinished" in name else "UNSAMPLED"
            with self.subTest(report=name):
                text = outrider("prune", self.files[name]).stdout
                self.assertEqual(text.startswith(f"{word}  {self.files[name]}: "), row["SARIF"] == "false", text[:200])
                text = outrider("locks", self.files[name]).stdout
                self.assertEqual(text.startswith(f"{word}  {self.files[name]}: "), row["SARIF"] == "false" and "unfinished" not in name, text[:200])
                done = outrider("locks", "--format", "json", self.files[name])
                self.assertEqual(f"outrider: {self.files[name]}: nothing was sampled: " in done.stderr, row["SARIF"] == "false" and "unfinished" not in name)

    def test_text_kcsan_and_html_say_it_first(self):
        for name, row in table().items():
            if row["SARIF"] == "-":
                continue
            reason = "the run is not finished" if "unfinished" in name else "nothing was sampled"
            word = "unfinished" if "unfinished" in name else "unsampled"
            bad = row["SARIF"] == "false"
            with self.subTest(report=name):
                text = outrider("report", self.files[name]).stdout
                self.assertEqual(text.startswith(f"{word.upper()}  {self.files[name]}: {reason}"), bad, text[:200])
                log = outrider("report", "--format", "kcsan", self.files[name]).stdout
                self.assertEqual(log.startswith(f"Outrider: {word}: run 1 of 1: {reason}"), bad, log[:200])
                page = outrider("report", "--format", "html", self.files[name]).stdout
                self.assertEqual('<p class="doubt" role="alert">' in page, bad)
                if bad:
                    self.assertLess(page.index('class="doubt"'), page.index('class="run"'))
                    self.assertIn(f'role="alert">{reason.capitalize()}', page)


if __name__ == "__main__":
    unittest.main()
