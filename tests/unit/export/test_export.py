#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats that `outrider report --format` writes for other tools, read back by parsers that are not part of Outrider."""

import html.parser
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import junitparser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rigs"))
import code_host  # noqa: E402
import device_side  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))
NASTY = "</pre><script>x</script>&\"'"

# The layout of a report in Documentation/dev-tools/kcsan.rst.
# With source lines where syzkaller's symbolizer puts them: after the size, and inlined functions in lines of their own.
CALL = r" (\? )?[\w.]+(\+0x[0-9a-f]+(/0x[0-9a-f]+)?( \S+:\d+)?| \S+:\d+ \[inline\])( \[\w+\])?"
ACCESS = (r"(read|write|read-write|unknown)( \(marked\))? to 0x[0-9a-f]{16} of \d+ bytes by (task \d+|interrupt|unknown task) "
          r"on cpu \d+:")
# A function in a title (%ps of printk) and a place in a title (%pS); without a name, its address.
FUNCTION = r"([\w.]+( \[\w+\])?|0x[0-9a-f]{16})"
PLACE = r"([\w.]+\+0x[0-9a-f]+(/0x[0-9a-f]+)?( \[\w+\])?|0x[0-9a-f]{16})"
# The letters of print_tainted() in kernel/panic.c.
TAINT = r"(Not tainted|Tainted: unknown|Tainted: [PG][FSRMBUDAWCIOELKXTNJ ]{18,19})"
KCSAN = re.compile(
    rf"BUG: KCSAN: data-race in (?P<title>{FUNCTION} / {FUNCTION}|{PLACE})\n\n(?P<other>{ACCESS}\n({CALL}\n| 0x[0-9a-f]{{16}}\n)+\n)?"
    rf"(?P<unseen>race at unknown origin, with )?{ACCESS}\n({CALL}\n| 0x[0-9a-f]{{16}}\n)+\n"
    r"(value changed: 0x[0-9a-f]+ -> 0x[0-9a-f]+\n\n)?"
    rf"Reported by Outrider \S+ on:\nCPU: \d+ PID: -?\d+ Comm: [ -~]* (?P<taint>{TAINT}) (unknown|\S+( #\d+)?)\n"
    r"(Outrider: (?P<device>(read|write|read-write) of \d+ bytes at GPA 0x[0-9a-f]+ by \S+ \d+, queue \d+: [ -~]*)\n)?"
    r"Outrider: race (?P<id>[0-9a-f]{12}) \((?P<identity>[0-9a-f]{12}) in every build\), seen \d+ times?: (?P<verdict>[a-z ]+) \([a-z-]+\)\n")

# What syzkaller does with a KCSAN report, as pkg/report/linux.go of github.com/google/syzkaller has it: the line that begins a
# report, what becomes the title, titles that it takes for corrupted, and the lines of a stack that it can symbolize.
SYZKALLER = {
    "oops": re.compile(r"BUG:"),
    "not an oops": re.compile(r"ODEBUG:|Boot_DEBUG:|DEBUG:|BUG: no syscalls can create resource"),
    "format": re.compile(r"BUG: KCSAN: data-race"),
    "title": re.compile(r"BUG: KCSAN: (.*)"),
    "corrupted": re.compile(r"\[ *[0-9]+\.[0-9]+\]"),
    "frame": re.compile(r"(?:\[\<(?:[0-9a-f]+)\>\])?[ \t]+(?:[0-9]+:)?([a-zA-Z0-9_.]+)\+0x([0-9a-f]+)/0x([0-9a-f]+)"),
    "file": re.compile(r"([a-zA-Z0-9_\-\./]*[a-zA-Z0-9_\-]+\.(?:c|h)):([0-9]+)"),
    "other oops": re.compile(r"WARNING:|INFO:|Unable to handle|general protection fault|stack segment: |Kernel panic|kernel BUG|"
                             r"divide error:|invalid opcode:|UBSAN:|unregister_netdevice: waiting|Out of memory:|trusty:"),
}


