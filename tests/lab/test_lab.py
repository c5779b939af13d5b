#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/check: about 40 s
"""The labs do what tests/lab/run promises, in QEMU and, meanwhile, in Bochs; two at once is one of the promises."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
RUN = HERE / "run"
EXIT_LAB = 125
LIMIT = "3600"  # seconds for one lab, however busy the machine
# Both streams, arguments a shell would take apart, the files, and what comes back.
SCRIPT = """\
printf '%s\\n' "$@"
echo complaint >&2
cat greeting deep/er/file
grep -q "^payload$" script.sh; echo "grep $?"
mkdir -p "$LAB_OUT/sub"
echo "left in $LAB_KIND" >"$LAB_OUT/sub/left"
kvm_trial && ./kvm_trial
exit 7
# the line that grep looks for:
payload
"""
# A disk of each size, told by its content, written to from both ends.
DISKS_SCRIPT = """\
set -e
test "$(wc -c <"$FIRST")" = 1048576
test "$(head -c 5 "$FIRST")" = first
test "$(dd if="$SECOND_1" bs=512 skip=16777215 | tail -c 6)" = second
test "$(dd if="$SECOND_1" bs=512 skip=16777216 | wc -c)" = 0
echo overwritten | dd of="$FIRST" conv=notrunc,fsync
test "$(head -c 11 "$FIRST")" = overwritten
"""
ARGUMENTS = ["two words", "quo'te", '$HOME "and" `more`', "line\nbreak", ""]


def command(kind, *words, options=()):
    return [sys.executable, str(RUN), "--kvm", kind, "--timeout", LIMIT, *options, "--", *words]


def run(kind, *words, options=()):
    return subprocess.run(command(kind, *words, options=options), capture_output=True, text=True, check=False)


def kvm_trial(folder):
    program = pathlib.Path(folder, "kvm_trial")
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-o", program, HERE / "kvm_trial.c"], check=True)
    return program


class Everything:
    """One lab of `kind` that uses all there is; runs in the background until finish()."""

    def __init__(self, kind, folder):
        self.kind, self.folder = kind, pathlib.Path(folder, kind)
        self.folder.mkdir()
        (self.folder / "greeting").write_text("hello\n")
        (self.folder / "file").write_text("world\n")
        (self.folder / "script.sh").write_text(SCRIPT)
        trial = kvm_trial(self.folder)
        options = ["--file", self.folder / "greeting", "--file", f"{self.folder}/file:deep/er/file", "--bin", trial,
                   "--file", self.folder / "script.sh", "--out", self.folder / "out", "--quiet"]
        self.process = subprocess.Popen(command(kind, "sh", "script.sh", *ARGUMENTS, options=map(str, options)),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self):
        self.output, self.complaints = self.process.communicate()

    def check(self, test):
        expected = "".join(f"{word}\n" for word in ARGUMENTS)
        expected += "complaint\nhello\nworld\ngrep 0\nkvm trial: ok\nkvm trial: ok\n"
        test.assertEqual((self.output, self.complaints, self.process.returncode), (expected, "", 7))
        test.assertEqual((self.folder / "out/sub/left").read_text(), f"left in {self.kind}\n")


class Folders(unittest.TestCase):
    """Without a lab, but with its folder."""

    def start(self, folder):
        process = subprocess.Popen(command("native", "sh", "-c", "echo here; exec sleep 3600", options=["--quiet"]), stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, TMPDIR=folder))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "here\n")
        return process

    def test_what_a_killed_one_has_left_goes(self):
        """But not what one has that lives."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.start(folder)
        living = set(os.listdir(folder))
        killed = self.start(folder)
        killed.kill()
        killed.wait()
        self.assertEqual(len(set(os.listdir(folder)) - living), 1)
        subprocess.run(command("native", "true"), check=True, capture_output=True, env=dict(os.environ, TMPDIR=folder))
        self.assertEqual(set(os.listdir(folder)), living)


