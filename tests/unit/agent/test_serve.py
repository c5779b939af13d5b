#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest agent as a service, which takes commands from a console, here a pseudo-terminal."""

import contextlib
import os
import pathlib
import random
import re
import select
import signal
import subprocess
import tempfile
import threading
import time
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
AGENT = pathlib.Path(os.environ.get("OUTRIDER_BUILD", TREE / "build")) / "guest-agent"
PATIENCE = 60  # seconds, many times longer than any wait of these tests


class Console:
    """The host's end of a console. Its path stays the same when a new console replaces it."""

    def __init__(self, path):
        self.path = path
        self.open()

    def open(self):
        self.master, slave = os.openpty()
        name = f"{self.path}.new"
        os.symlink(os.ttyname(slave), name)
        os.rename(name, self.path)
        self.slave = slave  # kept open, so that the master does not hang up before the agent comes
        self.rest = b""

    def close(self):
        os.close(self.master)
        os.close(self.slave)

    def say(self, text):
        os.write(self.master, (text + "\n").encode("latin-1"))

    def line(self, end):
        while b"\n" not in self.rest:
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no line came; there is {self.rest}")
            self.rest += os.read(self.master, 65536)
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode().rstrip("\r")

    def until(self, pattern):
        """Returns the lines up to the first that begins with the pattern, and its match."""
        lines, end = [], time.monotonic() + PATIENCE
        while True:
            lines.append(self.line(end))
            match = re.match(pattern, lines[-1])
            if match:
                return lines, match
            if time.monotonic() > end:  # the agent sends heartbeats for ever
                raise AssertionError(f"no line {pattern}; there are {lines[-20:]}")

    def ask(self, command):
        """Sends a command. Returns the lines of its answer, without heartbeats and other lines that answer no command."""
        self.say(command)
        lines, _ = self.until("(ok|error)( |$)")
        return [line for line in lines if not re.match("(hello|heartbeat|progress|output|done) ", line)]


