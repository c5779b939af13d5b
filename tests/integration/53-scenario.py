# SPDX-License-Identifier: GPL-2.0-or-later
"""
Of 53-scenario, what runs outside of the lab.

gdb WORK LOG TARGET: when LOG, the lab's output, says that gdb may connect, let gdb run an order, with its output in WORK/gdbN.
check WORK OUT COUNT: one TAP line for each thing that holds of the lab's results in OUT, the first with the number COUNT + 1."""

import os
import pathlib
import re
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ.get("OUTRIDER_BUILD", "build"))
MODULE = BUILD / "outrider_gt.ko"
SECONDS = 1200  # the most that one program may take
DATUM = "gt_nlink_inode.i_nlink"
SIDES = ("gt_nlink_rename", "gt_nlink_link")

# Both CPUs stand before their accesses. A breakpoint after each access stops its CPU when the access is made.
GDB = """\
set pagination off
set confirm off
set width 0
python
def stop_behind():
    frame = gdb.selected_frame()
    gdb.execute("tbreak *%#x" % frame.architecture().disassemble(frame.pc(), count=2)[1]["addr"])
end
set trace-commands on
{symbols}
target remote {target}
monitor info
info threads
print {datum}
thread 1
x/2i $pc
python stop_behind()
thread 2
x/2i $pc
python stop_behind()
continue
print {datum}
continue
print {datum}
continue
monitor order
print {datum}
break {function}
continue
bt
print {datum}
detach
"""


