#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes on the command line. Each gets a line that says what is wrong, where, and what to do, and a documented exit status."""

import contextlib
import fcntl
import gzip
import json
import lzma
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", ROOT / "build"))

# A command line, and the message that outrider prints after "outrider: ". No case gets as far as KVM.
MISSPELLED = [
    (["rn"], "'rn' is not a command; did you mean `outrider run`?"),
    (["reprot"], "'reprot' is not a command; did you mean `outrider report`?"),
    (["rep"], "'rep' is not a command; did you mean `outrider report`?"),
    (["walk"], "'walk' is not a command; see `outrider --help`"),
    (["help", "atach"], "'atach' is not a command; did you mean `outrider attach`?"),
    (["run", "--kernl", "x"], "--kernl is not an option of `outrider run`; did you mean --kernel?"),
    (["attach", "web1", "--replay"],
     "--replay is not for `outrider attach`: the machine belongs to another program, and outrider can copy only its own: `outrider run` has --replay"),
    (["attach", "web1", "--save=d"],
     "--save is not for `outrider attach`: the machine belongs to another program, and outrider can copy only its own: `outrider run` has --replay"),
    (["run", "--kernl=x"], "--kernl is not an option of `outrider run`; did you mean --kernel?"),
    (["run", "--xyzzy"], "--xyzzy is not an option of `outrider run`; see `outrider run --help`"),
    (["run", "--per-cpu=yes"], "--per-cpu takes no value; see `outrider run --help`"),
    (["run", "--kernel"], "--kernel needs a value: --kernel FILE; see `outrider run --help`"),
    (["report", "--al=1"], "--all takes no value; see `outrider report --help`"),
    (["report", "-x"], "-x is not an option of `outrider report`; see `outrider report --help`"),
]