@contextlib.contextmanager
def serving(*options, commands=""):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "commands").write_text(commands)
        console = Console(f"{folder}/console")
        words = [AGENT, "serve", "--console", console.path, "--commands", f"{folder}/commands", *options]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as agent:
            try:
                console.hello = console.until("hello ")[1].string
                yield console, agent
            finally:
                if agent.poll() is None:
                    agent.send_signal(signal.SIGTERM)
                agent.log = agent.communicate(timeout=PATIENCE)[0]
                console.close()


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Serve(unittest.TestCase):
    def test_says_who_it_is_and_that_it_lives(self):
        with serving("--heartbeat", "0.2") as (host, _):
            self.assertRegex(host.hello, r"^hello protocol=1 cpus=\d+ heartbeat=0\.2 uptime=[\d.]+ jobs=0 kernel=\S+$")
            for _ in range(3):
                self.assertRegex(host.until("heartbeat ")[1].string, r"^heartbeat uptime=[\d.]+ jobs=0 dropped=0$")

    def test_a_job_makes_progress_and_is_stopped(self):
        with serving("--heartbeat", "0.2") as (host, _):
            self.assertEqual(host.ask("start loop:3600"), ["ok job=1"])
            rounds = []
            while len(rounds) < 3 or not rounds[-1] > rounds[1] > 0:
                match = host.until(r"progress job=1 state=running .*rounds=(\d+) .*processes=(\d+) cpu=[\d.]+ word=loop:3600")[1]
                rounds.append(int(match[1]))
                self.assertEqual(rounds, sorted(rounds))
            self.assertEqual(int(match[2]), 1 + os.cpu_count())
            self.assertEqual(host.ask("stop 2"), ["error no job 2 is running"])
            self.assertEqual(host.ask("stop 1"), ["ok stopping=1"])
            host.until(r"done job=1 rc=143 seconds=[\d.]+ rounds=\d+ lines=\d+ word=loop:3600$")
            job, ok = host.ask("status")
            self.assertRegex(job, r"^job job=1 state=ended .* rc=143 word=loop:3600$")
            self.assertRegex(ok, r"^ok jobs=0 ")

    def test_nothing_of_a_job_is_left(self):
        # One child leaves its session and its parent, and one ignores SIGTERM.
        escape = "setsid sh -c 'echo pid $$; exec sleep 3600' & sh -c 'trap \"\" TERM; echo pid $$; while :; do sleep 1; done' &"
        for ended_by in ("stop", "its end", "SIGTERM"):
            with self.subTest(ended_by), serving() as (host, agent), tempfile.TemporaryDirectory() as folder:
                end = pathlib.Path(folder, "end")
                os.mkfifo(end)
                host.say(f"start sh:{escape} read _ <{end}")
                pids = [int(host.until(r"output job=1 pid (\d+)")[1][1]) for _ in range(2)]
                if ended_by == "its end":
                    end.write_text("now\n")
                elif ended_by == "SIGTERM":
                    agent.send_signal(signal.SIGTERM)
                elif ended_by == "stop":
                    self.assertEqual(host.ask("stop"), ["ok stopping=1"])
                host.until("done job=1 ")
                self.assertEqual([pid for pid in pids if alive(pid)], [])

    def test_a_job_cannot_kill_who_looks_after_it(self):
        """A process whose parent has ended signals its new parent, as the workload busy does when the agent stops it."""
        with serving() as (host, _):
            orphan = ('until [ $(cut -d" " -f4 /proc/$$/stat) = $runner ]; do sleep 0.01; done; '
                      "for s in USR1 INT HUP PIPE ALRM; do kill -$s $runner; done; echo sent; kill -KILL $job")
            host.say(f"start sh:export runner=$PPID job=$$; sleep 3600 & echo left $!; (sh -c '{orphan}' &); wait")
            pid = int(host.until(r"output job=1 left (\d+)")[1][1])
            host.until("output job=1 sent")
            host.until("done job=1 rc=137 ")
            self.assertFalse(alive(pid))
            self.assertEqual(host.ask("start sh:trap '' TERM; for s in USR1 INT HUP; do kill -$s $PPID; done; echo sent; sleep 3600"), ["ok job=2"])
            host.until("output job=2 sent")
            self.assertEqual(host.ask("stop"), ["ok stopping=1"])
            host.until("done job=2 rc=143 ")

    def test_the_death_of_the_agent_ends_its_jobs(self):
        with serving() as (host, agent):
            host.say("start sh:echo pid $$; exec sleep 3600")
            pid = int(host.until(r"output job=1 pid (\d+)")[1][1])
            agent.kill()
            end = time.monotonic() + PATIENCE
            while alive(pid) and time.monotonic() < end:
                time.sleep(0.05)
            self.assertFalse(alive(pid))

    def test_configured_commands(self):
        commands = "# a comment\n\nwhere percpu echo on $OUTRIDER_CPU of $OUTRIDER_ARGS; taskset -p $$ >/dev/null\nfails once exit 7\nbad line\n"
        with serving(commands=commands) as (host, _):
            listed = host.ask("workloads")
            self.assertIn("command fails: once: exit 7", listed)
            self.assertIn("workload loop:SECONDS: a CPU-bound loop on each CPU; says iterations per second", listed)
            self.assertEqual(host.ask("start fails"), ["ok job=1"])
            host.until("done job=1 rc=7 ")
            host.say("start where:here and there")
            lines, _ = host.until("done job=2 rc=0 ")
            cpus = sorted(line for line in lines if line.startswith("output"))
            self.assertEqual(cpus, sorted(f"output job=2 on {cpu} of here and there" for cpu in os.sched_getaffinity(0)))
            self.assertEqual(host.ask("start bad"), ["error there is no workload or command of that name; see workloads"])

    def test_enough_reaches_a_job(self):
        with serving() as (host, _):
            host.say("start wait:3600")
            host.until("ok job=1")
            self.assertEqual(host.ask("enough other"), ["ok"])
            self.assertEqual(host.ask("enough wait"), ["ok"])
            host.until("done job=1 rc=0 ")

    def test_a_host_that_hangs_up_finds_its_job_again(self):
        with serving("--heartbeat", "0.2") as (host, _):
            self.assertEqual(host.ask("start loop:3600"), ["ok job=1"])
            for _ in range(3):
                host.close()
                host.open()
                self.assertIn("jobs=1", host.until("hello ")[1].string)
            self.assertRegex(host.ask("status")[0], r"^job job=1 state=running ")

    def test_a_host_that_does_not_read(self):
        with serving("--heartbeat", "0.2") as (host, agent):
            host.say("start sh:yes 0123456789012345678901234567890123456789 | head -n 100000; echo last")
            host.until("ok job=1")
            children = pathlib.Path(f"/proc/{agent.pid}/task/{agent.pid}/children")
            deadline = time.monotonic() + PATIENCE
            while children.read_text():  # the job ends although the host does not read its output
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            lines, _ = host.until("done job=1 rc=0 .*lines=100001 ")
            lines += host.until("heartbeat ")[0]
            shown = sum(line.startswith("output ") for line in lines)
            self.assertEqual(shown + sum(int(n) for line in lines for n in re.findall("dropped=([0-9]+)", line)), 100001)

    def test_a_host_that_asks_faster_than_it_reads(self):
        with serving() as (host, _):
            asked = threading.Thread(target=lambda: [host.say("workloads") for _ in range(500)], daemon=True)
            asked.start()
            asked.join(2)  # the agent takes no more commands while the host does not read the answers
            for _ in range(500):
                self.assertEqual(host.until("(ok|error|hello)")[1].string, "ok")
            asked.join(PATIENCE)

    def test_garbage(self):
        noise = random.Random(1)
        with serving() as (host, _):
            for line in ("nonsense", "start", "start nothing", "stop x", "stop 0", "stop 4294967297", "status now", "\x01", "a\0b"):
                self.assertRegex(host.ask(line)[-1], "^error ", line)
            self.assertEqual(host.ask("x" * 5000), ["error the line is longer than 511 bytes"])
            for _ in range(200):
                host.say("".join(chr(noise.randrange(256)) for _ in range(noise.randrange(600))).replace("start", ""))
            host.say("")
            host.say("help")
            lines, _ = host.until("usage poweroff")
            self.assertFalse([line for line in lines if line.startswith("ok job=")])

    def test_no_more_than_sixteen_jobs(self):
        with serving() as (host, _):
            for job in range(16):
                self.assertEqual(host.ask("start sleep:3600"), [f"ok job={job + 1}"])
            self.assertRegex(host.ask("start sleep:3600")[0], "^error 16 jobs are running")
            host.ask("stop 3")
            host.until("done job=3 ")
            self.assertEqual(host.ask("start sleep:3600"), ["ok job=17"])
            self.assertEqual(host.ask("stop"), ["ok stopping=16"])
            for _ in range(16):
                host.until("done job=")

    def test_wrong_options(self):
        for words in (["--port", "0"], ["--port", "x"], ["--port", "4294967295"], ["--heartbeat", "0"], ["--console"], ["--other", "1"], ["x"]):
            with self.subTest(words=words):
                done = subprocess.run([AGENT, "serve", *words], capture_output=True, text=True, check=False, timeout=PATIENCE)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stdout, "(?m)^outrider-agent: (serve: |'0' is not)")

    def test_its_words_are_documented(self):
        text = (TREE / "docs/guest-agent.md").read_text()
        said = subprocess.run([AGENT, "--help"], capture_output=True, text=True, check=True).stdout
        with serving() as (host, _):
            said += "\n".join(host.ask("help"))
        words = re.findall(r"^  ([a-z]+)[:\[]", said, re.M) + re.findall(r"^usage ([a-z]+)", said, re.M) + re.findall(r"--[a-z]+", said)
        self.assertGreater(len(words), 20)
        for word in words:
            self.assertRegex(text, rf"(?m)^\| `{word}[ :\[`]", f"{word} has no row in docs/guest-agent.md")
        rows = set(re.findall(r"(?m)^\| `(-*[a-z]+)[ :\[`]", text))
        messages = {"hello", "heartbeat", "progress", "output", "done", "job", "usage", "workload", "command", "ok", "error"}
        self.assertEqual(rows - set(words) - messages, set(), "documented, and not there")


if __name__ == "__main__":
    unittest.main()
