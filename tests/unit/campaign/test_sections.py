#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Atomicity suspicions in a campaign: they are kept, compared, marked and shown as races are."""

import contextlib
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from campaign_nights import Nights, check, recorded  # noqa: E402
from locks_made import locks, two_sections  # noqa: E402

REPLAY = {"first": "0xffffffffc0254efd", "second": "0xffffffffc0254f32", "between": "0xffffffffc0254a00", "verdict": "confirmed",
          "copies": {"unknown": 1, "same": 0, "as_function_first": 0, "as_other_first": 0, "mixed": 0, "confirmed": 2},
          "why": None, "trouble": None, "difference_count": 1,
          "differences": [{"name": "gt_limit+0x40", "register_of": None, "physical": "0x1ff5c000", "address": "0xffff8b101ff5c000",
                           "between": "08", "function_first": "07", "other_first": "07"}]}


def report(confirmed=False, held=3):
    """A run with --locks: its races, and one atomicity suspicion."""
    document = recorded("gt-amd")
    document["locks"] = locks()
    suspicion = two_sections(held)
    document["locks"]["suspicions"].append(suspicion)
    if confirmed:
        document["locks"]["section_replays"] = [REPLAY]
        suspicion["replay"] = {"index": 0, "verdict": "confirmed"}
    return document


