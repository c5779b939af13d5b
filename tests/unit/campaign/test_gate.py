#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The gate of a round. docs/campaigns.md has a table of rounds; each of them is made here, and `campaign run`, show, diff, status, JSON and the
mail must all say of it what the table says."""

import copy
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from campaign_nights import BUILD, CAP, ROOT, Nights, check, recorded  # noqa: E402

GATE = "new-harmful finding"
STATES = ("complete", "partly failed", "failed", "unfinished")


def report(*races, **more):
    """A report with these races. `hits`, `windows` and `complete` change what a good report has."""
    document = recorded("gt-amd")
    document["races"] = list(races)
    document["summary"]["sampling"]["hits"] = more.get("hits", 44244)
    document["summary"]["sampling"]["windows"] = more.get("windows", 21951)
    if not more.get("complete", True):
        document |= {"complete": False, "summary": None}
    return document


def race(word, number=0):
    """A race of this class; or a suppressed one."""
    wanted = "harmful candidate" if word == "suppressed" else word
    found = copy.deepcopy([each for each in recorded("gt-amd")["races"] if each["verdict"]["class"] == wanted][number])
    if word == "suppressed":
        found["verdict"]["suppressed"] = "the kernel's people know of it"
    return found


def suspicion(kind, replays=True):
    """A report without races, whose locks make accesses suspect in this way: those of the report that the unit test of JSON writes."""
    document = report()
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder, "races.json")
        subprocess.run([BUILD / "unit/report/test_json", "--write", written], check=True)
        document["locks"] = json.loads(written.read_text(encoding="utf-8"))["locks"]
    document["locks"]["suspicions"] = [each for each in document["locks"]["suspicions"] if each["kind"] == kind]
    assert document["locks"]["suspicions"]
    for each in document["locks"]["suspicions"]:
        if not replays:
            each.pop("replay", None)
    return document


def complaining(*kinds):
    """A good report, whose guest's kernel made complaints of these kinds, one each."""
    document = report()
    document["complaints"] = [copy.deepcopy(COMPLAINTS[kind]) for kind in kinds]
    return document


def complaint(kind, text, function, fatal=False):
    where = function and {"text": f"{function}+0x5/0x10 [outrider_gt]", "function": function, "module": "outrider_gt", "offset": "0x5"}
    return {"kind": kind, "text": text, "fatal": fatal, "time_s": 2.5, "log_s": 12.25, "cpu": 1, "pid": 81, "comm": "sh", "where": where or None,
            "address": None, "frames": [], "code": None}


COMPLAINTS = {
    "oops": complaint("oops", "BUG: kernel NULL pointer dereference, address: 0000000000000008", "gt_complain_null", True),
    "warning": complaint("warning", "gt: a warning", "gt_complain_warn"),
    "lockup": complaint("lockup", "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [reader:81]", ""),
}
OOPSED = b"""[   12.2] BUG: kernel NULL pointer dereference, address: 0000000000000008
[   12.2] Oops: 0000 [#1] PREEMPT SMP NOPTI
"""
COMPLAINED = "outrider: the guest's kernel complained: BUG: kernel NULL pointer dereference, address: 0000000000000008; --on-complaint says what ends a run\n"
HARMFUL, OTHER = race("harmful candidate"), race("harmful candidate", 5)
GOOD = report(HARMFUL, race("benign"))
REFUSED = {"--json": None, "status": 3, "says": "outrider: /dev/kvm: permission denied\n"}
# What the second round of two runs plays back, for each row of the table. The first round is a good one, with one harmful candidate.
ROUNDS = {
    "nothing found": {"a": report(), "b": report()},
    "benign races only": {"a": report(race("benign", 1)), "b": report()},
    "a harmful candidate as before": {"a": GOOD, "b": GOOD},
    "a new harmful candidate": {"a": report(HARMFUL, OTHER), "b": GOOD},
    "a new race that is suppressed": {"a": report(race("suppressed", 5)), "b": GOOD},
    "a suspicion of accesses, no race": {"a": suspicion("unprotected"), "b": GOOD},
    "an atomicity suspicion without copies": {"a": suspicion("atomicity", replays=False), "b": GOOD},
    "an atomicity suspicion that a copy confirmed": {"a": suspicion("atomicity"), "b": GOOD},
    "a panic": {"a": {"--json": GOOD, "--console": b"[    1.5] Kernel panic - not syncing: Fatal exception\n", "status": 4}, "b": GOOD},
    "an oops that ended the run": {"a": {"--json": complaining("oops"), "says": COMPLAINED, "status": 4}, "b": GOOD},
    "a warning of the kernel": {"a": complaining("warning"), "b": GOOD},
    "all runs could not run": {"a": REFUSED, "b": REFUSED},
    "one run could not run": {"a": REFUSED, "b": GOOD},
    "one run left no report": {"a": {"--json": None}, "b": GOOD},
    "one report is of an unfinished run": {"a": report(HARMFUL, complete=False), "b": GOOD},
    "one report is cut off": {"a": {"--json": json.dumps(GOOD).encode()[:5000]}, "b": GOOD},
    "one run sampled nothing": {"a": report(hits=0), "b": GOOD},
    "one run opened no window": {"a": report(windows=0), "b": GOOD},
    "all runs sampled nothing": {"a": report(hits=0), "b": report(hits=0)},
    "the runner was killed": {"a": GOOD, "b": {"--json": GOOD, "wait": "never"}},
}


