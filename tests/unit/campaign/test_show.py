#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`outrider campaign status`, show, diff and triage, on a store whose rounds played back recorded reports."""

import copy
import json
import pathlib
import re
import sys
import tempfile
import time
import unittest

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
from campaign_nights import CAP, ROOT, Nights, check, recorded  # noqa: E402


def functions(race):
    return {re.sub(r"^(read|write|access) in ", "", side).split(" ")[0] for side in race["sides"]}


def function(race, side):
    return race["sides"][side].get("function")


class Rounds(unittest.TestCase):
    """Round 1 has two kernels. Round 2 repeats it. In round 3 one race is gone and one is new. In round 4 a verdict has changed, a guest panics,
    and the gone race is back. In round 5 the guest panics again."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.nights = Nights(cls.folder.name, ["linux", "module"])
        linux, module = recorded("linux-6.1"), recorded("gt-amd")
        harmful = [race for race in module["races"] if race["verdict"]["class"] == "harmful candidate" and not race["sides"][1]["unknown"]]
        cls.gone, cls.added, cls.changed = harmful[0], harmful[1], next(race for race in linux["races"] if race["verdict"]["class"] == "benign")
        first, third = copy.deepcopy(module), copy.deepcopy(module)
        first["races"] = [race for race in module["races"] if race is not cls.added]
        third["races"] = [race for race in module["races"] if race is not cls.gone]
        judged = copy.deepcopy(linux)
        for race in judged["races"]:
            if race["id"] == cls.changed["id"]:
                race["verdict"] |= {"class": "harmful candidate", "rule": "no-benign-pattern", "rank": 60}
        panic = {"--json": third, "--console": b"[   99.124] Kernel panic - not syncing: Fatal exception in interrupt\r\n", "status": 4}
        again = panic | {"--json": first, "--console": b"[   17.003] Kernel panic - not syncing: Fatal exception in interrupt\r\n"}
        cls.rounds = [cls.nights.round(linux=linux, module=first), cls.nights.round(linux=linux, module=first),
                      cls.nights.round(linux=linux, module=third)]
        cls.fixed = cls.list("3")["races"]
        cls.gone_id = next(race["id"] for race in cls.fixed if race["change"] == "gone")
        cls.said = cls.nights.said("triage", cls.gone_id[:9], "fixed", "--note", "by the patch of Tuesday", "--who", "Zoë")
        cls.rounds += [cls.nights.round(linux=judged, module=panic), cls.nights.round(linux=judged, module=again)]
        cls.schema = json.loads((ROOT / "docs/campaign-list.schema.json").read_text())

    @classmethod
    def list(cls, *arguments, command="show"):
        return json.loads(cls.nights.said(command, "--format", "json", *arguments))

    def of(self, document, change):
        return [race for race in document["races"] if race["change"] == change]

    def test_the_rounds_were_run(self):
        # Status 1: a finding, or a harmful candidate that is new, is a failure by default.
        self.assertEqual([done.returncode for done in self.rounds], [1, 0, 1, 1, 1], [done.stderr for done in self.rounds])

    def test_the_first_round_is_new(self):
        document = self.list("1")
        self.assertIsNone(document["against"])
        self.assertEqual({race["change"] for race in document["races"]}, {"new"})
        self.assertEqual(document["summary"]["new"], len(document["races"]))
        self.assertIn("nothing to compare with", self.nights.said("show", "1"))

    def test_the_same_again_is_nothing_new(self):
        document = self.list("2")
        self.assertEqual({race["change"] for race in document["races"]}, {"same"})
        text = self.nights.said("show", "2")
        self.assertIn("\n  new       nothing\n  gone      nothing\n  changed   no verdict\n  broke     nothing\n  covered   ", text)
        self.assertRegex(text, r"\n\d+ races are as they were\.\n")

    def test_one_is_gone_and_one_is_new(self):
        for document in (self.list("3"), self.list("2", "3", command="diff"), self.list("1", "3", command="diff")):
            new, gone = self.of(document, "new"), self.of(document, "gone")
            self.assertEqual((len(new), len(gone), document["summary"]["changed"]), (1, 1, 0))
            self.assertEqual(functions(new[0]), {function(self.added, 0), function(self.added, 1)})
            self.assertEqual(functions(gone[0]), {function(self.gone, 0), function(self.gone, 1)})
            self.assertEqual((new[0]["worse"], gone[0]["worse"], gone[0]["instances"]), (True, False, 0))
            self.assertIsNone(new[0]["before"])

    def test_diff_backwards(self):
        document = self.list("3", "1", command="diff")
        self.assertEqual([functions(race) for race in self.of(document, "new")], [{function(self.gone, 0), function(self.gone, 1)}])
        self.assertEqual([functions(race) for race in self.of(document, "gone")], [{function(self.added, 0), function(self.added, 1)}])

    def test_a_changed_verdict(self):
        changed, = self.of(self.list("4"), "changed")
        self.assertEqual((changed["verdict"]["class"], changed["before"]["class"]), ("harmful candidate", "benign"))
        self.assertTrue(changed["worse"])
        self.assertEqual(changed["before"]["rule"], self.changed["verdict"]["rule"])
        self.assertIn(f"     was benign, {self.changed['verdict']['rule']}\n", self.nights.said("show", "4"))

    def test_back_although_it_was_marked_as_fixed(self):
        self.assertEqual(self.of(self.list("4"), "back"), [])
        back, = self.of(self.list("5"), "back")
        self.assertEqual(back["id"], self.gone_id)
        self.assertEqual({key: back["triage"][key] for key in ("state", "who", "note")},
                         {"state": "fixed", "who": "Zoë", "note": "by the patch of Tuesday"})
        self.assertTrue(back["worse"])
        self.assertIn("     fixed, says Zoë, ", self.nights.said("show", "5"))
        self.assertTrue(self.said.startswith(f"{self.gone_id} fixed: "))

    def test_a_finding_is_new_once(self):
        first, second = self.list("4")["findings"], self.list("5")["findings"]
        for finding, new in ((first, True), (second, False)):
            self.assertEqual([(f["kind"], f["new"], f["run"]) for f in finding], [("panic", new, "module/image/none/all/1")])
            self.assertIn("Kernel panic - not syncing: Fatal exception in interrupt", finding[0]["line"])
            self.assertIn("Fatal exception", pathlib.Path(finding[0]["console"]).read_text())
            self.assertTrue(pathlib.Path(finding[0]["folder"], "command").exists())

    def test_since(self):
        document = self.list("3", "--since", "1")
        self.assertEqual((document["from"], document["to"], document["against"]), (2, 3, 1))
        # --since 1 includes round 2, which saw the race that round 3 lacks.
        self.assertEqual((document["summary"]["new"], document["summary"]["gone"]), (1, 0))
        rounds = [round_["now"] for round_ in document["rounds"]]
        self.assertEqual(rounds, [False, True, True])
        self.assertEqual(document["summary"]["round"]["runs"], 4)

    def test_the_document_is_what_the_schema_says(self):
        for arguments in (["1"], ["4"], ["5", "--all"], ["5", "--since", "1"]):
            jsonschema.validate(self.list(*arguments), self.schema)
        jsonschema.validate(self.list("1", "5", command="diff"), self.schema)
        wrong = self.list("4")
        wrong["races"][0]["change"] = "worse"
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(wrong, self.schema)

    def test_figures_are_those_of_the_reports(self):
        document = self.list("5")
        self.assertEqual(len(document["rounds"]), 5)
        sampling = [recorded(name)["summary"]["sampling"] for name in ("linux-6.1", "gt-amd")]
        for round_ in document["rounds"]:
            self.assertEqual(round_["hits"], sum(each["hits"] for each in sampling))
            self.assertAlmostEqual(round_["sampled_s"], sum(each["seconds"] for each in sampling), 3)
            self.assertEqual((round_["runs"], round_["done"]), (2, 2))
            self.assertEqual(sum(round_["by_class"].values()), round_["races"])
        self.assertEqual([round_["broken"] for round_ in document["rounds"]], [0, 0, 0, 1, 1])
        self.assertEqual([round_["new"] for round_ in document["rounds"]][1:], [0, 1, 0, 0])
        self.assertEqual(document["rounds"][0]["new"], document["rounds"][0]["races"])
        self.assertEqual(len(document["coverage"]), 10)
        pairs = [point["pairs"] for point in document["coverage"]]
        self.assertEqual(pairs, sorted(pairs))

    def test_one_race_in_full(self):
        text = self.nights.said("show", self.gone_id[:8])
        self.assertTrue(text.startswith(f"RACE {self.gone_id}  harmful candidate"))
        self.assertIn("  fixed, says Zoë: by the patch of Tuesday\n", text)
        self.assertIn(f"race {self.gone['id']}", text)
        self.assertEqual(re.findall(r"^  nightly (\d+), ", text, re.M), ["1", "2", "5"])
        self.assertIn(f"RACE {self.gone['id']}  ", text)  # the report
        self.assertEqual(self.nights.said("show", self.gone["id"]), text)  # a report's id names it as well
        document = json.loads(self.nights.said("show", "--format", "json", self.gone_id))
        check(document, "race")
        for part in ("race", "report"):
            wrong = copy.deepcopy(document)
            wrong[part]["sides"] = "somewhere"
            with self.assertRaises(jsonschema.ValidationError):
                check(wrong, "race")
        self.assertEqual(document["report"]["id"], self.gone["id"])
        self.assertEqual([said["who"] for said in document["triage"]], ["Zoë"])
        self.assertEqual(document["runs"], 3)
        self.assertEqual(document["instances"], 3 * self.gone["count"])

    def test_status(self):
        text = self.nights.said("status").replace("\n    ", " ")
        self.assertRegex(text, r"\Anightly, round 5: started [-\d]+ [\d:]+ UTC, ended [-\d]+ [\d:]+ UTC, 2 of 2 runs done, 0 left, 1 broke\n  ended     1 ok, 1 panic\n"
                         r"  found     \d+ races, 0 of them new; 1 finding; ")
        self.assertIn("\nnightly, round 4: ", text)
        document = json.loads(self.nights.said("status", "--format", "json"))
        check(document, "status")
        wrong = copy.deepcopy(document)
        del wrong["rounds"][0]["outcomes"]["panic"]
        with self.assertRaises(jsonschema.ValidationError):
            check(wrong, "status")
        self.assertEqual([round_["number"] for round_ in document["rounds"]], [5, 4])
        self.assertEqual(document["rounds"][0]["outcomes"]["panic"], 1)
        self.assertEqual(document["rounds"][0]["running"], [])
        self.assertEqual(json.loads(self.nights.said("status", "--json")), document)  # the option of older versions

    def test_exit_status(self):
        for arguments, code in ((["2", "--fail-on", "new", "--fail-on", "finding"], 0), (["3", "--fail-on", "new-harmful"], 1),
                                (["3", "--error-exitcode", "7"], 7), (["3"], 0), (["4", "--fail-on", "new-finding"], 1),
                                (["5", "--fail-on", "new-finding"], 0), (["5", "--fail-on", "finding"], 1), (["5", "--fail-on", "new"], 1)):
            with self.subTest(arguments=arguments):
                done = self.nights.command("show", *arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(bool(done.stderr), bool(code))

    def test_mail(self):
        head, body = self.nights.said("show", "5", "--format", "mail").split("\n\n", 1)
        self.assertEqual(head.splitlines()[0], "Subject: [outrider] nightly round 5: 1 back, 1 finding")
        for line in body.splitlines():
            self.assertTrue(len(line) <= 72 or " " not in line.strip(), line)
        self.assertNotIn("\x1b", head + body)

    def test_text_fits_100_columns(self):
        for line in self.nights.said("show", "1", "--all").splitlines():
            self.assertTrue(len(line) <= 100 or " " not in line.strip(), line)

    def test_subsystems(self):
        sources = pathlib.Path(self.folder.name, "linux-source")
        sources.mkdir()
        (sources / "MAINTAINERS").write_text("SCHEDULER & <co>\nF:\tkernel/sched/\n\nGROUND TRUTH\nF:\ttests/\n\nTHE REST\nF:\t*\nF:\t*/\n")
        plain, named = ({entry["name"]: entry["all"] for entry in self.list("1", *options)["subsystems"]}
                        for options in ([], ["--sources", sources]))
        self.assertEqual(named["SCHEDULER & <co>"], plain["kernel/sched"])
        self.assertEqual(named["GROUND TRUTH"], plain["tests/ground-truth"])
        other = next(name for name in plain if name not in ("kernel/sched", "tests/ground-truth"))
        self.assertEqual(named[other], plain[other])
        self.assertIn("SCHEDULER &amp; &lt;co&gt;", self.nights.said("show", "1", "--format", "html", "--sources", sources))

    def test_what_is_wrong_is_said_in_one_line(self):
        for command, arguments, code, says in (
                ("show", ["9"], 3, "the campaign nightly has no round 9; its rounds are 1 to 5"),
                ("show", ["--campaign", "weekly"], 3, "no round of the campaign weekly"),
                ("show", ["fffffffffffe"], 2, "no race"),
                ("show", ["1", "2"], 2, "one ROUND or RACE"),
                ("show", ["2", "--since", "2"], 2, "round 2 is not before round 2"),
                ("show", [self.gone_id, "--since", "2"], 2, "no number of a round"),
                ("show", [self.gone_id, "--format", "mail"], 2, "text, json or html"),
                ("show", ["--format", "xml"], 2, "text, json, html or mail"),
                ("show", ["--fail-on", "races"], 2, "new-harmful"),
                ("show", ["--sources", "/nowhere"], 3, "/nowhere/MAINTAINERS"),
                ("diff", ["1"], 2, "OLD and NEW"),
                ("diff", ["1", "1"], 2, "name two rounds"),
                ("triage", [self.gone_id], 2, "new, known, fixed or wontfix"),
                ("triage", [self.gone_id, "mended"], 2, "new, known, fixed or wontfix"),
                ("status", ["--campaign", "weekly"], 3, "no round of the campaign weekly")):
            with self.subTest(command=command, arguments=arguments):
                done = self.nights.command(command, *arguments)
                self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
                self.assertRegex(done.stderr.decode(), rf"\Aoutrider: [^\n]*{re.escape(says)}[^\n]*\n\Z")

    def test_an_output_file_is_whole_or_as_it_was(self):
        path = pathlib.Path(self.folder.name, "list.html")
        path.write_text("before")
        self.assertEqual(self.nights.command("show", "99", "--format", "html", "-o", path).returncode, 3)
        self.assertEqual(path.read_text(), "before")
        self.assertEqual(self.nights.said("show", "--format", "html", "-o", path), "")
        self.assertTrue(path.read_text().endswith("</html>\n"))


class Digits(unittest.TestCase):
    """A race whose id in reports begins with four digits."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.nights = Nights(folder.name, ["module"])
        report = recorded("gt-amd")
        report["races"] = report["races"][:1]
        report["races"][0]["id"] = "5787" + report["races"][0]["id"][4:]
        self.play = {"module": report}

    def first_line(self, *arguments):
        return self.nights.said("show", *arguments).splitlines()[0]

    def fails(self, code, says, *arguments):
        done = self.nights.command("show", *arguments)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        self.assertRegex(done.stderr.decode(), rf"\Aoutrider: [^\n]*{re.escape(says)}\n\Z")

    def test_digits_are_never_taken_for_the_wrong_thing(self):
        self.nights.round(**self.play)
        self.assertTrue(self.first_line("5787").startswith("RACE "))  # there is no round of that number
        self.assertTrue(self.first_line("race:5787").startswith("RACE "))
        self.fails(3, "no round 5787; its rounds are 1 to 1", "round:5787")
        self.fails(3, "no round has the number 5788, and no race has an id that begins with it", "5788")
        self.fails(2, "5788: the store has no race with an id that begins with this", "race:5788")
        self.nights.play(**self.play)
        self.nights.command("run", "--round", "5787", self.nights.file)
        self.nights.play(**self.play)
        self.nights.command("run", "--round", "5789", self.nights.file)
        self.fails(2, "5787 is the number of a round, and the id of a race begins with it; give round:5787 or race:5787", "5787")
        self.assertTrue(self.first_line("race:5787").startswith("RACE "))
        self.assertTrue(self.first_line("round:5787").startswith("nightly, round 5787 against round 1"))
        self.assertTrue(self.first_line("5789").startswith("nightly, round 5789 against round 5787"))  # no race's id begins so
        self.assertTrue(self.first_line("1").startswith("nightly, round 1, the first"))
        self.assertTrue(self.first_line("5789", "--since", "round:1").startswith("nightly, rounds 5787 to 5789"))


