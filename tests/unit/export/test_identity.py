#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One identity for a race, in every format and in every build of the kernel, with debug files and without."""

import copy
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
import identity  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))


def outrider(*arguments, status=0):
    done = subprocess.run([BUILD / "outrider", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (done.returncode, done.stdout[:1000], done.stderr)
    return done.stdout


def results(path):
    return json.loads(outrider("report", "--format", "sarif", path))["runs"][0]["results"]


def sarif(path):
    """(the fingerprint, the one that a code host goes by) of each result."""
    return [(one["partialFingerprints"]["outriderGroup/v1"], one["partialFingerprints"]["primaryLocationLineHash"]) for one in results(path)]


def junit(path):
    """(class, name) of each test case: what a server takes for one test."""
    suite = xml.etree.ElementTree.fromstring(outrider("report", "--format", "junit", path))[0]
    return [(case.get("classname"), case.get("name")) for case in suite.iter("testcase")]


def suppressions(path):
    """The ids of the groups, without the aliases."""
    return re.findall(r"^group = ([0-9a-f]{12})", outrider("report", "--all", "--gen-suppressions", path), re.M)


# The identities that each format has, which has an entry or a line for each race, as {format: function of a file's path}.
FORMATS = {
    "text": lambda path: re.findall(r"^  identity ([0-9a-f]{12}) ", outrider("report", "--all", path), re.M),
    "html": lambda path: re.findall(r'in every build <span class="mono">([0-9a-f]{12})<', outrider("report", "--format", "html", path)),
    "kcsan": lambda path: re.findall(r"^Outrider: race \S+ \(([0-9a-f]{12}) in", outrider("report", "--all", "--format", "kcsan", path), re.M),
    "sarif": lambda path: [race["identity"] for result in results(path) for race in result["properties"]["races"]],
    "json": lambda path: [race["identity"] for race in json.loads(outrider("report", "--format", "json", path))["races"]],
}
# The ids of groups, of formats that have an entry for each group.
GROUPS = {
    "sarif": lambda path: [one for one, _ in sarif(path)],
    "code host": lambda path: [one.removesuffix(":1") for _, one in sarif(path)],
    "junit": lambda path: [re.search(r"\(([0-9a-f]{12})\)$", name)[1] for _, name in junit(path)],
    "suppressions": suppressions,
    "text": lambda path: re.findall(r"^  group    ([0-9a-f]{12})", outrider("report", "--all", path), re.M),
    "json": lambda path: [group["id"] for group in json.loads(outrider("report", "--format", "json", path))["groups"]],
    "html": lambda path: re.findall(r'<tr data-group="group-([0-9a-f]{12})"', outrider("report", "--format", "html", path)),
}


class Identity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.folder.name)
        cls.paths = {}
        for run in ("linux-6.1", "linux-6.12", "gt-amd", "gt-intel"):
            for name in ("races", "named"):
                path = cls.top / f"{run}-{name}.json"
                path.write_bytes(lzma.decompress((ROOT / f"tests/data/recorded/{run}/{name}.json.xz").read_bytes()))
                cls.paths[run, name] = path

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def races(path):
        return json.loads(outrider("report", "--format", "json", path))["races"]

    def test_it_is_what_the_document_says(self):
        for key, path in self.paths.items():
            for race in self.races(path):
                self.assertEqual(race["identity"], identity.identity(race), (key, race["id"]))
                self.assertEqual(race["alias"], identity.hashed(identity.text(race, f"at {identity.place(race)}"))
                                 if identity.datum(race) and identity.place(race) else None, (key, race["id"]))

    def test_two_kernels_share_what_they_share(self):
        """Races of 6.1 and 6.12 with the same functions, kinds and datum are the same race in every format, and no others are."""
        def known(race):
            return tuple(one[:3] for one in identity.sides(race)), identity.datum(race)

        old, new = ({known(race) for race in self.races(self.paths[run, "named"])} for run in ("linux-6.1", "linux-6.12"))
        shared = {identity.hashed(identity.text(race, identity.datum(race)))
                  for race in self.races(self.paths["linux-6.1", "named"]) if known(race) in old & new}
        self.assertGreater(len(shared), 5)
        self.assertGreater(len(old - new), 5)
        for form, found in FORMATS.items():
            both = [set(found(self.paths[run, "named"])) for run in ("linux-6.1", "linux-6.12")]
            self.assertEqual(both[0] & both[1], shared, form)
        groups = [{race["group"] for race in self.races(self.paths[run, "named"]) if race["identity"] in shared}
                  for run in ("linux-6.1", "linux-6.12")]
        self.assertEqual(*groups)
        for form, found in GROUPS.items():
            both = [set(found(self.paths[run, "named"])) for run in ("linux-6.1", "linux-6.12")]
            self.assertGreaterEqual(both[0] & both[1], groups[0], form)
        changes = json.loads(outrider("diff", "--all", "--format", "json", *(self.paths[run, "named"] for run in ("linux-6.1", "linux-6.12"))))
        matched = {race["old"]["identity"] for race in changes["races"] if race["old"] and race["new"]}
        self.assertEqual(matched, shared)

    def test_two_runs_of_one_kernel(self):
        """The AMD and the Intel machine ran one kernel and one module, at other addresses and times. Where two accesses overlap and begin
        at different bytes, the datum is that of the held side, and chance decides which side is held."""
        def sure(found, path, name):
            overlap = {race[known] for race in self.races(path) for known in ("identity", "group")
                       if len({side["access"]["address"] for side in race["sides"] if not side["unknown"]}) > 1}
            self.assertLess(len(overlap), 8, name)
            return sorted(one for one in found(path) if not any(known in str(one) for known in overlap))

        for name in ("races", "named"):
            for form, found in (*FORMATS.items(), *GROUPS.items(), ("fingerprints", sarif), ("tests", junit)):
                both = [sure(found, self.paths[run, name], name) for run in ("gt-amd", "gt-intel")]
                self.assertEqual(*both, (form, name))
                self.assertGreater(len(both[0]), 14)

    def test_no_two_alike_in_one_run(self):
        for path in self.paths.values():
            for found in (sarif(path), junit(path)):
                self.assertEqual(len(found), len(set(found)), path)

    def move(self, document):
        """The same kernel built anew: every function is at another address, and every access at another offset."""
        moved = copy.deepcopy(document)
        moved["kernel"]["build_id"] = "00" * 20
        moved["run"]["seed"] = "4711"
        for module in moved["modules"]:
            module["build_id"] = "11" * 20
        for number, race in enumerate(moved["races"]):
            race["id"] = f"{number:012x}"
            for side in race["sides"]:
                if side.get("offset") is not None:
                    side["offset"] += 64
                    side["site"] = f"{side['site'].split('+')[0]}+{side['offset']:#x}"
        path = self.top / "moved.json"
        path.write_text(json.dumps(moved))
        return path

    def test_another_build(self):
        """A code host closes no alert and opens none because the kernel was built anew, and a list of known races still fits."""
        for run in ("linux-6.12", "gt-amd"):
            path = self.paths[run, "named"]
            moved = self.move(json.loads(path.read_text()))
            for form, found in (*FORMATS.items(), *GROUPS.items(), ("fingerprints", sarif), ("tests", junit)):
                self.assertEqual(sorted(found(path)), sorted(found(moved)), (form, run))
            listed = self.top / "known"
            listed.write_text(outrider("report", "--all", "--gen-suppressions", path).replace("reason =", "reason = known"))
            verdicts = [race["verdict"] for race in json.loads(outrider("report", "--format", "json", "--suppress", listed, moved))["races"]]
            self.assertEqual({verdict["suppressed"] for verdict in verdicts}, {"known"})
            counts = json.loads(outrider("diff", "--format", "json", path, moved))["summary"]
            self.assertEqual((counts["new"], counts["gone"]), (0, 0), run)

    def test_with_and_without_debug_files(self):
        """The alias of a race with debug files is its identity without them. What suppresses it fits both."""
        for run in ("linux-6.1", "linux-6.12", "gt-amd"):
            named, bare = (self.races(self.paths[run, name]) for name in ("named", "races"))
            bare = {race["id"]: race["identity"] for race in bare if identity.place(race)}
            self.assertGreater(len(bare), 20)
            for race in named:
                if race["id"] in bare:
                    self.assertIn(bare[race["id"]], (race["identity"], race["alias"]), (run, race["id"]))
            listed = self.top / "known"
            listed.write_text(outrider("report", "--all", "--gen-suppressions", self.paths[run, "named"]).replace("reason =", "reason = known"))
            text = outrider("report", "--format", "json", "--suppress", listed, self.paths[run, "races"])
            suppressed = {race["id"] for race in json.loads(text)["races"] if race["verdict"]["suppressed"]}
            self.assertGreaterEqual(suppressed, set(bare))
            moved = self.move(json.loads(self.paths[run, "races"].read_text()))
            counts = json.loads(outrider("diff", "--format", "json", self.paths[run, "named"], moved))["summary"]
            self.assertEqual((counts["new"], counts["gone"]), (0, 0), run)

    def test_the_file_is_not_believed(self):
        document = json.loads(self.paths["gt-amd", "named"].read_text())
        self.assertNotIn("identity", document["races"][0])
        for race in document["races"]:
            race.update(identity="0" * 12, alias="1" * 12)
        path = self.top / "lies.json"
        path.write_text(json.dumps(document))
        self.assertEqual(self.races(path), self.races(self.paths["gt-amd", "named"]))
        document["races"][0]["identity"] = ["of", "another", "type"]
        path.write_text(json.dumps(document))
        self.assertEqual(self.races(path), self.races(self.paths["gt-amd", "named"]))

    def test_either_id_is_taken(self):
        path = self.paths["gt-amd", "named"]
        every = self.races(path)
        for race in every:
            same = {one["id"] for one in every if one["identity"] == race["identity"]}
            group = {one["id"] for one in every if one["group"] == race["group"]}
            for name, expected in ((race["id"], {race["id"]}), (race["group"], group), (race["identity"], same), (race["alias"] or race["identity"], same),
                                   (race["identity"][:10], same)):
                shown = set(re.findall("^RACE ([0-9a-f]{12}) ", outrider("report", "--race", name, path), re.M))
                self.assertEqual(shown, expected, name)
                explained = set(re.findall(r"^ +\d+ [a-z ]+ [a-z-]+ +([0-9a-f]{12}) ", outrider("prune", "--explain", name, path), re.M))
                self.assertEqual(explained, expected, name)


if __name__ == "__main__":
    unittest.main()
