#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`outrider campaign check`: the list of runs of a right file, the line and the expected word of a wrong file, and hostile files."""

import os
import pathlib
import random
import re
import resource
import socket
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build")).resolve()
DATA = ROOT / "tests/data/campaign"
MEMORY = 1 << 30  # bytes that a check may take
CAP = 60  # seconds that nothing here ever took

LEAST = """<campaign name='{name}'>
  <kernels><os name='k'><kernel>{kernel}</kernel></os></kernels>
  <images><image name='i'/></images>
  {more}
  <seeds count='{seeds}'/>
</campaign>
"""


def check(*arguments, folder=DATA / "good", **more):
    return subprocess.run([BUILD / "outrider", "campaign", "check", *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=CAP, check=False, **more)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CAP, CAP))


class Right(unittest.TestCase):
    def runs(self, *arguments):
        done = check(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        *lines, last = done.stdout.splitlines()
        self.assertEqual(last, f"{len(lines)} run" + "s" * (len(lines) != 1))
        return [line.split()[0] for line in lines], done.stdout

    def test_least(self):
        self.assertEqual(self.runs("least.xml"), (["6.1/none/none/all/7"], "6.1/none/none/all/7  seed 7  run, 2 CPUs\n1 run\n"))

    def test_matrix(self):
        keys, _ = self.runs("--overcommit", "nightly.xml")
        cells = {(kernel, image, workload, sampling) for kernel in ("6.1", "6.12") for image in ("small", "web")
                 for workload in ("ext4", "net", "idle") for sampling in ("all", "ext4")
                 if (workload, sampling) != ("net", "ext4") and (image, workload) != ("web", "idle")}
        self.assertEqual(set(keys), {"/".join((*cell, seed)) for cell in cells for seed in ("#1", "#2")})
        # Every cell has its first seed before any cell has its second.
        self.assertEqual([key[-2:] for key in keys], ["#1"] * len(cells) + ["#2"] * len(cells))

    def test_seeds_are_drawn_for_each_round_and_repeat(self):
        first, second = (self.runs("--overcommit", "--round", round_, "nightly.xml") for round_ in "12")
        self.assertEqual(first, self.runs("--overcommit", "nightly.xml"))
        self.assertEqual(set(first[0]), set(second[0]))
        self.assertNotEqual(first[0], second[0])  # another order
        seeds = [dict(re.findall(r"^(\S+)  seed (\d+)", text, re.M)) for _, text in (first, second)]
        self.assertEqual(len(set(seeds[0].values()) | set(seeds[1].values())), 2 * len(first[0]))

    def test_each_two_programs_are_a_workload(self):
        """Pairs are not sampled: they have the first sampling setting only. <exclude> names the workload of all its pairs."""
        keys, text = self.runs("--overcommit", "pairs.xml")
        pairs = {"6.1/small/calls.open+write", "6.1/small/calls.open+reset", "6.1/small/calls.write+reset", "6.1/small/stat.a+a", "6.12/small/stat.a+a"}
        sampled = {f"{kernel}/small/busy/{sampling}/#1" for kernel in ("6.1", "6.12") for sampling in ("all", "ext4")}
        self.assertEqual(set(keys), sampled | {f"{pair}/all/#1" for pair in pairs})
        self.assertEqual({key for key, engine in re.findall(r"^(\S+)  seed \d+  (\w+)", text, re.M) if engine == "explore"}, set(keys) - sampled)

    def test_only(self):
        self.assertEqual(len(self.runs("--overcommit", "--only", "small", "nightly.xml")[0]), 20)
        self.assertEqual(len(self.runs("--overcommit", "--only", "6.1/small/i*/all/#1,web", "nightly.xml")[0]), 13)
        self.assertEqual(self.runs("--overcommit", "--only", "6.1/small/i*/all/#1", "nightly.xml")[0], ["6.1/small/idle/all/#1"])

    def test_only_names_that_are_there(self):
        """A name without a run is a mistake, also next to one with runs: the runs that were meant would be missing in silence."""
        for only, name, more in (("smal", "smal", "did you mean small?"), ("small,nosuch", "nosuch", "`outrider campaign check nightly.xml` lists them"),
                                 ("6.1/small/idel/all/#1", "6.1/small/idel/all/#1", "did you mean 6.1/small/idle/all/#1?"),
                                 ("small,", "", "`outrider campaign check nightly.xml` lists them")):
            done = check("--overcommit", "--only", only, "nightly.xml")
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (2, "", f"outrider: --only {name}: no run has such a name; {more}\n"))