class Labs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.intel = Everything("intel", cls.folder)
        cls.amd = Everything("amd", cls.folder)
        cls.amd.finish()

    @classmethod
    def tearDownClass(cls):
        cls.intel.process.terminate()
        cls.intel.process.communicate()

    def test_amd_does_everything(self):
        self.amd.check(self)

    def test_two_at_once(self):
        again = run("amd", "true")
        self.assertEqual((again.returncode, again.stdout), (0, ""), again.stderr)
        self.assertIn("command started after", again.stderr)

    def disks(self, kind):
        """Images as block devices, or as files; one of 8 GiB is not copied into the lab's memory; writes do not get to the images."""
        first, second = pathlib.Path(self.folder, f"{kind} fi,rst=.img"), pathlib.Path(self.folder, f"{kind}-second")
        first.write_bytes(b"first".ljust(1 << 20, b"."))
        with open(second, "wb") as image:
            image.truncate((8 << 30) - 6)
            image.seek(0, 2)
            image.write(b"second")
        before = first.read_bytes()
        done = run(kind, "sh", "-c", DISKS_SCRIPT, options=["--disk", f"FIRST={first}", "--disk", f"SECOND_1={second}"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(first.read_bytes(), before)

    def test_disks(self):
        self.disks("amd")

    def test_disks_native(self):
        self.disks("native")

    def test_wrong_disks(self):
        odd, empty = pathlib.Path(self.folder, "odd"), pathlib.Path(self.folder, "empty")
        odd.write_bytes(b"123")
        empty.touch()
        for kind, word, said in (("amd", "nothing", "NAME=VALUE"), ("amd", "A=/no/such/image", "no such file"), ("amd", f"A={odd}", "multiple"),
                                 ("amd", f"A={empty}", "multiple"), ("amd", f"A={self.folder}", "no such file"),
                                 ("intel", f"A={RUN.parent}/kvm_trial.c", "multiple"), ("native", "A=/no/such/image", "no such file")):
            with self.subTest(kind=kind, word=word):
                done = run(kind, "true", options=["--disk", word])
                self.assertEqual((done.returncode, done.stdout), (EXIT_LAB, ""))
                self.assertRegex(done.stderr.splitlines()[-1], f"^lab: .*{said}")
        odd.write_bytes(bytes(512))
        self.assertRegex(run("intel", "true", options=["--disk", f"A={odd}"]).stderr.splitlines()[-1], "^lab: .*use --kvm amd")

    def test_line(self):
        """Bytes pass in both directions once a program has connected. The line is open before it is said to be ready: a closed one loses bytes."""
        path = f"{self.folder}/line"
        words = ["sh", "-c", "exec 3<>/dev/ttyS2; stty raw -echo <&3; echo ready; read -r word <&3; echo $word; echo answer >&3"]
        with subprocess.Popen(command("amd", *words, options=["--quiet", "--line", path]), stdout=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(path)
                line.sendall(b"question\n")
                self.assertEqual(line.makefile().readline(), "answer\n")
            self.assertEqual(process.stdout.read(), "question\n")
        self.assertEqual(process.returncode, 0)

    def test_no_line(self):
        for kind in ("intel", "native"):
            self.assertRegex(run(kind, "true", options=["--line", f"{self.folder}/none"]).stderr.splitlines()[-1], "^lab: .*--line")

    def test_clocks_of_guests(self):
        """The TSCs of guests advance, although the lab's kernel begins with a rate of the TSC that is wrong by 0.5 %."""
        measured = run("amd", "sh", "-c", "dmesg | sed -n 's/.*tsc: Refined.* \\([0-9]*\\)[.]\\([0-9]*\\) MHz/\\1\\2/p'").stdout
        append = f"tsc_early_khz={int(measured) * 995 // 1000}"
        done = run("amd", "kvm_trial", options=["--append", append, "--bin", str(kvm_trial(self.folder))])
        self.assertEqual((done.returncode, done.stdout), (0, "kvm trial: ok\n"), done.stderr)

    def test_no_append(self):
        self.assertRegex(run("native", "true", options=["--append", "quiet"]).stderr.splitlines()[-1], "^lab: .*--append")

    def test_missing_command(self):
        done = run("amd", "no-such-command")
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertIn("no-such-command: not found", done.stdout)

    def test_killed_command(self):
        done = run("amd", "sh", "-c", "kill -9 $$")
        self.assertEqual(done.returncode, 128 + 9, done.stderr)

    def test_output_is_live(self):
        """It comes while the command runs, which never ends by itself."""
        with subprocess.Popen(command("amd", "sh", "-c", "echo first; sleep 1000000", options=["--quiet"]), stdout=subprocess.PIPE,
                              text=True) as process:
            self.assertEqual(process.stdout.readline(), "first\n")
            process.terminate()
            self.assertEqual(process.stdout.read(), "")
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    def test_timeout(self):
        done = run("amd", "sleep", "600", options=["--timeout", "12"])
        self.assertEqual(done.returncode, EXIT_LAB, done.stdout)
        self.assertIn("--timeout 12 seconds", done.stderr)

    def test_hanging_lab(self):
        """Every process but the first one and the command is stopped."""
        done = run("amd", "sh", "-c", "kill -STOP -1; sleep 1000000", options=["--still", "30"])
        self.assertEqual(done.returncode, EXIT_LAB, done.stdout)
        self.assertIn("hangs: it has said nothing for 30 seconds", done.stderr)

    def test_lab_that_speaks(self):
        """The command prints nothing, but the lab's init does."""
        done = run("amd", "sleep", "40", options=["--still", "30"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_dead_kernel(self):
        done = run("amd", "sh", "-c", "echo c >/proc/sysrq-trigger")
        self.assertEqual(done.returncode, EXIT_LAB, done.stdout)
        self.assertIn("kernel panicked", done.stderr)
        self.assertIn("  | ", done.stderr)

    def test_wrong_use(self):
        for options in (["--cpus", "0"], ["--nonsense"], ["--file", "/no/such/file"], ["--file", f"{RUN}:../up"],
                        ["--bin", "/no/such/program"], ["--env", "1=2"]):
            with self.subTest(options=options):
                done = run("amd", "true", options=options)
                self.assertEqual(done.returncode, EXIT_LAB)
                self.assertRegex(done.stderr.splitlines()[-1], "^lab: ")
        self.assertEqual(run("vax", "true").returncode, EXIT_LAB)

    def test_native_is_the_same_but_for_the_lab(self):
        native = Everything("native", self.folder)
        native.finish()
        # This machine's KVM may be of any kind, or missing: compare only what does not depend on it.
        lines = [line for line in native.output.splitlines(True) if not line.startswith("kvm trial:")]
        expected = "".join(f"{word}\n" for word in ARGUMENTS) + "complaint\nhello\nworld\ngrep 0\n"
        self.assertEqual(("".join(lines), native.complaints, native.process.returncode), (expected, "", 7))
        self.assertEqual((native.folder / "out/sub/left").read_text(), "left in native\n")

    def test_zz_intel_does_everything(self):
        """Last by name: Bochs takes its time, and the others ran beside it."""
        self.intel.finish()
        self.intel.check(self)


if __name__ == "__main__":
    unittest.main()