# Units, empty words, words in the wrong place, and options of other tools.
WRONG = [
    (["run", "vmlinuz"], "'vmlinuz' is not expected: a kernel is given as --kernel FILE; see `outrider run --help`"),
    (["run", "-kernel", "vmlinuz"], "-kernel is not an option of `outrider run`; did you mean --kernel?"),
    (["run", "--kernel", ""], "--kernel is empty: give FILE; see `outrider run --help`"),
    (["run", "--kernel="], "--kernel is empty: give FILE; see `outrider run --help`"),
    (["run", "--kernel", "k", "--json", ""], "--json is empty: give FILE; see `outrider run --help`"),
    (["run", "--kernel", "k", "--memory", "16"], "--memory 16: give a size from 64M to 1T in whole MiB, for example 512, 512M or 5G"),
    (["run", "--kernel", "k", "--memory", "512MB"], "--memory 512MB: give a size from 64M to 1T in whole MiB, for example 512, 512M or 5G"),
    (["run", "--kernel", "k", "--duration", "10sec"], "--duration 10sec: give a time, for example 500ms, 30s, 2m or 1h"),
    (["run", "--kernel", "k", "--duration", "-5"], "--duration -5: give a time, for example 500ms, 30s, 2m or 1h"),
    (["run", "--kernel", "k", "--delay", "10ms"], "--delay 10ms: give microseconds, from 1 to 1000000, without a unit"),
    (["run", "--kernel", "k", "--rate", "1k"], "--rate 1k: give hits per second, from 1 to 1000000"),
    (["run", "--kernel", "k", "--sample", "a,,b"], "--sample a,,b: a name is empty: give function names, for example 'ext4_*,jbd2_*'"),
    (["run", "--kernel", "k", "--module", "jbd2,,ext4"], "--module jbd2,,ext4: a name is empty: give modules' names, for example 'jbd2,ext4'"),
    (["run", "--kernel", "k", "--module", "/lib/hold.ko"], "--module /lib/hold.ko: give the module's name, hold; its file is for --symbols"),
    (["run", "--kernel", "k", "--json", "a", "--console", "a"], "--json and --console both write to a: give two files"),
    (["run", "--kernel", "k", "--json", "a", "--coverage", "a"], "--json and --coverage both write to a: give two files"),
    (["run", "--kernel", "k", "--console", "a", "--coverage", "a"], "--coverage and --console both write to a: give two files"),
    (["run", "--kernel", "k", "--no-detect", "--coverage", "a"], "--no-detect samples nothing: leave out --coverage, --prefer and --aim"),
    (["run", "--kernel", "k", "--no-detect", "--aim", "a"], "--no-detect samples nothing: leave out --coverage, --prefer and --aim"),
    (["run", "--kernel", "k", "--replay", "--replay-for", "2h"], "--replay-for 2h: give a time from 0 to 1h, for example 8s"),
    (["run", "--kernel", "k", "--replay", "--replay-for", "soon"], "--replay-for soon: give a time from 0 to 1h, for example 8s"),
    (["run", "--kernel", "k", "--save", "d"], "--save keeps what --replay has run in both orders: give --replay, too"),
    (["run", "--kernel", "k", "--replay-for", "8s"], "--replay-for says how long the orders of --replay run on: give --replay, too"),
    (["run", "--kernel", "k", "--sample-with-callees"], "--sample-with-callees: say whose callees, by --module NAME or --sample GLOB,..."),
    (["run", "--kernel", "k", "--sample", "a", "--sample-with-callees=4"],
     "--sample-with-callees 4: give 1, 2 or 3, the number of steps from the functions that are named"),
    (["run", "--kernel", "k", "--aim", "a", "--sample", "b"], "--aim says which sites are sampled: leave out --sample"),
    (["run", "--kernel", "k", "--aim", "a", "--module", "b"], "--aim says which sites are sampled: leave out --module"),
    (["attach", "--aim", "a", "--prefer", "b", "d"], "--aim says which sites are sampled: leave out --prefer"),
    (["attach", "--aim", "a#1,,2", "d"], "a race's id is empty: give an id, or the first characters of one"),
    (["run", "--kernel", "k", "--overhead", "0"], "--overhead 0: give percent, from 1 to 50"),
    (["run", "--kernel", "k", "--device-rate", "0"], "--device-rate 0: give requests per second, from 1 to 100"),
    (["run", "--kernel", "k", "--device-rate", "101"], "--device-rate 101: give requests per second, from 1 to 100"),
    (["run", "--kernel", "k", "--device-rate", "5", "--no-device-windows"],
     "--no-device-windows leaves --device-rate without effect: leave out one of them"),
    (["run", "--kernel", "k", "--device-rate", "5", "--no-detect"], "--no-detect holds no requests of devices: leave out --device-rate"),
    (["run", "--kernel", "k", "--device-rate", "5", "--aim", "a"],
     "--aim samples two sites alone, and no devices: leave out --device-rate"),
    (["run", "--kernel", "k", "--no-detect", "--overhead", "5"], "--no-detect samples nothing, so there is no cost to limit: leave out --overhead"),
    (["run", "--kernel", "k", "--stats-every", "10ms"], "--stats-every 10ms: give a time from 1s on, for example 10s or 5m"),
    (["run", "--kernel", "k", "--no-detect", "--stats-every", "10s"], "--no-detect has nothing to count: leave out --stats-every"),
    (["attach", "--quiet", "--stats-every", "10s", "d"], "--quiet shows no lines during the run: leave out --stats-every"),
    (["attach", "--overhead", "5%", "d"], "--overhead 5%: give percent, from 1 to 50"),
    (["attach", "--gdb", "localhost"], "localhost is not a gdbstub's address: give unix:PATH or HOST:PORT"),
    (["attach", ""], "an argument is empty: give DOMAIN; see `outrider attach --help`"),
    (["attach", "a", "b"], "give only one domain to attach to: 'a' or 'b'"),
    (["list", "--connect", ""], "--connect is empty: give URI; see `outrider list --help`"),
    (["report", ""], "an argument is empty: give FILE...; see `outrider report --help`"),
    (["report", "f", "-o"], "-o needs a value: -o FILE; see `outrider report --help`"),
    (["prune", "--explain", "races.json"], "prune needs a FILE that `outrider run --json` wrote; see `outrider prune --help`"),
    (["--kernel", "vmlinuz"], "--kernel: a command comes first, for example `outrider run`; see `outrider --help`"),
    (["replay"], "replay needs a SCENARIO that `outrider run --replay --save` kept; see `outrider replay --help`"),
    (["explore"], "explore needs --kernel FILE and --initrd FILE; see `outrider explore --help`"),
    (["explore", "--kernel", "k", "--initrd", "i", "--a", "true"], "explore needs two programs, --a COMMAND and --b COMMAND; see `outrider explore --help`"),
    (["explore", "--cpus", "1"], "--cpus 1: give a number from 2 to 16"),
    (["explore", "--memory", "1"], "--memory 1: give a size from 64M to 1T in whole MiB, for example 256M"),
    (["explore", "--duration", "25h"], "--duration 25h: give a time up to 24h, for example 90s or 10m"),
    (["explore", "--trials", "0"], "--trials 0: give a number from 1 to 1000000"),
    (["explore", "--walks", "-1"], "--walks -1: give a number from 0 to 1000000"),
    (["explore", "--depth", "1"], "--depth 1: give a number from 2 to 4"),
    (["explore", "--jobs", "0"], "--jobs 0: give a number from 1 to 64"),
    (["explore", "--steps", "many"], "--steps many: give a number from 1 to 100000000"),
    (["explore", "--trial-time", "0"], "--trial-time 0: give a time up to 1h, for example 500ms, 8s or 2m"),
    (["explore", "--boot-timeout", "2h"], "--boot-timeout 2h: give a time up to 1h, for example 500ms, 8s or 2m"),
    (["explore", "--format", "xml"], "--format xml: give text or json"),
    (["explore", "--kernel", "k", "--initrd", "i", "--a", "x", "--b", "y", "--record-only", "--trials", "3"],
     "--record-only runs no trials: leave out --trials, --walks, --duration, --keep-going, --skip and --save"),
    (["explore", "--kernel", "k", "--initrd", "i", "--a", "x" * 4096, "--b", "y"], "--a: the command has 4096 bytes; give at most 4095"),
    (["replay", "a", "b"], "give only one scenario to replay: 'a' or 'b'"),
    (["replay", "", "b"], "an argument is empty: give SCENARIO; see `outrider replay --help`"),
    (["replay", "--order", "3", "a"], "--order 3: give 1 or 2"),
    (["replay", "--order", "first", "a"], "--order first: give 1 or 2"),
    (["replay", "--for", "2sec", "a"], "--for 2sec: give a time up to 24h, for example 500ms, 2s or 1m, or 0"),
    (["replay", "--for", "25h", "a"], "--for 25h: give a time up to 24h, for example 500ms, 2s or 1m, or 0"),
    (["replay", "--times", "0", "a"], "--times 0: give a number from 1 to 1000000"),
    (["replay", "--format", "xml", "a"], "--format xml: give text or json"),
    (["replay", "--times", "2", "--order", "1", "a"], "--times replays both orders: leave out --order, --gdb and --vmcore"),
    (["replay", "--gdb", ":1234", "a"], "--gdb :1234: give unix:PATH; any user can connect to a port, so that needs --gdb-tcp"),
    (["replay", "--gdb-tcp", "unix:g", "a"], "--gdb-tcp unix:g: give a port, or --gdb unix:g"),
    (["replay", "--gdb-tcp", "70000", "a"], "70000 is no port: give PORT, from 1 to 65535, or HOST:PORT"),
    (["replay", "--gdb", "unix:g", "--gdb-tcp", "1", "a"], "give only one address for gdb: 'unix:g' or '1'"),
    (["replay", "--gdb", "unix:g", "--vmcore", "c", "a"], "--gdb and --vmcore are two ways to look into the machine: give one of them"),
    (["replay", "--gdb", "unix:g", "--for", "1s", "a"], "with --gdb the debugger says how long the machine runs: leave out --for"),
    (["replay", "--gdb", "unix:g", "--format", "json", "a"], "--gdb has no result to print: leave out --format"),
    (["replay", "--vmcore", "c", "--for", "0", "a"],
     "--vmcore without --order writes the machine before both accesses: give --order, or leave out --for and --format"),
    (["replay", "--vmcore", "a", "a"], "--vmcore would write over the scenario: give another file"),
    (["doctor", "now"], "'now' is not expected; see `outrider doctor --help`"),
]