def fetch(thing, key):
    done = subprocess.run(["vm-images/fetch", thing, "--print", key], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


# ---- gdb ----

def command_file(path, said, target):
    """What outrider said when it began to wait has the commands that load symbols: (gdb) COMMAND."""
    symbols = re.findall(r"^outrider: \(gdb\) ((?:add-)?symbol-file .*)$", said, re.MULTILINE)
    symbols = [line.replace("VMLINUX", fetch("kernel-dbg", "vmlinux")).replace("outrider_gt.ko", str(MODULE)) for line in dict.fromkeys(symbols)]
    path.write_text(GDB.format(symbols="\n".join(symbols), target=target, datum=DATUM, function=SIDES[0]))


def run_gdb(work, order, said, target):
    commands, output = work / f"gdb{order}.commands", work / f"gdb{order}"
    command_file(commands, said, target)
    with open(output, "wb") as out:
        subprocess.run(["gdb", "-nx", "-batch", "-x", commands], stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=SECONDS, check=False)


def drive(work, log, target):
    """Run until killed. When the lab dies, start it again, with a new log."""
    done = set()
    while True:
        time.sleep(0.2)
        if not log.exists():
            continue
        said = log.read_text(errors="replace")
        for order in re.findall(r"^gdb may connect: order ([12])$", said, re.MULTILINE):
            key = (log.stat().st_ino, order)
            if key not in done:
                done.add(key)
                run_gdb(work, order, said, target)


# ---- outcomes ----

class Checks:
    def __init__(self, work, out, count):
        self.work, self.out, self.count, self.failed = work, out, count, False

    def read(self, name, folder=None):
        path = (folder or self.out) / name
        return path.read_text(errors="replace") if path.exists() else ""

    def verdict(self, good, name, said=""):
        self.count += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        if not good:
            print("".join(f"# {line}\n" for line in said.splitlines()[-70:]))
        self.failed |= not good


def check_replays(c):
    """
    Returns what the datum is after each order, as the run has recorded it: (value, mask). The record has only the lowest bytes, up to the last
    one in which the orders differ: 0xff and 0xfd stand for 0xffffffff and 0xfffffffd, too.
    """
    exits = c.read("exits")
    wanted = "".join(f"{name} exit 0\n" for name in ("run", "again", "times", "before", "after1", "after2", "gdb1", "gdb2"))
    c.verdict(exits == wanted, "the run, each replay and both servers for gdb end with status 0", exits)
    made = c.read("socket")
    c.verdict(made == "socket 600 socket in 700 directory\nleft: \n", "only the user can connect to the socket for gdb, which is gone afterwards", made)
    c.verdict(re.search("dmesg: .*trouble=0", c.read("run.log")) and not c.read("left"), "the guest's log is clean, and no process is left")
    again, times = c.read("again.out"), c.read("times.out")
    c.verdict("  this is what was recorded" in again, "a kept scenario has the same outcome when it is replayed", again)
    c.verdict("  5 replays: 5 came out as recorded, 5 of them" in times, "it has it each time, to the byte", times)
    found = re.search(r"^  \S*gt_nlink_inode\S* is 0x([0-9a-f]+) after the first order, 0x([0-9a-f]+) after the second$", again, re.MULTILINE)
    c.verdict(found and found[1] != found[2], "the orders leave different counts", again)
    if not found:
        return [None, None]
    mask = (1 << 4 * max(len(value) for value in found.groups())) - 1 & 0xffffffff
    return [(int(value, 16) & mask, mask) for value in found.groups()]


def fits(value, recorded):
    return recorded is not None and value & recorded[1] == recorded[0]


def check_gdb(c, order, after):
    said = c.read(f"gdb{order}", c.work)
    values = [int(value) for value in re.findall(r"^\$\d+ = (\d+)$", said, re.MULTILINE)]
    c.verdict(all(re.search(rf"hit Temporary breakpoint \d+, .*{side} ", said) for side in SIDES),
              f"gdb, order {order}: both accesses are stopped at", said)
    # Before both accesses, after the first, after the second, at the end of both regions, and after one more round.
    c.verdict(len(values) >= 4 and fits(values[3], after), f"gdb, order {order}: the datum before and after", f"{values}, to be {after}\n{said}")
    c.verdict(re.search(rf"hit Breakpoint \d+, .*{SIDES[0]} ", said), f"gdb, order {order}: a breakpoint on the function, when all goes on",
              said)
    return values[:1]


CRASH = """sys
mod -s outrider_gt {module}
ps | grep gt/nlink
bt -c 0
bt -c 1
set -c 0
set -c 1
p gt_nlink_inode.i_nlink
quit
"""


def check_crash(c, name, recorded):
    core, script = c.out / name, c.work / "crash.commands"
    script.write_text(CRASH.format(module=MODULE))
    done = subprocess.run([fetch("crash", "program"), "-s", "--no_scroll", "--no_panic", "-i", script, fetch("kernel-dbg", "vmlinux"), core],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS,
                          check=False)
    said = done.stdout
    (c.work / f"{name}.crash").write_text(said)
    running = re.findall(r"> +\d+ .*\bgt/nlink/", said)
    c.verdict(len(running) == 2, f"crash, {name}: ps shows both tasks on their CPUs", said)
    if name == "before.core":
        for cpu in (0, 1):
            own = re.search(rf"^PID: \d+ .* CPU: {cpu} +COMMAND: .gt/nlink/.*\n(?:.+\n)+", said, re.MULTILINE)
            c.verdict(own and re.search("|".join(SIDES), own[0]) and "ret_from_fork" in own[0], f"crash, {name}: what CPU {cpu} does", said)
    shown = re.search(r"^\$\d+ = (\d+)$", said, re.MULTILINE)
    c.verdict(shown and fits(int(shown[1]), recorded), f"crash, {name}: the datum", f"to be {recorded}\n{said}")


DRGN = """
import sys, drgn
from drgn.helpers.linux.pid import for_each_task
prog = drgn.Program()
prog.set_core_dump(sys.argv[1])
prog.load_debug_info(sys.argv[2:])
print("datum", prog["gt_nlink_inode"].i_nlink.value_())
for task in for_each_task(prog):
    comm = task.comm.string_().decode()
    if comm.startswith("gt/nlink/"):
        print("task", comm)
        print(prog.stack_trace(task))
"""


def check_drgn(c, name, value):
    # Debian's python3-drgn belongs to Debian's own Python.
    done = subprocess.run(["/usr/bin/python3", "-c", DRGN, c.out / name, fetch("kernel-dbg", "vmlinux"), MODULE], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
    said = done.stdout
    (c.work / f"{name}.drgn").write_text(said)
    c.verdict(f"datum {value}\n" in said and all(re.search(rf"^#0 +{side}\b", said, re.MULTILINE) for side in SIDES),
              f"drgn, {name}: the datum, and where both tasks are", said)


def check(work, out, count):
    c = Checks(work, out, count)
    after = check_replays(c)
    before = [check_gdb(c, order, after[order - 1]) for order in (1, 2)]
    c.verdict(before[0] and before[0] == before[1], "both orders begin with the same datum", f"{before}")
    value = before[0][0] if before[0] else None
    check_crash(c, "before.core", (value, 0xffffffff))
    check_drgn(c, "before.core", value)
    for order in (1, 2):
        check_crash(c, f"after{order}.core", after[order - 1])
    print(f"1..{c.count}")
    return c.failed


if sys.argv[1] == "gdb":
    drive(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4])
sys.exit(check(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4])))