class Wrong(unittest.TestCase):
    def test_each_says_where_and_what_was_expected(self):
        expected = (DATA / "bad/expected").read_text().splitlines()
        files = sorted(path.name for path in (DATA / "bad").glob("*.xml"))
        self.assertEqual([line.split(":")[0] for line in expected], files)
        for name, line in zip(files, expected):
            with self.subTest(file=name):
                done = check("--overcommit", name, folder=DATA / "bad", preexec_fn=limit)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", f"outrider: {line}\n"))

    def test_more_vcpus_than_the_host_has(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "file.xml")
            vcpus = os.sysconf("SC_NPROCESSORS_ONLN") + 1
            if vcpus > 16:
                self.skipTest("a machine has at most 16 vCPUs, and this host has as many")
            path.write_text(LEAST.format(name="n", kernel=DATA / "vmlinuz-6.1", seeds=1, more=f"<machine>\n<vcpu>{vcpus}</vcpu></machine>"))
            done = check("file.xml", folder=folder)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertRegex(done.stderr, rf"\Aoutrider: file\.xml:5: a machine has {vcpus} vCPUs, and this host has {vcpus - 1} CPUs: .*\n\Z")
            self.assertEqual(check("--overcommit", "file.xml", folder=folder).returncode, 0)

    def test_no_such_file(self):
        done = check("missing.xml")
        self.assertEqual((done.returncode, done.stderr), (3, "outrider: cannot open missing.xml: No such file or directory\n"))
        self.assertEqual(check(".").returncode, 3)
        self.assertEqual(check().returncode, 2)


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def refused(self, text):
        pathlib.Path(self.folder.name, "file.xml").write_text(text)
        done = check("file.xml", folder=self.folder.name, preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr[-300:])
        self.assertRegex(done.stderr, r"\Aoutrider: file\.xml:\d+: [^\n]{1,500}\n\Z")
        return done.stderr

    def test_reaches_nowhere(self):
        """The check asks no server and opens no file for a document type, an entity or a schema."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            at = f"http://127.0.0.1:{server.getsockname()[1]}/x"
            fifo = os.path.join(self.folder.name, "fifo")
            os.mkfifo(fifo)  # open() for reading waits for a writer, and none comes
            for head, more in ((f'<!DOCTYPE campaign SYSTEM "{at}">', ""), (f'<!DOCTYPE campaign SYSTEM "{fifo}">', ""),
                               (f'<!DOCTYPE campaign [<!ENTITY x SYSTEM "{at}">]>', "<description>&x;</description>"),
                               (f'<!DOCTYPE campaign [<!ENTITY % x SYSTEM "{fifo}"> %x;]>', ""),
                               (f'<?xml-model href="{at}"?><?xml-stylesheet href="{at}"?>', f"<include href='{at}'/>"),
                               ("", f"<include xmlns='http://www.w3.org/2001/XInclude' href='{fifo}'/>")):
                with self.subTest(head=head):
                    self.refused(head + LEAST.format(name="n", kernel="k", seeds=1, more=more))
            server.settimeout(0)
            self.assertRaises(BlockingIOError, server.accept)

    def test_large_deep_and_wide(self):
        deep = "<a>" * 100000 + "</a>" * 100000
        self.refused(LEAST.format(name="n", kernel="k", seeds=1, more=deep))
        self.refused(LEAST.format(name="n", kernel="k", seeds=1, more="<description>" + "x" * (2 << 20) + "</description>"))
        wide = "".join(f"<exclude kernel='{i}'/>" for i in range(30000))
        self.assertIn("exclude", self.refused(LEAST.format(name="n", kernel=DATA / "vmlinuz-6.1", seeds=1, more=wide)))
        many = "<workloads>" + "".join(f"<workload name='w{i}'/>" for i in range(20000)) + "</workloads>"
        self.refused(LEAST.format(name="n", kernel=DATA / "vmlinuz-6.1", seeds=1, more=many))
        odd = "<machine>" + "<disk type='file'/><symbols>x</symbols>" * 20000 + "<vcpu>x</vcpu></machine>"
        self.refused(LEAST.format(name="n", kernel="k", seeds=1, more=odd))

    def test_bytes_that_are_no_text(self):
        path = pathlib.Path(self.folder.name, "file.xml")
        for content in (b"\0" * 100, b"\xff\xfe\x10\xda\x6c\x6f\x3c\xd8", b"\xff\xfe" + random.Random(1).randbytes(200), b"<campaign name='\x1b[2J'/>", b"<c\xc3\x28/>",
                        "<campaign>".encode("utf-16")):
            path.write_bytes(content)
            done = subprocess.run([BUILD / "outrider", "campaign", "check", path], capture_output=True, check=False, timeout=CAP)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rb"\Aoutrider: [^\x00-\x1f\x7f]+\n\Z")


if __name__ == "__main__":
    unittest.main()
