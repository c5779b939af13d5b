#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`outrider locks`, the section of suspicions in what `outrider report` writes, and the lists that `--lock-list` takes."""

import copy
import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import junitparser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from locks_made import ID, TEXT, locks, two_sections  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
RACES = ROOT / "tests/data/ordered-races.json"


class Words(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.words = []

    def handle_data(self, data):
        self.words.append(data)


def text_of(page):
    parser = Words()
    parser.feed(page)
    return "".join(parser.words)


class Locks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.document = json.loads(RACES.read_text())
        self.document["locks"] = locks()
        self.path = self.save("races.json", self.document)

    def save(self, name, document):
        path = self.top / name
        path.write_text(json.dumps(document))
        return path

    def outrider(self, *words, status=0):
        done = subprocess.run([BUILD / "outrider", *map(str, words)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def report(self, kind):
        return self.outrider("report", "--format", kind, self.path).stdout

    def test_text(self):
        text = self.outrider("locks", self.path).stdout
        self.assertTrue(text.startswith("SUSPICIONS  1,"), text)
        self.assertIn(f"{ID}  rank 80  {TEXT}\n", text)
        self.assertIn("reached the sites 120 and 70 times", text)
        self.assertIn("nic.cb_lock held in 412 of 418 accesses; not in <watchdog>() (6)\n", text)
        self.assertIn("7 pairs of accesses under RCU are not suspected\n", text)

    def test_json(self):
        document = json.loads(self.outrider("locks", "--format", "json", self.path).stdout)
        self.assertEqual(document["schema"], "outrider-locks/1")
        self.assertEqual([s["id"] for s in document["suspicions"]], [ID])
        self.assertEqual(document["suspicions"][0]["proof"], {"state": "given-up", "reached": [120, 70]})
        datum, other = document["data"]
        self.assertEqual((datum["name"], datum["owner"], datum["lock"], datum["held"], datum["total"]),
                         ("nic.flags", "nic", "nic.cb_lock", 412, 418))
        self.assertEqual(datum["missing"], [{"function": "e100:<watchdog>", "count": 6}])
        self.assertEqual((other["held"], other["missing"]), (10, []))

    def test_html(self):
        page = text_of(self.outrider("locks", "--format", "html", self.path).stdout)
        self.assertIn(TEXT, page)
        self.assertIn("412 of 418", page)

    def test_module(self):
        document = json.loads(self.outrider("locks", "--format", "json", "--module", "e1*", self.path).stdout)
        self.assertEqual([d["name"] for d in document["data"]], ["nic.flags"])
        self.assertEqual(len(document["suspicions"]), 1)

    def test_unknown_module(self):
        """A list without entries would look like a clean result, and so would a list in which one of two modules is misspelt."""
        for globs in ("ext4", "e100 ext4", "ext4 e1*"):
            done = self.outrider("locks", "--module", globs, self.path, status=3)
            self.assertEqual(done.stdout, "")
            self.assertEqual(done.stderr, "outrider: --module ext4: the record of locks has nothing of such a module; it has e100\n")
        self.document["locks"]["functions"] = ["configure", "nic:<watchdog>", "e100:kernel_function"]
        path = self.save("other.json", self.document | {"run": self.document["run"] | {"seed": "4711"}})
        self.assertIn("it has nic, e100\n", self.outrider("locks", "--module", "ext4", path, status=3).stderr)
        self.assertIn("it has e100, nic\n", self.outrider("locks", "--module", "ext4", self.path, path, status=3).stderr)

    def test_files_are_joined(self):
        other = copy.deepcopy(self.document)
        other["run"]["seed"] = "4711"
        other["locks"]["suspicions"][0]["proof"]["state"] = "seen"
        second = self.save("other.json", other)
        document = json.loads(self.outrider("locks", "--format", "json", self.path, second).stdout)
        self.assertEqual((document["data"][0]["held"], document["data"][0]["total"]), (824, 836))
        self.assertEqual([s["proof"]["state"] for s in document["suspicions"]], ["seen"])

    def test_a_run_counts_once(self):
        again = self.save("again.json", self.document)
        done = self.outrider("locks", "--format", "json", self.path, again)
        self.assertIn("the same run", done.stderr)
        self.assertEqual(json.loads(done.stdout)["data"][0]["total"], 418)

    def assertions(self, text):
        path = self.top / "asserted"
        path.write_text(text)
        return path

    def test_assertions(self):
        path = self.assertions("# of a driver\n[assert]\ndatum = nic->flags\nunder = cb_lock\n\n"
                               "[assert]\ndatum = nic.flags\naccess = write\nunder = nic.cb_lock\nby = configure\n"
                               "[assert]\ndatum = nic.flags\naccess = write\nby = <watchdog> e100:up\n"
                               "[assert]\ndatum = nowhere\nby = nobody\n")
        done = self.outrider("locks", "--assert", path, self.path, status=1)
        self.assertTrue(done.stdout.startswith("ASSERTIONS  4, 2 broken, 1 never checked\n"), done.stdout)
        self.assertIn(f"  {path}:2  nic.flags: accesses under cb_lock\n      broken by 6 of 418 accesses\n", done.stdout)
        self.assertIn("6  e100:<watchdog>+0x33: read under no lock, by <watchdog>(), in task context\n", done.stdout)
        self.assertIn(f"  {path}:6  nic.flags: writes under nic.cb_lock only by configure\n      kept by 412 of 412 accesses\n", done.stdout)
        self.assertIn("write under nic.cb_lock, by configure(), in task context\n", done.stdout)
        self.assertIn("never checked", done.stdout)
        document = json.loads(self.outrider("locks", "--format", "json", "--assert", path, self.path, status=1).stdout)
        self.assertEqual([(a["line"], a["state"], a["broken"], a["checked"]) for a in document["assertions"]],
                         [(2, "broken", 6, 418), (6, "held", 0, 412), (11, "broken", 412, 412), (15, "never-checked", 0, 0)])
        self.assertEqual(document["assertions"][0]["breaks"], [{
            "site": "e100:<watchdog>+0x33", "function": "e100:<watchdog>", "operation": "e100:<watchdog>", "kind": "read",
            "context": "task", "held": None, "count": 6}])
        page = text_of(self.outrider("locks", "--format", "html", "--assert", path, self.path, status=1).stdout)
        self.assertIn("broken by 6 of 418 accesses", page)

    def test_assertion_that_was_never_checked(self):
        """It fails, unless it is optional: the datum may have been renamed, or was never sampled."""
        for text, says in (("[assert]\ndatum = nowhere\nunder = lock\n", "no such access was sampled"),
                           ("[assert]\ndatum = other\naccess = write\nunder = lock\n", "no such access was sampled"),
                           ("[assert]\ndatum = nowhere\nby = nobody\n", "no such access was sampled")):
            with self.subTest(text):
                path = self.assertions(text)
                done = self.outrider("locks", "--assert", path, self.path, status=1)
                self.assertTrue(done.stdout.startswith("ASSERTIONS  1, 0 broken, 1 never checked\n"), done.stdout)
                self.assertIn(f"never checked: {says}", done.stdout)
                self.assertIn("1 of 1 assertions was never checked: exit status 1 (--assert)", done.stderr)
                self.outrider("locks", "--assert", path, "--error-exitcode", "9", self.path, status=9)
                done = self.outrider("locks", "--assert", self.assertions(text + "optional = yes\n"), self.path)
                self.assertTrue(done.stdout.startswith("ASSERTIONS  1, 0 broken, 0 never checked\n"), done.stdout)
                self.assertIn("; it is optional\n", done.stdout)
                self.outrider("locks", "--assert", self.assertions(text + "optional = no\n"), self.path, status=1)

    def test_nobody_writes(self):
        """`by = nobody` is kept by a datum that was accessed, and never in this way."""
        path = self.assertions("[assert]\ndatum = other\naccess = write\nby = nobody\n")
        self.assertIn("kept: none of 10 accesses is of the kind that the assertion is about\n", self.outrider("locks", "--assert", path, self.path).stdout)

    def test_assertion_of_which_nothing_is_known(self):
        """Without the locks of any access nothing was checked."""
        for entry in self.document["locks"]["accesses"]:
            entry["held_overflow"], entry["held"] = True, []
        path = self.assertions("[assert]\ndatum = nic.flags\nunder = cb_lock\n")
        done = self.outrider("locks", "--assert", path, self.save("races.json", self.document), status=1)
        self.assertIn("never checked: the locks are unknown at all 418 accesses\n", done.stdout)

    def test_fail_on(self):
        """Suspicions are a gate, which a run that sampled nothing cannot pass."""
        done = self.outrider("locks", "--fail-on", "suspicion", self.path, status=1)
        self.assertIn("1 suspicion: exit status 1 (--fail-on suspicion)\n", done.stderr)
        self.outrider("locks", "--error-exitcode", "9", self.path, status=9)
        self.outrider("locks", "--fail-on", "unsampled", self.path)
        self.outrider("report", "--fail-on", "suspicion", self.path, status=1)
        self.outrider("report", "--format", "json", "--fail-on", "suspicion", self.path, status=1)
        done = self.outrider("locks", "--fail-on", "harmful", self.path, status=2)
        self.assertIn("this command shows no races", done.stderr)
        self.document["locks"]["suspicions"] = []
        none = self.save("none.json", self.document)
        self.outrider("locks", "--fail-on", "suspicion", none)
        self.outrider("report", "--fail-on", "suspicion", none)
        self.document["summary"]["sampling"]["hits"] = 0
        unsampled = self.save("unsampled.json", self.document)
        self.outrider("locks", "--fail-on", "suspicion", unsampled, status=1)
        self.outrider("locks", "--fail-on", "suspicion,no-unsampled", unsampled)
        for kind in ("text", "json"):
            self.assertIn("says nothing of locks", self.outrider("report", "--format", kind, "--fail-on", "suspicion", RACES, status=3).stderr)
        for command in ("run", "attach"):
            self.assertIn("give --locks, too", self.outrider(command, "--fail-on", "suspicion", *(("--kernel", "x") if command == "run" else ("x",)), status=2).stderr)

    def add_two_sections(self):
        """Add a suspicion about two sections of configure(), with the watchdog's in between."""
        self.document["locks"]["suspicions"].append(two_sections())
        return self.save("sections.json", self.document)

    def test_two_sections(self):
        """All forms show what comes first, in between and second."""
        path = self.add_two_sections()
        self.assertIn("configure() checks it and acts on it, without checking again, under nic.cb_lock in two sections; "
                      "<watchdog>() changes it in between, at e100:<watchdog>+0x33\n", self.outrider("locks", path).stdout)
        worst = json.loads(self.outrider("locks", "--format", "json", path).stdout)["suspicions"][0]
        self.assertEqual((worst["between"], worst["pattern"], worst["by_hold"]), ("e100:<watchdog>+0x33", "check-then-act", 2))
        for command in (("locks",), ("report",)):
            page = self.outrider(*command, "--format", "html", path).stdout
            start = page.index('<ol class="sections">')
            sections = page[start:page.index("</ol>", start)]
            self.assertEqual(text_of(sections).replace("\u200b", ""), "first e100:configure+0x1c checks itin between e100:<watchdog>+0x33 changes it"
                             "second e100:configure+0x1c acts on it, without checking again")
            self.assertEqual(page.count('<ol class="sections">'), 1)

    def test_members_that_change_together(self):
        """Two functions change both members in a section of theirs, and one changes only one of them."""
        locks = self.document["locks"]
        write = locks["accesses"][0]
        uses = []
        for function in range(3):
            for member in ("flags", "mode") if function < 2 else ("mode",):
                uses.append({"access": len(locks["accesses"]), "lock": 0, "taken_at": f"0xffffffffc010000{function}", "decides": False, "count": 9})
                locks["accesses"].append(write | {"site": f"e100:f{function}+0x{len(uses)}", "name": f"nic.{member}", "function": function})
        locks["uses"] = uses
        path = self.save("together.json", self.document)
        line = "nic.flags and nic.mode change together under nic.cb_lock in 2 functions, such as %s(); not in kernel_function(), which changes only nic.mode (9 writes)"
        self.assertIn("\nCHANGED TOGETHER, but for some functions\n  " + line % "<watchdog>", self.outrider("locks", path).stdout)
        self.assertIn('<ul id="together">', self.outrider("locks", "--format", "html", path).stdout)
        together, = json.loads(self.outrider("locks", "--format", "json", path).stdout)["together"]
        self.assertEqual(together, {"data": ["nic.flags", "nic.mode"], "lock": "nic.cb_lock", "functions": ["e100:<watchdog>", "e100:configure"],
                                    "not_in": [{"function": "kernel_function", "changes": ["nic.mode"], "count": 9}]})
        self.assertNotIn("CHANGED TOGETHER", self.outrider("locks", self.path).stdout)

    def test_two_sections_of_two_functions_and_locks(self):
        """What differs from sections of one function and one lock is named."""
        lock = self.document["locks"]["locks"][0]
        self.document["locks"]["locks"].append(lock | {"name": "nic.cmd_lock", "address": "0xffff888012345690"})
        suspicion = two_sections() | {"caller": 2, "second_lock": 1}
        suspicion["sides"][1] = {"index": 2, "site": "kernel_function+0x1"}
        self.document["locks"]["suspicions"].append(suspicion)
        path = self.save("functions.json", self.document)
        self.assertIn("configure() checks it and kernel_function() acts on it, without checking again, under nic.cb_lock and nic.cmd_lock in two sections "
                      "of kernel_function(); <watchdog>() changes it in between", self.outrider("locks", path).stdout)
        worst = json.loads(self.outrider("locks", "--format", "json", path).stdout)["suspicions"][0]
        self.assertEqual((worst["caller"], worst["lock"], worst["second_lock"]), ("kernel_function", "nic.cb_lock", "nic.cmd_lock"))

    def test_two_sections_in_sarif(self):
        """The section in between is a thread of its own, and comes second."""
        document = json.loads(self.outrider("report", "--format", "sarif", self.add_two_sections()).stdout)
        results = {result["ruleId"]: result for result in document["runs"][1]["results"]}
        two, between = ([(step["executionOrder"], step["location"]["logicalLocations"][0]["name"]) for step in thread["locations"]]
                        for thread in results["suspicion-atomicity"]["codeFlows"][0]["threadFlows"])
        self.assertEqual((two, between), ([(1, "configure"), (3, "configure")], [(2, "<watchdog>")]))
        self.assertEqual(len(results["suspicion-unprotected"]["codeFlows"][0]["threadFlows"]), 2)

    def test_fail_on_atomicity(self):
        """The word looks at one kind of suspicion only, in every command with --locks."""
        for command in ("locks", "report"):
            self.outrider(command, "--fail-on", "atomicity", self.path)
        path = self.add_two_sections()
        for words in (("locks",), ("report",), ("report", "--format", "json")):
            done = self.outrider(*words, "--fail-on", "atomicity", path, status=1)
            self.assertIn("outrider: 1 atomicity suspicion: exit status 1 (--fail-on atomicity)\n", done.stderr)
            done = self.outrider(*words, "--fail-on", "atomicity,suspicion", path, status=1)
            self.assertIn("outrider: 2 suspicions: exit status 1 (--fail-on suspicion)\n", done.stderr)
        page = self.outrider("report", "--format", "junit", "--fail-on", "atomicity", path, status=1).stdout
        suspicions = list(junitparser.JUnitXml.fromstring(page.encode()))[1]
        self.assertEqual((suspicions.tests, suspicions.failures, suspicions.skipped), (2, 1, 1))
        self.assertIn("--fail-on atomicity: without --locks", self.outrider("run", "--fail-on", "atomicity", "--kernel", "x", status=2).stderr)
        self.assertIn("`outrider locks --fail-on atomicity`", self.outrider("diff", "--fail-on", "atomicity", RACES, RACES, status=2).stderr)

    def test_assertions_know_members_behind_an_arrow(self):
        text = self.path.read_text().replace("nic.flags", "nic->flags").replace("nic.cb_lock", "nic->cb_lock")
        self.path.write_text(text)
        path = self.assertions("[assert]\ndatum = nic->flags\nunder = cb_lock\n[assert]\ndatum = nic.flags\nunder = nic->cb_lock\n")
        document = json.loads(self.outrider("locks", "--format", "json", "--assert", path, self.path, status=1).stdout)
        self.assertEqual([(a["broken"], a["checked"]) for a in document["assertions"]], [(6, 418), (6, 418)])
        self.assertEqual([(d["name"], d["owner"]) for d in document["data"]], [("nic->flags", "nic"), ("other", "other")])

    def test_what_is_not_known_breaks_no_assertion(self):
        watchdog = self.document["locks"]["accesses"][1]
        path = self.assertions("[assert]\ndatum = nic.flags\nunder = cb_lock\n")
        for change in ({"held_overflow": True}, {"context": "unknown"}, {"count_shared": 0},
                       {"held": [{"lock": 0, "no_softirq": False, "no_irq": False, "shared": False, "maybe": True}]}):
            self.document["locks"]["accesses"][1] = watchdog | change
            self.outrider("locks", "--assert", path, self.save("races.json", self.document))
        # A reader's side keeps no reader from a writer, and an RCU section is no lock unless it is asserted.
        self.document["locks"]["accesses"][1] = watchdog | {"in_rcu": True}
        self.outrider("locks", "--assert", path, self.save("races.json", self.document), status=1)
        self.outrider("locks", "--assert", self.assertions("[assert]\ndatum = nic.flags\nunder = cb_lock rcu\n"), self.path)
        self.document["locks"]["accesses"][0]["held"][0]["shared"] = True
        self.outrider("locks", "--assert", path, self.save("races.json", self.document), status=1)

    def test_wrong_assertions(self):
        for text, says in (("", "has no [assert] stanza"), ("[allow]\ndatum = x\n", ":1: a stanza here is [assert]"),
                           ("[assert]\nunder = x\n", ":1: an assertion needs a datum"),
                           ("[assert]\ndatum = x\n", ":1: an assertion needs locks (under) or functions (by)"),
                           ("[assert]\ndatum = x\naccess = writes\nby = f\n", ":3: access is read, write or any"),
                           ("[assert]\ndatum = x\nby = f\noptional = maybe\n", ':4: optional is yes or no, not "maybe"'),
                           ("[assert]\ndatum = x\nby =\n", ":3: by needs a name"), ("[assert]\nby = x\nby = y\n", ":3: by was given before"),
                           ("[assert]\nlock = x\n", ':2: the keys of an assertion are datum, access, under, by and optional, not "lock"'),
                           ("datum = x\n", ":1: a line with [kind] must come before this line")):
            done = self.outrider("locks", "--assert", self.assertions(text), self.path, status=3)
            self.assertIn(says, done.stderr)
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
        self.assertIn("No such file", self.outrider("locks", "--assert", self.top / "none", self.path, status=3).stderr)

    def test_wrong_input(self):
        self.assertIn("has no record of locks", self.outrider("locks", RACES, status=3).stderr)
        self.assertIn("needs a RACES.json", self.outrider("locks", status=2).stderr)
        self.document["locks"]["accesses"][0]["held"][0]["lock"] = 5
        broken = self.save("broken.json", self.document)
        done = self.outrider("locks", broken, status=3)
        self.assertEqual(done.stderr.count("\n"), 1)

    def refused(self, document, text):
        """One line, which names the file and says what is wrong with it; and nothing else is printed."""
        path = self.save("broken.json", document) if isinstance(document, dict) else self.top / "broken.json"
        done = self.outrider("locks", path, status=3)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\A[^\n]*broken\.json[^\n]*\n\Z")
        self.assertIn(text, done.stderr)

    def test_indices_of_nothing(self):
        def all_but(keys, value, text):
            document = copy.deepcopy(self.document)
            place = document["locks"]
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = value
            self.refused(document, text)

        take = {"lock": 0, "site": "e100:configure+0x1", "function": 0, "operation": 0, "context": "task", "irqs_off": False,
                "softirqs_off": False, "shared": False, "tried": False, "count": 1}
        all_but(["accesses", 0, "held", 0, "lock"], 1, "access 1 refers to an entry that does not exist")
        all_but(["accesses", 1, "function"], 3, "access 2 refers to an entry that does not exist")
        all_but(["accesses", 2, "operation"], 4294967295, "access 3: \"operation\"")
        all_but(["pairs", 0, "b"], 3, "pair 1 refers to an entry that does not exist")
        all_but(["takes"], [take | {"lock": 1}], "take 1 refers to an entry that does not exist")
        all_but(["takes"], [take | {"function": 3}], "take 1 refers to an entry that does not exist")
        all_but(["suspicions", 0, "sides", 1, "index"], 3, "suspicion 1 refers to an entry that does not exist")
        all_but(["suspicions", 0, "lock"], 1, "suspicion 1 refers to an entry that does not exist")
        all_but(["suspicions", 0, "lock"], -1, "suspicion 1: \"lock\"")
        all_but(["suspicions", 0, "kind"], "interrupt", "suspicion 1 refers to an entry that does not exist")
        all_but(["functions"], [], "access 1 refers to an entry that does not exist")
        all_but(["functions"], ["e100:configure"] * 3, "function 2: it is there twice")
        all_but(["accesses", 0, "count"], 2 ** 63, "broken.json")
        all_but(["accesses", 0, "size"], 2 ** 32, "access 1: \"size\"")
        all_but(["accesses", 0, "held"], [locks()["accesses"][0]["held"][0]] * 1000, "access 1: \"held\"")

    def test_truncated(self):
        text = self.path.read_bytes()
        broken = self.top / "broken.json"
        start = text.index(b'"locks"')
        for cut in sorted({0, 1, len(text) - 2, *range(start, len(text) - 2, 157)}):
            broken.write_bytes(text[:cut])
            self.refused(None, "")

    def test_what_is_no_report(self):
        (self.top / "broken.json").mkdir()
        self.refused(None, "directory")

    def test_other_runs_with_other_names(self):
        """The same driver in another kernel: one chart, and each index is of its own file."""
        other = copy.deepcopy(self.document)
        other["run"]["seed"] = "4711"
        other["locks"]["functions"] = ["other_function", "e100:configure", "e100:<watchdog>"]
        for entry, function in zip(other["locks"]["accesses"], (1, 2, 0)):
            entry.update(function=function, operation=function)
        other["locks"]["pairs"] = []
        other["locks"]["suspicions"] = []
        second = self.save("other.json", other)
        document = json.loads(self.outrider("locks", "--format", "json", second, self.path).stdout)
        self.assertEqual(document["data"][0]["missing"], [{"function": "e100:<watchdog>", "count": 12}])
        self.assertEqual([s["id"] for s in document["suspicions"]], [ID])

    def test_output(self):
        out = self.top / "page.html"
        self.assertEqual(self.outrider("locks", "--format", "html", "-o", out, self.path).stdout, "")
        self.assertTrue(out.read_text().endswith("</html>\n"))

    def test_report_text_and_json(self):
        self.assertIn(TEXT, self.report("text"))
        self.assertEqual(json.loads(self.report("json"))["locks"], self.document["locks"])

    def test_report_sarif(self):
        races, suspicions = json.loads(self.report("sarif"))["runs"]
        self.assertEqual(len(races["results"]), len(json.loads(self.report("json"))["groups"]))
        self.assertEqual(suspicions["automationDetails"]["id"], "outrider/suspicions")
        result, = suspicions["results"]
        self.assertEqual((result["ruleId"], result["kind"], result["level"]), ("suspicion-unprotected", "review", "none"))
        self.assertEqual(result["message"]["text"], TEXT)
        location = result["locations"][0]
        self.assertEqual(location["logicalLocations"][0]["name"], "<watchdog>")
        self.assertEqual(location["physicalLocation"]["artifactLocation"]["uri"], "guest-symbols/e100.ko/%3Cwatchdog%3E")

    def test_report_junit(self):
        races, suspicions = junitparser.JUnitXml.fromstring(self.report("junit").encode())
        self.assertEqual(races.tests, len(json.loads(self.report("json"))["groups"]))
        case, = suspicions
        self.assertIsInstance(case.result[0], junitparser.Skipped)
        self.assertEqual(case.result[0].message, TEXT)

    def test_report_junit_with_a_gate(self):
        page = self.outrider("report", "--format", "junit", "--fail-on", "suspicion", self.path, status=1).stdout
        races, suspicions = junitparser.JUnitXml.fromstring(page.encode())
        self.assertEqual((races.failures, suspicions.failures, suspicions.skipped), (0, 1, 0))
        case, = suspicions
        self.assertIsInstance(case.result[0], junitparser.Failure)

    def test_a_suspicion_is_the_same_in_another_build(self):
        """SARIF's fingerprints and JUnit's names have no offsets. Of two suspicions of the same functions and datum each has its own."""
        def known(document):
            path = self.top / "built.json"
            path.write_text(json.dumps(document))
            sarif = json.loads(self.outrider("report", "--format", "sarif", path).stdout)["runs"][1]["results"]
            junit = junitparser.JUnitXml.fromstring(self.outrider("report", "--format", "junit", path).stdout.encode())
            return ([result["partialFingerprints"] for result in sarif], [(case.classname, case.name) for case in list(junit)[1]])

        moved = copy.deepcopy(self.document)
        moved["locks"]["accesses"][1]["site"] = moved["locks"]["suspicions"][0]["sides"][1]["site"] = "e100:<watchdog>+0x77"
        moved["locks"]["suspicions"][0]["id"] = "00123456789a"
        prints, tests = known(self.document)
        self.assertEqual(known(moved), (prints, tests))
        self.assertEqual(set(prints[0]), {"primaryLocationLineHash", "outriderSuspicion/v2"})
        self.assertNotIn("+0x", str(tests))
        moved["locks"]["accesses"][1]["name"] = moved["locks"]["accesses"][0]["name"] = "nic.other"
        self.assertNotEqual(known(moved)[0], prints)
        two = copy.deepcopy(self.document)
        two["locks"]["accesses"].append(two["locks"]["accesses"][1] | {"site": "e100:<watchdog>+0x77"})
        second = copy.deepcopy(two["locks"]["suspicions"][0]) | {"id": "00123456789a"}
        second["sides"][1] = {"index": 3, "site": "e100:<watchdog>+0x77"}
        two["locks"]["suspicions"].append(second)
        hashes = [one["primaryLocationLineHash"] for one in known(two)[0]]
        self.assertCountEqual(hashes, [prints[0]["primaryLocationLineHash"], prints[0]["primaryLocationLineHash"].replace(":1", ":2")])

    def test_report_kcsan_and_html(self):
        self.assertTrue(self.report("kcsan").endswith(f"\nOutrider: suspicion {ID}: {TEXT}\n"))
        self.assertIn(TEXT, text_of(self.report("html")))

    def test_runs_without_locks_have_no_section(self):
        del self.document["locks"]
        self.path = self.save("races.json", self.document)
        for kind in ("text", "sarif", "junit", "kcsan", "html"):
            self.assertNotIn("uspicion", self.report(kind))
            self.assertNotIn("SUSPICION", self.report(kind))


class LockList(unittest.TestCase):
    """What is wrong with a list is said before anything is attached to or booted."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.list = pathlib.Path(folder.name) / "list.conf"

    def attach(self):
        return subprocess.run([BUILD / "outrider", "attach", "--gdb", f"unix:{self.list}.sock", "--module", "e100", "--locks",
                               "--lock-list", self.list], capture_output=True, text=True, check=False, timeout=300)

    def refused(self, text):
        done = self.attach()
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aoutrider: [^\n]*list\.conf:[^\n]*\n\Z")
        self.assertIn(text, done.stderr)

    def refused_text(self, content, text):
        self.list.write_text(content)
        self.refused(text)

    def test_words(self):
        self.refused_text("take spin f arg0\ntake spun g arg0\n", "list.conf:2: no such kind of lock: spun")
        self.refused_text("lock spin f arg0\n", "list.conf:1: a line begins with take, try, give, share, release, acquire, stop, caller, free, reuse, pass, new or outer")
        self.refused_text("take spin f arg0 quickly\n", "list.conf:1: no such word: quickly")
        self.refused_text("take spin f arg9\n", "list.conf:1: give arg0 to arg5")

    def test_a_function_twice(self):
        self.refused_text("take spin f arg0\n# other\ntake spin f arg1\n", "list.conf:3: line 1 has this name, too: f")

    def test_what_is_no_list(self):
        self.refused("No such file")
        self.refused_text("", "no lock function is in it")
        self.refused_text("# take spin f arg0\n\n", "no lock function is in it")
        self.list.write_bytes(b"take\0spin f arg0\n")
        self.refused("no text")
        self.list.unlink()
        self.list.mkdir()
        self.refused("directory")

    def test_a_gigabyte(self):
        with self.list.open("wb") as out:
            out.truncate(1 << 30)
        self.refused("larger than 1 MiB")

    def test_a_right_list_comes_to_the_guest(self):
        self.list.write_text("take spin no_such_function arg0\n")
        done = self.attach()
        self.assertEqual(done.returncode, 3)
        self.assertIn("list.conf.sock", done.stderr)
        self.assertNotIn("list.conf:", done.stderr)


if __name__ == "__main__":
    unittest.main()
