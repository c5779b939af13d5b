#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rounds of campaigns with pairs of programs. A script stands in for `outrider explore`."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
EXPLORER = ROOT / "tests/data/campaign/explorer"
CAP = 120  # seconds; every step here takes far less
PUT_GET = ("<program name='put'>put</program>", "<program name='get'>get</program>")


class Pairs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("vmlinuz", "initrd"):
            (self.folder / name).touch()
        (self.folder / "t").mkdir()
        self.environment = {**os.environ, "EXPLORER_FOLDER": str(self.folder), "TMPDIR": str(self.folder / "t")}

    def write(self, *programs, trials=2, more="", limits=""):
        (self.folder / "c.xml").write_text(
            f"<campaign name='c'><emulator>{EXPLORER}</emulator>{more}<limits>{limits}</limits><jobs>1</jobs>"
            "<machine><vcpu>2</vcpu><memory unit='MiB'>256</memory><duration unit='s'>90</duration></machine>"
            "<kernels><os name='k'><kernel>vmlinuz</kernel></os></kernels><images><image name='i'><initrd>initrd</initrd></image></images>"
            f"<workloads><workload name='gt'><pair><prepare>load</prepare>{''.join(programs)}<trials>{trials}</trials><steps>5000</steps></pair></workload></workloads>"
            "<seeds count='1'/></campaign>")

    def campaign(self, *words):
        return subprocess.run([BUILD / "outrider", "campaign", words[0], "--store", self.folder / "store.db", *words[1:]], env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CAP, check=False)

    def run_round(self, *options):
        return self.campaign("run", *options, self.folder / "c.xml")

    def shown(self, *words):
        done = self.campaign("show", "--format", "json", "--all", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def notes(self):
        """The options of each run, in the order of the runs."""
        lines = [json.loads(line) for line in (self.folder / "notes").read_text().splitlines()]
        return [{word: value for word, value in zip(line, line[1:] + [""]) if word.startswith("--")} for line in lines]

    def ask(self, query):
        with sqlite3.connect(self.folder / "store.db") as database:
            return database.execute(query).fetchall()

    def wait_for(self, path):
        end = time.monotonic() + CAP
        while not path.exists():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.02)