DISK = "give IMAGE[,ro][,overlay][,queues=N][,format=raw]"
FORWARD = "give hostfwd=tcp|udp:[ADDR]:PORT-:GUESTPORT, for example hostfwd=tcp::2222-:22"
TWICE = "user,hostfwd=tcp::2222-:22,hostfwd=tcp::2222-:23"

# An option for a device of the machine, its value, and the message.
DEVICES = [
    ("--disk", ",ro", f"the image is missing: {DISK}"),
    ("--disk", "a.img,overly", f"'overly' is not known: {DISK}; did you mean overlay?"),
    ("--disk", "a.img,size=4", f"'size=4' is not known: {DISK}"),
    ("--disk", "a.img,", f"'' is not known: {DISK}"),
    ("--disk", "a.img,queues=0", "give queues a number from 1 to 16"),
    ("--disk", "a.img,format=qcow2", "images are raw: give format=raw, or nothing"),
    ("--disk", "a.img,queues=17", "give queues a number from 1 to 16"),
    ("--disk", "a.img,ro,overlay", "give either ro or overlay: nothing is written to a read-only disk"),
    ("--net", "usr", "give none, user or tap=; did you mean user?"),
    ("--net", "tap", "give none, user or tap=; did you mean tap=?"),
    ("--net", "tap=", "give the name of a tap interface, of 15 characters at most"),
    ("--net", "tap=a-name-of-sixteen", "give the name of a tap interface, of 15 characters at most"),
    ("--net", "tap=tap0,ro", "nothing is expected after tap=NAME"),
    ("--net", "user,hostfw=tcp::1-:1",
     "'hostfw=tcp::1-:1' is not known: give user[,hostfwd=tcp|udp:[ADDR]:PORT-:GUESTPORT]...; did you mean hostfwd?"),
    *[("--net", f"user,hostfwd={wrong}", FORWARD) for wrong in
      ("", "tcp", "tcp:22", "sctp::22-:22", "tcp::22:22", "tcp::0-:22", "tcp::22-:65536", "tcp:localhost:22-:22", "tcp::22-10.0.2.15:22",
       "tcp::-1-:22")],
    ("--net", TWICE, "port 2222 is forwarded twice"),
    ("--vsock", "2", "give a context id from 3 to 4294967294"),
    ("--vsock", "4294967295", "give a context id from 3 to 4294967294"),
    ("--vsock", "guest", "give a context id from 3 to 4294967294"),
    ("--vsock", "3,socket=", "the path of the socket is missing: give CID[,socket=PATH]"),
    ("--vsock", "3,sock=a", "'sock=a' is not known: give CID[,socket=PATH]; did you mean socket?"),
]