class Sections(unittest.TestCase):
    """Round 1 has no suspicion. Round 2 has one, which a copy confirms in round 3. In round 4 it is gone."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.nights = Nights(folder.name, ["linux"])
        without = recorded("gt-amd")
        cls.rounds = [cls.nights.round(linux=document) for document in (without, report(), report(confirmed=True, held=0), without)]

    def races(self, *arguments):
        document = json.loads(self.nights.said("show", "--format", "json", *arguments))
        check(document, "list")
        return [race for race in document["races"] if race["kind"] == "atomicity"], document

    def test_the_gate_fails_for_a_confirmed_one_only(self):
        self.assertEqual([done.returncode for done in self.rounds], [1, 0, 1, 0], [done.stderr for done in self.rounds])
        self.assertEqual(self.nights.command("show", "--fail-on", "new-unclear", "2").returncode, 1)

    def test_it_is_new(self):
        (race,), document = self.races("2")
        self.assertEqual((race["change"], race["sides"], race["datum"]), ("new", ["section in <watchdog> [e100]", "two sections in configure [e100]"], "nic.flags"))
        self.assertEqual((race["verdict"]["class"], race["verdict"]["rule"], race["verdict"]["rank"]), ("unclear", "check-then-act", 90))
        self.assertEqual((race["instances"], race["runs"], race["builds"][0]["report"]), (3, 1, "ba9876543210"))
        self.assertEqual(document["summary"]["new"], 1)

    def test_a_copy_changes_the_verdict(self):
        (race,), _ = self.races("3")
        self.assertEqual((race["change"], race["worse"], race["verdict"]["class"], race["before"]["class"]), ("changed", True, "harmful candidate", "unclear"))
        self.assertEqual((race["instances"], race["rounds"], race["first_round"]), (0, 2, 2))

    def test_it_is_gone(self):
        (race,), _ = self.races("4")
        self.assertEqual((race["change"], race["gone"]["missed"]), ("gone", None))

    def test_text(self):
        text = self.nights.said("show", "3")
        self.assertIn("harmful candidate, check-then-act\n     section in <watchdog> [e100] <-> two sections in configure [e100]: nic.flags\n", text)
        self.assertIn("     nic.flags: check-then-act in configure()\n", text)

    def test_it_is_no_pair_of_accesses(self):
        """What is left to find is estimated from pairs that raced."""
        _, document = self.races("--all", "3")
        pairs = {point["round"]: point["pairs"] for point in document["coverage"]}
        self.assertEqual(pairs[3], pairs[1])

    def test_the_page(self):
        """Nothing says how to aim at it, which a run cannot."""
        page = self.nights.said("show", "3", "--format", "html")
        bug = page[page.index('<section class="bug">'):page.index("</section>")]
        self.assertIn("section in &lt;watchdog&gt; [e100] against two sections in configure [e100]", bug)
        self.assertNotIn("--aim", bug)

    def test_its_history(self):
        (race,), _ = self.races("3")
        history = json.loads(self.nights.said("show", race["id"], "--format", "json"))
        check(history, "race")
        self.assertEqual([(part["number"], part["class"], part["instances"]) for part in history["rounds"]], [(2, "unclear", 3), (3, "harmful candidate", 0)])
        self.assertIsNone(history["report"])
        sections = history["sections"]
        self.assertEqual((sections["id"], sections["lock"], sections["held"], sections["total"], sections["replay"]), ("ba9876543210", "nic.cb_lock", 0, 40, "confirmed"))
        self.assertEqual([(one["when"], one["site"], one["does"]) for one in sections["sections"]],
                         [("first", "e100:configure+0x1c", "checks it"), ("between", "e100:<watchdog>+0x33", "changes it"),
                          ("second", "e100:configure+0x1c", "acts on it, without checking again")])
        text = self.nights.said("show", race["id"])
        self.assertIn("seen 3 times in 2 runs of 2 rounds", text)
        self.assertIn("\nTHE REPORT OF THE RUN THAT SAW IT LAST\n  ba9876543210 nic.flags: check-then-act in configure()\n"
                      "               first       e100:configure+0x1c checks it\n"
                      "               in between  e100:<watchdog>+0x33 changes it\n"
                      "               second      e100:configure+0x1c acts on it, without checking again\n"
                      "               not seen in between; confirmed: the outcome is that of no serial order\n", text)
        page = self.nights.said("show", race["id"], "--format", "html")
        self.assertNotIn("--aim", page)
        self.assertIn('<ol class="sections"><li><span class="when">first</span>', page)
        self.assertIn("</ol>\n<p>not seen in between; confirmed", page)
        # The id that reports have finds it, too.
        self.assertEqual(json.loads(self.nights.said("show", "ba9876543210", "--format", "json"))["race"]["id"], race["id"])

    def test_a_damaged_record(self):
        """The store is not trusted: a record that is no atomicity suspicion is an error, not a crash."""
        with tempfile.TemporaryDirectory() as folder:
            other = Nights(folder, ["linux"])
            other.round(linux=report())
            race, = (r for r in json.loads(other.said("show", "--format", "json"))["races"] if r["kind"] == "atomicity")
            text = b'{"id": "ba9876543210", "kind": "atomicity", "pattern": "no such"}'
            with contextlib.closing(sqlite3.connect(other.store)) as db:
                db.execute("UPDATE record SET data = ? WHERE report = 'ba9876543210'", (len(text).to_bytes(4, "little") + zlib.compress(text),))
                db.commit()
            for form in ("text", "html", "json"):
                done = other.command("show", race["id"], "--format", form)
                self.assertEqual(done.returncode, 3, (form, done.stderr))
                self.assertIn(b'"pattern" is not a word that this version knows', done.stderr)

    def test_merged_it_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Nights(folder, ["linux"])
            other.store = pathlib.Path(folder, "merged.db")
            other.said("merge", self.nights.store)
            for number in ("2", "3", "4"):
                mine, theirs = (json.loads(n.said("show", "--format", "json", number)) for n in (self.nights, other))
                self.assertEqual(mine["races"], theirs["races"])
            race, = (r for r in mine["races"] if r["kind"] == "atomicity")
            mine, theirs = (json.loads(n.said("show", race["id"], "--format", "json")) for n in (self.nights, other))
            self.assertEqual(mine["sections"], theirs["sections"])
            self.assertIsNotNone(mine["sections"])

    def test_it_is_marked(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Nights(folder, ["linux"])
            other.round(linux=report())
            race, = (r for r in json.loads(other.said("show", "--format", "json"))["races"] if r["kind"] == "atomicity")
            other.said("triage", race["id"], "wontfix", "--note", "the watchdog may be late")
            other.round(linux=report(confirmed=True))
            race, = (r for r in json.loads(other.said("show", "--format", "json"))["races"] if r["kind"] == "atomicity")
            self.assertEqual((race["change"], race["worse"], race["triage"]["state"]), ("changed", False, "wontfix"))


if __name__ == "__main__":
    unittest.main()