class Triage(unittest.TestCase):
    def test_known_races_call_for_no_look(self):
        with tempfile.TemporaryDirectory() as folder:
            nights = Nights(folder, ["module"])
            module = recorded("gt-amd")
            nights.round(module=module)
            worse = [race for race in json.loads(nights.said("show", "--format", "json"))["races"]
                     if race["worse"] and race["verdict"]["class"] == "harmful candidate"]
            self.assertGreater(len(worse), 2)
            self.assertEqual(nights.command("show", "--fail-on", "new-harmful").returncode, 1)
            for race, state in zip(worse, ["known", "wontfix"] * len(worse)):
                nights.said("triage", race["id"], state)
            done = nights.command("show", "--fail-on", "new-harmful")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            nights.said("triage", worse[0]["id"], "new")
            self.assertEqual(nights.command("show", "--fail-on", "new-harmful").returncode, 1)


class Mended(unittest.TestCase):
    """A matrix of two kernels, of which only the newer one has the fix of a race."""

    OLD = "6.1.0-56-cloud-amd64"  # of the Debian package 6.1.192-2
    NEW = "6.13.0-rc2-00034-gaabbccddeeff"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.nights = Nights(folder.name, ["old", "new"], more="<failure on='any-new'/>")
        module = recorded("gt-amd")
        self.harmful = [race for race in module["races"] if race["verdict"]["class"] == "harmful candidate"]
        self.nights.round(old=self.report(self.OLD, 2), new=self.report(self.NEW, 2))
        self.ids = sorted(race["id"] for race in self.list()["races"])
        self.assertEqual(len(self.ids), 2)

    def report(self, release, races):
        document = recorded("gt-amd")
        document["races"] = self.harmful[:races]
        if release == self.NEW:
            document["kernel"] |= {"banner": f"Linux version {release} (ada@host) (gcc 14) #12 SMP PREEMPT_DYNAMIC", "build_id": "aa" * 20}
        self.assertIn(release, document["kernel"]["banner"])
        return document

    def list(self):
        return json.loads(self.nights.said("show", "--format", "json"))

    def fixed(self, *arguments):
        for race in self.ids:
            said = self.nights.said("triage", race, "fixed", "--who", "ada", *arguments)
        return said

    def changes(self):
        return {race["change"] for race in self.list()["races"]}

    def test_a_kernel_without_the_mend_is_not_red_every_night(self):
        self.assertIn(" fixed in 6.12, 6.1.193: ", self.fixed("--in", "6.1.193", "--in", "6.12").replace("6.1.193, 6.12", "6.12, 6.1.193"))
        for _ in range(2):
            done = self.nights.round(old=self.report(self.OLD, 2), new=self.report(self.NEW, 0))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.changes(), {"same"})
            self.assertEqual(self.nights.command("show", "--fail-on", "any-new").returncode, 0)
        race, _ = self.list()["races"]
        self.assertEqual((race["triage"]["state"], race["triage"]["fixed_in"]), ("fixed", "6.1.193, 6.12"))
        # Seen in a kernel with the fix, it is a regression.
        done = self.nights.round(old=self.report(self.OLD, 2), new=self.report(self.NEW, 1))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(sorted(race["change"] for race in self.list()["races"]), ["back", "same"])
        self.assertIn("     fixed in 6.1.193, 6.12, says ada, ", self.nights.said("show"))
        history = json.loads(self.nights.said("show", "--format", "json", self.ids[0]))
        check(history, "race")
        self.assertEqual([entry["fixed_in"] for entry in history["triage"]], ["6.1.193, 6.12"])
        self.assertIn("  fixed in 6.1.193, 6.12, says ada\n", self.nights.said("show", self.ids[0]))

    def test_a_verdict_of_a_kernel_without_the_mend_changes(self):
        self.fixed("--in", "6.13-rc1")
        worse = self.report(self.OLD, 2)
        for race in worse["races"]:
            race["verdict"] = race["verdict"] | {"rule": "another-rule"}
        self.assertEqual(self.nights.round(old=worse, new=self.report(self.NEW, 0)).returncode, 0)
        self.assertEqual({(race["change"], race["worse"]) for race in self.list()["races"]}, {("changed", False)})

    def test_without_a_version_all_kernels_have_the_mend(self):
        self.fixed()
        self.assertEqual(self.nights.round(old=self.report(self.OLD, 2), new=self.report(self.NEW, 0)).returncode, 1)
        self.assertEqual(self.changes(), {"back"})

    def test_a_build_or_commit_names_its_version(self):
        for word in ("aaaaaaaa", "aabbccddeeff", "aabbccd", "aabbccddeeff00112233445566778899aabbccdd"):
            self.assertIn(f" fixed in {self.NEW}: ", self.fixed("--in", word))
        self.assertEqual(self.nights.round(old=self.report(self.OLD, 2), new=self.report(self.NEW, 0)).returncode, 0)
        self.assertEqual(self.nights.round(old=self.report(self.OLD, 2), new=self.report(self.NEW, 2)).returncode, 1)

    def test_wrong_words(self):
        for arguments, says in ((["fixed", "--in", "bbbbbbbb"], "no kernel in the store has this build id or commit; give the version that brought the fix"),
                                (["fixed", "--in", "soon"], "soon: this is no version, build id or commit; give for example 6.1.115"),
                                (["known", "--in", "6.12"], "--in says where a race is fixed: give the state fixed, or leave --in out")):
            done = self.nights.command("triage", self.ids[0], *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertRegex(done.stderr.decode(), rf"\Aoutrider: [^\n]*{re.escape(says)}[^\n]*\n\Z")
        self.assertEqual({race["triage"]["state"] for race in self.list()["races"]}, {"new"})


class Running(unittest.TestCase):
    def status_with(self, nights, *parts):
        """Wait until the status contains all of `parts`, and return the status."""
        end = time.monotonic() + CAP
        while True:
            done = nights.command("status")
            text = done.stdout.decode()
            if all(part in text for part in parts):
                return text
            self.assertLess(time.monotonic(), end, done)
            time.sleep(0.1)

    def wait_for_reports(self, nights, count):
        """Wait until `count` runs have written their whole reports."""
        end = time.monotonic() + CAP
        while sum(path.read_text().endswith("}") for path in nights.store.parent.glob("runs/*/*/races.json")) < count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_what_runs_and_what_was_cut_off(self):
        with tempfile.TemporaryDirectory() as folder:
            nights = Nights(folder, ["linux", "module"])
            go = pathlib.Path(folder, "go")
            nights.play(linux=recorded("linux-6.1"), module={"--json": recorded("gt-amd"), "wait": str(go)})
            runner = nights.start("run", nights.file)
            try:
                self.status_with(nights, "round 1", "1 of 2 runs done", "  now       module/image/none/all/1, since ")
                self.assertNotIn("cut off", nights.said("status"))
                self.wait_for_reports(nights, 2)  # The store keeps no attempt that has left no file.
                runner.kill()
                text = self.status_with(nights, "  cut off   module/image/none/all/1, since ")
                self.assertIn("--resume starts it again", text)
                document = json.loads(nights.said("status", "--format", "json"))
                check(document, "status")
                self.assertEqual([run["alive"] for run in document["rounds"][0]["running"]], [False])
                self.assertIsNone(document["rounds"][0]["ended"])
                self.assertIn("not finished, 1 of 2 runs done\n", nights.said("show"))
                self.assertIn("; 1 of 2 runs are not done\n", nights.said("show"))
                go.touch()
                nights.command("run", "--resume", nights.file)
                # The store keeps the attempt that was cut off, and does not count it as a run of the plan.
                self.assertIn(", 2 of 2 runs done, 0 left; 1 attempt was cut off ended 2 ok found ", " ".join(nights.said("status").split()))
                status = json.loads(nights.said("status", "--format", "json"))["rounds"][0]
                self.assertEqual([status[name] for name in ("planned", "begun", "done", "cut_off", "running")], [2, 2, 2, 1, []])
                self.assertEqual(status["outcomes"]["ok"], sum(status["outcomes"].values()))
                self.assertIn(", 2 of 2 runs done; 1 attempt was cut off new ", " ".join(nights.said("show").split()))
                self.assertNotIn("not done", nights.said("show"))
                self.assertIn(", 2 of 2 runs done; 1 attempt was cut off</p>", nights.said("show", "--format", "html"))
                document = json.loads(nights.said("show", "--format", "json"))
                jsonschema.validate(document, json.loads((ROOT / "docs/campaign-list.schema.json").read_text()))
                for figures in (document["summary"]["round"], document["rounds"][-1]):
                    self.assertEqual([figures[name] for name in ("runs", "done", "broken", "cut_off")], [2, 2, 0, 1])
            finally:
                runner.kill()
                runner.communicate()


if __name__ == "__main__":
    unittest.main()