# An option with a fixed set of words, a wrong word, and the nearest right one.
CHOICES = [
    (["report", "--format", "jsn", "f"], "--format jsn: give ", "; did you mean json?"),
    (["report", "--format", "JSON", "f"], "--format JSON: give ", "; did you mean json?"),
    (["report", "--format", "xml", "f"], "--format xml: give ", "junit"),
    (["report", "--sort", "rnak", "f"], "--sort rnak: give rank, count, time or site", "; did you mean rank?"),
]


def outrider(*arguments, **more):
    return subprocess.run([BUILD / "outrider", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)


class Mistakes(unittest.TestCase):
    def said(self, arguments, status=2):
        done = outrider(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aoutrider: [^\n]+\n\Z")
        return done.stderr.removeprefix("outrider: ").rstrip("\n")

    def test_misspelled(self):
        for arguments, line in MISSPELLED + WRONG:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.said(arguments), line)

    def test_devices(self):
        for option, value, line in DEVICES:
            with self.subTest(option=option, value=value):
                self.assertEqual(self.said(["run", "--kernel", "k", option, value]), f"{option} {value}: {line}")

    def test_devices_given_too_often(self):
        run = ["run", "--kernel", "k"]
        self.assertEqual(self.said([*run, "--net", "none", "--net", "user"]), "--net user: a machine has one network interface at most")
        self.assertEqual(self.said([*run, "--vsock", "3", "--vsock", "4"]), "--vsock 4: a machine has one vsock device at most")
        self.assertEqual(self.said([*run, *["--disk", "a.img"] * 17]), "--disk a.img: a machine has 16 disks at most")

    def test_files_that_would_write_over_a_disk(self):
        for option in ("--json", "--console", "--coverage"):
            self.assertEqual(self.said(["run", "--kernel", "k", "--disk", "a.img,ro", option, "a.img"]),
                             f"{option} would write over the image of --disk a.img: give another file")

    def test_abbreviation_of_several(self):
        self.assertRegex(self.said(["prune", "--s", "x"]), r"^--s may be (--s\w+, )+--s\w+: give more of its name$")

    def test_empty_command_line_of_a_kernel(self):
        """No other value may be empty. Here the message is about the next mistake."""
        self.assertEqual(self.said(["run", "--kernel", "k", "--append", "", "--cpus", "0"]), "--cpus 0: give a number from 1 to 16")

    def test_qemus_address(self):
        self.assertRegex(self.said(["attach", "--gdb", "tcp::1"], 3), "^cannot connect to the gdbstub at :1: ")

    def test_choices(self):
        for arguments, begin, part in CHOICES:
            with self.subTest(arguments=arguments):
                line = self.said(arguments)
                self.assertTrue(line.startswith(begin), line)
                self.assertIn(part, line)


class Host(unittest.TestCase):
    """Problems with images and with the host, as a user who is not root sees them."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o755)
        self.outrider = shutil.copy(BUILD / "outrider", self.folder.name)
        # In the corpus, the first byte tells the fuzz target whether to add an initrd. The bzImage comes after it.
        self.kernel = self.make("kernel", (ROOT / "tests/fuzz/corpus/boot/bzimage").read_bytes()[1:])

    def make(self, name, content):
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(content)
        return str(path)

    def said(self, *arguments, **more):
        done = subprocess.run([self.outrider, "run", "--kernel", self.kernel, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, cwd=self.folder.name, **more)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Aoutrider: [^\n]+\n\Z")
        return done.stderr.removeprefix("outrider: ").rstrip("\n")

    def test_images(self):
        missing = os.path.join(self.folder.name, "missing")
        self.assertRegex(self.said("--disk", missing), f"^cannot open disk image {missing}: No such file or directory: .*truncate -s 8G")
        self.assertIn("is empty: ", self.said("--disk", self.make("empty", b"")))
        self.assertIn("512", self.said("--disk", self.make("odd", b"x" * 700)))
        self.assertIn("qemu-img convert", self.said("--disk", self.make("qcow2", b"QFI\xfb\0\0\0\3".ljust(512, b"\0"))))
        self.assertIn("give a file or a block device", self.said("--disk", self.folder.name))

    def test_image_in_use(self):
        """Another program has locked the whole image."""
        image = self.make("image", bytes(1024))
        with open(image, "r+b") as file:
            fcntl.fcntl(file, 37, struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))  # F_OFD_SETLK
            self.assertRegex(self.said("--disk", image), f"^disk image {image} is in use")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_image_that_cannot_be_written(self):
        image = self.make("image", bytes(1024))
        os.chmod(image, 0o644)
        self.assertIn(image, self.said("--disk", image, user=65534, group=65534, extra_groups=[]))

    @unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/kvm") and not os.stat("/dev/kvm").st_mode & 0o006,
                         "only root can be somebody else, and only where /dev/kvm is not everybody's")
    def test_user_who_is_not_in_the_group(self):
        self.assertEqual(self.said(user=65534, group=65534, extra_groups=[]),
                         "/dev/kvm: permission denied; join the group kvm (root is not needed): sudo usermod -aG kvm $USER, and log in "
                         "again; `outrider doctor` tells more")


class Ids(unittest.TestCase):
    """A user may name a race by the first characters of its id."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "races.json")
        subprocess.run([BUILD / "unit/report/test_json", "--write", self.path], check=True)
        document = json.loads(pathlib.Path(self.path).read_text())
        for race, name in zip(document["races"], ("abc123abc123", "abd456abd456", "0bc123abc123")):
            race["id"] = name
        document["races"] = document["races"][:3]
        self.assertEqual(len(document["races"]), 3)
        pathlib.Path(self.path).write_text(json.dumps(document))

    def test_prefix_of_one(self):
        for command in (["report", "--race"], ["prune", "--race"], ["prune", "--explain"]):
            with self.subTest(command=command):
                whole, begin = outrider(*command, "abd456abd456", self.path), outrider(*command, "abd", self.path)
                self.assertEqual((begin.returncode, begin.stdout), (0, whole.stdout))
                self.assertIn("abd456abd456", begin.stdout)
                self.assertNotIn("abc123abc123", begin.stdout)

    def test_prefix_of_several(self):
        for extra in ([], ["--format", "json"]):
            done = outrider("report", "--race", "ab", *extra, self.path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr,
                             "outrider: several races begin with 'ab': abc123abc123, abd456abd456; give more of the id\n")

    def test_prefix_of_none(self):
        self.assertIn("no race 'ff' in the files given", outrider("report", "--race", "ff", self.path).stderr)
        self.assertIn("--race is empty: give ID", outrider("report", "--race", "", self.path).stderr)


class Aim(unittest.TestCase):
    """--aim names the report with the races that the run should see again."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "races#1.json")  # a '#' may be part of a path
        self.document = json.loads((ROOT / "tests/data/ground-truth-races.json").read_text())

    def said(self, value, status):
        pathlib.Path(self.path).write_text(json.dumps(self.document))
        for command in (["run", "--kernel", "nowhere"], ["attach", "--gdb", "unix:nowhere"]):
            done = outrider(*command, "--aim", value)
            self.assertEqual((done.returncode, done.stdout), (status, ""))
            self.assertRegex(done.stderr, r"\Aoutrider: [^\n]+\n\Z")
            yield done.stderr

    def test_file(self):
        for line in self.said("nowhere.json", 3):
            self.assertIn("nowhere.json: No such file or directory", line)
        for line in self.said(os.path.realpath(__file__), 3):
            self.assertIn("it is no report", line)

    def test_whole(self):
        """The report is right, so the message is about the next mistake: the machine does not exist."""
        for value in (self.path, f"{self.path}#{self.document['races'][0]['id']}"):
            for line in self.said(value, 3):
                self.assertIn("nowhere", line)

    def test_ids(self):
        for line in self.said(f"{self.path}#ffffffffffff", 2):
            self.assertIn("no race 'ffffffffffff' in the files given", line)
        for line in self.said(f"{self.path}#{self.document['races'][0]['id']},", 2):
            self.assertIn("a race's id is empty", line)

    def test_nothing_to_aim_at(self):
        race = self.document["races"][0]
        for side in race["sides"]:
            side["access"]["locked"] = True
        self.document["races"] = [race]
        for line in self.said(self.path, 3):
            self.assertIn("no side of this race is an instruction that can be held: side ", line)
            self.assertIn("is a LOCKed instruction", line)
        self.document["races"] = []
        for line in self.said(self.path, 3):
            self.assertIn(f"--aim {self.path}: there is no race in it", line)


class Version(unittest.TestCase):
    def test_says_what_it_is(self):
        done = outrider("--version")
        lines = done.stdout.splitlines()
        self.assertEqual((done.returncode, outrider("-V").stdout), (0, done.stdout))
        self.assertRegex(lines[0], r"\Aoutrider \d+\.\d+\.\d+\Z")
        if (ROOT / ".git").exists():
            self.assertRegex(lines[1], r"\Arevision: [0-9a-f]{12,}\+?\Z")
        libraries = next(line for line in lines if line.startswith("libraries: "))
        for library in ("capstone", "libdwarf", "elfutils", "jansson", "libpq", "libseccomp", "libslirp", "libvirt", "libxml2",
                        "sqlite", "zlib"):
            self.assertRegex(libraries, rf"\b{library} \d[\d.]+")
        self.assertIn("sarif", next(line for line in lines if line.startswith("features: ")))


class Files(unittest.TestCase):
    """A file of another kind is told as what it is, with what to do."""
    RACES = ROOT / "tests/data/ground-truth-races.json"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)

    def test_reports_that_are_none(self):
        report = self.RACES.read_bytes()
        with contextlib.closing(sqlite3.connect(self.top / "store.db")) as store:
            store.execute("CREATE TABLE round (id)")
            store.commit()
        (self.top / "races.gz").write_bytes(gzip.compress(report))
        (self.top / "races.xz").write_bytes(lzma.compress(report))
        (self.top / "empty").write_bytes(b"")
        shutil.copy("/bin/true", self.top / "program")
        for name, says in (("races.gz", "compressed by gzip: unpack it first, or pipe what `zcat` prints into this command, with - as the file"),
                           ("races.xz", "compressed by xz: unpack it first, or pipe what `xzcat` prints into this command, with - as the file"),
                           ("store.db", "an SQLite file, for example the store of a campaign, and no report or coverage of `outrider run`: "
                                        "`outrider campaign show --store FILE` shows what the store of a campaign has"),
                           ("empty", "empty: the program that wrote it was killed before it began, or the disk was full"),
                           ("program", "an ELF file: a program, a kernel or a debug file, and no report or coverage of `outrider run`: debug files are "
                                       "for --symbols")):
            for command in (["report"], ["report", "--format", "json"], ["prune"], ["diff", self.RACES], ["locks"]):
                with self.subTest(name=name, command=command):
                    done = outrider(*command, self.top / name)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "", f"outrider: {self.top / name}: {says}\n"))

    def test_a_pipe_of_a_packed_report(self):
        done = subprocess.run([BUILD / "outrider", "report", "-"], input=gzip.compress(self.RACES.read_bytes()), capture_output=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"compressed by gzip", done.stderr)

    def test_symbols_of_no_use(self):
        """One line a file says why it is of no use; and the report is made without it."""
        module = self.top / "other.ko"
        module.write_bytes(lzma.decompress((ROOT / "tests/data/recorded/gt-amd/module.ko.xz").read_bytes()))
        (self.top / "packed.ko.xz").write_bytes((ROOT / "tests/data/recorded/gt-amd/module.ko.xz").read_bytes())
        (self.top / "text").write_text("ffffffff81000000 T _text\n" * 9)
        for path, says in (("/bin/true", "of no use: it is a program or library for user space, and neither a kernel (vmlinux) nor a kernel module"),
                           (module, "of another build than the outrider_gt in use (build id 032e82833841aece5b702f264b104157ce03794c)"),
                           (self.top / "packed.ko.xz", "compressed by xz: unpack it, for example by `xzcat`, and give the result"),
                           (self.top / "text", "not an ELF file, or a broken one")):
            with self.subTest(path=path):
                done = outrider("report", "--symbols", path, self.RACES)
                self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (0, f"outrider: {path}: {says}"))


class Help(unittest.TestCase):
    def test_width(self):
        """Help texts fit the width of the terminal, from 50 to 110 columns."""
        for columns, limit in (("40", 50), ("64", 64), ("100", 100), ("400", 110)):
            for command in ([], ["run"], ["report"]):
                with self.subTest(columns=columns, command=command):
                    text = outrider(*command, "--help", env={**os.environ, "COLUMNS": columns}).stdout
                    longest = max(len(line) for line in text.splitlines() if not line.startswith(("`", "Find")))
                    self.assertLessEqual(longest, limit)
                    self.assertGreater(longest, limit - 20)

    def test_of_a_command(self):
        self.assertEqual(outrider("help", "run").stdout, outrider("run", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