class Rounds(Pairs):
    def test_a_finding_is_told_like_any_other(self):
        self.write(*PUT_GET, more="<failure on='new-harmful'/>")
        done = self.run_round()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.ask("SELECT cell, engine, outcome FROM run"), [("k/i/gt.put+get/all/#1", "explore", 10)])
        listed = self.shown()
        race, = listed["races"]
        self.assertEqual((race["change"], race["verdict"]["class"], race["verdict"]["rule"]), ("new", "harmful candidate", "forced-complaint"))
        self.assertEqual(race["sides"], ["write in gt_get [gt]", "write in gt_put [gt]"])
        self.assertIn("in the schedule flip-a: BUG: unable to handle page fault", race["verdict"]["evidence"])
        round_, = (entry for entry in listed["rounds"] if entry["number"] == 1)
        self.assertEqual([round_[key] for key in ("explored", "trials", "untried")], [1, 2, 6])
        jsonschema.validate(listed, json.loads((ROOT / "docs/campaign-list.schema.json").read_text()))
        # Both schedules of one race are one finding, with its scenario.
        finding, = listed["findings"]
        self.assertEqual(finding["kind"], "complaint")
        scenario = next(value for value in finding.values() if isinstance(value, str) and value.endswith(".scenario"))
        self.assertEqual(pathlib.Path(scenario).read_text(), "scenario")
        for gate, status in (("new-harmful", 1), ("complaint", 1), ("new-finding", 1), ("limit", 0)):
            self.assertEqual(self.campaign("show", "--fail-on", gate).returncode, status, gate)
        for form in ("text", "html", "mail"):
            with self.subTest(form=form):
                text = self.campaign("show", "--format", form).stdout
                self.assertIn("gt_put", text)
                self.assertRegex(text, r"1\s+exploration\s+of\s+two\s+programs\s+in\s+2\s+trials,\s+6\s+schedules\s+left")
                self.assertNotIn("--aim", text)
                self.assertNotIn("races.json", text)
                if form in ("text", "html"):
                    self.assertRegex(text, r"(?i)scenario:")
                history = self.campaign("show", "--format", form, race["id"]) if form != "mail" else None
                self.assertTrue(not history or (history.returncode == 0 and "forced-complaint" in history.stdout))

    def test_the_next_round_tries_what_is_left(self):
        self.write(*PUT_GET, trials=3)
        self.run_round()
        self.assertEqual(self.notes()[0]["--trials"], "3")
        (text,), = self.ask("SELECT candidates || ' ' || own || ' ' || trials || ' ' || untried FROM explored")
        self.assertEqual(text, "2 0 3 5")
        # Both findings are tried again, beside three new trials.
        done = self.run_round()
        self.assertEqual(self.notes()[1]["--trials"], "5")
        self.assertEqual(self.ask("SELECT trials, untried FROM explored ORDER BY run_id"), [(3, 5), (5, 2)])
        listed = self.shown()
        self.assertEqual([race["change"] for race in listed["races"]], ["same"])
        self.assertEqual((listed["summary"]["new"], listed["summary"]["gone"]), (0, 0), done.stdout)
        self.assertEqual(self.campaign("show", "--fail-on", "new-harmful", "--fail-on", "new-finding").returncode, 0)
        # When everything is tried, only the findings are tried again, and the round is complete.
        self.run_round()
        self.run_round()
        self.assertEqual([trials for trials, in self.ask("SELECT trials FROM explored ORDER BY run_id")], [3, 5, 4, 2])
        self.assertEqual(self.shown()["summary"]["state"], "complete")

    def test_the_command_repeats_the_run(self):
        self.write(*PUT_GET)
        self.run_round()
        (command, folder), = self.ask("SELECT command, folder FROM run")
        self.assertEqual(subprocess.run(["sh", "-c", command], env=self.environment, capture_output=True, check=False).returncode, 1)
        first, second = self.notes()
        self.assertEqual(first, second)
        self.assertEqual((first["--append"], first["--cpus"], first["--memory"], first["--duration"], first["--prepare"], first["--steps"]),
                         ("quiet -- pair", "2", "256M", "90000ms", "load", "5000"))
        self.assertEqual((first["--save"], first["--skip"]), (folder, folder + "/tried.txt"))

    def test_the_stand_in_says_what_outrider_says(self):
        self.write(*PUT_GET)
        self.run_round()
        (folder,), = self.ask("SELECT folder FROM run")
        jsonschema.validate(json.loads(pathlib.Path(folder, "stdout.log").read_text()), json.loads((ROOT / "docs/explore.schema.json").read_text()))

    def test_words_for_the_agent_and_the_kernel_stay(self):
        for line, expected in (("debug", "debug -- pair"), ("debug -- dmesg", "debug -- dmesg pair")):
            self.write(*PUT_GET)
            text = (self.folder / "c.xml").read_text().replace("<vcpu>", f"<cmdline>{line}</cmdline><vcpu>")
            (self.folder / "c.xml").write_text(text)
            self.run_round()
            self.assertEqual(self.notes()[-1]["--append"], expected)

    def test_programs_that_harm_in_a_serial_order_give_no_answer(self):
        self.write(PUT_GET[0], "<program name='refused'>refused</program>")
        self.assertEqual(self.run_round().returncode, 3)
        (outcome, detail), = self.ask("SELECT outcome, detail FROM run")
        self.assertEqual(outcome, 6)
        self.assertIn("the kernel complains already", detail)

    def test_a_run_that_is_asked_to_end_keeps_its_trials(self):
        self.write(*PUT_GET, trials=8, limits="<time unit='s'>1</time>")
        (self.folder / "wait").touch()
        self.run_round()
        self.assertEqual(self.ask("SELECT trials FROM explored"), [(1,)])
        self.assertEqual({kind for kind, in self.ask("SELECT kind FROM finding")}, {"complaint", "limit"})

    def test_a_killed_round_goes_on(self):
        self.write(*PUT_GET)
        (self.folder / "wait").touch()
        with subprocess.Popen([BUILD / "outrider", "campaign", "run", "--store", self.folder / "store.db", self.folder / "c.xml"],
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as runner:
            self.wait_for(self.folder / "waits")
            runner.send_signal(signal.SIGKILL)
            runner.communicate()
        (self.folder / "wait").unlink()
        (self.folder / "asked").unlink(missing_ok=True)
        done = self.run_round("--resume")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.ask("SELECT cell FROM run WHERE state = 1 ORDER BY cell"),
                         [("k/i/gt.put+get/all/#1",), ("k/i/gt.put+get/all/#1~1",)])
        self.assertEqual(self.ask("SELECT trials FROM explored"), [(2,)])


class Order(Pairs):
    THREE = (*PUT_GET, "<program name='long'>longer</program>")

    def explored(self):
        return [note["--a"] + "+" + note["--b"] for note in self.notes()]

    def test_new_programs_meet_those_that_share_most(self):
        self.write(*self.THREE, "<program name='new'>new</program>")
        self.run_round("--only", "*put+get*,*get+long*")
        self.assertEqual(set(self.explored()), {"put+get", "get+longer"})
        self.run_round()
        # Pairs that were not explored come first. "longer" shares most, and "get" more than "put".
        self.assertEqual(self.explored()[2:4], ["longer+new", "get+new"])
        self.assertEqual(set(self.explored()[4:6]), {"put+longer", "put+new"})
        # Of the others, both had two trials. The order is the same when the round is repeated with the same number.
        self.assertEqual(set(self.explored()[6:]), {"put+get", "get+longer"})

    def test_shards_divide_the_pairs(self):
        self.write(*self.THREE)
        for shard in ("1/2", "2/2"):
            self.run_round("--shard", shard, "--round", "1")
        self.assertEqual(sorted(self.explored()), ["get+longer", "put+get", "put+longer"])
        self.assertEqual(self.shown()["summary"]["state"], "complete")


if __name__ == "__main__":
    unittest.main()