def table():
    """The rows of the table of rounds: {round: (state, status of run, status of show --fail-on)}"""
    text = (ROOT / "docs/campaigns.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (" + "|".join(STATES) + r") \| (\d|-) \| (\d) \|$", text, re.M)
    return {name: (state, run, int(show)) for name, state, run, show in rows}


class Gate(unittest.TestCase):
    def make(self, name):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        nights = Nights(folder.name, ["a", "b"], more=f"<failure on='{GATE}'/>")
        first = nights.round(a=GOOD, b=GOOD)
        self.assertEqual(first.returncode, 1, first.stderr)  # its harmful candidate is new
        if name != "the runner was killed":
            return nights, nights.round(**ROUNDS[name])
        return nights, self.kill(nights)

    def kill(self, nights):
        """Kill the runner while run b is running. Returns None, as there is no exit status."""
        nights.play(**ROUNDS["the runner was killed"])
        runner = nights.start("run", nights.file)
        self.addCleanup(runner.communicate)
        self.addCleanup(runner.kill)
        end = time.monotonic() + CAP
        while not re.search(r"  now +b/", nights.command("status").stdout.decode()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        return None

    def test_the_table_has_these_rounds(self):
        self.assertEqual(list(table()), list(ROUNDS))

    def test_all_commands_give_one_answer(self):
        asked = [word for what in GATE.split() for word in ("--fail-on", what)]
        for name, (state, status, red) in table().items():
            with self.subTest(round=name):
                nights, done = self.make(name)
                if done:
                    self.assertEqual(done.returncode, int(status), done.stderr)
                    self.assertEqual(bool(done.stderr), done.returncode != 0)
                shown = nights.command("show", *asked)
                self.assertEqual(shown.returncode, red, shown.stderr)
                self.assertEqual(nights.command("diff", "1", "2", *asked).returncode, red)
                # A gate that is asked for is red whatever it asks for, if the round is no answer.
                self.assertEqual(nights.command("show", "--fail-on", "limit").returncode, int(state != "complete"))
                self.assertEqual(nights.command("show").returncode, 0)
                self.check_documents(nights, state, red)
                self.check_words(nights, done, shown, state)

    def check_documents(self, nights, state, red):
        listed = json.loads(nights.said("show", "--format", "json"))
        status = json.loads(nights.said("status", "--format", "json"))
        check(listed, "list")
        check(status, "status")
        summary, last = listed["summary"], status["rounds"][0]
        self.assertEqual((summary["state"], last["state"]), (state, state))
        self.assertEqual(int(state != "complete" or any(summary["gate"][what] for what in GATE.split())), red)
        for count in ("ok", "broke", "failed", "failures", "findings"):
            self.assertEqual(summary[count], last[count], count)
        self.assertEqual(sum(summary["failures"].values()), summary["failed"])
        self.assertEqual(summary["gate"]["finding"], summary["findings"])
        self.assertEqual(state == "failed", summary["failed"] == last["done"])

    def check_words(self, nights, done, shown, state):
        subject = nights.said("show", "--format", "mail").splitlines()[0]
        words = {"complete": r"round 2: (?!FAILED|not finished|\d+ of)", "partly failed": "round 2: 1 of 2 runs failed", "failed": "round 2: FAILED, ",
                 "unfinished": "round 2: not finished"}
        self.assertRegex(subject, words[state])
        text, page, status = nights.said("show"), nights.said("show", "--format", "html"), nights.said("status")
        failed = re.search(r"1 failed \([^)]+\)|2 failed \([^)]+\)", " ".join(text.split()))
        self.assertEqual(bool(failed), state in ("partly failed", "failed"))
        if failed:
            for said in (page, status, done.stdout.decode()):
                self.assertIn(failed[0], " ".join(said.split()))
        # One line says why the round is no answer, with the number of runs.
        reasons = [line for line in shown.stderr.decode().splitlines() if re.search("runs? (gave no answer|of the round gave|are not done)|no run of", line)]
        self.assertEqual(len(reasons), int(state != "complete"), shown.stderr)

    def test_a_failure_is_named(self):
        for name, phrase in (("one run could not run", "1 did not run properly"), ("one run left no report", "1 left no report"),
                             ("one report is of an unfinished run", "1 left a truncated report"), ("one report is cut off", "1 left a truncated report"),
                             ("one run sampled nothing", "1 sampled nothing")):
            with self.subTest(round=name):
                nights, done = self.make(name)
                self.assertIn(f"outrider: 1 of 2 runs gave no answer: {phrase}: exit status 1 (<failure>)\n", done.stderr.decode())
                self.assertIn(f"outrider: 1 of 2 runs gave no answer: {phrase}: exit status 1 (--fail-on)\n",
                              nights.command("show", "--fail-on", "finding").stderr.decode())

    def test_a_complaint_is_one_finding(self):
        oops = ("complaint", COMPLAINTS["oops"]["text"] + ", in gt_complain_null+0x5/0x10 [outrider_gt]", "races.json")
        warned = b"[   12.2] WARNING: CPU: 1 PID: 81 at /module/complaints.c:41 gt_complain_warn+0x5/0x10 [outrider_gt]\n"
        cases = {
            "only in the report": ({"--json": complaining("oops"), "says": COMPLAINED, "status": 4}, [oops]),
            "on the console, too": ({"--json": complaining("oops"), "--console": OOPSED, "says": COMPLAINED, "status": 4}, [oops]),
            "a warning, on the console, too": ({"--json": complaining("warning"), "--console": warned},
                                               [("complaint", "gt: a warning, in gt_complain_warn+0x5/0x10 [outrider_gt]", "races.json")]),
            "a lockup": (complaining("lockup"), [("lockup", COMPLAINTS["lockup"]["text"], "races.json")]),
            "only on the console": ({"--json": GOOD, "--console": OOPSED}, [("complaint", COMPLAINTS["oops"]["text"], "console.log"),
                                                                           ("complaint", "Oops: 0000 [#1] PREEMPT SMP NOPTI", "console.log")]),
            "another one on the console": ({"--json": complaining("warning"), "--console": OOPSED[:73]},
                                           [("complaint", COMPLAINTS["oops"]["text"], "console.log"),
                                            ("complaint", "gt: a warning, in gt_complain_warn+0x5/0x10 [outrider_gt]", "races.json")]),
            "without a report": ({"--json": None, "says": COMPLAINED, "status": 4}, [("complaint", COMPLAINTS["oops"]["text"], "stderr.log"),
                                                                                     ("no-report", "the run left no report", "")]),
        }
        for name, (night, expected) in cases.items():
            with self.subTest(case=name), tempfile.TemporaryDirectory() as folder:
                nights = Nights(folder, ["a"], more="<failure on='complaint'/>")
                done = nights.round(a=night)
                listed, status = (json.loads(nights.said(command, "--format", "json")) for command in ("show", "status"))
                check(listed, "list")
                check(status, "status")
                self.assertEqual([(f["kind"], f["line"], pathlib.Path(f["console"] or "").name) for f in listed["findings"]], expected)
                self.assertEqual(status["rounds"][0]["outcomes"][expected[0][0]], 1)
                self.assertEqual((listed["summary"]["broke"], listed["summary"]["ok"]), (1, 0))
                n = sum(kind != "no-report" for kind, _, _ in expected)
                says = f"{n} complaint{'s' if n > 1 else ''} of guests' kernels: exit status 1 ("
                # Without any answer the round is none, whatever the file calls a failure.
                self.assertEqual(done.returncode, 3 if name == "without a report" else 1)
                if name != "without a report":
                    self.assertIn(says + "<failure> complaint)", done.stderr.decode())
                shown = nights.command("show", "--fail-on", "complaint")
                self.assertEqual(shown.returncode, 1)
                self.assertIn(says + "--fail-on complaint)", shown.stderr.decode())
                for form in ("text", "html", "mail"):
                    self.assertIn(expected[0][1], " ".join(nights.said("show", "--format", form).replace("&#39;", "'").split()))

    def test_a_complaint_is_new_once(self):
        with tempfile.TemporaryDirectory() as folder:
            nights = Nights(folder, ["a"], more="<failure on=''/>")
            for new in (1, 0):
                nights.round(a=complaining("oops"))
                self.assertEqual(nights.command("show", "--fail-on", "new-finding").returncode, new)
            nights.round(a=GOOD)
            self.assertEqual(nights.command("show", "--fail-on", "complaint").returncode, 0)

    def test_no_gate_but_nothing_could_run(self):
        with tempfile.TemporaryDirectory() as folder:
            nights = Nights(folder, ["a", "b"], more="<failure on=''/>")
            self.assertEqual(nights.round(a=REFUSED, b=GOOD).returncode, 0)
            done = nights.round(a=REFUSED, b={"--json": None})
            self.assertEqual((done.returncode, done.stderr.splitlines(True)[-1]), (3, b"outrider: nightly: no run of the round gave an answer; `outrider campaign show` says why\n"))

    def test_a_shard_is_judged_alone_and_a_round_by_all_its_shards(self):
        with tempfile.TemporaryDirectory() as folder:
            nights = Nights(folder, ["a", "b", "c"], more=f"<failure on='{GATE}'/>")
            nights.play(a=report(), b=report(), c=report())
            for shard in ("1/3", "2/3"):
                self.assertEqual(nights.command("run", "--round", "4", "--shard", shard, nights.file).returncode, 0)
            done = nights.command("show", "--fail-on", "finding")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), r"\Aoutrider: the round is not finished: 1 shard is missing: exit status 1 ")
            for command in ("show", "status"):
                document = json.loads(nights.said(command, "--format", "json"))
                self.assertEqual((document.get("summary") or document["rounds"][0])["state"], "unfinished")
            self.assertEqual(nights.command("run", "--round", "4", "--shard", "3/3", nights.file).returncode, 0)
            self.assertEqual(nights.command("show", "--fail-on", "finding").returncode, 0)
            # Nine shards of three runs: some have no run, and are no failure.
            for shard in range(1, 10):
                self.assertEqual(nights.command("run", "--round", "5", "--shard", f"{shard}/9", nights.file).returncode, 0)
            self.assertEqual(nights.command("show", "--fail-on", "finding").returncode, 0)

    def test_the_old_words_still_count(self):
        with tempfile.TemporaryDirectory() as folder:
            for word in ("any-new", "new-race", "new"):
                nights = Nights(pathlib.Path(folder), ["a", "b"], name=word, more=f"<failure on='{word}'/>")
                nights.store = pathlib.Path(folder, f"{word}.db")
                self.assertEqual(nights.round(a=report(race("benign")), b=report()).returncode, 1)
                done = nights.command("show", "--fail-on", word)
                self.assertEqual((done.returncode, done.stderr), (1, b"outrider: 1 race is new or worse than before: exit status 1 (--fail-on any-new)\n"))
                self.assertEqual(nights.round(a=report(race("benign")), b=report()).returncode, 0)


if __name__ == "__main__":
    unittest.main()