def written(folder):
    path = os.path.join(folder, "races.json")
    subprocess.run([BUILD / "unit/report/test_json", "--write", path], check=True)
    return path


def report(path, kind, *options):
    return subprocess.run([BUILD / "outrider", "report", "--format", kind, *options, path], check=True, capture_output=True, text=True).stdout


def kcsan_reports(text):
    """The match of each report. Checks that nothing stands between reports, that only complaints of the guest's kernel come before them, and only
    suspicions after them. Both are no reports."""
    parts = text.split("=" * 66 + "\n")
    assert all(line.startswith("Outrider: the guest's kernel complained: ") for line in parts[0].splitlines()), parts[0]
    assert not any(parts[2:-1:2]), parts[0::2]
    assert all(line.startswith("Outrider: suspicion ") for line in parts[-1].splitlines()), parts[-1]
    reports = [KCSAN.fullmatch(part) for part in parts[1::2]]
    assert all(reports), [part for part, match in zip(parts[1::2], reports) if not match]
    return reports


class Page(html.parser.HTMLParser):
    """Records which elements are open, the ids, the links, and the addresses that the page would fetch."""

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
        """The document with text from the guest that would break out of any format that does not escape it."""
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
        self.assertEqual(code_host.wrong(log), [])
        self.assertEqual([run["automationDetails"]["id"] for run in log["runs"][1:]], ["outrider/suspicions"] * (len(log["runs"]) - 1))
        self.assertLessEqual(len(log["runs"]), 2)
        return log["runs"][0]["results"]

    def changed(self, change):
        """The SARIF run of the document, changed."""
        document = json.loads(json.dumps(self.document))
        change(document)
        path = os.path.join(self.folder.name, "changed.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        text = report(path, "sarif")
        self.check(text)
        return json.loads(text)["runs"][0]

    def test_every_race(self):
        results = self.check(report(self.path, "sarif"))
        groups = json.loads(report(self.path, "json"))["groups"]
        self.assertEqual(len(groups), len(self.document["races"]), "the sample's races are of different functions or data")
        self.assertCountEqual([result["partialFingerprints"]["outriderGroup/v1"] for result in results], [group["id"] for group in groups])
        self.assertCountEqual([race["id"] for result in results for race in result["properties"]["races"]],
                              [race["id"] for race in self.document["races"]])
        self.assertEqual(results[0]["locations"][0]["physicalLocation"],
                         {"artifactLocation": {"uri": "fs/ext4/file.c", "uriBaseId": "SRCROOT"},
                          "region": results[0]["locations"][0]["physicalLocation"]["region"]})

    def test_recorded_runs(self):
        """Recorded runs with the debug files of a kernel, with those of a module, with none, and with devices."""
        for run in ("linux-6.1", "gt-amd", "gt-dma"):
            for name in ("races", "named"):
                path = os.path.join(self.folder.name, "recorded.json")
                document = json.loads(lzma.decompress((ROOT / f"tests/data/recorded/{run}/{name}.json.xz").read_bytes()))
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(document, file)
                results = self.check(report(path, "sarif"))
                written = json.loads(report(path, "json"))
                groups = {group["id"]: group for group in written["groups"]}
                identities = {race["id"]: race["identity"] for race in written["races"]}
                self.assertEqual(len(results), len(groups))
                for result in results:
                    group = groups[result["partialFingerprints"]["outriderGroup/v1"]]
                    verdict = group["verdict"]
                    self.assertEqual({race["id"]: race["identity"] for race in result["properties"]["races"]},
                                     {race: identities[race] for race in group["races"]})
                    self.assertEqual(result["occurrenceCount"], group["count"])
                    others = [where["message"]["text"] for where in result["relatedLocations"]]
                    for race in group["races"][1:]:
                        self.assertTrue(any(f"race {race} of the same group" in text for text in others), race)
                    self.assertEqual(result["ruleId"], verdict["rule"])
                    self.assertEqual(result["rank"], verdict["rank"])
                    self.assertEqual(result["level"], {"harmful candidate": "error", "unclear": "warning"}.get(verdict["class"], "note"))

    def test_every_rule_is_described(self):
        listed = subprocess.run([BUILD / "outrider", "prune", "--list-rules"], check=True, capture_output=True, text=True).stdout
        rules = json.loads(report(self.path, "sarif"))["runs"][0]["tool"]["driver"]["rules"]
        self.assertEqual({rule["id"] for rule in rules}, {line.split()[0] for line in listed.splitlines()} | {"data-race"})

    def test_same_race_same_place(self):
        """Chance decides which side is held. The place and its fingerprint are the same for either side."""
        def swap(document):
            for race in document["races"]:
                if not race["sides"][1]["unknown"]:
                    for owner in (race, *race["instances"]):
                        owner["sides"].reverse()

        def places(run):
            return [(result["locations"][0], result["partialFingerprints"]) for result in run["results"]]

        def unnamed(document):
            for race in document["races"]:
                for side in race["sides"]:
                    for frame in [side, *side["stack"]["frames"]] if not side["unknown"] else []:
                        frame["source"] = None

        self.assertEqual(places(self.changed(lambda document: None)), places(self.changed(swap)))
        bare = self.changed(unnamed)
        self.assertEqual(places(bare), places(self.changed(lambda document: (unnamed(document), swap(document)))))
        self.assertEqual({place["physicalLocation"]["artifactLocation"]["uriBaseId"] for place, _ in places(bare)}, {"GUEST_SYMBOLS"})

    def test_the_place_is_no_header(self):
        """An inlined helper of a header is the same line for all its callers: the result is at the caller, the helper is related."""
        path = os.path.join(self.folder.name, "61.json")
        document = json.loads(lzma.decompress((ROOT / "tests/data/recorded/linux-6.1/named.json.xz").read_bytes()))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        groups = {group["id"]: group["races"][0] for group in json.loads(report(path, "json"))["groups"]}
        sources = {race["id"]: [side["source"] or [] for side in race["sides"] if not side["unknown"]] for race in document["races"]}
        moved = 0
        for result in self.check(report(path, "sarif")):
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            lines = sources[groups[result["partialFingerprints"]["outriderGroup/v1"]]]
            if all(side and not side[-1]["file"].endswith(".h") for side in lines):
                self.assertRegex(uri, r"\.[cS]$")
            headers = {line["file"].removeprefix("./") for side in lines for line in side[:-1] if line["file"].endswith(".h")}
            related = {where["physicalLocation"]["artifactLocation"]["uri"] for where in result["relatedLocations"]}
            self.assertLessEqual(headers, related)
            moved += bool(headers)
        self.assertGreater(moved, 10)

    def test_device(self):
        """A device gets a thread flow and an invented place, which is the same in every run."""
        run = self.changed(lambda document: device_side.make(document["races"][0]))
        result = run["results"][0]
        (other,) = result["relatedLocations"]
        place = {"uri": "devices/virtio-blk/read", "uriBaseId": "GUEST_DEVICES"}
        self.assertEqual(other["physicalLocation"]["artifactLocation"], place)
        self.assertEqual(other["logicalLocations"],
                         [{"name": "virtio-blk (read request)", "fullyQualifiedName": "virtio-blk:read", "kind": "resource"}])
        self.assertIn("GUEST_DEVICES", run["originalUriBaseIds"])
        (flow,) = result["codeFlows"]
        between, held = flow["threadFlows"]
        (step,) = between["locations"]
        self.assertEqual(step["location"]["physicalLocation"]["artifactLocation"], place)
        self.assertEqual(step["location"]["message"]["text"],
                         "write of 8 bytes at GPA 0x1234000 by virtio-blk 0, queue 1: read of sector 8192, descriptor 3, segment 1, by thread "
                         "blk0/q1 (tid 4711), while the other access was held")
        self.assertGreater(len(held["locations"]), 1)
        self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "fs/ext4/file.c")
        self.assertEqual(len(result["stacks"]), 1)
        self.assertIn("against write by virtio-blk (read request)", result["message"]["text"])

    def test_paths(self):
        for path, uri, base in (("./fs/../fs/ext4//file.c", "fs/ext4/file.c", "SRCROOT"), ("../../a.c", "a.c", "SRCROOT"),
                                ("/usr/src/my module/a#b?.c", "file:///usr/src/my%20module/a%23b%3F.c", None),
                                ("c:/x.c", "c%3A/x.c", "SRCROOT"), ("fs/ä.c", "fs/%C3%A4.c", "SRCROOT"), ("%41.c", "%2541.c", "SRCROOT")):
            def rename(document, path=path):
                for side in document["races"][0]["sides"]:
                    for line in (side["source"] or []) + [line for frame in side["stack"]["frames"] for line in frame["source"] or []]:
                        line["file"] = path

            artifact = self.changed(rename)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
            self.assertEqual((artifact["uri"], artifact.get("uriBaseId")), (uri, base))

    def test_run_facts(self):
        def finish(document):
            document["complete"] = True
            document["run"].update(started="2026-11-22T07:36:55.123Z", options=["run", "--kernel", "my kernel", "--append", "a=b c"], seed="42")
            document["summary"] = {"end": "guest powered off", "ended": "2026-11-22T07:37:55.123Z",
                                   "sampling": {"seconds": 60, "hits": 9, "windows": 8}}
            document["kernel"] = {"banner": "Linux version 6.1.0", "slide": "0x0", "symbols": "x", "build_id": None, "names": "x"}

        invocation = self.changed(finish)["invocations"][0]
        self.assertTrue(invocation["executionSuccessful"])
        self.assertEqual(invocation["startTimeUtc"], "2026-11-22T07:36:55.123Z")
        self.assertEqual(invocation["endTimeUtc"], "2026-11-22T07:37:55.123Z")
        self.assertEqual(invocation["arguments"], ["run", "--kernel", "my kernel", "--append", "a=b c"])
        self.assertEqual(invocation["commandLine"], "outrider run --kernel 'my kernel' --append 'a=b c'")
        self.assertEqual(invocation["exitCodeDescription"], "guest powered off")
        self.assertEqual(invocation["properties"]["kernel"], "Linux version 6.1.0")
        self.assertEqual(invocation["properties"]["seed"], "42")
        path = os.path.join(self.folder.name, "changed.json")
        self.assertIn("<code>outrider run --kernel 'my kernel' --append 'a=b c'</code>", report(path, "html"))
        invocation = self.changed(lambda document: document.update(complete=False, summary=None))["invocations"][0]
        self.assertFalse(invocation["executionSuccessful"])
        self.assertIn("not finished", invocation["toolExecutionNotifications"][0]["message"]["text"])

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
            races, suspicions = suites
            cases = [case for case in races if case.classname != "outrider.complaint"]
            self.assertEqual(len(cases), len(self.document["races"]))
            self.assertEqual((races.tests, races.failures, races.errors, races.skipped), (5, 4, 0, 1))
            self.assertEqual((suspicions.tests, suspicions.failures, suspicions.errors, suspicions.skipped), (3, 0, 0, 3))
            for race in json.loads(report(path, "json"))["races"]:
                (case,) = [case for case in cases if f"({race['group']})" in case.name]
                self.assertIn(f"RACE {race['id']}", case.result[0].text)

    def test_kcsan(self):
        self.assertEqual(len(kcsan_reports(report(self.path, "kcsan", "--all"))), len(self.document["races"]))

    def test_device(self):
        """The third race of the sample is with a device."""
        request = "virtio-blk 1, queue 2: write of sector 8192, descriptor 3, segment 1"
        race = self.document["races"][2]
        self.assertIn(f"read       {request}   4 bytes at GPA 0x12345678\n             by thread blk1/q2 (tid 4711) of outrider\n",
                      report(self.path, "text", "--all"))
        suites = junitparser.JUnitXml.fromstring(report(self.path, "junit").encode())
        (group,) = [one["group"] for one in json.loads(report(self.path, "json"))["races"] if one["id"] == race["id"]]
        (case,) = [case for suite in suites for case in suite if group in case.name]
        self.assertTrue(case.name.startswith("ext4:ext4_foo <-> virtio-blk:write on "), case.name)
        self.assertIn(request, case.result[0].text)
        page = report(self.path, "html")
        self.assertIn(f"<h3><span class=\"role\">device</span> read by <code>virtio-blk (write request)</code></h3>\n<p><code>{request}</code></p>\n<p>4 bytes at GPA "
                      "<code>0x12345678</code></p>\n<p class=\"faint\">by thread blk1/q2 (tid 4711) of outrider</p>", page)
        mail = report(self.path, "upstream", "--race", race["id"])
        self.assertTrue(mail.startswith("Subject: [BUG] data race: ext4_foo() / virtio-blk (write request)\n"), mail)
        for line in mail.splitlines():
            self.assertLessEqual(len(line), 72)
        self.assertIn(f"read of 4 bytes by a device {request}", " ".join(mail.split()))
        self.assertIn("The memory belonged to a request that the device was serving", " ".join(mail.split()))

    def test_merged_slab(self):
        """No format calls an object by the name of a merged cache, which is that of another user of the cache."""
        memory = {"kind": "slab", "variable": None, "module": None, "cpu": None, "cache": "pool_workqueue", "object": "0xffff888012345600",
                  "object_size": 256, "offset": 16, "type": "pool_workqueue", "member": "refcnt"}
        for merged, phrase, name in ((True, "slab kmalloc-or-alias of 256 bytes, merged (first user pool_workqueue), ", "kmalloc-or-alias-256+0x10"),
                                     (False, "slab pool_workqueue, ", "pool_workqueue.refcnt"),
                                     (None, "slab pool_workqueue (may be merged), ", "pool_workqueue?+0x10")):
            document = json.loads(json.dumps(self.document))
            document["races"] = document["races"][:1]
            race = document["races"][0]
            race["name"] = None
            for side in race["sides"]:
                side["datum"] = None
            race["memory"] = memory | {"merged": merged} | ({} if merged is not None else {"type": None, "member": None})
            path = os.path.join(self.folder.name, "merged.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(document, file)
            for kind in ("text", "html"):
                self.assertIn(phrase, report(path, kind, "--all"))
            for kind in ("text", "html", "sarif", "junit", "upstream"):
                text = " ".join(report(path, kind, *(["--race", race["id"]] if kind == "upstream" else ["--all"])).replace("<wbr>", "").split())
                self.assertIn(name, text, kind)
                if merged:
                    self.assertNotIn("pool_workqueue", text.replace("(first user pool_workqueue)", ""), kind)
            back = json.loads(report(path, "json"))["races"][0]["memory"]
            self.assertEqual((back["merged"], back["type"]), (merged, "pool_workqueue" if merged is False else None))

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


class Junit(unittest.TestCase):
    """JUnit output: what a CI server reads about the run and the races of the ground truth."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "races.json")
        cls.document = json.loads(lzma.decompress((ROOT / "tests/data/recorded/gt-amd/named.json.xz").read_bytes()))
        cls.write(cls.document)
        document = json.loads(report(cls.path, "json"))
        cls.verdicts = {group["id"]: group["verdict"] for group in document["groups"]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write(cls, document):
        with open(cls.path, "w", encoding="utf-8") as file:
            json.dump(document, file)

    def setUp(self):
        self.write(self.document)

    def cases(self, *options):
        """{the group's id: case}, the suite, the exit status and the text on standard error."""
        done = subprocess.run([BUILD / "outrider", "report", "--format", "junit", *options, self.path], capture_output=True, check=False)
        suite, = junitparser.JUnitXml.fromstring(done.stdout)
        cases = {re.search(r"\(([0-9a-f]{12})\)$", case.name)[1]: case for case in suite if case.classname != "outrider"}
        return cases, suite, done.returncode, done.stderr.decode()

    def test_failures_agree_with_the_exit_status(self):
        fails = {"harmful": {"harmful candidate"}, "unclear": {"harmful candidate", "unclear"},
                 "any-new": {"harmful candidate", "unclear", "synchronisation", "benign"}}
        for what, classes in fails.items():
            for options in (["--fail-on", what],) + (([],) if what == "harmful" else ()):
                cases, suite, status, said = self.cases(*options)
                failed = {race for race, case in cases.items() if any(isinstance(r, junitparser.Failure) for r in case.result)}
                self.assertEqual(failed, {race for race, verdict in self.verdicts.items() if verdict["class"] in classes}, options)
                self.assertEqual(suite.failures, len(failed))
                self.assertEqual(status, 1 if options else 0)
                if options:
                    self.assertIn(f"outrider: {len(failed)} of {len(cases)} groups (", said)

    def test_a_suppressed_race_is_skipped(self):
        race, _ = max(self.verdicts.items(), key=lambda item: item[1]["rank"])
        listed = os.path.join(self.folder.name, "list")
        pathlib.Path(listed).write_text(f"[suppress]\ngroup = {race}\nreason = known since March\n", encoding="utf-8")
        cases, suite, _, _ = self.cases("--fail-on", "any-new", "--suppress", listed)
        self.assertIsInstance(cases[race].result[0], junitparser.Skipped)
        self.assertEqual(cases[race].result[0].message, "known since March")
        self.assertEqual(suite.skipped, sum(isinstance(case.result[0], junitparser.Skipped) for case in cases.values() if case.result))

    def test_a_passed_race_says_why(self):
        cases, _, _, _ = self.cases()
        for race, verdict in self.verdicts.items():
            if verdict["class"] != "harmful candidate":
                self.assertTrue(cases[race].system_out.startswith(f"{verdict['class']}, {verdict['rule']}: "), cases[race].system_out)

    def test_run_facts(self):
        document = json.loads(json.dumps(self.document))
        document["run"].update(started="2026-11-22T07:36:55.123Z", options=["run", "--seed", "42"], seed="42",
                               host={"name": "ci7", "kernel": "6.1.0-9", "cpu": "A CPU", "cpus": 8})
        self.write(document)
        _, suite, _, _ = self.cases()
        said = {p.name: p.value for p in suite.properties()}
        for name, value in (("kernel", document["kernel"]["banner"]), ("kernel.build-id", document["kernel"]["build_id"]), ("seed", "42"),
                            ("started", "2026-11-22T07:36:55.123Z"), ("host", "ci7"), ("option.1", "run"), ("option.3", "42"),
                            ("finished", "yes"), ("outrider", document["tool_version"])):
            self.assertEqual(said[name], value)
        self.assertEqual((suite.timestamp, suite.hostname), ("2026-11-22T07:36:55", "ci7"))
        document["complete"] = False
        self.write(document)
        self.assertIn(("finished", "no"), {(p.name, p.value) for p in self.cases()[1].properties()})

    def test_same_test_in_every_run(self):
        """A CI server identifies a test by class and name. They must not depend on which side was held, which is chance."""
        before = {race: (case.classname, case.name) for race, case in self.cases()[0].items()}
        document = json.loads(json.dumps(self.document))
        for race in document["races"]:
            for owner in (race, *race["instances"]) if not race["sides"][1]["unknown"] else []:
                owner["sides"].reverse()
        self.write(document)
        self.assertEqual({race: (case.classname, case.name) for race, case in self.cases()[0].items()}, before)


class Kcsan(unittest.TestCase):
    """The races of the ground truth as reports in KCSAN's format."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.PATH = os.path.join(cls.folder.name, "races.json")
        text = lzma.decompress((ROOT / "tests/data/recorded/gt-amd/races.json.xz").read_bytes())
        pathlib.Path(cls.PATH).write_bytes(text)
        cls.document = json.loads(text)
        cls.verdicts = {race["id"]: race["verdict"]["class"] for race in json.loads(report(cls.PATH, "json"))["races"]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def changed(self, change):
        """The reports, by id, of the document with each race changed."""
        document = json.loads(json.dumps(self.document))
        for race in document["races"]:
            change(race)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(document, file)
            file.flush()
            return {match["id"]: match for match in kcsan_reports(report(file.name, "kcsan", "--all"))}

    def test_syzkaller_takes_all(self):
        text = report(self.PATH, "kcsan", "--all")
        begun = [line for line in text.splitlines() if SYZKALLER["oops"].search(line) and not SYZKALLER["not an oops"].search(line)]
        self.assertEqual(len(begun), len(self.document["races"]))
        self.assertGreaterEqual(len(begun), 28)
        for line in begun:
            self.assertRegex(line, SYZKALLER["format"])
            title = "KCSAN: " + SYZKALLER["title"].search(line)[1]
            self.assertNotRegex(title, SYZKALLER["corrupted"])
            self.assertTrue(title.startswith("KCSAN: data-race in "), "the kind of crash goes by the title's beginning")
        frames = [line for line in text.splitlines() if line.startswith(" ")]
        self.assertGreaterEqual(len(frames), 55)
        for line in frames:
            self.assertRegex(line, SYZKALLER["frame"])
        self.assertNotRegex(text, SYZKALLER["other oops"])

    def test_source_lines(self):
        """Every call whose source is known says it, where syzkaller looks for files, and inlined functions as its symbolizer writes them."""
        for run, least in (("gt-amd", 0), ("linux-6.1", 500)):
            with tempfile.NamedTemporaryFile("wb", suffix=".json") as file:
                text = lzma.decompress((ROOT / f"tests/data/recorded/{run}/named.json.xz").read_bytes())
                file.write(text)
                file.flush()
                printed = {match["id"]: match for match in kcsan_reports(report(file.name, "kcsan", "--all"))}
            inlined = 0
            for race in json.loads(text)["races"]:
                wanted, lines = [], printed[race["id"]].string.splitlines()
                for side in reversed(race["sides"]):
                    for frame in side["stack"]["frames"] if not side["unknown"] and not side.get("device") else []:
                        for line in frame["source"] or []:
                            if line["file"].endswith((".c", ".h")) and line["line"]:
                                wanted.append((line["file"].removeprefix("./"), str(line["line"])))
                found = [SYZKALLER["file"].search(line) for line in lines if line.startswith(" ")]
                self.assertEqual([match.groups() for match in found if match], wanted, race["id"])
                inlined += sum(bool(re.fullmatch(r" (\? )?[\w.]+ \S+:\d+ \[inline\]( \[\w+\])?", line)) for line in lines)
                for line in lines:
                    if line.startswith(" ") and "[inline]" not in line and "+0x" in line:
                        self.assertRegex(line, SYZKALLER["frame"])
            self.assertGreaterEqual(inlined, least)

    def test_only_what_is_not_folded(self):
        shown = [match["id"] for match in kcsan_reports(report(self.PATH, "kcsan"))]
        self.assertEqual(set(shown), {race for race, verdict in self.verdicts.items() if verdict in ("harmful candidate", "unclear")})
        everything = kcsan_reports(report(self.PATH, "kcsan", "--all"))
        self.assertEqual({match["id"]: match["verdict"] for match in everything}, self.verdicts)
        folded = next(race for race, verdict in self.verdicts.items() if verdict == "benign")
        self.assertEqual([match["id"] for match in kcsan_reports(report(self.PATH, "kcsan", "--race", folded))], [folded])

    def test_who_reports(self):
        text = report(self.PATH, "kcsan")
        self.assertNotIn("Kernel Concurrency Sanitizer", text)
        self.assertRegex(text, r"\nReported by Outrider \d+\.\d+\.\d+\S* on:\nCPU: ")
        self.assertRegex(text, r" 6\.1\.0-56-cloud-amd64 #1\n")

    def test_titles(self):
        for match in kcsan_reports(report(self.PATH, "kcsan", "--all")):
            functions = match["title"].split(" / ")
            if match["unseen"]:
                self.assertRegex(match["title"], r"\A\w+\+0x[0-9a-f]+/0x[0-9a-f]+ \[outrider_gt\]\Z")
            else:
                self.assertEqual(functions, sorted(functions))
                for function in functions:
                    self.assertRegex(function, r"\A\w+ \[outrider_gt\]\Z")

    def test_one_sided(self):
        def unseen(race):
            race["how"] = "re-read"
            race["sides"][1] = {"unknown": True}
            for instance in race["instances"]:
                instance["how"] = "re-read"
                instance["sides"][1] = {"unknown": True}

        for race, match in self.changed(unseen).items():
            self.assertTrue(match["unseen"])
            self.assertIsNone(match["other"])
            self.assertRegex(match["title"], r"\A\w+\+0x[0-9a-f]+/0x[0-9a-f]+ \[outrider_gt\]\Z", race)

    def test_device(self):
        """KCSAN and its parsers know a device only as an unknown origin. A line that Outrider adds names the device."""
        changed = self.changed(device_side.make)
        self.assertEqual(len(changed), len(self.document["races"]))
        for race, match in changed.items():
            self.assertTrue(match["unseen"])
            self.assertIsNone(match["other"])
            self.assertEqual(match["device"], "write of 8 bytes at GPA 0x1234000 by virtio-blk 0, queue 1: read of sector 8192, descriptor 3, "
                                              "segment 1, by thread blk0/q1 (tid 4711)")
            self.assertRegex(match["title"], r"\A\w+\+0x[0-9a-f]+/0x[0-9a-f]+ \[outrider_gt\]\Z", race)
            self.assertNotRegex(match["device"], SYZKALLER["other oops"])
            self.assertNotRegex(match["device"], SYZKALLER["frame"])

    def test_taint(self):
        for flags, letters in ((None, "Tainted: unknown"), ("0x0", "Not tainted"), ("0x1", "Tainted: P" + " " * 18),
                               ("0x3200", "Tainted: G        W  OE     "), ("0x80000", "Tainted: G" + " " * 18 + "J"),
                               ("0x7ffff", "Tainted: PFSRMBUDAWCIOELKXTN"), ("0xffffffff00000000", "Tainted: G" + " " * 18)):
            matches = self.changed(lambda race, flags=flags: race.update(taint=flags))
            self.assertEqual({match["taint"] for match in matches.values()}, {letters})

    def test_kernel_line(self):
        for banner, shown in (("Linux version 6.12.95 (a@b) (gcc (Debian #3) 12, ld) #12 SMP PREEMPT Debian", "6.12.95 #12"),
                              ("Linux version 5.10.0-9 (a@b)", "5.10.0-9"), ("Linux version", "unknown"), (None, "unknown")):
            document = json.loads(json.dumps(self.document))
            if banner:
                document["kernel"]["banner"] = banner
            else:
                document["kernel"] = None
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(document, file)
                file.flush()
                text = report(file.name, "kcsan")
            kcsan_reports(text)
            self.assertEqual({line.split("Tainted: unknown ")[1] for line in text.splitlines() if line.startswith("CPU: ")}, {shown})


if __name__ == "__main__":
    unittest.main()
